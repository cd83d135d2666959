"""`import mindspore_lite` means mslite, for programs written for MindSpore Lite.

This is one file, not a package: where the original is installed, Python finds the original first, and nothing of it is
overwritten. Raises ImportError when this file is reached although the original is installed.
"""

from __future__ import annotations

from importlib import metadata
from typing import Any

import mslite


def _refuse_beside_the_original() -> None:
    for name in ("mindspore-lite", "mindspore_lite"):
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        raise ImportError(
            f"MindSpore Lite {version} is installed, so mslite does not take its name. "
            "Import mslite instead, or uninstall mslite-compat or mindspore-lite."
        )


_refuse_beside_the_original()
__version__ = mslite.__version__
__all__ = list(mslite.__all__)


def __getattr__(name: str) -> Any:
    return getattr(mslite, name)
