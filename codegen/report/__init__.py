"""The report about a generated project: flash, RAM, stack, work by layer, and a picture of the memory plan."""

from mslite.codegen.report.figures import Figures, gather
from mslite.codegen.report.measure import Measured, Unmeasured, measure
from mslite.codegen.report.page import print_report, write_report

__all__ = ["Figures", "Measured", "Unmeasured", "gather", "measure", "print_report", "write_report"]
