"""mslite: converts trained models to `.ms` files and runs them. The names are those of MindSpore Lite's Python API."""

from __future__ import annotations

TYPE_CHECKING = False  # for type checkers True; importing `typing` takes longer than all the rest
if TYPE_CHECKING:
    from typing import Any

    from mslite.context import Context
    from mslite.converter.converter_api import Converter
    from mslite.converter.options import FmkType
    from mslite.digest import verify_digest
    from mslite.model import Model, ModelParallelRunner
    from mslite.plugin import load_plugin
    from mslite.tensor import Tensor, TensorMeta
    from mslite.types import DataType, Format, ModelType

__version__ = "0.1.0"

_LAZY = {
    "Context": "mslite.context",
    "Converter": "mslite.converter.converter_api",
    "DataType": "mslite.types",
    "FmkType": "mslite.converter.options",
    "Format": "mslite.types",
    "Model": "mslite.model",
    "ModelParallelRunner": "mslite.model",
    "ModelType": "mslite.types",
    "Tensor": "mslite.tensor",
    "TensorMeta": "mslite.tensor",
    "load_plugin": "mslite.plugin",
    "verify_digest": "mslite.digest",
}
"""Loaded on first use: the converter needs packages that a program which only runs models does not, and programs begin
without any (`programs.py`)."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'mslite' has no attribute {name!r}")
    from importlib import import_module

    try:
        value = getattr(import_module(_LAZY[name]), name)
    except ModuleNotFoundError as error:
        from mslite.extras import remedy

        advice = remedy(error)
        if advice is None:
            raise
        raise ImportError(f"mslite.{name}: {advice}") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


__all__ = [
    "Context",
    "Converter",
    "DataType",
    "FmkType",
    "Format",
    "Model",
    "ModelParallelRunner",
    "ModelType",
    "Tensor",
    "TensorMeta",
    "load_plugin",
    "verify_digest",
]
