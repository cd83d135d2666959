"""Joining, splitting, slicing and padding tensors."""

from __future__ import annotations

from ._declare import Longs, Operator, Vec2D, enum, long, longs, operator, real, text, vec2d
from .enums import PaddingMode


@operator(31, inputs="x*", layout="axis", tflite="CONCATENATION", onnx="Concat", tensorflow="ConcatV2", caffe="Concat")
class Concat(Operator):
    """Joins tensors along `axis`."""

    axis: int = long(0)


@operator(150, inputs="x*", tflite="PACK", tensorflow="Pack")
class Stack(Operator):
    """Joins tensors along a new dimension."""

    axis: int = long(0)


@operator(
    145, outputs="y*", layout="axis", tflite="SPLIT SPLIT_V", onnx="Split", tensorflow="Split SplitV", caffe="Slice"
)
class Split(Operator):
    """Splits a tensor along `axis`."""

    output_num: int = long(0)
    size_splits: Longs = longs(1)
    axis: int = long(2)


@operator(193, outputs="y*")
class SplitWithOverlap(Operator):
    """Splits a tensor into overlapping parts."""

    split_dim: int = long(0)
    number_split: int = long(1)
    ratio: Longs = longs(2)
    extend_top: Longs = longs(3)
    extend_bottom: Longs = longs(4)


@operator(166, outputs="y*", tflite="UNPACK", tensorflow="Unpack")
class Unstack(Operator):
    """Splits a tensor into slices without the dimension `axis`."""

    axis: int = long(0)


@operator(160, inputs="x multiples", tflite="TILE", onnx="Tile", tensorflow="Tile", caffe="Tile")
class TileFusion(Operator):
    """Repeats a tensor along its dimensions."""

    dims: Longs = longs(0)


@operator(
    107, inputs="x [paddings] [value]", tflite="PAD PADV2 MIRROR_PAD", onnx="Pad", tensorflow="Pad PadV2 MirrorPad"
)
class PadFusion(Operator):
    """Pads a tensor."""

    paddings: Vec2D = vec2d(0)
    """[before, after] of each dimension; used only without the second input"""
    padding_mode: PaddingMode = enum(1, PaddingMode.CONSTANT)
    constant_value: float = real(2)


@operator(27, inputs="x [shape]", onnx="broadcast_to Expand", tensorflow="BroadcastTo")
class BroadcastTo(Operator):
    """Broadcasts dimensions of size 1."""

    shape: Longs = longs(0)


@operator(135, inputs="x begin size", tflite="SLICE", tensorflow="Slice")
class SliceFusion(Operator):
    """Slices a tensor."""

    axes: Longs = longs(0)


@operator(
    151,
    inputs="x begin end [axes] [strides]",
    tflite="STRIDED_SLICE",
    onnx="Slice DynamicSlice",
    tensorflow="StridedSlice",
)
class StridedSlice(Operator):
    """Slices a tensor with strides; with four inputs, the fourth is strides."""

    begin_mask: int = long(0)
    end_mask: int = long(1)
    ellipsis_mask: int = long(2)
    new_axis_mask: int = long(3)
    shrink_axis_mask: int = long(4)


@operator(39, inputs="x reference", layout="axis", caffe="Crop")
class Crop(Operator):
    """Crops x to the size of the reference from `axis` on."""

    axis: int = long(0)
    offsets: Longs = longs(1)


@operator(188, onnx="Splice")
class Splice(Operator):
    """Concatenates neighboring frames of a sequence."""

    context: Longs = longs(0)
    forward_indexes: Longs = longs(1)
    output_dim: int = long(2)


@operator(1109, inputs="x paddings", onnx="Pad", custom_type="mslite.PadExtend")
class PadExtend(Operator):
    """Pads with elements of the tensor; paddings is [rank, 2], negative entries crop."""

    mode: str | None = text(0)
    """`edge` repeats the outermost elements; `wrap` continues from the other end"""
