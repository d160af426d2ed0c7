"""Readings of what people get wrong about the neighbours, and of their two statements without a formula to solve."""

import re

from sympy import Matrix, Rational

from statements import reads
from statements.evaluate import chain_holds, close, layer, term
from statements.neighbours import core, rms

EPS = Rational(1, 3)


@reads("neighbours-wrong-t5-forgets-the-mean-a-bug")
def a_shift_is_seen_unless_centred(statement):
    z, c = Matrix([1, 2, 4]), Matrix([5, 5, 5])
    assert not close(rms(z + c, EPS), rms(z, EPS))
    assert close(rms(layer(z, EPS)["v"], EPS), core(z, EPS))
    statement.says("It sees a common shift", "the core once its input is centred")


@reads("neighbours-wrong-group-normalization-with-one-group-is")
def one_group_is_the_layer_over_the_sample(statement):
    sample = Matrix([[1, 2], [3, 6]])
    channels, places = sample.shape
    whole = core(list(sample), EPS)
    assert not close(whole[0], core(list(sample.col(0)), EPS)[0])
    assert term(statement, "the layer for each of the", {"C": channels, "S": places}) == len(whole) != channels
    statement.says("Without gain and bias it is true of the layer over the whole sample")
    beyond = re.search(r"For \$(S [^$]*)\$ it is not true of the layer over the channels", statement.text)[1]
    assert [chain_holds(beyond, {"S": Rational(size)}) for size in (1, places)] == [False, True]
    statement.says("the parameters differ too", "a gain and a bias for each channel")


@reads("neighbours-wrong-a-batch-of-one-is-a")
def one_entry_is_its_own_mean(statement):
    d = int(re.search(r"over \$d = (\d+)\$ coordinate", statement.text)[1])
    outputs = [layer([entry] * d, EPS, [2] * d, [3] * d)["y"] for entry in (7, -5)]
    assert all(close(output, 3) for output in outputs)
    assert d == 1
    statement.says("is its own mean", "would be the bias, whatever the input")


@reads("neighbours-wrong-folding-works-in-any-block")
def the_sum_has_nothing_to_fold_into(statement):
    A = Matrix([[1, 0, 2], [0, 3, -1], [1, 1, 0]])
    names = layer([1, 2, 4], EPS, [2, Rational(1, 2), 1], [1, -2, 3])
    y, u = names["y"], names["u"]
    folded = A * Matrix.diag(*names[r"\gamma"]) * u + A * names[r"\beta"]
    assert close(A * y, folded) and not close(y + A * y, u + folded)
    assert re.search(r"With \$F\(x\) = Ax\$", statement.text)
    statement.says("The first path may be folded, the second has no matrix")


@reads("pre-post")
def where_the_layer_stands(statement):
    post, pre = re.search(r"maps \$x\$ to \$([^$]*)\$, a .*? block to \$([^$]*)\$", statement.text).groups()
    assert post == r"\operatorname{LN}(x + F(x))"
    assert pre == r"x + F(\operatorname{LN}(x))"
    statement.says("{term}`post-norm` block maps", "{term}`pre-norm` block to", "any map of", "the full layer")


@reads("rms-facts")
def the_three_verdicts(statement):
    statement.says("*Holds* means: true as stated there, with $n$ for $u$", "*Changed* means: false as stated, true in")
    statement.says("*Fails* means: false, with the counterexample", "judges each fact")
