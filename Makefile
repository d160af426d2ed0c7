# `make` alone lists what there is. Everything runs in .venv, made from requirements.txt.
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3 python,\
	$(shell $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
BIN := .venv/bin
PORT = $$($(BIN)/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

.DEFAULT_GOAL := help
.PHONY: help book test check lint format anywhere peers bench mutants lab serve live pdf proofs links record record-peers lock clean weigh statement

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /|/' | awk -F'|' '{printf "make %-12s %s\n", $$1, $$2}'

.venv/ready: requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "make needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

# One process fills Numba's cache: of several, one may read what another has not written yet (tools/compiled.py).
.venv/compiled: .venv/ready lnbook/_kernels.py
	$(BIN)/python tools/compiled.py
	@touch $@

book: .venv/compiled ## build the book; a failing cell, a warning or a dead reference makes it red
	$(BIN)/python tools/build.py
	@echo "The book is built. Open $(CURDIR)/_build/html/index.html"

# A file of tests keeps to one process; the order is that of tests/conftest.py, the slow files first.
test: lint .venv/compiled ## all tests: module, facts, records, the built book in a browser; RECORD=yes for the verification page
	$(BIN)/python tools/browser.py
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --nbval --nbval-current-env $(if $(RECORD),--record)

check: lint ## for who edits pages, in a minute: statements, and the records and tests of the pages that changed
	$(BIN)/python tools/check.py

NPM := tools/npm/node_modules
SCRIPTS := book/_scripts/*/*.js book/_ext/*.mjs tests/site/*.mjs tools/npm/*.mjs
PRETTIER = $(BIN)/node $(NPM)/prettier/bin/prettier.cjs --config tools/npm/prettier.json --log-level warn

$(NPM)/ready: tools/npm/package-lock.json .venv/ready
	cd tools/npm && PATH="$(abspath $(BIN)):$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

lint: .venv/ready $(NPM)/ready ## Python by ruff, the pages' scripts by Prettier and ESLint
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(PRETTIER) --check $(SCRIPTS)
	$(BIN)/node $(NPM)/eslint/bin/eslint.js --config tools/npm/eslint.config.mjs $(SCRIPTS)

format: .venv/ready $(NPM)/ready ## mend what lint finds and a machine can mend
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .
	$(PRETTIER) --write $(SCRIPTS)

anywhere: .venv/ready ## the tests outside the browser as another user, elsewhere, shuffled, on other processors
	$(BIN)/python tools/anywhere.py
	tools/processors.sh

# The peers are locked for one Python: their wheels differ from one to the next.
PYTHON311 ?= $(firstword $(foreach name,python3.11 python3 python,\
	$(shell $(name) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && echo $(name))))

.venv-peers/ready: requirements-peers.txt pyproject.toml
	@test -n "$(PYTHON311)" || { echo "make peers needs Python 3.11, and no other; name it: make peers PYTHON311=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON311) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -c requirements-peers.txt -e '.[fast,peers]'
	@touch $@

peers: .venv-peers/ready ## the facts and the peers' own tests against PyTorch, JAX with flax, Keras and ONNX Runtime
	.venv-peers/bin/python -m pytest -n auto tests/peers $(if $(RECORD),--record)

bench: .venv/ready ## errors, times and memory in one table; beside the peers where `make peers` made their environment
	$(if $(wildcard .venv-peers/ready),.venv-peers,.venv)/bin/python tools/bench.py

# mutmut is pinned here: what this alone needs should not stand between a reader and the book.
mutants: .venv/ready ## lnbook with one fault at a time, each for the tests to catch; takes about an hour
	$(BIN)/python -m pip install --quiet --disable-pip-version-check mutmut==3.8.1
	PYTHONPATH=tests $(BIN)/python tools/text_mutants.py
	$(BIN)/python tools/mutants.py

proofs: ## the book's theorems, checked by the proof assistant Coq; takes minutes (PROOFS=--mutants: changed statements must fail)
	@test -n "$(PYTHON)" || { echo "make needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) tools/proofs.py $(PROOFS)

lab: .venv/ready ## JupyterLab: a double click opens a page as a notebook
	JUPYTER_CONFIG_PATH="$(CURDIR)/.jupyter" $(BIN)/jupyter lab --LabApp.default_url=/lab/tree/book/index.md

serve: book ## the built book on localhost
	@port=$(PORT); echo "The book is at http://localhost:$$port (end with Ctrl-C)"; \
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $$port >/dev/null 2>&1

live: .venv/compiled ## the book on localhost while you write: built again at each change, and shown
	$(BIN)/python tools/live.py $(PORT)

# Printing the whole book takes minutes: what is printed is tested here, and not by `make test`.
pdf: .venv/ready ## the whole book and its cheat sheet as PDFs, tested, which the next `make book` offers
	$(BIN)/python tools/pdf.py
	$(BIN)/python -m pytest tests/site/book_as_pdf.py

weigh: .venv/ready ## the pages' bytes, times and Lighthouse's scores beside the default theme; takes long; PAGES=… for some
	$(BIN)/python tools/weigh.py $(PAGES)

links: .venv/ready ## check the links that lead outside; needs the internet
	$(BIN)/jupyter-book build . --builder linkcheck

record: .venv/compiled ## record the notebooks' outputs again, or PAGES="bias gain" alone; read their diff
	$(BIN)/python tools/record.py $(PAGES)

statement: .venv/ready ## what changed in a statement and its tests: LABEL=…, and READ=yes once they are read
	@PYTHONPATH=tests $(BIN)/python tools/pins.py $(LABEL) $(READ)

record-peers: .venv-peers/ready ## record the reports and tables of the peers again; read their diff too
	PYTHONPATH=tests .venv-peers/bin/python tests/peers/reports.py
	PYTHONPATH=tests .venv-peers/bin/python tests/peers/floating.py
	PYTHONPATH=tests .venv-peers/bin/python tests/peers/conventions.py

$(BIN)/uv:
	$(MAKE) .venv/ready

LOCK = $(BIN)/uv pip compile --quiet --universal --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

# A pin stays while the ranges of pyproject.toml allow it, unless UPGRADE is set. The peers' file is read by pip as a list
# of constraints: it pins also what only some builds of PyTorch need. Not .venv/ready: an outdated lock is what this mends.
lock: $(BIN)/uv ## lock what pyproject.toml allows; UPGRADE=1 takes the newest of everything
	echo '-e .[book,lab,test]' | $(LOCK) --python-version 3.11 -o requirements.txt -
	grep '==' requirements.txt > .venv/pins.txt
	echo '.[fast,peers]' | $(LOCK) --python-version 3.11 --no-emit-package lnbook --strip-extras --no-annotate \
		-c .venv/pins.txt -o requirements-peers.txt -

clean: ## remove what building and testing left
	rm -rf _build .pytest_cache .hypothesis .ruff_cache
