"""Readings of the verdicts on derivatives, bounds, epsilons, machines and other layers."""

import re

import exact
import numpy as np
import sympy
from sympy import Matrix, Rational, sqrt

from lnbook.pages.rounding import BITS, running_sum
from statements import reads
from statements.evaluate import chain_holds, close, holds, layer, operator_norm, same, term

R = Rational
SPREAD, FLAT = (1, 2, 4), (3, 3, 3)


def core(z, eps):
    return layer(z, eps)["u"]


@reads("settled-zero-entry")
def an_entry_of_the_jacobian_is_0_where_the_product_is_minus_1(statement):
    for names in (layer((1, -1, 1, -1), 0, i=1, j=2), layer((2, -1, -1, 0), R(1, 2), i=1, j=2)):
        J = exact.core_jacobian(list(names["z"]), names[r"\varepsilon"])
        assert close(J, names["J"])
        holds(statement, 4, names, start="**False.**")
        assert J[0, 1] == 0
    claimed = re.search(r"Every entry of \$J\$ is different from (\d)", statement.text)[1]
    assert int(claimed) == J[0, 1]
    least = int(re.search(r"which needs \$d \\ge (\d)\$", statement.text)[1])
    nearest = {
        d: core((1, -1, *[0] * (d - 2)), 0) for d in (least - 1, least)
    }  # for epsilon > 0 the product is nearer to 0
    assert nearest[least - 1][0] * nearest[least - 1][1] == -1 > nearest[least][0] * nearest[least][1]
    statement.says("does not move core coordinate")


@reads("settled-rank")
def an_epsilon_gives_a_direction_back(statement):
    statement.says("At inputs that are not constant", "only $\\mathbf{1}$ is lost")
    for z in ((-1, 1), (0, 1, 2, 3)):
        names = layer(z, 0)
        assert names["J"].rank() == term(statement, "has the rank", names)
        holds(statement, 2, names, start="only if**")
        assert layer(z, R(1, 4))["J"].rank() == len(z) - 1


@reads("settled-norm")
def the_norm_of_the_jacobian_by_dimension(statement):
    for z, eps in (((-1, 1), 2), ((-1, 0, 1), 2), ((3, 3), 2), ((0, 1, 2, 3), 1)):
        names = layer(z, eps)
        norm = operator_norm(names["J"])
        conditions = [chain_holds(statement.tex("only if**", number), names) for number in range(3)]
        true = conditions[0] or (conditions[1] and conditions[2])
        assert close(norm, term(statement, "the Jacobian is", names)) == true
        if len(z) == 2:
            assert same(norm, term(statement, "and the norm is", names))
            assert chain_holds(statement.tex("At", 0), names)
    assert [chain_holds(statement.tex("only if**", n), layer((-1, 0, 1), 2)) for n in (0, 1)] == [True, False]
    assert chain_holds(statement.tex("only if**", 2), layer((3, 3), 2))
    statement.says("no direction is stretched that much")


@reads("settled-norm-length")
def the_length_must_be_that_of_the_centred_vector(statement):
    claim = statement.tex("constant $C$ with")
    for c in (0, 10, 1000):
        names = layer((c - 1, c, c + 1), 0)
        names |= {r"\|J(x)\|_2": operator_norm(names["J"]), "C": 1, r"\|x\|": names["v"].norm()}
        assert chain_holds(claim, names)
        assert chain_holds(claim.replace(r"\le", "="), names)
        holds(statement, 1, names, start="at $", end="**True")
        assert chain_holds(claim, names | {r"\|x\|": names["z"].norm()}) == (c == 0)
    statement.says("of the centred vector")
    assert sympy.Lt(2, int(re.search(r"Lemma (\d)", statement.text)[1]))


@reads("settled-sum-bug")
def the_gradient_of_the_sum_is_0_for_equal_gains_alone(statement):
    claimed, unequal = re.search(r"gradient of (\d)", statement.text)[1], term(statement, "its gradient is not")
    for gain in ((1, 1, 1), (2, 2, 2), (1, 2, 3)):
        gradient = layer(SPREAD, 1)["J"] * Matrix(gain)
        assert close(gradient, int(claimed)) == (len(set(gain)) == 1)
        assert close(gradient, unequal) == (len(set(gain)) == 1)
    assert re.match(r"Is it a bug that the gradient of the outputs' sum is 0\?", statement.text)
    statement.says("is the same for every input", "its gradient is not")


@reads("settled-dz-sum")
def the_gradient_by_the_input_adds_up(statement):
    statement.says("for every loss", "for all gains", "no loss changes under a common shift")
    total = sum(layer(SPREAD, R(1, 3))["J"] * Matrix((2, -3, 5)))
    assert [int(d) for d in re.findall(r"adds? up to (\d)", statement.text)] == [total, total]


