"""Requirements of MindSpore Lite's CPU kernels beyond the element type. One module per family of operators.

A node that does not meet them is refused when the model is built or run, or is computed incorrectly without an error.
"""

from __future__ import annotations

import importlib
import pkgutil

from mslite.converter.compatibility.conditions._declare import CONDITIONS, Condition

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["CONDITIONS", "Condition"]
