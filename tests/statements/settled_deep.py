"""Readings of the verdicts on layers in a deep network."""

import sympy
from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, layer, same, term, value
from statements.in_a_deep_network import ROWS, cases_of_dropout, core, found, jacobian, relu, variance

R = Rational


@reads("settled-post-vanishes")
def a_core_that_passes_unchanged(statement):
    assert found(statement, r"\$F\(x\) = (x)\$ and \$\\varepsilon = (\d)\$") == ("x", "0")
    x, w = ROWS[0], ROWS[2]
    assert close(core(2 * x, 0), x) and close(jacobian(2 * x, 0) * 2 * w, w)
    statement.says(
        "whatever the branches do", "The {term}`skip path` does", "the gradient need not", "every block unchanged"
    )


@reads("settled-pre-vanishes")
def a_direction_that_is_lost(statement):
    x = value(found(statement, r"at \$x = (.*?)\$")[0])
    eps = value(found(statement, r"\\varepsilon = (.*?)\$")[0])
    lost, to = found(statement, r"it sends \$(\([^$]*)\$ to \$(\d)\$")
    D = sympy.eye(3) - jacobian(x, eps)
    assert close(D * value(lost), int(to)) and close(D * sympy.ones(3, 1), sympy.ones(3, 1))
    assert found(statement, r"F\(y\) = (-y)\$ it is \$(I - J)\$")
    statement.says("multiplies no direction by 0", "Only the direction $\\mathbf{1}$ is safe, and it always is")


@reads("settled-gradient-sum")
def the_sum_is_kept(statement):
    W, g = Matrix([[1, 0, 2], [0, 3, -1], [1, 1, 0]]), Matrix([1, 5, -2])
    D = sympy.eye(3) + W * jacobian((1, 2, 6), R(1, 3))
    assert close(sum(D.T * g), sum(g))
    assert close(sum(jacobian((1, 2, 6), R(1, 3)) * g), term(statement, "Below a final norm it is"))
    statement.says("the same sum for every $l$")


@reads("settled-stream-exponential")
def growth_is_linear(statement):
    statement.says("growth is at most linear, the variance at most quadratic, and linear for orthogonal branches")
    statement.says("can grow exponentially", "each block adds a bounded length", "bounded length on bounded inputs")


@reads("settled-output-norm")
def the_bound_on_what_is_added(statement):
    names = layer((9, -9, 1), R(1, 10**6), (2, -3, 1), (1, 0, 2)) | {"i": 1}
    bound = found(statement, r"adds at most \$(.*?)\$")[0]
    assert names["y"].norm().evalf(30) <= value(bound, names).evalf(30)
    assert same(value(bound, names), 3 * sqrt(3) + sqrt(5))
    statement.says("does not depend on the number of blocks", "whatever $F$ is")


@reads("settled-no-final-norm")
def rows_of_one_sum(statement):
    statement.says(
        "only if** all rows of $A$ have the same sum", "does not see a common shift of $x_0$", "for every head"
    )


@reads("settled-second-norm")
def when_a_second_norm_changes_nothing(statement):
    condition = found(statement, r"coordinates with \$(c\^2 = [^$]*)\$")[0]
    eps, bias = found(statement, r"first layer has \$\\varepsilon = (\d)\$, \$\\beta = (\d)\$ and one gain")
    d = found(statement, r"output \(\$(d \\ge \d)\$\)")[0]
    assert (eps, bias) == ("0", "0") and chain_holds(d, {"d": 3}) and not chain_holds(d, {"d": 2})
    for g, second in ((1, 0), (R(-3, 4), R(7, 16)), (2, 0), (R(1, 2), R(1, 2))):
        y = g * core((1, 2, 6), 0)
        assert close(core(y, second), y) == chain_holds(condition, {"c": g, r"\varepsilon'": second})
    statement.says("whose gains are not all $0$", "for all coordinates")


@reads("settled-dropout")
def too_much_variance_in_training(statement):
    z, p = Matrix([2, -1, 3]), R(3, 4)
    excess = sum(weight * variance(case) for weight, case in cases_of_dropout(z, p)) - variance(z)
    assert same(excess, term(statement, "too large by", layer(tuple(z), 1) | {"p": p}))
    statement.says("leaves its core as it is on average", "Behind the layer the output is kept on average")


@reads("settled-dead-relu")
def some_entries_survive(statement):
    for z in ((4, 0, 0, 0), (1, 1, 1, 0), (1, -1)):
        u = core(z, R(1, 3))
        assert sum(u) == term(statement, "entries of the core add up to")
        assert 0 < sum(entry != 0 for entry in relu(u)) < len(z)
    assert found(statement, r"\\beta = (\d)\$, ReLU") == ("0",)
    statement.says("at least one entry for every input that is not constant, and silences at least one", "not all $0$")


@reads("settled-last-gradient")
def the_last_gradient_in_two_places(statement):
    fall = found(statement, r"it falls like \$(.*?)\$")[0]
    for L in (1, 12):
        stream = sqrt(L + 1) * ROWS[0]
        assert same((jacobian(stream, 0) * ROWS[2]).norm() / ROWS[2].norm(), value(fall, {"L": L}))
    assert found(statement, r"variance (\d) and \$\\varepsilon = (\d)\$") == ("1", "0")
    statement.says("It is the same at every depth", "No theorem says that {term}`warmup` is needed")


@reads("settled-placement-lipschitz")
def two_worst_cases(statement):
    pre, post = found(statement, r"They are \$(.*?)\$ and \$(.*?)\$;")
    sandwich, condition = (
        term(statement, "the sandwich has", {"k": 3, r"\varepsilon": R(1, 9)}),
        statement.tex("only if**"),
    )
    t = sympy.Symbol("t", real=True)
    assert sandwich == 1 + 3 / R(1, 9)
    for eps in (R(1, 9), 1, 9):
        names = {"k": 3, r"\varepsilon": eps}
        slope = sympy.diff(t / sqrt(t**2 + eps), t).subs(t, 0)
        assert same(value(pre, names), 1 + 3 * slope) and same(value(post, names), (1 + 3) * slope)
        assert (value(pre, names) < value(post, names)) == chain_holds(condition, names)
    statement.says("is smaller than that of post-norm blocks", "found at constant inputs")
