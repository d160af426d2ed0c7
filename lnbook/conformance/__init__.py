"""Check your own layer norm: which facts of the book it keeps, how many digits it loses, which mistake it makes.

From Python, with any callable `f(z, gain, bias, eps)` on arrays, and its gradient where there is one::

    from lnbook import conformance

    report = conformance.check(my_layer_norm, vjp=my_vjp, dtype="float32")
    print(report)
    assert report.ok

In pytest, one test a fact::

    @pytest.mark.parametrize("check", conformance.checks(), ids=str)
    def test_fact(check):
        row = check.run(my_layer_norm, vjp=my_vjp, dtype="float32")
        assert row.holds, row

From the command line, with exit status 1 if a fact fails::

    python -m lnbook.conformance package.module:my_layer_norm --vjp package.module:my_vjp --dtype float32
"""

from lnbook.conformance.catalogue import known_mistakes
from lnbook.conformance.report import Check, Report, Row, check, checks

__all__ = ["Check", "Report", "Row", "check", "checks", "known_mistakes"]
