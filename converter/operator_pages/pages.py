"""The text of both pages."""

from __future__ import annotations

from mslite.converter.operator_pages.kernels import kernel_facts
from mslite.converter.operator_pages.matrix import matrix
from mslite.converter.operator_pages.matrix_page import matrix_page
from mslite.converter.operator_pages.reference_page import reference_page
from mslite.converter.operator_pages.source_operators import source_operators


def pages() -> dict[str, str]:
    """File name -> text."""
    kernels, sources = kernel_facts(), source_operators()
    return {
        "operators.md": matrix_page(matrix(kernels), sources),
        "operators_reference.md": reference_page(kernels, sources),
    }
