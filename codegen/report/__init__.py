"""Report on a generated project: flash, RAM, stack, cost of each layer, and a chart of the memory plan."""

from mslite.codegen.report.figures import Figures, gather
from mslite.codegen.report.measure import Measured, Unmeasured, measure
from mslite.codegen.report.misra import NOT_ASKED, Misra, check_misra
from mslite.codegen.report.page import print_report, report_files

__all__ = [
    "NOT_ASKED", "Figures", "Measured", "Misra", "Unmeasured", "check_misra", "gather", "measure", "print_report",
    "report_files",
]  # fmt: skip
