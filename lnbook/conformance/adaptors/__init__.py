"""Adaptors of a few lines, to import or to copy.

Each gives `layer_norm`, and `vjp` where the framework has gradients:

    from lnbook import conformance
    from lnbook.conformance.adaptors import pytorch

    print(conformance.check(pytorch.layer_norm, vjp=pytorch.vjp))

Each needs its framework, which nothing else in lnbook.conformance does.
"""
