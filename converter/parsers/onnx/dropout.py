"""Converts Dropout. Inference removes it; models for training keep the node.

If training mode is an input of the model, the node becomes operators that draw a random mask.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import DivFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.comparison import GreaterEqual, LogicalOr
from mslite.converter.mindir.ops.creation import OnesLike, UniformReal
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Shape
from mslite.converter.mindir.ops.training import Dropout
from mslite.converter.mindir.ops.unary import LogicalNot

from .call import Call
from .casting import as_type, cast
from .registry import onnx_operator

_RATIO = 0.5
"""Default of the ratio."""


@onnx_operator("Dropout")
def dropout(call: Call) -> tuple[Value, Value | None]:
    """Returns the result and the mask. Constant training mode is an export error, unless the model is trained."""
    call.ignore("seed", "consumed_inputs", "is_test")
    stated = call.constant(1) if call.has_input(1) else np.float32(call.real("ratio", _RATIO))
    if call.has_input(2):
        training, ratio = call.constant(2), call.constant(1) if call.has_input(1) else np.float32(_RATIO)
        if training is None and (ratio is None or np.any(ratio)):
            return _drawn(call)
        if (
            not call.scope.session.trains
            and (training is None or np.any(training))
            and (ratio is None or np.any(ratio))
        ):
            raise call.block("training mode is not supported", "Export the model for inference (eval mode)")
    x = call.input(0)
    if not call.has_output(1):
        kept = 1 - float(np.float32(stated)) if stated is not None and stated.size == 1 else 1.0
        drops = 0 < kept < 1 and x.producer is not None
        return (call.emit(Dropout(keep_prob=kept), x) if drops else x), None
    ones = call.emit(OnesLike(), x)
    return x, ones if call.version < 10 else cast(call, ones, DataType.BOOL)


def _drawn(call: Call) -> tuple[Value, Value]:
    """Returns x * mask / (1 - ratio) if the input `training` is true. The mask differs from those of other runtimes."""
    x, training = call.input(0), call.input(2)
    ratio = as_type(call, call.input(1), DataType.FLOAT32) if call.has_input(1) else call.const(np.float32(_RATIO))
    uniform = call.emit(UniformReal(seed=int(call.integer("seed"))), call.emit(Shape(), x))
    kept = call.emit(GreaterEqual(), uniform, ratio)
    mask = call.emit(LogicalOr(), kept, call.emit(LogicalNot(), training))
    rate = call.emit(MulFusion(), ratio, cast(call, training, DataType.FLOAT32))
    scale = call.emit(SubFusion(), call.const(np.float32(1)), rate)
    dtype = call.require_dtype(x)
    passed = call.emit(MulFusion(), as_type(call, x, DataType.FLOAT32), cast(call, mask, DataType.FLOAT32))
    y = call.emit(DivFusion(), passed, scale)
    return (y if dtype is DataType.FLOAT32 else cast(call, y, dtype)), mask
