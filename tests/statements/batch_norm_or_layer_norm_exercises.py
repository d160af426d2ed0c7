"""Readings of the exercises and corrections of the page on batch and layer normalization."""

import re

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads, tex
from statements.batch_norm_or_layer_norm import core, found, mean, variance
from statements.evaluate import close, given, term, value

R = Rational
WRONG = "batch-norm-or-layer-norm-wrong-"
SMALL = R(1, 10**60)


@reads("bn-ex-table")
def rows_and_columns_of_a_table(statement):
    first, second, changed = (term(statement, words) for words in ("has the rows", "and", "second row becomes"))
    second = value(found(statement, r"has the rows \$[^$]*\$ and \$([^$]*)\$")[0])

    def near(wanted, row):
        return close(core(row, SMALL), value(wanted), R(1, 10**20))

    rows = found(statement, r"Layer: \$([^$]*)\$ and \$([^$]*)\$")
    assert near(rows[0], first)
    assert near(rows[1], second)
    columns = found(statement, r"first column gives \$([^$]*)\$, the second is constant and gives \$([^$]*)\$")
    assert near(columns[0], (first[0], second[0]))
    assert near(columns[1], (first[1], second[1]))
    later = found(
        statement,
        r"second row of the layer normalization is \$([^$]*)\$.*first row stays.*second column becomes \$([^$]*)\$",
    )
    assert near(later[0], changed)
    assert near(later[1], (first[1], changed[1]))
    assert first[0] == changed[0] - 4
    values = found(statement, r"different numbers become \$([^$]*)\$ and \$([^$]*)\$, or \$([^$]*)\$ and \$([^$]*)\$")
    assert [value(one) for one in values] == [-1, 1, 1, -1]
    statement.says("so an entry of each sample changes", "too small to matter")


@reads("bn-ex-count")
def parameters_of_two_models(statement):
    layers, width = (int(x) for x in found(statement, r"has \$(\d+)\$ layer normalizations of width \$(\d+)\$"))
    channels = int(found(statement, r"batch normalization on \$(\d+)\$ channels")[0])
    blocks = [(3, 64, 256), (4, 128, 512), (6, 256, 1024), (3, 512, 2048)]
    assert channels == 64 + sum(count * (2 * inner + outer) + outer for count, inner, outer in blocks)
    assert (layers, width) == (2 * 12 + 1, 768)
    for words, expected in (("GPT-2: ", 2 * layers * width), ("ResNet-50: ", 2 * channels)):
        left, right = statement.tex(words).split("=")
        assert value(left) == value(right) == expected
    assert term(statement, "parameters, and") == 0
    assert value(found(statement, r"means and variances, \$(\d+)\$")[0]) == 2 * channels


@reads("bn-ex-decode")
def the_third_input(statement):
    eps, n = given(statement, r"\varepsilon"), given(statement, "n")
    third = value(statement.tex("the root is", 1).split("=")[1])
    u = core((0, 0, third), eps)
    assert n == 3
    assert list(u) == [term(statement, "first two outputs are")] * 2 + [given(statement, "u_3")]
    assert [term(statement, "The first two inputs are"), term(statement, "The first two inputs are", number=1)] == [
        0,
        0,
    ]
    steps = statement.tex("$u_3 = 1$, so").split("=")
    assert value(steps[1]) == value(steps[2]) == u.dot(u) / 3
    root = statement.tex("the root is").split("=")
    assert value(root[0]) == value(root[1]) == sqrt(variance([0, 0, third]) + eps)
    assert term(statement, "three cores add up to") == 0


@reads("bn-ex-average")
def an_average_of_variances(statement):
    pairs = [list(value(text)) for text in found(statement, r"two entries, \$([^$]*)\$ and \$([^$]*)\$")]
    assert [variance(pair) for pair in pairs] == [term(statement, "Each variance is")] * 2
    estimate = statement.tex("each estimate").split("=")
    assert value(estimate[0]) == value(estimate[1]) == 2 * variance(pairs[0])
    total = statement.tex("All four have").split("=")
    assert value(total[0]) == value(total[1]) == variance(pairs[0] + pairs[1])
    means = [mean(pair) for pair in pairs]
    assert [term(statement, "the means"), value(found(statement, r": the means \$\d\$ and \$(\d)\$")[0])] != [
        None,
        None,
    ]
    assert [value(x) for x in found(statement, r": the means \$(\d)\$ and \$(\d)\$")] == means
    assert means[1] - means[0] == term(statement, "the means differ by")
    assert mean(means) - means[0] == value(found(statement, r"lie \$(\d)\$ from")[0])


