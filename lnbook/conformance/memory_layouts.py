"""Arrays of the same numbers that lie differently in memory."""

import numpy as np


def strided(a):
    """Every second entry along each axis; between them lie other numbers."""
    base = np.full([2 * n for n in a.shape], 7, a.dtype)
    view = base[(slice(None, None, 2),) * a.ndim]
    view[...] = a
    return view


def reversed_order(a):
    backwards = (slice(None, None, -1),) * a.ndim
    return a[backwards].copy()[backwards]


def permuted(a):
    """The last axis is not the one that lies together."""
    return np.moveaxis(np.moveaxis(a, -1, 0).copy(), 0, -1)


def unaligned(a):
    view = np.empty(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


def read_only(a):
    a = a.copy()
    a.setflags(write=False)
    return a


def expanded(a):
    """One number in memory, for an array whose entries are all equal."""
    return np.broadcast_to(a.ravel()[:1].reshape((1,) * a.ndim), a.shape)


LAYOUTS = {
    "strided": strided,
    "reversed": reversed_order,
    "permuted": permuted,
    "unaligned": unaligned,
    "read-only": read_only,
    "expanded": expanded,
}
