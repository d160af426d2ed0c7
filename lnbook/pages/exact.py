"""The same formulas in exact arithmetic, with SymPy: what the floats are checked against."""

import sympy


def core(z, eps):
    """u = v / sqrt(q + eps) as a SymPy column, for exact or symbolic entries: (d,) -> (d, 1)"""
    z = sympy.Matrix(z)  # (d, 1)
    v = z - sympy.ones(len(z), 1) * sum(z) / len(z)  # (d, 1)
    q = sum(entry**2 for entry in v) / len(z)
    return v / sympy.sqrt(q + sympy.sympify(eps))


def layer_norm(z, gain, bias, eps):
    """y = gain * u + bias as a SymPy column: (d,) -> (d, 1)"""
    return sympy.Matrix(gain).multiply_elementwise(core(z, eps)) + sympy.Matrix(bias)


def jacobian(z, eps):
    """The Jacobian of the core at z, by differentiating the core entry by entry, not by a formula: (d,) -> (d, d)"""
    symbols = sympy.symbols(f"z1:{len(z) + 1}", real=True)
    derivative = core(symbols, eps).jacobian(sympy.Matrix(symbols))
    return sympy.simplify(derivative.subs(dict(zip(symbols, z, strict=True))))
