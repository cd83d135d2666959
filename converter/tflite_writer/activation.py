"""Activations, element-wise functions, and Softmax."""

from __future__ import annotations

from typing import Any

from mslite.converter.mindir.ops.activation import Activation, Softmax
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.unary import Clip, ExpFusion

from .call import Call
from .registry import writes

_FUNCTIONS = {
    ActivationType.RELU: "RELU",
    ActivationType.RELU6: "RELU6",
    ActivationType.SIGMOID: "LOGISTIC",
    ActivationType.TANH: "TANH",
    ActivationType.HSWISH: "HARD_SWISH",
    ActivationType.LEAKY_RELU: "LEAKY_RELU",
    ActivationType.ELU: "ELU",
    ActivationType.GELU: "GELU",
}
_UNARY = {"Abs": "ABS", "ExpFusion": "EXP", "Log": "LOG", "Rsqrt": "RSQRT"}
_CLIPS = {(-1.0, 1.0): "RELU_N1_TO_1", (0.0, 1.0): "RELU_0_TO_1", (0.0, 6.0): "RELU6"}
_SMALL = 1 / 256
_RESULTS = {"LOGISTIC": (_SMALL, -128), "TANH": (1 / 128, 0), "SOFTMAX": (_SMALL, -128)}
"""Scale and zero point of int8 results, which TensorFlow Lite requires."""


def _check_result(call: Call, name: str) -> None:
    (record,) = call.node.outputs[0].quant
    if name in _RESULTS and (record.scale, record.zeroPoint) != _RESULTS[name]:
        raise call.refuse(f"TensorFlow Lite requires the scale {_RESULTS[name][0]} for its result")


@writes("Activation")
def function(call: Call) -> None:
    op = call.op
    assert isinstance(op, Activation)
    name = _FUNCTIONS.get(op.activation_type)
    if name is None or (name == "ELU" and op.alpha != 1.0):
        raise call.refuse(f"TensorFlow Lite has no equivalent of this {op.activation_type.name}")
    _check_result(call, name)
    options: dict[str, Any] = {}
    if name == "LEAKY_RELU":
        options["alpha"] = op.alpha
    if name == "GELU":
        options["approximate"] = op.approximate
    call.emit(name, [call.input()], **options)


@writes("Clip")
def clip(call: Call) -> None:
    op = call.op
    assert isinstance(op, Clip)
    name = _CLIPS.get((op.min, op.max))
    if name is None or call.input_count > 1:
        raise call.refuse("TensorFlow Lite has no Clip with its limits")
    call.emit(name, [call.input()])


@writes("Softmax")
def softmax(call: Call) -> None:
    op = call.op
    assert isinstance(op, Softmax)
    if tuple(op.axis or ()) not in ((-1,), (len(call.shape()) - 1,)):
        raise call.refuse("it is not along the last dimension")
    _check_result(call, "SOFTMAX")
    call.emit("SOFTMAX", [call.input()], beta=1.0)


@writes("PReLUFusion")
def prelu(call: Call) -> None:
    call.emit("PRELU", call.inputs())


@writes(*_UNARY)
def unary(call: Call) -> None:
    op = call.op
    if isinstance(op, ExpFusion) and (op.base, op.scale, op.shift) != (-1.0, 1.0, 0.0):
        raise call.refuse("TensorFlow Lite only has the exponential with base e")
    call.emit(_UNARY[op.name], [call.input()])
