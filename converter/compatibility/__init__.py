"""Checks which versions of MindSpore Lite can run a file on the CPU.

`versions` lists the versions, `kernel_types` the element types of their kernels, and `conditions` further requirements
of operators; `judge` checks a model with them. `passes/target` rewrites a model for one version.
"""

from mslite.converter.compatibility.judge import Verdict, judge, refusals
from mslite.converter.compatibility.versions import Version

__all__ = ["Verdict", "Version", "judge", "refusals"]
