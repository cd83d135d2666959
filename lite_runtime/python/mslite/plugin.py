"""Plug-ins: shared objects with kernels of custom operators."""

from __future__ import annotations

import os
from pathlib import Path

from mslite import _runtime


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Loads a plug-in, whose kernels register themselves. It stays loaded; models built afterwards find its kernels.

    Raises RuntimeError, saying why, for a file that is none.
    """
    _runtime.load_plugin(str(Path(path).absolute()))
