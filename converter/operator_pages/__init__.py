"""The pages docs/operators.md and docs/operators_reference.md, written from the tables of the build.

`python -m mslite.converter.operator_pages docs` writes both. `matrix.py` and `reference_page.py` have the texts; the other
modules find out what the build supports.
"""
