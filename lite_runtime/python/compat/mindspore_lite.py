"""Makes mslite available as `mindspore_lite`, for programs that are written for MindSpore Lite.

This is a module and not a package. If MindSpore Lite is installed, Python imports its package first, and none of its
files is overwritten. Importing this file raises ImportError if MindSpore Lite is installed.
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
            f"MindSpore Lite {version} is installed, so mslite cannot be imported as mindspore_lite. "
            "Import mslite instead, or uninstall mslite-compat or mindspore-lite."
        )


_refuse_beside_the_original()
__version__ = mslite.__version__
__all__ = list(mslite.__all__)


def __getattr__(name: str) -> Any:
    return getattr(mslite, name)
