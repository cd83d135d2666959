"""NumPy reference implementations of the operators, and the test cases of the kernels; one module per family."""

from __future__ import annotations

import importlib
import pkgutil

from ._declare import CASES, REFERENCES, Array, Case, Inputs

# The modules draw from one random generator: the order of their names decides which values a case gets.
for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["CASES", "REFERENCES", "Array", "Case", "Inputs"]
