"""Plug-ins: shared libraries with kernels of custom operators."""

from __future__ import annotations

import os
from pathlib import Path

from mslite import _runtime


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Loads a plug-in. Models that are built later can use its kernels. The plug-in stays loaded.

    Raises RuntimeError with the reason if the file cannot be loaded.
    """
    _runtime.load_plugin(str(Path(path).absolute()))
