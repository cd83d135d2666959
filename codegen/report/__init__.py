"""Report on a generated project: flash, RAM, stack, cost of each layer, and a chart of the memory plan."""

from mslite.codegen.report.measure import CodeSize, NotMeasured, measure
from mslite.codegen.report.misra import NOT_CHECKED, Misra, check_misra
from mslite.codegen.report.page import print_report, report_files
from mslite.codegen.report.report_data import ReportData, gather

__all__ = [
    "NOT_CHECKED",
    "CodeSize",
    "Misra",
    "NotMeasured",
    "ReportData",
    "check_misra",
    "gather",
    "measure",
    "print_report",
    "report_files",
]  # fmt: skip
