"""Why layer normalization works, as far as it is proved: the length of the weights, and the size of a step."""

import numpy as np

from lnbook.pages.figures.style import BOUND, CENTRED, CORE, EPSILON, GAIN, INPUT, new_figure, picture
from lnbook.pages.training import lengths, loss_and_gradient, problem, train


@picture
def length_of_weights(seeds=(0, 1, 2), steps=1000, rate=0.1):
    """The length of W over the steps of descent at eps = 0, for three decays, and where decay and growth balance."""
    figure, axes = new_figure(4.3, 3.6)
    for decay, colour, line in ((0, INPUT, "-"), (0.01, CORE, "--"), (0.1, GAIN, "-.")):
        for seed in seeds:
            weights, gradients = train(seed, steps, rate, decay)
            label = f"decay {decay:g}" if seed == seeds[0] else None
            axes.plot(lengths(weights), line, color=colour, linewidth=1.2, label=label)
            if decay:
                late = lengths(weights[:-1])[steps // 2 :] * lengths(gradients)[steps // 2 :]  # (steps / 2,)
                level = ((late**2).mean() * rate / (decay * (2 - rate * decay))) ** 0.25
                axes.plot(steps, level, "D", color=BOUND, markersize=5, clip_on=False)
    axes.plot([], [], "D", color=BOUND, markersize=5, label="the balance, computed")
    axes.set(xlabel="step", ylabel=r"$\|W\|$", xlim=(0, steps), ylim=(0, None))
    figure.legend(loc="outside lower center", ncols=2)
    return figure


@picture
def step_over_scale(seed=0, rate=0.1):
    """The length of a step over the length of the weights, against the scale of the weights, for three epsilons."""
    W, x, target = problem(seed)
    scales = np.geomspace(1e-4, 1e2, 61)  # (61,)
    figure, axes = new_figure(4.3, 3.6)
    for eps, colour, line in ((0, CORE, "-"), (1e-5, EPSILON, "--"), (1e-2, CENTRED, "-.")):
        gradients = np.array([loss_and_gradient(scale * W, x, target, eps)[1] for scale in scales])  # (61, d, k)
        relative = rate * lengths(gradients) / (scales * np.linalg.norm(W))  # (61,)
        axes.plot(scales, relative, line, color=colour, label=rf"$\varepsilon = {eps:g}$".replace("1e-05", "10^{-5}"))
    axes.set(xscale="log", yscale="log", xlabel=r"scale $\delta$ of the weights", ylabel="step over weights")
    axes.legend(loc="upper right")
    return figure
