"""mslite: converts trained models to `.ms` files and runs them. The API has the names of MindSpore Lite's Python API."""

from __future__ import annotations

TYPE_CHECKING = False  # True for type checkers; importing `typing` would take longer than the rest of the module
if TYPE_CHECKING:
    from typing import Any

    from mslite.context import Context, RunLimits
    from mslite.converter.converter_api import Converter
    from mslite.converter.options import FmkType
    from mslite.digest import verify_digest
    from mslite.lite_infer import LiteInfer
    from mslite.meta import TensorMeta
    from mslite.model import Model
    from mslite.model_group import ModelGroup
    from mslite.parallel_runner import ModelParallelRunner
    from mslite.plugin import load_plugin
    from mslite.tensor import Tensor
    from mslite.training import MixPrecisionCfg, TrainCfg
    from mslite.types import DataType, Format, ModelGroupFlag, ModelType, OptimizationLevel, QuantizationType

__version__ = "0.1.0"

_LAZY = {
    "Context": "mslite.context",
    "Converter": "mslite.converter.converter_api",
    "DataType": "mslite.types",
    "FmkType": "mslite.converter.options",
    "Format": "mslite.types",
    "LiteInfer": "mslite.lite_infer",
    "MixPrecisionCfg": "mslite.training",
    "Model": "mslite.model",
    "ModelGroup": "mslite.model_group",
    "ModelGroupFlag": "mslite.types",
    "ModelParallelRunner": "mslite.parallel_runner",
    "ModelType": "mslite.types",
    "OptimizationLevel": "mslite.types",
    "QuantizationType": "mslite.types",
    "RunLimits": "mslite.context",
    "Tensor": "mslite.tensor",
    "TensorMeta": "mslite.meta",
    "TrainCfg": "mslite.training",
    "load_plugin": "mslite.plugin",
    "verify_digest": "mslite.digest",
}
"""The modules are imported on first use. The converter needs packages that a program which only runs models does not
need, and `programs.py` must start before any package is imported."""


if not TYPE_CHECKING:  # type checkers report names that are not imported above

    def __getattr__(name: str) -> Any:
        if name == "_codegen":  # `make demo` does not build this module
            from importlib import import_module

            return import_module("mslite._codegen")
        if name not in _LAZY:
            import sys

            # With `name` and `obj`, Python suggests a similar name.
            raise AttributeError(f"module 'mslite' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        from importlib import import_module

        try:
            value = getattr(import_module(_LAZY[name]), name)
        except ModuleNotFoundError as error:
            from mslite.extras import install_hint

            advice = install_hint(error)
            if advice is None:
                raise
            raise ImportError(f"mslite.{name}: {advice}") from error
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY} - {"TYPE_CHECKING", "annotations", "_LAZY"})


__all__ = [
    "Context",
    "Converter",
    "DataType",
    "FmkType",
    "Format",
    "LiteInfer",
    "MixPrecisionCfg",
    "Model",
    "ModelGroup",
    "ModelGroupFlag",
    "ModelParallelRunner",
    "ModelType",
    "OptimizationLevel",
    "QuantizationType",
    "RunLimits",
    "Tensor",
    "TensorMeta",
    "TrainCfg",
    "load_plugin",
    "verify_digest",
]
