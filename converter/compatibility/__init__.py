"""Which versions of MindSpore Lite run a file: what their CPU runtimes take, as facts, and the judgment of a model by them.

`versions` names them, `kernel_types` says which operators have kernels for which element types, `conditions` what else they ask
of a node; `judge` puts these together. `passes/target` rewrites a model for one of them.
"""

from mslite.converter.compatibility.judge import Verdict, judge, refusals
from mslite.converter.compatibility.versions import Version

__all__ = ["Verdict", "Version", "judge", "refusals"]
