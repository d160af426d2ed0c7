"""The table of the page on floating point is what the peers, as they are locked, compute."""

import numpy as np
import pytest
from floating import RECORD, cell, error, inputs, peers

ROWS = {
    line[0]: line[1:]
    for line in ([c.strip() for c in row.split("|")[1:-1]] for row in RECORD.read_text("utf-8").splitlines())
}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def number(text):
    """What a cell says: 900, or 5·10⁹."""
    digit, _, power = text.partition("·10")
    return float(digit) * 10.0 ** int(power.translate(RAISED) or 0)


def test_the_table_has_these_peers():
    assert list(ROWS)[2:] == list(peers())


@pytest.mark.parametrize("name", list(ROWS)[2:])
def test_a_row_of_the_table(name):
    layer_norm = peers()[name]
    for recorded, (z, eps) in zip(ROWS[name], inputs(), strict=True):
        if recorded in ("right", "NaN", "zeros"):
            assert cell(layer_norm, z, eps) == recorded
        else:  # the last digits depend on the machine's order of addition
            units, got = error(layer_norm, z, eps)
            assert np.isfinite(got).all() and number(recorded) / 8 < units < number(recorded) * 8
