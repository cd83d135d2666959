"""Quantized tensors: the meaning of their quantization parameters, and operators that only move their elements.

The float values of an INT8 or INT16 tensor with parameters are real = scale * (q - zero point), per tensor or per
index of one dimension. Unsigned source tensors are stored signed, shifted by half of their range.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .graph import Array, Node, Value
from .ops import Operator
from .ops.convolution import Conv2dTransposeFusion
from .ops.enums import DataType
from .ops.matmul import MatMulFusion
from .ops.recurrent import LSTMSequence
from .ops.tables import QuantParam

NARROW = frozenset({DataType.INT8, DataType.UINT8, DataType.INT16, DataType.UINT16})
"""Types of quantized tensors."""

SHIFTS = {DataType.UINT8: 128, DataType.UINT16: 1 << 15}
"""Unsigned type -> the number that is subtracted to store elements signed."""

SIGNED = {DataType.UINT8: DataType.INT8, DataType.UINT16: DataType.INT16}

ROUND_HALF_TO_EVEN = 3
"""`QuantParam.roundType` for rounding half to even; other values round half away from zero. MindSpore Lite writes 1
and 2; this
value is mslite's."""

MOVES = frozenset(
    {"Reshape", "Flatten", "ExpandDims", "Squeeze", "Unsqueeze", "Transpose", "DepthToSpace", "SpaceToDepth",
     "BatchToSpace", "BatchToSpaceND", "ReverseV2", "ReverseSequence", "Concat", "Stack", "Unstack", "Split",
     "SliceFusion", "StridedSlice", "Crop", "TileFusion", "BroadcastTo", "Gather", "GatherNd", "GatherD"}
)  # fmt: skip
"""Operators that only move elements, if inputs and outputs have the same quantization parameters."""

ON_INTEGERS = frozenset(
    {"Abs", "Activation", "AddFusion", "AddN", "ArgMaxFusion", "ArgMinFusion", "AvgPoolFusion", "Ceil", "Clip",
     "Conv2DFusion", "Conv2dTransposeFusion", "Cos", "CumSum", "DepthToSpace", "DetectionPostProcess", "DivFusion",
     "Eltwise", "Elu", "Equal", "Erf", "ExpFusion", "Floor", "FullConnection", "Greater", "GreaterEqual",
     "HardSigmoid", "L2NormalizeFusion", "LSTMSequence", "LeakyRelu", "Less", "LessEqual", "Log", "LogSoftmax",
     "MatMulFusion", "MaxPoolFusion", "Maximum", "Minimum", "MulFusion", "Neg", "NotEqual", "PReLUFusion", "PadFusion",
     "Reciprocal", "ReduceFusion", "Resize", "Round", "Rsqrt", "Sign", "Sin", "Softmax", "SpaceToBatchND", "Sqrt", "Square",
     "SquaredDifference", "StoredLSTMCell", "StoredSVDF", "SubFusion", "TopKFusion", "Where"}
)  # fmt: skip
"""Operators of quantized nodes, besides those that only move elements."""

LOOKS = frozenset({"Shape", "Rank", "Size"})
"""Operators that do not read elements."""


def is_quantized(value: Value) -> bool:
    """Returns whether a value is quantized."""
    return bool(value.quant) and value.dtype in NARROW


def same_quant_params(a: Sequence[QuantParam], b: Sequence[QuantParam]) -> bool:
    """Returns whether two sets of quantization parameters are equivalent."""
    return len(a) == len(b) and all(
        mine.scale == theirs.scale and mine.zeroPoint == theirs.zeroPoint for mine, theirs in zip(a, b, strict=True)
    )


def channel_axis(op: Operator, index: int, inputs: Sequence[Value]) -> int:
    """Returns the dimension of per-channel parameters of the constant input `index`, as MindSpore Lite reads files."""
    rank = inputs[index].rank or 0
    if isinstance(op, MatMulFusion) and index < 2:
        transposed = op.transpose_a if index == 0 else op.transpose_b
        return rank - 1 if (index == 0) == transposed else rank - 2
    if isinstance(op, LSTMSequence):
        return 1
    if isinstance(op, Conv2dTransposeFusion):
        return 0 if op.group == op.in_channel == op.out_channel else rank - 1
    if op.name == "Gather" and index == 0 and len(inputs) > 2:
        axis = inputs[2].data
        if axis is not None and axis.size == 1:
            return int(axis.reshape(-1)[0].astype(np.int64)) % max(rank, 1)
    return 0


def channel_axis_before_2(op: Operator, index: int, inputs: Sequence[Value]) -> int:
    """Returns the dimension of per-channel parameters for files of versions before 1.6."""
    if isinstance(op, MatMulFusion) and index < 2:
        return int(op.transpose_a) if index == 0 else int(not op.transpose_b)
    return 0


def dequantized_array(data: Array, records: Sequence[QuantParam], axis: int) -> npt.NDArray[np.float32]:
    """Dequantizes: scale * (q - zero point), computed in float64, as float32. Raises ValueError if the number of
    parameters is wrong.

    Channels of the first dimension may have several parameters each, for equal groups of their elements."""
    scales = np.array([record.scale for record in records], np.float64)
    points = np.array([record.zeroPoint for record in records], np.float64)
    if len(records) > 1:
        channels = data.shape[axis] if 0 <= axis < data.ndim else 0
        is_grouped = axis == 0 and 0 < channels < len(records) and len(records) % channels == 0
        if is_grouped and data.size % len(records) == 0:
            return dequantized_array(data.reshape(len(records), -1), records, 0).reshape(data.shape)
        if channels != len(records):
            raise ValueError(f"{len(records)} scales do not match dimension {axis} of the shape {data.shape}")
        shape = [-1 if index == axis else 1 for index in range(data.ndim)]
        scales, points = scales.reshape(shape), points.reshape(shape)
    elif data.ndim == 0:  # keeps a scalar
        scales, points = scales.reshape(()), points.reshape(())
    with np.errstate(over="ignore"):
        return np.asarray((data.astype(np.float64) - points) * scales).astype(np.float32)


def dequantized_activation(value: Value, data: Array) -> Array:
    """Dequantizes an activation with per-tensor parameters; returns other arrays unchanged."""
    return dequantized_array(data, value.quant, 0) if is_quantized(value) else data


def only_moves_elements(node: Node) -> bool:
    """Returns whether a node only moves quantized elements, without using their parameters."""
    if node.op.name in LOOKS:
        return True
    records = [value.quant for value in (*node.inputs, *node.outputs) if is_quantized(value)]
    return node.op.name in MOVES and all(same_quant_params(record, records[0]) for record in records)
