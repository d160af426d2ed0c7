"""Readings of the verdicts on what else is asked."""

import re

import numpy as np
import sympy
from sympy import Matrix, Rational

from lnbook import normalize
from lnbook.pages.rounding import BITS, round_to
from statements import reads
from statements.evaluate import chain_holds, layer, same, term, value

R = Rational


@reads("settled-gaussian")
def a_histogram(statement):
    u = layer((0, 0, 0, 4), 1)["u"]
    assert len(set(u)) == 2
    assert sum(entry**3 for entry in u) != 0
    statement.says(
        "whatever the input",
        "All coordinates of a row",
        "keeps its shape",
        "the same skewness as before",
        "unless it is constant",
    )


@reads("settled-whitening")
def a_correlation(statement):
    cores = [layer(coins, 1)["u"] for coins in np.ndindex(2, 2, 2)]
    products, squares = (sum(u[0] * u[j] for u in cores) for j in (1, 0))
    assert same(products / squares, term(statement, "the correlation", {"d": 3}))
    assert term(statement, "The coordinates of the core add up to") == 0
    statement.says("independent and have one distribution", "unless the distribution is a single number")


@reads("settled-unit-length")
def a_unit_vector(statement):
    names = layer((1, 2, 6), 0)
    assert chain_holds(statement.tex("**True.**"), names)
    assert chain_holds(statement.tex("so"), names)
    for words, at in (("*At", 0), ("RMSNorm at", 0), ("With ", 1)):
        assert [chain_holds(statement.tex(words), {r"\varepsilon": eps}) for eps in (at, 1 - at)] == [True, False]
    statement.says("as L2 normalization", "along the centred input, unless the input is constant", "is shorter than")
    statement.says("the more so the smaller the variance", "Without the centring")


@reads("settled-smooth")
def where_it_is_smooth(statement):
    assert chain_holds(statement.tex("only if**"), {r"\varepsilon": 1})
    assert not chain_holds(statement.tex("only if**"), {r"\varepsilon": 0})
    along = Matrix(term(statement, "of $0$ along"))
    one, other = (layer(t * along, 0)["u"] for t in (R(1, 100), -R(1, 100)))
    assert same(one, -other) and one != other
    assert chain_holds(statement.tex("At"), {r"\varepsilon": 0})
    statement.says(
        r"$q + \varepsilon$ is nowhere $0$", "derivatives of every order", "at every input", "along $(1, -1)$"
    )
    statement.says("it has no value at constant inputs, and none that one could choose", "two different vectors")


@reads("settled-nan-row")
def one_nan(statement):
    assert np.isnan(0 * np.nan) and np.isnan(np.inf - np.inf)
    statement.says("all outputs of its row NaN, and no output of another row", "the other rows have their own")
    statement.says("$0$ times NaN is NaN", "although the loss leaves that row out", r"$\infty - \infty$ is NaN")


@reads("settled-lanes")
def idle_lanes(statement):
    names = layer((1, 2, 6), 0) | {"n": 5}
    squares = sum((z - names[r"\mu"]) ** 2 for z in (1, 2, 6, 0, 0))
    assert same(squares / 3, term(statement, "and the result is", names))
    assert same(squares - 3 * names["q"], 2 * term(statement, "behind the row adds", names))
    only = statement.tex("only if**")
    assert chain_holds(only, {r"\mu": 0}) and not chain_holds(only, {r"\mu": 3})
    assert chain_holds(statement.tex("In a block of"), {"n": 5, "d": 3})
    statement.says(r"the sum of $(z_i - \mu)^2$ over all lanes", "may run over all lanes")
    statement.says("with zeros behind the $d$ entries", "must be set to $0$ again")


@reads("settled-stored-half")
def a_gain_in_bfloat16(statement):
    bits = BITS["bfloat16"]
    below, above, least, most, one = (
        float(value(formula)) for formula in re.findall(r"\$([^$]*)\$", statement.text.partition("next to")[2])[1:6]
    )
    assert one == 1 and value(statement.tex("next to")) == 1
    for end, following in ((least, below), (most, above)):
        assert round_to(end, bits) == 1
        assert round_to(following, bits) == following
        assert round_to(end + (end - 1) / 100, bits) == following
    step = float(term(statement, "raised by"))
    assert float(term(statement, "starts at")) == float(term(statement, "stays at")) == 1 == round_to(1 + step, bits)
    assert round_to(step, bits) > 0
    statement.says("True only if** the stored number is", "in a wider format", "the same gaps again", "Why is γ − 1")
    statement.says(
        r"Where $\gamma - 1$ is stored", "from $0$ on", "every sum from", "In bfloat16", "rounded to bfloat16"
    )


