"""torchvision and timm, of which only the definitions of networks are needed.

torchvision's own operators may be of another build of PyTorch than the one that is installed (of CUDA beside one for the CPU): then they
do not load, and the import ends at each that it describes. No network here uses them, so that a declaration of their names is enough.
"""

from __future__ import annotations

import importlib
import re
import sys

import torch

_ABSENT = re.compile(r"operator torchvision::(\w+) does not exist")
_DECLARATIONS: list[torch.library.Library] = []
"""Kept: a declaration ends with its object."""


def _imported(declared: frozenset[str] = frozenset()) -> None:
    """Imports torchvision; declares each operator that is asked for and not there."""
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
