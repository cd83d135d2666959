"""Imports torchvision and timm for their network definitions.

If torchvision was built for another build of PyTorch (such as CUDA instead of CPU), its own operators do not load, and the import fails
at each operator that torchvision registers. No network here uses these operators, so it is enough to declare their names.
"""

from __future__ import annotations

import importlib
import re
import sys

import torch

_ABSENT = re.compile(r"operator torchvision::(\w+) does not exist")
_DECLARATIONS: list[torch.library.Library] = []
"""Keeps the libraries alive: a declaration is removed when its library object is deleted."""


def _imported(declared: frozenset[str] = frozenset()) -> None:
    """Imports torchvision. Declares each missing operator that the import needs, and imports again."""
    try:
        importlib.import_module("torchvision")
    except RuntimeError as error:
        absent = _ABSENT.search(str(error))
        if absent is None or absent[1] in declared:
            raise
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        _DECLARATIONS.append(torch.library.Library("torchvision", "FRAGMENT"))
        _DECLARATIONS[-1].define(f"{absent[1]}(Tensor boxes) -> Tensor")
        _imported(declared | {absent[1]})


_imported()

import timm  # noqa: E402
import torchvision  # noqa: E402

__all__ = ["timm", "torchvision"]
