"""Small trainings of a linear map with the core behind it, for the experiments of the pages; each has its seed."""

import numpy as np

D, INPUTS, ROWS, BATCH = 8, 8, 64, 8


def loss_and_gradient(W, x, target, eps, derivatives=("mean", "variance")):
    """The loss, half the mean squared distance of the cores of W x from their targets, and its gradient by W.

    The derivative of a statistic that is not named in `derivatives` is left out, as if it were detached.
    W (d, k), x (n, k), target (n, d) -> number, (d, k)
    """
    z = x @ W.T  # (n, d)
    v = z - z.mean(axis=1, keepdims=True)  # (n, d)
    root = np.sqrt((v**2).mean(axis=1, keepdims=True) + eps)  # (n, 1)
    u = v / root  # (n, d)
    g = (u - target) / len(x)  # (n, d)
    dz = g
    if "mean" in derivatives:
        dz = dz - g.mean(axis=1, keepdims=True)
    if "variance" in derivatives:
        dz = dz - u * (g * u).mean(axis=1, keepdims=True)
    return ((u - target) ** 2).sum() / 2 / len(x), (dz / root).T @ x


def problem(seed):
    """W to start from, inputs, and targets of 1 and -1: the signs of another linear map with noise, which no W fits."""
    random = np.random.default_rng(seed)
    W = random.normal(size=(D, INPUTS)) / np.sqrt(INPUTS)  # (d, k)
    x = random.normal(size=(ROWS, INPUTS))  # (n, k)
    return W, x, np.sign(x @ random.normal(size=(D, INPUTS)).T + random.normal(size=(ROWS, D)))


def train(seed, steps=1000, rate=0.1, decay=0.0, eps=0.0, scale=1.0, derivatives=("mean", "variance")):
    """Gradient descent from `scale` times W, on batches: weights (steps + 1, d, k) and gradients (steps, d, k)."""
    W, x, target = problem(seed)
    batches = np.random.default_rng(seed + 1000).integers(ROWS, size=(steps, BATCH))
    weights, gradients = [scale * W], []
    for batch in batches:
        _, G = loss_and_gradient(weights[-1], x[batch], target[batch], eps, derivatives)
        weights.append((1 - rate * decay) * weights[-1] - rate * G)
        gradients.append(G)
    return np.array(weights), np.array(gradients)


def lengths(arrays):
    """The length of each matrix, the root of the sum of its squares: (steps, d, k) -> (steps,)"""
    return np.sqrt((arrays**2).sum(axis=(1, 2)))