@reads("settled-dz-orthogonal")
def the_product_of_gradient_and_input(statement):
    statement.says("for every loss")
    for z, eps in ((SPREAD, 2), ((1, 1, -2), 0), ((0, 1, 5), R(1, 3))):
        names = layer(z, eps, (2, 0, -1), g=Matrix((1, 2, 5)))
        dz = names["J"] * names[r"\gamma"].multiply_elementwise(names["g"])
        assert same(dz.dot(names["z"]), term(statement, "the product is", names))
        assert close(dz.dot(names["z"]), 0) == chain_holds(statement.tex("only if**"), names)


@reads("settled-silenced")
def a_silenced_input_still_moves_the_others(statement):
    names = layer((-1, 1), 3, (0, 2), i=1)
    holds(statement, 1, names)
    full = sympy.diag(0, 2) * exact.core_jacobian([-1, 1], 3)
    assert full[0, :].is_zero_matrix
    assert full[1, 0] != 0
    assert (sympy.diag(0, 0) * names["J"]).is_zero_matrix
    assert re.match(r"Does a gain of (\d) cut its input off", statement.text)[1] == "0"
    assert names[r"\gamma"][0] == term(statement, "as far as their gains are not")
    statement.says("acts on no output", "their gains are not $")


@reads("settled-gain-last")
def the_gain_comes_first_in_the_backward_pass(statement):
    for gain in ((1, 1, 1), (3, 3, 3), (2, 1, 1)):
        names = layer(SPREAD, 1, gain, g=Matrix((1, 2, 5)))
        jacobian = sympy.diag(*gain) * exact.core_jacobian(list(SPREAD), 1)
        names["dz"] = jacobian.T * names["g"]
        assert chain_holds(statement.tex("| *"), names) == (len(set(gain)) == 1)
        assert chain_holds(statement.tex("the first one back:"), names)
        if set(gain) == {1}:
            assert gain[0] == term(statement, "with gains of")
    statement.says("all gains are equal")


@reads("settled-half-sum")
def running_sums_of_ones_stop(statement):
    for name, number in (("bfloat16", 0), ("float16", 1)):
        assert int(running_sum(np.ones(3000), BITS[name])[-1]) == term(statement, "sum of ones stops at", number=number)
        assert re.search(r"at \$[^$]+\$ in bfloat16 and at \$[^$]+\$ in float16", statement.text)


@reads("settled-recover")
def one_lost_coordinate_is_found_by_the_sum(statement):
    statement.says("at most one gain is $")
    u = core(SPREAD, 1)
    assert same(u[0], -u[1] - u[2])
    assert term(statement, "at most one gain is") == 0


@reads("settled-lipschitz")
def the_least_constant_of_the_core(statement):
    for eps in (R(1, 4), 3):
        names = layer(FLAT, eps)
        assert chain_holds(statement.tex("only if**"), names)
        assert same(operator_norm(names["J"]), term(statement, "constant is then", names))
    assert chain_holds(statement.tex("and holds at"), {r"\varepsilon": 0})
    s = R(1, 100)
    turned = term(statement, "Turning", {"s": s})
    assert close(turned, -Matrix([-s, s]))
    step = 2 * turned
    assert (core(turned, 0) - core(-turned, 0)).norm() / step.norm() == 1 / s


@reads("settled-tame")
def steps_are_shortened_from_epsilon_1_on(statement):
    for eps in (R(99, 100), 1, 2, R(1, 10**12)):
        names = layer(FLAT, eps)
        norm = operator_norm(names["J"])
        assert same(norm, term(statement, "amplified by nearly", names))
        assert (norm <= 1) == chain_holds(statement.tex("only if**"), names)
    holds(statement, 1, names, start="With $")
    statement.says("No step", "and no step by more")


@reads("settled-max-gain")
def the_largest_gain_must_occur_twice(statement):
    for gain in ((1, 0, 0), (1, 1, 0), (3, -3, 1), (0, 0, 0), (1, 2, 3)):
        names = layer(FLAT, R(1, 4), gain)
        claim = term(statement, "| *", names)
        bound = term(statement, "the norm of", names)
        exact_constant = operator_norm(bound) / term(statement, "over", names)
        sizes = [abs(entry) for entry in gain]
        twice = sizes.count(max(sizes)) > 1
        assert close(claim, exact_constant) == twice
        assert exact_constant <= claim
    assert term(statement, "or all gains are") == 0
    statement.says("occurs twice (or all gains are", "only centred steps")


