"""Checks the configuration of a Keras model: it names classes and functions, and could run code of an untrusted
model."""

from __future__ import annotations

import json
import re
from typing import Any

from mslite.converter.text_shortening import quoted

_RUNS_CODE = frozenset({"Lambda", "__lambda__", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"})
_LOADS_FILES = frozenset({"TFSMLayer"})
_CALLS_MEMBERS = frozenset({"ClassMethod", "InstanceMethod", "InstanceProperty", "__typespec__"})
_CALLS_BY_NAME = frozenset({"TFOpLambda", "SlicingOpLambda"})
_ROOMS = (
    "activations|applications|backend|constraints|dtype_policies|engine|initializers|layers|losses|metrics|mixed_precision"
    "|models|ops|optimizers|random|regularizers"
)
_MODULE = re.compile(rf"builtins|(keras|tf_keras|tensorflow\.keras)(\.src|\.api)?(\._tf_keras)?(\.({_ROOMS})(\.\w+)*)?")
_TENSORFLOW = re.compile(
    r"(compat\.v1\.)?((math|nn|image|linalg|signal|bitwise|__operators__)\.\w+"
    r"|(reduce_\w+|abs|add|add_n|argmax|argmin|batch_to_space|boolean_mask|broadcast_to|cast|clip_by_value|concat|cos|cumsum"
    r"|convert_to_tensor|cond|constant|divide|einsum|equal|exp|expand_dims|fill|floor|gather|gather_nd|greater|greater_equal"
    r"|identity|less|less_equal|linspace|logical_and|logical_not|logical_or|matmul|maximum|meshgrid|minimum|multiply|negative"
    r"|norm|not_equal|one_hot|ones|ones_like|pad|pow|range|rank|realdiv|repeat|reshape|reverse|roll|round|scalar_mul|scatter_nd"
    r"|sequence_mask|shape|sigmoid|sign|sin|size|slice|sort|space_to_batch|split|sqrt|square|squeeze|stack|stop_gradient"
    r"|strided_slice|subtract|tanh|tensordot|tensor_scatter_nd_update|tile|transpose|truediv|unstack|where|zeros|zeros_like))"
)
_REMEDY = "Replace it by Keras layers, or export the model to a GraphDef (.pb) yourself"
_LONGEST = 1 << 28


class UnsafeKerasModel(ValueError):
    """A model would run code, load modules or read files; `str()` is the reason and the remedy."""


def check_keras_config(text: str | bytes) -> None:
    """Checks the JSON text of a model's configuration. Raises UnsafeKerasModel."""
    try:
        if len(text) > _LONGEST:
            raise ValueError("too long")
        config = json.loads(text)
    except (ValueError, RecursionError):
        raise UnsafeKerasModel("its configuration is damaged, or nested too deeply") from None
    work: list[Any] = [config]
    while work:
        value = work.pop()
        if isinstance(value, dict):
            _check_object(value)
            work.extend(value.values())
        elif isinstance(value, list):
            work.extend(value)


def _check_object(value: dict[str, Any]) -> None:
    kind, module = value.get("class_name"), value.get("module")
    config = value.get("config")
    fields = config if isinstance(config, dict) else {}
    if isinstance(kind, str):
        kind = kind.rpartition(">")[2]
        name = quoted(str(fields.get("name") or value.get("name") or kind))
        if kind in _RUNS_CODE:
            raise UnsafeKerasModel(f"the layer {name} ({kind}) contains Python code, which is not run. {_REMEDY}")
        if kind in _LOADS_FILES:
            raise UnsafeKerasModel(f"the layer {name} ({kind}) loads another file. {_REMEDY}")
        if kind in _CALLS_MEMBERS:
            raise UnsafeKerasModel(
                f"{name} ({kind}) refers to members of Python objects, which are not called. {_REMEDY}"
            )
        function = fields.get("function")
        if kind in _CALLS_BY_NAME and not (isinstance(function, str) and _TENSORFLOW.fullmatch(function)):
            raise UnsafeKerasModel(
                f"the layer {name} calls {quoted(str(function))}, which is not a known operator. {_REMEDY}"
            )
    if value.get("function_type") == "lambda" or value.get("output_shape_type") == "lambda":
        raise UnsafeKerasModel(f"a layer contains Python code, which is not run. {_REMEDY}")
    if "class_name" in value and module is not None and not (isinstance(module, str) and _MODULE.fullmatch(module)):
        raise UnsafeKerasModel(
            f"{quoted(str(kind))} is from the module {quoted(str(module))}, which is not imported. {_REMEDY}"
        )
    if isinstance(value.get("vocabulary"), str):
        raise UnsafeKerasModel(f"a layer reads its vocabulary from the file {quoted(value['vocabulary'])}. {_REMEDY}")
