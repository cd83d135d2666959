"""What the CPU runtimes of MindSpore Lite ask of a node beyond a kernel for its type: where they would refuse the node when the
model is built or run, or compute something else without saying so. One module per family of operators."""

from __future__ import annotations

import importlib
import pkgutil

from mslite.converter.compatibility.conditions._declare import CONDITIONS, Condition

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["CONDITIONS", "Condition"]