@reads("settled-length")
def the_core_is_shorter_than_the_root_of_d(statement):
    names = layer([10**9 * entry for entry in (1, -1, 1, -1)], 1)
    length, bound = names["u"].norm(), term(statement, "shorter than", names)
    claims = [*re.findall(r"core (?:is )?at most (\d)", statement.text), term(statement, "was derived with")]
    assert [sympy.sympify(claim) for claim in claims] == [1, 1, 1]
    assert 1 < length < bound
    assert close(length, bound, R(1, 10**8))
    statement.says("at most 1 long?", "at most 1 long.*")


@reads("settled-coordinate")
def no_coordinate_reaches_the_root_of_d(statement):
    for eps in (0, 1):
        names = layer((10**9, 0, 0, 0), eps)
        bound = term(statement, "stays below", names)
        assert close(names["u"][0], bound) == (eps == 0) == chain_holds(statement.tex("At"), names)
        assert close(names["u"][0], bound, R(1, 10**8))
        assert bound < term(statement, "can reach", names)
    statement.says("It stays below")


@reads("settled-sphere")
def the_cores_lie_on_a_sphere_without_epsilon(statement):
    for eps in (0, 1):
        names = layer(SPREAD, eps)
        on_it = close(names["u"].norm(), term(statement, "the sphere of radius", names))
        assert on_it == chain_holds(statement.tex("only if**"), names)
    statement.says("that are not constant lie")


@reads("settled-scale-lost")
def the_core_keeps_the_scale(statement):
    for eps in (0, 2):
        names = layer(SPREAD, eps)
        assert (core(2 * names["z"], eps) == names["u"]) == chain_holds(statement.tex("only if**"), names)
    holds(statement, 1, names, start="Otherwise")
    statement.says("Otherwise only the mean is", "the stream keeps mean and scale", "the branch that does not see them")


@reads("settled-finite")
def a_long_step_passes_a_steeper_place(statement):
    names = layer((-1, 1), R(1, 100))
    step = Matrix([2, -2])
    amplified = (core(names["z"] + step, R(1, 100)) - names["u"]).norm() / step.norm()
    assert amplified > operator_norm(names["J"])
    statement.says("by more than $\\|J(z)\\|_2$")


@reads("settled-network")
def bounds_multiply(statement):
    names = layer(FLAT, R(1, 4))
    for k in (1, 2, 3):
        assert same(operator_norm(names["J"] ** k), term(statement, "have the norm", names | {"k": k}))


@reads("settled-linear")
@reads("settled-tiny")
def the_error_of_the_linear_map(statement):
    names = layer((R(-1, 100), 0, R(1, 100)), 1)
    verdict_on_linear = statement.label == "settled-linear"
    linear = term(statement, "the core is" if verdict_on_linear else "what comes out is", names)
    error = (linear - names["u"]).norm() / names["u"].norm()
    bound = term(statement, "relative error " + ("below" if verdict_on_linear else "is below"), names)
    assert R(99, 100) * bound < error < bound
    if not verdict_on_linear:
        huge = layer((10**9, 0, 0, 0), 1)
        coordinate = term(statement, "no core coordinate reaches", huge)
        assert huge["u"][0] < coordinate < huge["v"][0]
        assert close(huge["u"][0], coordinate, R(1, 10**8))
        statement.says("no core coordinate reaches")
        assert re.findall(r"taken for (\d)", statement.text) == ["0", "0"]


@reads("settled-eps-half")
def what_float16_stores_of_an_epsilon(statement):
    bound = term(statement, "everything up to")
    assert np.float16(float(bound)) == float(term(statement, "is stored as")) == 0
    assert np.float16(float(bound) * (1 + 2**-10)) > 0
    assert statement.tex("and", 0) == "0/0"
    assert statement.text.startswith("Does every ε > 0 prevent 0/0?")
    statement.says("With every ε > 0 no constant row", "In float16 everything", "needs no more than")
    holds(statement, 1, {r"\varepsilon": R(1, 10**9)})


@reads("settled-outside-safe")
def the_slopes_at_a_constant_row(statement):
    eps = R(1, 10**5)
    names = layer(FLAT, eps)
    inside = term(statement, "far above", names)
    assert close(inside, names["J"])
    h, step = Matrix([1, -1, 0]), R(1, 10**30)
    outside = step * h / (sqrt((step * h).dot(step * h) / 3) + eps) / step
    assert close(outside, term(statement, "the derivative is", names) * h, R(1, 10**15))
    assert operator_norm(names["P"] / eps) > 100 * operator_norm(inside)
    assert term(statement, "slope of the root at") == 0
    assert term(statement, "slope of the root at", number=1) == 0
    statement.says("far above")


