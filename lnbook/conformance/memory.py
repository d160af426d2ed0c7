"""The same facts where only the memory differs: how arrays are laid out, and that no array is written over."""

from lnbook.conformance.statements import (
    BIAS,
    EPS,
    GAIN,
    MEMORY,
    ONE,
    G,
    Z,
    array,
    positions,
    states,
    together,
)

GAIN_AND_BIAS = {"gain": "strided", "bias": "strided"}


@states("def-output/strided", MEMORY, "the same where z is every second entry, row by row, of a larger array")
def def_output_strided(layer):
    return layer.y(Z, GAIN, BIAS, eps=EPS, laid={"z": "strided"})


@states("def-output/reversed", MEMORY, "the same where z is read backwards from an array in reverse order")
def def_output_reversed(layer):
    return layer.y(Z, GAIN, BIAS, eps=EPS, laid={"z": "reversed"})


@states("def-output/permuted", MEMORY, "the same where the axes of z are permuted, at two axes and at three")
def def_output_permuted(layer):
    three_axes = positions(8).reshape(2, 4, 3)
    return together(*(layer.y(z, GAIN, BIAS, eps=EPS, laid={"z": "permuted"}) for z in (Z, three_axes)))


@states("def-output/unaligned", MEMORY, "the same where z starts at an odd address")
def def_output_unaligned(layer):
    return layer.y(Z, GAIN, BIAS, eps=EPS, laid={"z": "unaligned"})


@states("def-output/read-only", MEMORY, "the same where z, gain and bias must not be written to")
def def_output_read_only(layer):
    return layer.y(Z, GAIN, BIAS, eps=EPS, laid=dict.fromkeys(("z", "gain", "bias"), "read-only"))


@states("def-output/strided-parameters", MEMORY, "the same where gain and bias are every second entry of larger arrays")
def def_output_strided_parameters(layer):
    return layer.y(Z, GAIN, BIAS, eps=EPS, laid=GAIN_AND_BIAS)


@states("def-output/arguments", MEMORY, "after a call z, gain and bias are what they were")
def def_output_arguments(layer):
    return together(*(layer.arguments_after_y(z, GAIN, BIAS, eps=EPS) for z in (Z, [Z, 2 * Z], positions(32))))


@states("def-output/kept", MEMORY, "an output is still the same after the next call")
def def_output_kept(layer):
    return layer.y_read_after_the_next_call(Z, 2 - Z, GAIN, BIAS, eps=EPS)


@states("gain-input-jacobian/strided", MEMORY, "the gradients where z is strided", uses_vjp=True)
def gain_input_jacobian_strided(layer):
    return layer.gradients(Z, G, GAIN, eps=EPS, laid={"z": "strided"})


@states("gain-input-jacobian/strided-g", MEMORY, "the gradients where g is strided", uses_vjp=True)
def gain_input_jacobian_strided_g(layer):
    return layer.gradients(Z, G, GAIN, eps=EPS, laid={"g": "strided"})


@states("gain-input-jacobian/permuted", MEMORY, "the gradients where the axes of z and g are permuted", uses_vjp=True)
def gain_input_jacobian_permuted(layer):
    return layer.gradients(Z, G, GAIN, eps=EPS, laid={"z": "permuted", "g": "permuted"})


@states("gain-input-jacobian/reversed", MEMORY, "the gradients where z and g are read backwards", uses_vjp=True)
def gain_input_jacobian_reversed(layer):
    return layer.gradients(Z, G, GAIN, eps=EPS, laid={"z": "reversed", "g": "reversed"})


@states("gain-input-jacobian/read-only", MEMORY, "the gradients where nothing may be written to", uses_vjp=True)
def gain_input_jacobian_read_only(layer):
    return layer.gradients(Z, G, GAIN, eps=EPS, laid=dict.fromkeys(("z", "gain", "bias", "g"), "read-only"))


@states(
    "bias-positions/expanded",
    MEMORY,
    "the gradients where every entry of g is the same number in memory",
    uses_vjp=True,
)
def bias_positions_expanded(layer):
    return layer.gradients(Z, array([ONE] * 3), GAIN, eps=EPS, laid={"g": "expanded"})


@states("gain-input-jacobian/arguments", MEMORY, "after a vjp z, gain, bias and g are what they were", uses_vjp=True)
def gain_input_jacobian_arguments(layer):
    rows = ((Z, G), ([Z, 2 * Z], [G, G]))
    return together(*(layer.arguments_after_vjp(z, g, GAIN, BIAS, eps=EPS) for z, g in rows))
