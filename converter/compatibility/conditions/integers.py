"""Stored integers."""

from __future__ import annotations

from mslite.converter.compatibility.conditions._declare import condition, fused_activation, has_shape
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.enums import (
    ActivationType,
    CoordinateTransformMode,
    DataType,
    ReduceMode,
    ResizeMethod,
)
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.resize import Resize
from mslite.converter.mindir.quantized import is_quantized, same_records


@condition("QuantDTypeCast")
def integer_casts(node: Node, kind: DataType, version: Version) -> str | None:
    kinds = (node.inputs[0].dtype, node.outputs[0].dtype)
    if version < Version.V2_0 and any(len(value.quant) > 1 for value in (node.inputs[0], node.outputs[0])):
        return "casts with one scale for all elements only"
    if kinds == (DataType.INT8, DataType.INT8) and version < Version.V2_0:
        return "computes casts from int8 to int8 wrong"
    if any(one not in (DataType.INT8, DataType.UINT8, DataType.FLOAT32) for one in kinds):
        return f"cannot cast {kinds[0].name.lower()} to {kinds[1].name.lower()}"
    return None


@condition("DynamicQuant")
def rounded_products(node: Node, kind: DataType, version: Version) -> str | None:
    users = {user.op.name for user in node.outputs[0].users}
    return None if users <= {"MatMulFusion"} else "rounds activations of matrix products only"


def records_of_all(node: Node, kind: DataType, version: Version) -> str | None:
    """A kernel on int8 reads the records of every operand that it computes with, and of its result."""
    if kind is not DataType.INT8:
        return None
    results = [value for value in node.outputs if value.dtype is DataType.INT8]
    data = [value for value in node.inputs if value.dtype is DataType.INT8]
    if any(not is_quantized(value) for value in (*data, *results)):
        return "takes int8 with quantization records only"
    mixed = [value for value in node.inputs if value.dtype is DataType.FLOAT32 and node.op.name != "QuantDTypeCast"]
    if mixed or any(value.dtype is DataType.FLOAT32 for value in node.outputs if node.op.name != "QuantDTypeCast"):
        return "takes no float values beside int8"
    return None


_RECORDED = (
    "Abs Activation AddFusion ArgMaxFusion ArgMinFusion AvgPoolFusion BatchNorm BatchToSpace BiasAdd Ceil Concat Conv2DFusion "
    "Conv2dTransposeFusion Cos Crop DepthToSpace DivFusion Eltwise Equal Floor FullConnection FusedBatchNorm Gather GatherNd Greater "
    "GreaterEqual L2NormalizeFusion LayerNormFusion LeakyRelu Less LessEqual Log LogicalNot MatMulFusion MaxPoolFusion MulFusion "
    "NotEqual PadFusion PowFusion Reciprocal ReduceFusion Reshape Resize Round Rsqrt ScaleFusion Sin SliceFusion Softmax "
    "SpaceToBatch SpaceToBatchND Split Sqrt Square Squeeze SubFusion TopKFusion Transpose Unsqueeze"
)
condition(_RECORDED)(records_of_all)


_RIGHT = frozenset(
    {"Abs", "Activation", "AddFusion", "AvgPoolFusion", "BatchToSpace", "Ceil", "Concat", "Conv2DFusion", "Conv2dTransposeFusion",
     "DepthToSpace", "ExpandDims", "Floor", "FullConnection", "Gather", "MatMulFusion", "MaxPoolFusion", "MulFusion", "PadFusion",
     "QuantDTypeCast", "Reshape", "Resize", "Round", "Shape", "SliceFusion", "Softmax", "Split", "Sqrt", "Square", "Squeeze",
     "SubFusion", "TopKFusion", "Transpose", "Unsqueeze"}
)  # fmt: skip
"""Operators whose int8 kernels of 1.3 give the numbers of the real arithmetic to within two steps. Others were seen to be further
off, or to end the process: comparisons, ArgMax, reductions, normalizations, divisions, powers."""

_REDUCED = frozenset({ReduceMode.ReduceMax, ReduceMode.ReduceMin, ReduceMode.ReduceSum})
"""Reductions that are right in int8; means of some dimensions are not."""

_FURTHER_OFF = frozenset({"AvgPoolFusion", "Softmax"})
"""Of these, what was seen to be two or three steps off in 2.0."""

_KEEP_RECORDS = frozenset(
    {"AvgPoolFusion", "MaxPoolFusion", "PadFusion", "Resize", "Gather", "DepthToSpace", "BatchToSpace", "TopKFusion"}
)


@condition(_RECORDED + " StridedSlice Stack Unstack ExpandDims", until=Version.V2_0)
def integer_kernel(node: Node, kind: DataType, version: Version) -> str | None:
    if kind is not DataType.INT8:
        return None
    name = node.op.name
    if isinstance(node.op, ReduceFusion) and node.op.mode in _REDUCED:
        return None
    if version is Version.V2_0 and name in _FURTHER_OFF:
        return f"computes {name} in int8 more than a step off"
    if name not in _RIGHT or (
        name in ("AvgPoolFusion", "MaxPoolFusion") and fused_activation(node) is not ActivationType.NO_ACTIVATION
    ):
        return f"gives wrong int8 results for {name}"
    if name in _KEEP_RECORDS and not same_records(node.inputs[0].quant, node.outputs[0].quant):
        return "takes int8 operands and results of one record here"
    return _special(node)


def _special(node: Node) -> str | None:
    """Of the operators that are right in some forms only."""
    op = node.op
    if isinstance(op, Activation) and op.activation_type in (ActivationType.RELU6, ActivationType.SIGMOID):
        return f"computes {op.activation_type.name} in int8 wrong at the ends of the range"
    if isinstance(op, Activation) and op.activation_type is ActivationType.TANH and not _is_record(node, 1 / 128, 0):
        return "takes one record for the result of TANH in int8"
    if op.name == "Softmax" and not _is_record(node, 1 / 256, -128):
        return "takes one record for the result of Softmax in int8"
    if op.name in ("AddFusion", "SubFusion") and not _repeats_simply(node):
        return "does not repeat int8 operands along single dimensions"
    if op.name == "PadFusion" and len(node.inputs) > 2:
        return "takes no number for the border in int8"
    if op.name == "MatMulFusion" and (node.inputs[1].data is None or node.inputs[1].rank != 2):
        return "computes products of two activations wrong in int8"
    if (
        isinstance(op, Resize)
        and op.method is ResizeMethod.LINEAR
        and op.coordinate_transform_mode is CoordinateTransformMode.HALF_PIXEL
    ):
        return "interpolates int8 between other pixels"
    return None


def _is_record(node: Node, scale: float, zero_point: int) -> bool:
    record = node.outputs[0].quant[0]
    return abs(record.scale - scale) <= 1e-6 * scale and record.zeroPoint == zero_point


def _repeats_simply(node: Node) -> bool:
    """Whether the operands have one shape; or, in a sum, one of them a single number or the last dimensions of the other."""
    a, b = node.inputs[:2]
    if not (has_shape(a) and has_shape(b)):
        return False
    if a.shape == b.shape:
        return True
    if node.op.name == "SubFusion":
        return False
    long, short = sorted((a.shape or (), b.shape or ()), key=len)[::-1]
    short = tuple(short)
    while short and short[0] == 1:
        short = short[1:]
    return not short or long[len(long) - len(short) :] == short