@reads("settled-one-pass")
def one_pass_is_right_on_paper(statement):
    z = Matrix(SPREAD)
    names = {r"\overline{z^2}": z.dot(z) / 3, r"\mu": sum(z) / 3}
    centred = [term(statement, "as good as the mean of", {"z": entry, r"\mu": sum(z) / 3}) for entry in z]
    assert same(term(statement, "In floating point", names), sum(centred) / 3)
    row = np.array([40000, 40001, 40002, 40003], np.float32)
    near = np.float32(float(term(statement, "numbers near", {r"\mu": sum(map(int, row)) / R(4)})))
    assert abs((row * row).mean() - near) < near / 1000
    assert (row * row).mean() - row.mean() ** 2 < 0
    assert re.match(r"Is the mean of z² minus μ² as good", statement.text)


@reads("settled-range")
def squares_are_beyond_float16(statement):
    top = int(np.finfo(np.float16).max)
    square = statement.tex("input's size:")
    assert term(statement, "input's size:") > top > 255**2
    assert square == "256^2"
    assert term(statement, "a variance of") > top
    statement.says("the squares in its variance do too", r"$246\,419$")


@reads("settled-fold-next")
def gain_and_bias_fold_into_the_next_matrix(statement):
    names = layer(SPREAD, 1, (2, R(1, 2), 1), (1, -1, 3), A=Matrix([[1, 0, 2], [0, 3, -1]]), c=Matrix([1, -1]))
    names[r"A\operatorname{diag}\gamma"] = names["A"] * sympy.diag(*names[r"\gamma"])
    assert holds(statement, 1, names)
    statement.says("nothing else reads the output", "they do not fold")


@reads("settled-fold-back")
def what_the_layer_before_cannot_give(statement):
    d = 4
    for names in (layer((1, 2, 4, 9), R(1, 9)), layer((0, 0, 0, 1), 3)):
        assert sum(names["u"]) == term(statement, "the core has the mean", names)
        assert names["u"].norm() < term(statement, "shorter than", names)
    assert d == names["d"]


@reads("settled-decay")
def where_decay_pulls_a_stored_number(statement):
    gain, kept = R(5), 1 - R(re.search(r"Ten steps at \$([\d.]+)\$", statement.text)[1])
    less = term(statement, "Where", {r"\gamma": gain})
    assert close(kept**10000 * less + (gain - less), term(statement, "it pulls the gain to"), R(1, 10**40))
    assert [int(digit) for digit in re.findall(r"pulls? the gain to (\d)", statement.text)] == [0, 0]
    assert re.match(r"Does weight decay pull the gain to (\d)\?", statement.text)[1] == "0"
    assert kept == R("0.99")


@reads("settled-stored")
def a_stored_number_read_both_ways(statement):
    gain = R(11, 10)
    stored = term(statement, "Some store", {r"\gamma": gain})
    assert stored + term(statement, "without adding") == gain
    assert same(stored, term(statement, "A stored"))
    statement.says("Some store", "give no error")


@reads("settled-ex-network")
def the_three_changes_of_the_network(statement):
    statement.says(
        "leave every output of the network as it is", "(a) does not, unless", "(b) does:", "(c) does:", "to every row"
    )
    W, b, x = Matrix([[1, 2], [0, 1], [3, -1]]), Matrix([1, 0, 0]), Matrix([2, 1])
    for eps in (0, 1):
        names = layer(W * x + b, eps, (2, 1, 3), (1, 0, 2), A=Matrix([[1, 0, 2]]))
        doubled = core(2 * (W * x + b), eps)
        assert close(doubled, names["u"]) == chain_holds(statement.tex("(a) does not, unless"), names)
        out = term(statement, "(b) does:", names)
        assert close(out, ((names["A"] / 2) * (2 * names["y"]))[0])
        P, p = names["P"], W.T * sympy.ones(3, 1) / 3
        assert close(core(P * W * x + P * b, eps), names["u"])
        assert close(P * W, W + sympy.ones(3, 1) * term(statement, "adds the row", {"p": p}))


@reads("settled-own-output")
def the_core_is_monotone(statement):
    statement.says("for $d \\ge 2$", "no such step goes unseen")
    z = Matrix([1, 2, 4])
    for rise in (R(1, 1000), 1, 1000):
        assert core(z + Matrix([rise, 0, 0]), 1)[0] > core(z, 1)[0]
    assert holds(statement, 1, layer((1, 2), 1))
    assert core((5,), 1) == core((6,), 1)
