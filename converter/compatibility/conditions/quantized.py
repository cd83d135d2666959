"""Conditions of quantized tensors."""

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
from mslite.converter.mindir.quantized import is_quantized, same_quant_params


@condition("QuantDTypeCast")
def integer_casts(node: Node, kind: DataType, version: Version) -> str | None:
    kinds = (node.inputs[0].dtype, node.outputs[0].dtype)
    if version < Version.V2_0 and any(len(value.quant) > 1 for value in (node.inputs[0], node.outputs[0])):
        return "supports per-tensor scales only"
    if kinds == (DataType.INT8, DataType.INT8) and version < Version.V2_0:
        return "computes casts from int8 to int8 incorrectly"
    if any(one not in (DataType.INT8, DataType.UINT8, DataType.FLOAT32) for one in kinds):
        return f"cannot cast {kinds[0].name.lower()} to {kinds[1].name.lower()}"
    return None


@condition("DynamicQuant")
def rounded_products(node: Node, kind: DataType, version: Version) -> str | None:
    users = {user.op.name for user in node.outputs[0].users}
    return None if users <= {"MatMulFusion"} else "supports dynamic quantization for matmuls only"


def records_of_all(node: Node, kind: DataType, version: Version) -> str | None:
    """An int8 kernel reads the quantization parameters of all inputs that it computes with, and of its output."""
    if kind is not DataType.INT8:
        return None
    results = [value for value in node.outputs if value.dtype is DataType.INT8]
    data = [value for value in node.inputs if value.dtype is DataType.INT8]
    if any(not is_quantized(value) for value in (*data, *results)):
        return "needs quantization parameters for int8 tensors"
    mixed = [value for value in node.inputs if value.dtype is DataType.FLOAT32 and node.op.name != "QuantDTypeCast"]
    if mixed or any(value.dtype is DataType.FLOAT32 for value in node.outputs if node.op.name != "QuantDTypeCast"):
        return "does not support float and int8 tensors in one node"
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
"""Operators with int8 kernels in 1.3 that are within two quantization steps of the exact result. Others were observed
to
differ more, or to crash: comparisons, ArgMax, reductions, normalizations, divisions, powers."""

_REDUCED = frozenset({ReduceMode.ReduceMax, ReduceMode.ReduceMin, ReduceMode.ReduceSum})
"""Reductions that are correct in int8; means over some dimensions are not."""

_FURTHER_OFF = frozenset({"AvgPoolFusion", "Softmax"})
"""Operators of `_RIGHT` that were observed to be two or three quantization steps off in 2.0."""

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
        return f"computes {name} in int8 with errors of more than one quantization step"
    if name not in _RIGHT or (
        name in ("AvgPoolFusion", "MaxPoolFusion") and fused_activation(node) is not ActivationType.NO_ACTIVATION
    ):
        return f"computes {name} in int8 incorrectly"
    if name in _KEEP_RECORDS and not same_quant_params(node.inputs[0].quant, node.outputs[0].quant):
        return "needs equal quantization parameters for input and output here"
    return _special(node)


def _special(node: Node) -> str | None:
    """Returns the reason for operators that are correct for certain attributes or shapes only, or None."""
    op = node.op
    if isinstance(op, Activation) and op.activation_type in (ActivationType.RELU6, ActivationType.SIGMOID):
        return f"computes {op.activation_type.name} in int8 incorrectly at the ends of the range"
    if isinstance(op, Activation) and op.activation_type is ActivationType.TANH and not _is_record(node, 1 / 128, 0):
        return "supports scale 1/128 and zero point 0 only for the output of int8 TANH"
    if op.name == "Softmax" and not _is_record(node, 1 / 256, -128):
        return "supports scale 1/256 and zero point -128 only for the output of int8 Softmax"
    if op.name in ("AddFusion", "SubFusion") and not _repeats_simply(node):
        return "does not broadcast int8 inputs along single dimensions"
    if op.name == "PadFusion" and len(node.inputs) > 2:
        return "does not support a padding value in int8"
    if op.name == "MatMulFusion" and (node.inputs[1].data is None or node.inputs[1].rank != 2):
        return "computes int8 matmuls of two activations incorrectly"
    if (
        isinstance(op, Resize)
        and op.method is ResizeMethod.LINEAR
        and op.coordinate_transform_mode is CoordinateTransformMode.HALF_PIXEL
    ):
        return "interpolates int8 images at other coordinates"
    return None


def _is_record(node: Node, scale: float, zero_point: int) -> bool:
    record = node.outputs[0].quant[0]
    return abs(record.scale - scale) <= 1e-6 * scale and record.zeroPoint == zero_point


def _repeats_simply(node: Node) -> bool:
    """Returns whether the shapes are equal, or, in a sum, one is a scalar or the last dimensions of the other."""
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