@reads("bn-ex-project")
def two_distributions(statement):
    x = sympy.Symbol("x")
    kappa = sympy.integrate(x**4, (x, -sqrt(3), sqrt(3))) / (2 * sqrt(3))
    hint = found(statement, r"moment is \$\\kappa = (\d)\$ for the normal distribution and \$([^$]*)\$")
    assert [value(one) for one in hint] == [3, kappa]
    assert value(found(statement, r"the smaller \$\\kappa = ([^$]*)\$")[0]) == kappa
    assert [int(n) for n in found(statement, r"\$n = (\d), (\d), (\d), (\d+)\$")] == [2, 4, 8, 16]
    assert sympy.integrate(x**2, (x, -sqrt(3), sqrt(3))) / (2 * sqrt(3)) == value(
        found(statement, r"of variance \$(\d)\$")[0]
    )


@reads("bn-ex-mask")
def masked_statistics(statement):
    statement.says(
        "over the real entries only", "do not depend on the amount of padding", "that those of the plain one do"
    )
    assert core([1, 2, 4], 1)[0] != core([1, 2, 4, 0], 1)[0]


@reads(WRONG + "group-normalization-stays-within-one-sample")
def group_normalization_is_not_causal(statement):
    sample, later = (1, 2, 3, 4), (1, 2, 3, 14)
    assert core(sample, 1)[0] != core(later, 1)[0]
    statement.says("hold all times of the sample", "an early output shows the late inputs")


@reads(WRONG + "in-use-it-must-give-what")
def twenty_layers_on_one_batch(statement):
    n = term(statement, "one batch of")
    shorter = term(statement, "multiplies its core by")
    assert shorter == sqrt((n - 1) / n)
    power, digits = statement.tex("twenty of them by").split(r"\approx")
    assert value(power) == shorter**20
    assert abs(value(power) - value(digits)) < R(1, 2 * 10**6)
    after, before = (value(x) for x in found(statement, r"reported \$([\d.]+)\$ for \$([\d.]+)\$"))
    assert abs(after / before - value(power)) < R(1, 1000)
    assert abs(1 - value(power) - R(1, 7)) < R(1, 200)
    statement.says("Twenty batch", "by a seventh")


@reads(WRONG + "the-moving-variance-is-wrong-it")
def the_estimate_with_n_less_one(statement):
    entries = [value(x) for x in statement.tex("For the entries").split(",")]
    assert variance(entries) == value(found(statement, r"should be \$([\d.]+)\$")[0])
    factor, _, estimate = statement.tex("{cite}`keras-10443`:").partition("=")
    assert value(factor) == value(estimate) == R(4, 3) * variance(entries)
    reported = value(found(statement, r"found \$([\d.]+)\$")[0])
    assert 0 < reported - value(estimate) < R(1, 1000)


@reads(WRONG + "zeros-as-padding-are-harmless-for")
def zeros_as_padding(statement):
    assert not close(core((5, 6, 7), 1), core((5, 6, 7, 0, 0, 0), 1)[:3, :])
    statement.says("also under instance and group normalization", "not enough to mask the output")


@reads(WRONG + "gradient-accumulation-replaces-a-large-batch")
def accumulation(statement):
    assert core((1, 3, 5, 7), 3) != Matrix([*core((1, 3), 3), *core((5, 7), 3)])
    statement.says(
        "With layer normalization and a loss that is a sum over the samples it does", "those of each micro-batch"
    )


@reads(WRONG + "with-batches-of-one-image-batch")
def batches_of_one_image(statement):
    assert not close(core((10, 12, 14), 1), Matrix([10, 12, 14]) / sqrt(2))
    statement.says("In training they are", "in use they are not")
    assert not re.search(r"\d", re.sub(r"\{[^}]*\}`[^`]*`", "", " ".join(tex.formulas(statement.text))))
