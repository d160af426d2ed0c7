"""The same facts where digits are easily lost: far from zero, where squares leave the range, over many positions."""

from fractions import Fraction

from lnbook.conformance import exact
from lnbook.conformance.statements import EPS, FLOATING_POINT, Z, offset, spread, states, together


@states("shift-example", FLOATING_POINT, "(1, 2, 3) and (101, 102, 103) have the core (-1, 0, 1) at eps = 1/3")
def shift_example(layer):
    return layer.y([[1, 2, 3], [101, 102, 103]], eps=Fraction(1, 3))


@states("shift-exact/near", FLOATING_POINT, "the same at an offset that takes a quarter of the digits")
def shift_exact_near(layer):
    return layer.y(offset(layer, 1), eps=1e-5)


@states("shift-exact/middle", FLOATING_POINT, "the same at an offset that takes half of the digits")
def shift_exact_middle(layer):
    return layer.y(offset(layer, 2), eps=1e-5)


@states("shift-exact/far", FLOATING_POINT, "the same at an offset that takes three quarters of the digits")
def shift_exact_far(layer):
    return layer.y(offset(layer, 3), eps=1e-5)


@states("eps-constant-input/large", FLOATING_POINT, "256 entries of 1234 have the core 0")
def eps_constant_input_large(layer):
    return layer.y([[1234] * 256], eps=1e-5)


@states("eps-scaling/large", FLOATING_POINT, "(1, 2, 3, 4) times a number whose square is too large for the dtype")
def eps_scaling_large(layer):
    return layer.y([[c * 2.0 ** (layer.max_exponent * 25 // 32) for c in (1, 2, 3, 4)]], eps=1e-5)


@states("eps-scaling/small", FLOATING_POINT, "a small z with a small eps has the core of z with eps")
def eps_scaling_small(layer):
    k = layer.max_exponent * 25 // 64
    return layer.y(Z * Fraction(1, 2**k), eps=EPS / 4**k)


STEP = Fraction(1, 1000)


@states(
    "sens-finite", FLOATING_POINT, "from (7, 7), the step (1, -1)/1000 is amplified 99.5 and 9.9995 times", stretch=2000
)
def sens_finite(layer):
    moved = [[7 + STEP, 7 - STEP]]
    changes = [layer.y(moved, eps=eps) - layer.y([[7, 7]], eps=eps) for eps in (1e-4, 1e-2)]
    return together(*(exact.length(change) / (exact.root(Fraction(2)) * STEP) for change in changes))


@states("gain-input-jacobian/middle", FLOATING_POINT, "J (gain * g) at an offset of half of the digits", uses_vjp=True)
def gain_input_jacobian_middle(layer):
    return layer.dz(offset(layer, 2), [spread(1000)[-768:]], 1 + spread(768) / 4, eps=1e-5)


@states("sum-stalls", FLOATING_POINT, "the gradient by the bias over 4096 positions of 1 is 4096", uses_vjp=True)
def sum_stalls(layer):
    return layer.dbias([[-1, 1]] * 4096, [[1, 1]] * 4096, eps=1)


@states("largest-coordinate/one", FLOATING_POINT, "at d = 1 the gradients by input and gain are 0", uses_vjp=True)
def largest_coordinate_one(layer):
    z, g = [[33333]], [[1]]
    return together(layer.dz(z, g, [2], [3], eps=1e-5), layer.dgain(z, g, [2], [3], eps=1e-5))