@reads("settled-average")
def averaged_parameters(statement):
    one, other = layer((1, 2, 6), 1, (2, 1, 0), (1, 0, 0)), layer((1, 2, 6), 1, (0, 1, 4), (0, 0, 3))
    for names in (one, other):
        assert same(names["y"], term(statement, "The output is", names))
    means = layer((1, 2, 6), 1, (1, 1, 2), (R(1, 2), 0, R(3, 2)))
    assert same((one["y"] + other["y"]) / 2, means["y"])
    statement.says("For one input", "for a single layer", "has no parameters", "multiply their gains")


@reads("settled-contributions")
def contributions(statement):
    parts = [layer(z, 1) for z in ((1, 2, 6), (4, 0, -1))]
    whole = layer((5, 2, 5), 1)
    assert statement.tex("do add up:").endswith(r"= \sum_j Px_j/\sqrt{q + \varepsilon}")
    assert same(whole["u"], sum((one["v"] for one in parts), sympy.zeros(3, 1)) / sympy.sqrt(whole["q"] + 1))
    assert not same(whole["u"], parts[0]["u"] + parts[1]["u"])
    assert statement.text.count(r"x_1 + \dots + x_k") == 2
    statement.says(
        "**False.** Each has a root of its own", "the root of the whole sum", "since the root would then be another"
    )


@reads("settled-vmap")
def one_sample_of_a_batch(statement):
    assert all(entry != 0 for entry in layer((1, 2, 6), 1)["J"][0, :])
    statement.says("a function of this sample alone", "a function of the whole batch", "each sample is a batch of one")
    statement.says("written in place, which `vmap` refuses")


@reads("settled-split-heads")
def split_heads(statement):
    assert layer((3, 1, 0, 2), 1)["u"][:2, :] != layer((3, 1), 1)["u"]
    statement.says("With whole heads on each rank", "only if** each head is normalized by itself")
    statement.says("two numbers of each rank", "the way back needs two sums", "for RMSNorm it is one number either way")


@reads("settled-bits")
def two_orders_of_adding(statement):
    row = [np.float32(int(entry)) for entry in term(statement, "each addition rounds")]
    assert int((row[0] + row[1]) + row[2]) != int(row[0] + (row[1] + row[2]))
    statement.says("**False.** They may add in another order", "in float32 return the same bits")
    statement.says("need the same order", "adds up to two different numbers", "of the largest coordinate")


@reads("settled-channels-last")
def channels_there_and_back(statement):
    there, back = ([int(x) for x in one.split(",")] for one in re.findall(r"permute\(([\d, ]+)\)", statement.text))
    assert ["NCHW"[i] for i in there] == list("NHWC")
    assert ["NHWC"[i] for i in back] == list("NCHW")
    assert re.search(r"GroupNorm\((\d), C\)", statement.text)[1] == "1"
    x = np.arange(24.0).reshape(1, 3, 4, 2) ** 2
    moved = normalize(x.transpose(there)).transpose(back)
    assert (moved == normalize(x, axis=1)).all()
    assert not np.allclose(moved, normalize(x, axis=(1, 2, 3)))
    statement.says("normalizing along it and moving them back", "is another map as soon as there are two pixels")


@reads("settled-padding")
def rows_of_padding(statement):
    names = layer((0, 0, 0), R(1, 4), (2, 1, -1), (1, 0, 5))
    assert names["y"] == term(statement, "comes out as", names)
    assert layer((1, 3), 1)["u"][0] != layer((1, 3, 0), 1)["u"][0]
    statement.says("only if** some set of shared statistics holds both", "it adds nothing to any gradient")
    statement.says("over the features each token is a set of its own", "the layer does not", "over the times, need it")


@reads("settled-eval")
def no_statistics_are_stored(statement):
    statement.says("stores nothing but gain and bias", "always those of the row", "two numbers a channel")
    statement.says("layer normalization has none", "at inference than in training")


@reads("settled-parameters")
def the_parameters_of_gpt2(statement):
    numbers = re.search(
        r"\$(\d+)\$ layers of width \$(\d+)\$, which is \$(\d+)\$ of \$(\d+)\$, or \$([\d.]+)\$ percent", statement.text
    )
    layers, width, norms, total, percent = (value(number) for number in numbers.groups())
    assert norms == layers * term(statement, "**True**:", {"d": width})
    assert (layers - 1) % 2 == 0
    assert total == (50257 + 1024) * width + (layers - 1) / 2 * (12 * width**2 + 13 * width) + 2 * width
    assert abs(100 * norms / total - percent) < R(1, 2000)
    assert 1000 * norms < total
    assert term(statement, "RMSNorm holds", {"d": 7}) == 7
    statement.says("less than a thousandth")
