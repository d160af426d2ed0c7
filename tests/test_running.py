"""How the loops run: the same bits without Numba, in any number of threads, beside each other and after a fork."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import lnbook

ROOT = Path(__file__).parents[1]

# Prints a hash of the bits of what the core computes from small arrays of every format, extreme rows among them.
RESULTS = """
import hashlib, sys
import numpy as np
import lnbook

digest = hashlib.sha256()
rng = np.random.default_rng(0)
for dtype in (np.float16, np.float32, np.float64):
    z = rng.normal(3, 1, (4, 70)).astype(dtype)
    z[1] *= dtype(1e-4)
    z[2] *= dtype(np.finfo(dtype).smallest_normal)
    z[3, :2] = np.finfo(dtype).max, -np.finfo(dtype).max
    h, gain = rng.normal(size=z.shape).astype(dtype), rng.normal(size=70)
    results = [
        lnbook.center(z), lnbook.variance(z), lnbook.layer_norm(z, gain, -gain), lnbook.rms_norm(z, gain),
        lnbook.jvp(z, h, gain), *lnbook.vjp(z, h, gain), *lnbook.rms_vjp(z, h), lnbook.jacobian(z[:, :5]),
        lnbook.amplification(z, h, gain), lnbook.taylor(z, h, 2),
    ]
    for result in results:
        digest.update(np.ascontiguousarray(result).tobytes())
print(digest.hexdigest(), "numba" in sys.modules and sys.modules["numba"] is not None)
"""
# Prints the loops that these results need compiled for other arguments than tools/compiled.py has them compiled for.
MISSING = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools")!r})
from compiled import compile_all
from lnbook import _kernels

loops = {{name: loop for name, loop in vars(_kernels).items() if hasattr(loop, "signatures")}}
compile_all()
known = {{name: len(loop.signatures) for name, loop in loops.items()}}
{RESULTS}
z = rng.normal(size=(1031, 5))
for a in (z, z.astype(np.float32)):
    lnbook.vjp(a, a, axis=0), lnbook.vjp(a, a), lnbook.operator_norm(a), lnbook.spectrum(a), lnbook.normalize(a)
print(len(loops) > 20, *(name for name, loop in loops.items() if len(loop.signatures) > known[name]))
"""
THREADS = """
import hashlib, sys
import numpy as np
import lnbook
from lnbook import _kernels

rng = np.random.default_rng(0)
digest = hashlib.sha256()
for dtype in (np.float32, np.float64):
    z, g = rng.normal(size=(2, 1031, 300)).astype(dtype)
    for result in (lnbook.normalize(z), *lnbook.vjp(z, g, z[0])):
        digest.update(result.tobytes())
print(digest.hexdigest(), _kernels.THREADS)
"""


def run(program, cwd=None, **environment):
    """The words that a program prints in a process of its own."""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_without_numba_the_results_are_the_same_bits():
    compiled, with_numba = run(RESULTS)
    plain, without = run("import sys\nsys.modules['numba'] = None\n" + RESULTS)
    assert (with_numba, without) == ("True", "False")
    assert compiled == plain


def test_each_loop_is_compiled_before_several_processes_need_it():
    _, _, enough, *missing = run(MISSING)
    assert (enough, missing) == ("True", [])


def test_any_number_of_threads_gives_the_same_bits():
    results = {}
    for threads in ("1", "2", "3"):
        results[threads], used = run(THREADS, NUMBA_NUM_THREADS=threads)
        assert used == threads
    assert len(set(results.values())) == 1


def test_large_arrays_are_computed_in_threads_and_small_ones_are_not(monkeypatch):
    from lnbook import _kernels, _rows

    asked = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, threads):
            asked.append(threads)
            super().__init__(threads)

    monkeypatch.setattr(_kernels, "THREADS", 2)
    monkeypatch.setattr(_rows, "ThreadPoolExecutor", Pool)
    lnbook.normalize(np.ones((64, 16)))
    assert asked == []
    lnbook.normalize(np.ones((1 << 10, 1 << 9)))
    assert asked == [2]


def test_an_error_in_a_thread_is_raised():
    z = np.random.default_rng(0).normal(size=(1031, 600))
    z[1030] = 7
    with pytest.raises(ValueError, match="eps must be positive"):
        lnbook.normalize(z, eps=0)


def test_several_callers_at_once_get_what_one_gets():
    z = np.random.default_rng(0).normal(size=(600, 600))
    expected = lnbook.normalize(z)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: lnbook.normalize(z), range(8)):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_fork_after_a_computation_in_threads_computes_too():
    program = """
import os
import numpy as np, lnbook
z = np.random.default_rng(0).normal(size=(600, 600))
before = lnbook.normalize(z)
child = os.fork()
if child == 0:
    os._exit(0 if (lnbook.normalize(z) == before).all() else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(program, NUMBA_NUM_THREADS="2") == ["0"]


def test_importing_lnbook_imports_neither_numba_nor_anything_but_numpy():
    program = """
import sys
import numpy
import lnbook
names = {name.partition(".")[0] for name in sys.modules}
print(sorted(names & {"numba", "llvmlite", "ml_dtypes", "sympy", "matplotlib", "mpmath"}))
"""
    assert run(program) == ["[]"]


def copy_of_lnbook(folder):
    """lnbook in a folder of its own, in which no compiled code can be kept beside it."""
    shutil.copytree(Path(lnbook.__file__).parent, folder / "lnbook", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "lnbook").chmod(0o755)  # the installed one may be read-only
    (folder / "lnbook" / "__pycache__").write_text("a file where the folder should be")
    return "import lnbook, numpy; print(lnbook.__file__, *lnbook.normalize(numpy.float32([1, 3]), eps=0))"


def test_compiled_code_is_kept_in_the_user_s_cache_where_the_package_cannot_be_written(tmp_path):
    program = copy_of_lnbook(tmp_path)
    cache = tmp_path / "cache"
    printed = run(program, tmp_path, PYTHONPATH=str(tmp_path), XDG_CACHE_HOME=str(cache), PYTHONDONTWRITEBYTECODE="1")
    assert printed == [str(tmp_path / "lnbook" / "__init__.py"), "-1.0", "1.0"]
    assert sys.platform != "linux" or list(cache.glob("**/*.nbc"))


def test_lnbook_works_where_no_compiled_code_can_be_kept(tmp_path):
    program = copy_of_lnbook(tmp_path)
    nowhere = str(tmp_path / "lnbook" / "__init__.py" / "cache")  # below a file
    environment = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"), nowhere)
    printed = run(program, tmp_path, PYTHONPATH=str(tmp_path), PYTHONDONTWRITEBYTECODE="1", **environment)
    assert printed == [str(tmp_path / "lnbook" / "__init__.py"), "-1.0", "1.0"]
