"""Readings of the exercises on layers in a deep network, and of what people get wrong about them."""

from sympy import Matrix, Rational, sqrt

from statements import reads
from statements.evaluate import chain_holds, close, given, layer, part, same, term, value
from statements.in_a_deep_network import ROWS, cases_of_dropout, core, found, jacobian, variance

R = Rational


@reads("deep-ex-two")
def two_blocks(statement):
    end = core(core(ROWS[0] + ROWS[1], 0) + ROWS[2], 0)
    shown = found(statement, r"= (\\tfrac12 x_0 \+ .*?)\$")[0]
    assert close(end, value(shown, {"x_0": ROWS[0], "f_1": ROWS[1], "f_2": ROWS[2]}))
    assert same(value(found(statement, r"Each sum has the variance \$(\d)\$")[0]), variance(ROWS[0] + ROWS[1]))
    total = ROWS[0] + ROWS[1] + ROWS[2]
    assert variance(total) == term(statement, "pre-norm the sum has the variance")
    assert close(core(total, 0), term(statement, "each has the weight") * total)


@reads("deep-ex-dropout")
def dropout_of_a_constant_row(statement):
    z, p = given(statement, "z"), given(statement, "p")
    got = sum(weight * variance(case) for weight, case in cases_of_dropout(z, p))
    chain = found(statement, r"the average is \$([^$]*)\$")[0].split("=")
    assert all(same(value(text), got) for text in chain)
    assert variance(z) == value(found(statement, r"In use \$q = (\d)\$")[0])
    assert same(sum(core(z, 1)), term(statement, "and the core is"))


@reads("deep-ex-relu")
def one_surviving_entry(statement):
    z = term(statement, "at or below it, as")
    d = given(statement, "d")
    assert d == len(z) and sum(bool(entry > 0) for entry in core(z, 0)) == 1
    largest = max(core(z, 0))
    assert all(
        same(largest, value(text, {"d": d})) for text in found(statement, r"is at most \$([^$]*)\$")[0].split("=")
    )
    threshold = found(statement, r"for \$(b [^$]*)\$, and for no smaller")[0]
    for b in (2, sqrt(3), R(17, 10)):
        silent = max(largest - b, 0) == 0
        assert chain_holds(threshold, {"b": b}) == silent


@reads("deep-ex-identity")
def which_block_can_be_the_identity(statement):
    statement.says(
        "In the three that add to $x$",
        "with $F = 0$ in pre-norm, with $\\gamma = 0$ and $\\beta = 0$ in the others",
        "Not in post-norm",
    )
    gain, bias = (2, -3, 1), (1, 0, 2)
    names = layer((9, -9, 1), R(1, 10**6), gain, bias) | {"i": 1}
    bound = found(statement, r"shorter than \$(.*?)\$")[0]
    assert names["y"].norm().evalf(30) < value(bound, names).evalf(30)
    assert same(value(bound, names), sqrt(3) * 3 + sqrt(5))


@reads("deep-ex-project")
def the_predicted_variance(statement):
    a, blocks, total = found(statement, r"About \$(\d+) \+ (\d+) = (\d+)\$")
    assert int(a) + int(blocks) == int(total) and int(a) == 1
    assert int(blocks) == int(found(statement, r"at \$(\d+)\$ blocks")[0])
    names = layer((1, 2, 6), R(1, 10**5))
    assert same(variance(names["u"]), term(statement, "has the variance", names))
    assert found(statement, r"nearly \$(\d)\$")[0] == "1"


@reads("in-a-deep-network-wrong-the-residual-may-start-behind-the")
def the_residual_behind_the_layer(statement):
    assert found(statement, r"With \$f = (\d)\$ the pre-norm block is the identity, and this one is \$u\(x\)\$") == (
        "0",
    )
    statement.says("It is no pre-norm block")


@reads("in-a-deep-network-wrong-the-gradient-of-a-post-norm")
def the_gradient_of_post_norm(statement):
    one = value(found(statement, r"dies like \$([^$]*)\$")[0], {"L": 1})
    assert close(jacobian(ROWS[0] + ROWS[1], 0) * ROWS[2], one * ROWS[2])
    x, w = ROWS[0], ROWS[2]
    assert close(core(2 * x, 0), x) and close(jacobian(2 * x, 0) * 2 * w, w)
    assert found(statement, r"F\(x\) = (x)\$ and \$\\varepsilon = (0)\$ every block divides \$(2x)\$")
    assert part(statement, "a core passes unchanged")


@reads("in-a-deep-network-wrong-with-layer-norm-in-every-block")
def the_sum_is_not_normalized(statement):
    statement.says("only what a branch is *given* is normalized; the sum is not")
    assert variance(ROWS[0] + ROWS[1]) > variance(ROWS[0])


@reads("in-a-deep-network-wrong-normalization-is-the-last-operation-before")
def two_different_maps(statement):
    meant, wrote = found(statement, r"wrote \$([^$]*)\$ where it meant \$([^$]*)\$")[::-1]
    x, factor = Matrix([1, 2, 4]), value(found(statement, r"For \$f\(x\) = (\d+)x\$")[0])
    names = {"x": x, "f": lambda y: factor * y, r"\operatorname{Norm}": lambda y: core(y, 1)}
    assert close(value(wrote, names), x + core(factor * x, 1)) and close(value(meant, names), x + factor * core(x, 1))
    statement.says("the first bounds what a block adds, the second what it is given")


@reads("in-a-deep-network-wrong-a-pre-norm-network-ends-after")
def the_head_without_the_last_norm(statement):
    statement.says("Without it the head sees the common shift and the size of the whole stream")


@reads("in-a-deep-network-wrong-gpt-uses-post-norm")
def where_gpt_2_has_its_layer(statement):
    statement.says("to the input of each sub-block and added one after the last", "pre-norm with a final norm")
