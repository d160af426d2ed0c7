"""Random networks at their initialization: the stream of a stack of blocks, and the gradients by its matrices."""

import numpy as np

from lnbook import normalize, variance, vjp


def random_matrices(depth, d, rng):
    """Two Gaussian matrices a block, scaled so that V relu(W u) has the mean variance 1 - 1/d: (depth, 2, d, d)."""
    return rng.normal(size=(depth, 2, d, d)) * np.sqrt(np.array([1 / d, 2 / d]))[:, None, None]


def forward(place, x, matrices):
    """What each block is given, the hidden vector of its branch, and the sum it forms: three lists of (d,)."""
    given, hidden, sums = [], [], []
    for V, W in matrices:
        given.append(x)
        hidden.append(np.maximum(W @ (normalize(x) if place == "pre" else x), 0))
        sums.append(x + V @ hidden[-1])
        x = normalize(sums[-1]) if place == "post" else sums[-1]
    return given, hidden, sums


def gradient_lengths(place, x, matrices, g):
    """The length of the gradient by V in each block, for the gradient g by the output of the last norm: (depth,)"""
    lengths = []
    given, hidden, sums = forward(place, x, matrices)
    if place == "pre":
        g = vjp(sums[-1], g)[0]
    for (V, W), x, h, total in reversed(list(zip(matrices, given, hidden, sums, strict=True))):
        if place == "post":
            g = vjp(total, g)[0]
        lengths.append(np.linalg.norm(g) * np.linalg.norm(h))
        back = W.T @ ((h > 0) * (V.T @ g))
        g = g + (vjp(x, back)[0] if place == "pre" else back)
    return np.array(lengths[::-1])


def experiment(place, depth, d=64, seeds=20):
    """The variance of each sum and the length of the gradient by each V, of random networks: two arrays (seeds, depth).

    The input and g are Gaussian; lengths are in units of what one block without a norm would have, |g| sqrt(d).
    """
    variances, lengths = [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        matrices = random_matrices(depth, d, rng)
        x, g = normalize(rng.normal(size=d)), rng.normal(size=d)
        variances.append(variance(forward(place, x, matrices)[2]))
        lengths.append(gradient_lengths(place, x, matrices, g) / (np.linalg.norm(g) * np.sqrt(d)))
    return np.array(variances), np.array(lengths)
