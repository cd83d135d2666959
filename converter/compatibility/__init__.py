"""Checks which versions of MindSpore Lite can run a file on the CPU.

`versions` lists the versions, `kernel_types` the element types of their kernels, and `conditions` further requirements
of operators; `check_versions` checks a model with them. `passes/target` rewrites a model for one version.
"""

from mslite.converter.compatibility.check import VersionSupport, check_versions, refusals
from mslite.converter.compatibility.versions import Version

__all__ = ["Version", "VersionSupport", "check_versions", "refusals"]
