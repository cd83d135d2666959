"""Conditions of convolutions, pooling, resizing and other operators on images."""

from __future__ import annotations

import math

from mslite.converter.compatibility.conditions._declare import condition, has_shape
from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import Node
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, PadMode, ResizeMethod, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion
from mslite.converter.mindir.ops.rearrange import DepthToSpace
from mslite.converter.mindir.ops.resize import Resize

_INT16_TERMS = 128
"""Number of bytes, shifted to 0 to 255, that a 16-bit sum always holds."""


@condition("Conv2DFusion Conv2dTransposeFusion")
def rank_of_image(node: Node, kind: DataType, version: Version) -> str | None:
    return None if node.inputs[0].rank == 4 else "supports 4-D images only"


@condition("Conv2DFusion Conv2dTransposeFusion")
def constant_weight(node: Node, kind: DataType, version: Version) -> str | None:
    return None if node.inputs[1].is_constant else "needs constant weights"


@condition("Conv2DFusion")
def borders_of_windows(node: Node, kind: DataType, version: Version) -> str | None:
    """Observed in 2.0: a window that is entirely in the padding reads outside of the image."""
    op = node.op
    assert isinstance(op, Conv2DFusion)
    if op.pad_mode is not PadMode.PAD or op.pad_list is None or version < Version.V2_0:
        return None
    if min(op.pad_list, default=0) < 0:
        return "does not support negative padding"
    kernel, dilation = op.kernel_size or (1, 1), op.dilation or (1, 1)
    reach = [(size - 1) * step for size, step in zip(kernel, dilation, strict=True)]
    is_beside = any(pad > reach[side // 2] for side, pad in enumerate(op.pad_list))
    return (
        "reads outside of the image if a window is entirely in the padding"
        if is_beside and version is Version.V2_0
        else None
    )


@condition("Conv2DFusion", until=Version.V1_5)
def groups(node: Node, kind: DataType, version: Version) -> str | None:
    op = node.op
    assert isinstance(op, Conv2DFusion)
    is_plain = op.group <= 1 or op.group == op.in_channel == op.out_channel
    return (
        None
        if is_plain or has_shape(node.inputs[0])
        else "does not support grouped convolutions with dynamic dimensions"
    )


@condition("Conv2dTransposeFusion", until=Version.V2_0)
def transposed_groups(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, Conv2dTransposeFusion)
    op = node.op
    if op.group > 1 and not op.group == op.in_channel == op.out_channel:
        return "does not support grouped transposed convolutions"
    if kind is DataType.INT8 and len(node.inputs[1].quant) > 1:
        return "supports per-tensor scales only for the weights of int8 transposed convolutions"
    return None


@condition("AvgPoolFusion MaxPoolFusion")
def pooled_windows(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, AvgPoolFusion | MaxPoolFusion)
    op = node.op
    if node.inputs[0].rank != 4:
        return "supports 4-D images only"
    if isinstance(op, AvgPoolFusion) and version < Version.V2_7 and _pads_a_window(op):
        return "fails at a window that is entirely in the padding"
    if isinstance(op, MaxPoolFusion) and op.global_ and version < Version.V2_0:
        return "does not support global max pooling"
    if op.round_mode is RoundMode.CEIL and op.pad_mode is PadMode.PAD and version < Version.V2_7:
        return _outside(node)
    return None


def _pads_a_window(op: AvgPoolFusion) -> bool:
    if op.pad is None or op.kernel_size is None:
        return False
    return any(pad >= op.kernel_size[side // 2] for side, pad in enumerate(op.pad))


def _outside(node: Node) -> str | None:
    """Returns the reason if the version counts windows that are entirely in the padding, or one too many."""
    op = node.op
    assert isinstance(op, AvgPoolFusion | MaxPoolFusion)
    x, y = node.inputs[0].shape, node.outputs[0].shape
    if (
        x is None
        or y is None
        or not (has_shape(node.inputs[0]) and has_shape(node.outputs[0]))
        or op.kernel_size is None
    ):
        return None
    strides, pad = op.strides or (1, 1), op.pad or (0, 0, 0, 0)
    for i in range(2):
        taken = x[1 + i] + pad[2 * i] + pad[2 * i + 1] - op.kernel_size[i]
        if math.ceil(taken / strides[i]) + 1 != y[1 + i]:
            return "counts windows outside of the image (round_mode CEIL)"
    return None


@condition("AvgPoolFusion", until=Version.V1_5)
def short_sums(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, AvgPoolFusion)
    if kind is not DataType.INT8:
        return None
    shape = node.inputs[0].shape
    window = node.op.kernel_size if not node.op.global_ else (shape[1:3] if shape is not None else None)
    if window is None or any(size < 0 for size in window) or math.prod(window) > _INT16_TERMS:
        return f"adds int8 in 16 bits, which overflows for more than {_INT16_TERMS} elements"
    return None


@condition("Resize")
def resize_modes(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, Resize)
    op = node.op
    if node.inputs[0].rank != 4:
        return "supports 4-D images only"
    if (
        op.method is ResizeMethod.NEAREST
        and op.coordinate_transform_mode is CoordinateTransformMode.HALF_PIXEL
        and version < Version.V2_7
    ):
        return "selects other nearest pixels with half-pixel centers"
    if op.method is ResizeMethod.CUBIC and version < Version.V2_7:
        return "uses other weights in cubic interpolation"
    if op.coordinate_transform_mode is CoordinateTransformMode.ALIGN_CORNERS and op.method is ResizeMethod.LINEAR:
        y = node.outputs[0].shape
        if y is not None and 1 in y[1:3]:
            return "divides by zero for an output of one row or column with ALIGN_CORNERS"
    return None


@condition("Resize", until=Version.V2_0)
def order_of_factors(node: Node, kind: DataType, version: Version) -> str | None:
    """Four factors are read in NHWC order, or in the format of the constant."""
    data = node.inputs[1].data if len(node.inputs) > 1 else None
    is_other = data is not None and data.size == 4 and float(data.reshape(-1)[3].astype(float)) != 1
    return "reads the factors of height and width at other positions" if is_other else None


@condition("DepthToSpace", until=Version.V2_0)
def depth_mode(node: Node, kind: DataType, version: Version) -> str | None:
    assert isinstance(node.op, DepthToSpace)
    return "supports mode DCR only" if (node.op.mode or "DCR") != "DCR" else None


@condition("CropAndResize", until=Version.V2_0)
def cropped_method(node: Node, kind: DataType, version: Version) -> str | None:
    method = getattr(node.op, "method", ResizeMethod.LINEAR)
    return None if method is ResizeMethod.LINEAR else "ignores the method and interpolates linearly"


@condition("PReLUFusion", until=Version.V2_0)
def slopes(node: Node, kind: DataType, version: Version) -> str | None:
    slope, x = node.inputs[1], node.inputs[0]
    if slope.data is None or x.shape is None:
        return "needs constant slopes"
    if version is Version.V2_0 and slope.data.size > 1 and not has_shape(x):
        return "does not support per-channel slopes for an input with dynamic dimensions"
    return None if slope.data.size in (1, *x.shape[-1:]) else "supports one slope, or one for each channel"


@condition("SpaceToBatchND BatchToSpace SpaceToBatch", until=Version.V2_0)
def blocks(node: Node, kind: DataType, version: Version) -> str | None:
    block = getattr(node.op, "block_shape", None) or getattr(node.op, "block_size", None)
    if node.inputs[0].rank != 4 or block is None or len(block) != 2:
        return "supports 2-D blocks as attributes only"
    return None


@condition("AdderFusion", until=Version.V1_5)
def adder_padding(node: Node, kind: DataType, version: Version) -> str | None:
    return "does not support padding" if getattr(node.op, "pad_mode", None) is PadMode.SAME else None
