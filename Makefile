# `make` alone lists what there is. Everything runs in .venv, made from requirements.txt.
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3 python,\
	$(shell $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
BIN := .venv/bin
PORT = $$($(BIN)/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

.DEFAULT_GOAL := help
.PHONY: help book test peers bench mutants lab serve pdf proofs links record record-peers lock clean weigh

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /|/' | awk -F'|' '{printf "make %-12s %s\n", $$1, $$2}'

.venv/ready: requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "make needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

book: .venv/ready ## build the book; a failing cell, a warning or a dead reference makes it red
	$(BIN)/jupyter-book build . -W -n --keep-going
	@echo "The book is built. Open $(CURDIR)/_build/html/index.html"

# A file of tests keeps to one process; the order is that of the files, so that the slow ones of the browser come first.
test: .venv/ready ## all tests: the module, the facts, the recorded notebooks, the built book in a browser
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/python tests/browser.py
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --nbval --nbval-current-env

# The peers are locked for one Python: their wheels differ from one to the next.
PYTHON311 ?= $(firstword $(foreach name,python3.11 python3 python,\
	$(shell $(name) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && echo $(name))))

.venv-peers/ready: requirements-peers.txt pyproject.toml
	@test -n "$(PYTHON311)" || { echo "make peers needs Python 3.11, and no other; name it: make peers PYTHON311=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON311) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-peers.txt
	@touch $@

peers: .venv-peers/ready ## the facts and the peers' own tests against PyTorch, JAX with flax, Keras and ONNX Runtime
	.venv-peers/bin/python -m pytest -n auto tests/peers

bench: .venv/ready ## errors, times and memory in one table; beside the peers where `make peers` made their environment
	$(if $(wildcard .venv-peers/ready),.venv-peers,.venv)/bin/python tests/bench.py

# mutmut is pinned here: what this alone needs should not stand between a reader and the book.
mutants: .venv/ready ## lnbook with one fault at a time, each for the tests to catch; takes about an hour
	$(BIN)/python -m pip install --quiet --disable-pip-version-check mutmut==3.8.1
	$(BIN)/python tests/mutants.py

proofs: ## the book's theorems, checked by the proof assistant Coq; takes minutes (PROOFS=--mutants: changed statements must fail)
	@test -n "$(PYTHON)" || { echo "make needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) tools/proofs.py $(PROOFS)

lab: .venv/ready ## JupyterLab: a double click opens a page as a notebook
	JUPYTER_CONFIG_PATH=$(CURDIR)/.jupyter $(BIN)/jupyter lab --LabApp.default_url=/lab/tree/book/index.md

serve: book ## the built book on localhost
	@port=$(PORT); echo "The book is at http://localhost:$$port (end with Ctrl-C)"; \
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $$port >/dev/null 2>&1

pdf: .venv/ready ## the whole book as a PDF, which the next `make book` offers on its first page
	PYTHONPATH=tests $(BIN)/python book/_ext/pdf.py

weigh: .venv/ready ## the pages' bytes and time beside those of the default theme; takes minutes
	$(BIN)/python tests/weigh.py

links: .venv/ready ## check the links that lead outside; needs the internet
	$(BIN)/jupyter-book build . --builder linkcheck

record: .venv/ready ## record the notebooks' outputs again; read their diff before you commit it
	$(BIN)/python tests/record.py

record-peers: .venv-peers/ready ## record the reports and tables of the peers again; read their diff too
	PYTHONPATH=tests .venv-peers/bin/python tests/peers/reports.py
	PYTHONPATH=tests .venv-peers/bin/python tests/peers/floating.py
	PYTHONPATH=tests .venv-peers/bin/python tests/peers/conventions.py

$(BIN)/uv:
	$(MAKE) .venv/ready

# Not .venv/ready: an outdated requirements.txt is what this mends.
lock: $(BIN)/uv ## compile requirements.txt from pyproject.toml
	echo '-e .[figures,book,lab,test]' | $(BIN)/uv pip compile --universal --python-version 3.11 --quiet -o requirements.txt -

clean: ## remove what building and testing left
	rm -rf _build .pytest_cache .hypothesis .ruff_cache
