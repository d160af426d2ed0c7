"""Compiles the loops of `lnbook` for every kind of argument, in one process.

Numba keeps what is compiled in files beside the module, and writes the list of the files before the file. Where the
module has changed, another process may meanwhile read the file of that name from before, for other arguments, and then
a call fails; so this runs before the pages or the tests run in several processes.
"""

from itertools import product

import ml_dtypes
import numpy as np

import lnbook


def compile_all():
    for dtype in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16):
        z, gain = np.array(40 * [[1, 2, 4]], dtype), np.ones(3)  # of more rows than one part has
        for g, b in product((None, gain), repeat=2):
            lnbook.layer_norm(z, g, b)
        for h in (z, z.astype(np.float64)):
            for g in (None, gain):
                lnbook.jvp(z, h, g)
                lnbook.vjp(z, h, g)
        lnbook.center(z)
        lnbook.variance(z)
    lnbook.jacobian(z)


if __name__ == "__main__":
    compile_all()
