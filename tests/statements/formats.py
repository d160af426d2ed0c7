"""Readings of the formats that statements name: each exists and has as many bits as its name says."""

import re

import ml_dtypes
import numpy as np

from statements import reads
from statements import statements as all_statements

FORMAT = re.compile(r"(b?float)(\d+)|IEEE (\d+)", re.IGNORECASE)


def the_formats_named(statement):
    for family, bits, standard in FORMAT.findall(statement.text):
        if standard:
            assert standard == "754"
        else:
            named = np.dtype(getattr(ml_dtypes if family.lower() == "bfloat" else np, f"{family}{bits}".lower()))
            assert 8 * named.itemsize == int(bits)


for label, statement in all_statements().items():
    if FORMAT.search(statement.text):
        reads(label)(the_formats_named)
