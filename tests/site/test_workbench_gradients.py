"""The workbench's verdict on gradients: right ones are right in every dtype, and of a wrong one the term is named."""

import ml_dtypes
import numpy as np
import pytest
import sympy
from workbench_tab import ask, verdict

DTYPES = {"float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
EPS = 0.3
Z, G = np.array([[1.0, 2, 4], [3, 0, 1], [2, 7, 2]]), np.array([[1.0, 0, -2], [0.5, 1, 1], [2, -1, 3]])
GAIN, BIAS = np.array([2.0, -1, 0.5]), np.array([3.0, 1, -2])


def mean(a):
    return a.mean(axis=1, keepdims=True)


V, R = Z - mean(Z), np.sqrt(Z.var(axis=1, keepdims=True) + EPS)
U, H = V / R, GAIN * G


def exact_gradients():
    """By SymPy: the derivatives of sum(g * y), of the layer written as in its definition."""
    names = [sympy.symbols(f"z{i}_0:3") for i in range(3)], sympy.symbols("a0:3"), sympy.symbols("b0:3")
    z, gain, bias = names
    eps, loss = sympy.Rational(3, 10), 0
    for i, row in enumerate(z):
        mu = sum(row) / 3
        q = sum((x - mu) ** 2 for x in row) / 3
        loss += sum(
            sympy.Rational(G[i, j]) * (gain[j] * (row[j] - mu) / sympy.sqrt(q + eps) + bias[j]) for j in range(3)
        )
    flat = [x for row in z for x in row]
    at = dict(zip([*flat, *gain, *bias], map(sympy.Rational, [*Z.ravel(), *GAIN, *BIAS]), strict=True))
    slopes = [float(sympy.diff(loss, x).subs(at)) for x in at]
    return {"dz": np.reshape(slopes[:9], (3, 3)), "dgain": np.array(slopes[9:12]), "dbias": np.array(slopes[12:])}


RIGHT = exact_gradients()


def dz_of(h=H, first=1, second=1, u=U, r=R):
    return (h - first * mean(h) - second * u * mean(h * u)) / r


def with_root(r):
    return {"dz": dz_of(u=V / r, r=r), "dgain": (G * V / r).sum(axis=0)}


INPUT = "the gradient by the input"
TWICE, ADDS = f"{INPUT} subtracts a mean term twice", f"{INPUT} adds a mean term in place of subtracting it"
NO_MEAN = "a mean over the row is missing in the gradient by the input"
BY_GAIN = "the gradient by the gain is not that of g * u"
COTANGENT = "the gradients by gain or bias are summed from another cotangent than g"
ZERO, ONE_POSITION = "a gradient is 0", "the parameter gradients are those of one position"
INVERTED = "1 / sqrt(q + eps) is inverted again"
OUTPUT_AS_CORE, BACK = "the output is taken for the core", "the core is had back as (y - bias) / gain"
FIRST, SECOND = "mean(gain * g)", "u mean(gain * g * u)"
# name and detail: what differs from the right gradients, by formulas of their own.
WRONG = {
    (f"{INPUT} lacks both mean terms", ""): {"dz": H / R},
    (f"{INPUT} lacks the term {FIRST}", ""): {"dz": dz_of(first=0)},
    (f"{INPUT} lacks the term {SECOND}", ""): {"dz": dz_of(second=0)},
    (TWICE, FIRST): {"dz": dz_of(first=2)},
    (TWICE, SECOND): {"dz": dz_of(second=2)},
    (ADDS, FIRST): {"dz": dz_of(first=-1)},
    (ADDS, SECOND): {"dz": dz_of(second=-1)},
    (ADDS, "both"): {"dz": dz_of(first=-1, second=-1)},
    (NO_MEAN, "u g u in place of u mean(g u)"): {"dz": (H - mean(H) - U * H * U) / R},
    (NO_MEAN, "u g u, and no mean(g)"): {"dz": (H - U * H * U) / R},
    (NO_MEAN, "u g u / sqrt(q + eps), and no mean(g)"): {"dz": (H - U * H * U / R) / R},
    (f"{INPUT} lacks the gain", ""): {"dz": dz_of(h=G)},
    ("the gain is applied last in the gradient by the input", ""): {"dz": GAIN * dz_of(h=G)},
    (f"{INPUT} is not divided by sqrt(q + eps)", ""): {"dz": RIGHT["dz"] * R},
    (INVERTED, ""): {"dz": RIGHT["dz"] * R**2},
    (INVERTED, "in the core as well"): with_root(1 / R),
    (f"{INPUT} is divided by d", ""): {"dz": RIGHT["dz"] / 3},
    (f"{INPUT} is multiplied by d", ""): {"dz": RIGHT["dz"] * 3},
    (f"{INPUT} has the wrong sign", ""): {"dz": -RIGHT["dz"]},
    ("eps is hard-coded in the backward pass", "agrees with eps = 1e-5"): with_root(
        np.sqrt(V.var(axis=1)[:, None] + 1e-5)
    ),
    (OUTPUT_AS_CORE, ""): {"dz": dz_of(u=GAIN * U + BIAS)},
    (BY_GAIN, "z is not centred: g * z / sqrt(q + eps)"): {"dgain": (G * Z / R).sum(axis=0)},
    (BY_GAIN, "not divided by the root: g * (z - mean)"): {"dgain": (G * V).sum(axis=0)},
    (BY_GAIN, "z in place of the core"): {"dgain": (G * Z).sum(axis=0)},
    (BY_GAIN, "the output in place of the core"): {"dgain": (G * (GAIN * U + BIAS)).sum(axis=0)},
    (COTANGENT, "gain * g for the bias"): {"dbias": H.sum(axis=0)},
    (COTANGENT, "gain * g for the gain"): {"dgain": (H * U).sum(axis=0)},
    (COTANGENT, "gain * g for both"): {"dgain": (H * U).sum(axis=0), "dbias": H.sum(axis=0)},
    (COTANGENT, "dz for the bias"): {"dbias": RIGHT["dz"].sum(axis=0)},
    (COTANGENT, "dz for the gain"): {"dgain": (RIGHT["dz"] * U).sum(axis=0)},
    (COTANGENT, "dz for both"): {"dgain": (RIGHT["dz"] * U).sum(axis=0), "dbias": RIGHT["dz"].sum(axis=0)},
    (ZERO, "by the input"): {"dz": 0 * Z},
    (ZERO, "by the gain"): {"dgain": 0 * GAIN},
    (ZERO, "by the bias"): {"dbias": 0 * BIAS},
    (ZERO, "by gain and bias"): {"dgain": 0 * GAIN, "dbias": 0 * BIAS},
    (ZERO, "by all three"): {"dz": 0 * Z, "dgain": 0 * GAIN, "dbias": 0 * BIAS},
    ("the gradients by gain and bias are swapped", ""): {"dgain": RIGHT["dbias"], "dbias": RIGHT["dgain"]},
    ("the parameter gradients are averaged over positions, not summed", ""): {
        name: RIGHT[name] / 3 for name in ("dgain", "dbias")
    },
    (ONE_POSITION, "the first"): {"dgain": G[0] * U[0], "dbias": G[0]},
    (ONE_POSITION, "the last"): {"dgain": G[2] * U[2], "dbias": G[2]},
}
ELSEWHERE = {"eps is missing in the backward pass", BACK}


def asked(tab, gradients, **more):
    ask(tab, **{"z": Z, "eps": EPS, "gain": GAIN, "bias": BIAS, "g": G} | more, **gradients)


@pytest.mark.parametrize(("name", "detail"), WRONG)
def test_each_mistake_is_named_and_no_other(tab, name, detail):
    asked(tab, RIGHT | WRONG[name, detail])
    assert verdict(tab, "gradients") == (False, [f"{name} ({detail})" if detail else name])


def test_every_mistake_that_the_workbench_knows_is_tried_here(tab):
    known = tab.evaluate(
        """() => workbench.GRADIENT_MISTAKES.flatMap(({name, before, variants}) =>
            before ? [[name, "agrees with eps = 1e-5"]] : (variants ?? [[""]]).map(([detail]) => [name, detail]))"""
    )
    tried = WRONG.keys() | {("eps is missing in the backward pass", ""), (BACK, "0 at a gain of 0")}
    assert {tuple(one) for one in known} == tried


def test_missing_epsilon_is_told_from_the_smallest_in_use(tab):
    z = Z * np.array([[1], [1e-9], [1]])
    v = z - mean(z)
    r = np.sqrt(z.var(axis=1, keepdims=True))
    asked(tab, {"dz": dz_of(u=v / r, r=r), "dgain": (G * v / r).sum(axis=0), "dbias": G.sum(axis=0)}, z=z)
    assert verdict(tab, "gradients") == (False, ["eps is missing in the backward pass"])


def test_core_had_back_from_the_output_is_lost_where_a_gain_is_0(tab):
    gain, h = np.array([0, -1, 2.0]), np.array([0, -1, 2.0]) * G
    lost = U * np.array([0, 1, 1])
    right = {"dgain": (G * U).sum(axis=0), "dbias": G.sum(axis=0)}
    asked(tab, {"dz": dz_of(h=h, u=lost), **right}, gain=gain)
    assert verdict(tab, "gradients") == (False, [f"{BACK} (0 at a gain of 0)"])
    asked(tab, {"dz": dz_of(h=h), **right}, gain=gain)
    assert verdict(tab, "gradients")[0]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_right_gradients_are_right_in_each_dtype(tab, dtype, named):
    printed = {name: a.astype(DTYPES[dtype]) for name, a in RIGHT.items()}
    if named:
        texts = {
            name: f"tensor({np.array2string(a.astype(float), separator=', ', precision=4)}, dtype=torch.{dtype})"
            for name, a in printed.items()
        }
    else:
        texts = {name: a.astype(float) for name, a in printed.items()}
    asked(tab, texts)
    assert verdict(tab, "gradients") == (True, [])
    asked(tab, texts | {"dz": 1.1 * RIGHT["dz"]}, dtype=dtype)
    assert not verdict(tab, "gradients")[0]


def in_torch(a):
    return f"tensor({np.array2string(a, separator=', ', formatter={'float': '{:.4f}'.format})})"


def test_gradients_of_numbers_that_pytorch_shows_with_four_decimals(tab):
    rng = np.random.default_rng(3)
    z, g, gain = (scale * rng.standard_normal(shape) for scale, shape in ((1, (3, 6)), (10, (3, 6)), (1, 6)))
    z = z.round(1)
    r = np.sqrt(z.var(axis=1, keepdims=True) + EPS)
    u = (z - mean(z)) / r
    right = {"dz": dz_of(gain * g, u=u, r=r), "dgain": (g * u).sum(axis=0), "dbias": g.sum(axis=0)}
    given = {"z": z, "g": in_torch(g), "gain": in_torch(gain), "bias": ""}
    asked(tab, {name: in_torch(a) for name, a in right.items()}, **given)
    assert verdict(tab, "gradients")[0]
    wrong = {"dz": in_torch(dz_of(g, u=u, r=r))}
    asked(tab, {name: in_torch(a) for name, a in right.items()} | wrong, **given)
    assert verdict(tab, "gradients") == (False, [f"{INPUT} lacks the gain"])
    # Typed, the same numbers are those the layer saw, and the gradients are not theirs.
    typed = {"g": g.round(4), "gain": gain.round(4)}
    asked(tab, {name: in_torch(a) for name, a in right.items()}, **given | typed)
    assert not verdict(tab, "gradients")[0]


def test_two_mistakes_at_once_are_both_named(tab):
    asked(tab, RIGHT | {"dz": dz_of(h=G), "dgain": (G * Z / R).sum(axis=0)})
    both = f"{INPUT} lacks the gain; and {BY_GAIN} (z is not centred: g * z / sqrt(q + eps))"
    assert verdict(tab, "gradients") == (False, [both])


def test_right_gradient_of_another_layer_is_called_that(tab):
    """Of the divisor d - 1: v / sqrt(3 q / 2 + eps), with the factor sqrt(2/3), is the core at 2 eps / 3."""
    r = np.sqrt(Z.var(axis=1, keepdims=True) + 2 * EPS / 3)
    c = np.sqrt(2 / 3)
    gradients = {"dz": c * dz_of(u=V / r, r=r), "dgain": c * (G * V / r).sum(axis=0), "dbias": G.sum(axis=0)}
    asked(tab, gradients)
    name = "the gradient is that of another layer: the variance is divided by d - 1, not d"
    assert verdict(tab, "gradients") == (False, [name])


def test_what_cannot_be_told_apart_is_listed_with_what_would_tell(tab):
    """At one position the mean over positions is the sum; without dgain nothing is known of it."""
    one = {"z": Z[0], "g": G[0]}
    asked(tab, {"dz": RIGHT["dz"][0], "dbias": G[0]}, **one)
    right, names = verdict(tab, "gradients")
    assert right
    assert "the parameter gradients are averaged over positions, not summed" in names
    assert any(name.startswith(BY_GAIN) for name in names)
    assert "To tell them apart, paste your dγ as well." in tab.locator("#wb-verdict-gradients").text_content()
    asked(tab, {"dz": RIGHT["dz"][0], "dgain": G[0] * U[0], "dbias": G[0]}, **one)
    text = tab.locator("#wb-verdict-gradients").text_content()
    assert "To tell them apart, take several positions (rows of z and g)." in text


def test_wrong_gradient_that_two_mistakes_make_is_never_guessed(tab):
    """At a gain of 1 and dz alone, a zero may be that of dz or of all three."""
    asked(tab, {"dz": 0 * Z})
    right, names = verdict(tab, "gradients")
    assert not right
    assert names == [f"{ZERO} (by the input or by all three)"]


def test_gradients_of_no_known_mistake_are_shown_beside_the_right_ones(tab):
    asked(tab, {"dbias": "9, 8, 7"})
    text = tab.locator("#wb-verdict-gradients").text_content()
    assert "none of the known mistakes makes these gradients" in text
    assert "Expected: dβ = (3.5, 0, 2)." in text  # column sums of g


def test_gradient_waits_for_g(tab):
    ask(tab, z=Z, eps=EPS, dz=Z)
    assert tab.locator("#wb-verdict-gradients").text_content().startswith("Paste g as well")
    ask(tab, z=Z, eps=EPS, dz=Z, g="1, 2")
    assert tab.locator("#wb-verdict-gradients").text_content() == ""
    assert tab.locator("#wb-g-error").text_content() == "2 numbers here, but z has 9."
