"""Readings of the verdicts on batch and layer normalization."""

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.batch_norm_or_layer_norm import conditions, core, found, mean, variance
from statements.evaluate import close, term

R = Rational


@reads("settled-bn-difference")
def transposed_tables(statement):
    statement.says("is layer normalization of the transposed table, gain and bias aside", "the features of one sample")
    statement.says("the samples of one feature")


@reads("settled-bn-transformer")
def later_words_are_seen(statement):
    assert core((1, 2, 0), 1)[0] != core((1, 2, 5), 1)[0]
    statement.says("lets no output depend on later words", "computed from the earlier cores and one earlier input")
    statement.says("does none of this")


@reads("settled-bn-one")
def a_batch_of_one(statement):
    assert core([7], 1)[0] == 0 != core((1, 2, 4), 1)[0]
    statement.says("With one sample", "each channel has a single place", "more than one pixel", "does not depend")


@reads("settled-bn-reparametrization")
def what_is_a_reparametrization(statement):
    assert core((2, 4), 1)[0] != 2 * core((1, 2), 1)[0]
    statement.says("every affine map can be had", "no choice of weights", "is no reparametrization either")


@reads("settled-bn-cnn")
def parameters_for_images(statement):
    letters = {"C": 3, "H": 4, "W": 5}
    assert term(statement, "of each pixel it has", letters) == 2 * 3
    assert term(statement, "and pixels it has", letters) == 2 * 3 * 4 * 5
    statement.says("cannot be used", "every size", "fixes the size", "every pixel act on every other")


@reads("settled-bn-accumulate")
def accumulated_gradients(statement):
    statement.says(
        "no set of shared statistics reaches beyond a micro-batch", "in general not with batch normalization"
    )


@reads("settled-bn-eval")
def what_is_stored(statement):
    z = [1, 2, 6]
    stored = term(statement, "PyTorch stores", {"n": 3, "q": variance(z)})
    assert stored == sum((x - mean(z)) ** 2 for x in z) / R(2)
    assert close(term(statement, "the core is shorter by", {"n": 3}), sqrt(variance(z) / stored))
    assert conditions(found(statement, r"(at \$\\varepsilon = \d\$)")[0], {r"\varepsilon": 0})
    statement.says("is $q$, the one with the divisor $n$")


@reads("settled-bn-group-causal")
def group_norm_is_not_causal(statement):
    assert core((1, 2, 4), 1)[0] != core((1, 2, 14), 1)[0]
    statement.says("among all times of the sample", "is causal if it stays within one time")


@reads("settled-bn-rnn")
def the_state_is_bounded(statement):
    gain, bias = Matrix([2, -3, 0]), Matrix([1, 0, 5])
    names = {"d": 3, r"\gamma": gain, r"\beta": bias}
    assert close(term(statement, "shorter than", names), 3 * sqrt(3) + bias.norm())
    assert term(statement, "not all gains are") == 0
    statement.says("for every weight matrix and every length", "where the state is the output", "not all gains")
    statement.says("is affine and may double the state each time")


@reads("settled-bn-gan")
def real_and_fake(statement):
    real, fake = [4, 6, 8], [0, 1, 5]
    together = core(real + fake, 1)
    names = {r"\gamma": 1, "a": 6, "b": 2, "Q": variance(real + fake), r"\varepsilon": 1}
    difference = mean(list(together[:3])) - mean(list(together[3:]))
    assert close(term(statement, "In one batch it is", names), difference)
    assert term(statement, "so the difference is") == mean(list(core(real, 1))) - mean(list(core(fake, 1)))
    statement.says("in every channel", "is not a matter of proof", "it makes no difference")


@reads("settled-bn-average")
def the_average_of_variances(statement):
    statement.says("all batch means are equal", "equally large batches", "everything, if each batch is constant")
    assert mean([variance((0, 0)), variance((2, 2))]) < variance((0, 0, 2, 2))


@reads("settled-bn-noise")
def small_batches(statement):
    names = {"n": 5, r"\sigma": R(3)}
    assert term(statement, "Its mean is", names) == R(4, 5) * 9
    size = int(found(statement, r"at \$n = (\d)\$ half")[0])
    assert term(statement, "Its mean is", {"n": size, r"\sigma": 1}) == R(1, 2)
    kappa = 3 * R(3) ** 4
    assert term(statement, "for a normal distribution", names) == (kappa - R(2, 4) * 81) / 5
    assert term(statement, "the correction by", names) == R(5, 4)
    statement.says("for every batch size", "only experiments tell")


@reads("settled-bn-pooling")
def pooled_instances(statement):
    assert mean(list(core((1, 2, 9), 1))) == 0
    statement.says("averages over all pixels", "is the bias, for every image")


@reads("settled-bn-conv-bias")
def a_bias_in_front(statement):
    assert term(statement, "a channel adds up to") == 0
    assert int(found(statement, r"gets the gradient (\d), in training")[0]) == 0
    statement.says("for every loss", "only the gradients of all biases together do")


@reads("settled-bn-centring")
def dropped_centring(statement):
    P = sympy.eye(3) - sympy.ones(3, 3) / 3
    names = {"P": P, "W": Matrix([[1, 2], [0, 1], [3, -1]]), "b": Matrix([1, 0, 0])}
    x = Matrix([2, 1])
    z = term(statement, "**True**: with", names) * x + term(statement, "**True**: with", names, 1)
    assert close(z / sqrt(z.dot(z) / 3 + 1), core(names["W"] * x + names["b"], 1))
    statement.says("nothing is lost", "not a theorem")


@reads("settled-bn-sync")
def statistics_of_devices(statement):
    statement.says("needs the statistics of the other devices", "Its sets lie within one sample")
    statement.says("Only the gradients of gain and bias are added up")


@reads("settled-bn-relu")
def before_or_after_a_relu(statement):
    assert sum(core((-1, 1, 3), 1)) == term(statement, "the values have the mean")
    statement.says("on each set", "with the ReLU last, none is negative", "is for experiments to decide")


@reads("settled-bn-freeze")
def frozen_gain_and_bias(statement):
    assert core((1, 0, 2), 1)[0] != core((1, 5, 5), 1)[0]
    statement.says("still come from the batch", "still move", "and no longer updates them", "Only batch normalization")
