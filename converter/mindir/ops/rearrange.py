"""Shapes, and rearrangements that keep all elements."""

from __future__ import annotations

from ._declare import Longs, Operator, Vec2D, enum, long, longs, operator, text, vec2d
from .enums import Format


@operator(130, tflite="SHAPE", onnx="Shape", tensorflow="Shape")
class Shape(Operator):
    """The dimensions of x."""


@operator(114, tflite="RANK", tensorflow="Rank")
class Rank(Operator):
    """The number of dimensions of x."""


@operator(175, onnx="Size", tensorflow="Size")
class Size(Operator):
    """The number of elements of x."""


@operator(119, inputs="x shape", tflite="RESHAPE", onnx="Reshape", tensorflow="Reshape", caffe="Reshape")
class Reshape(Operator):
    """The same elements in another shape; -1 is inferred, 0 copies the input's dimension."""


@operator(61, onnx="Flatten", caffe="Flatten")
class Flatten(Operator):
    """Reshapes to two dimensions, divided at `axis`."""

    axis: int = long(0, 1)


@operator(56, inputs="x axis", tflite="EXPAND_DIMS", tensorflow="ExpandDims")
class ExpandDims(Operator):
    """Inserts a dimension of size 1."""


@operator(147, tflite="SQUEEZE", onnx="Squeeze", tensorflow="Squeeze")
class Squeeze(Operator):
    """Removes dimensions of size 1."""

    axis: Longs = longs(0)


@operator(165, onnx="Unsqueeze")
class Unsqueeze(Operator):
    """Inserts dimensions of size 1."""

    axis: Longs = longs(0)


@operator(
    162, inputs="x [perm]", tflite="TRANSPOSE", onnx="Transpose Int8Transpose", tensorflow="Transpose", caffe="Permute"
)
class Transpose(Operator):
    """Permutes dimensions."""


@operator(209, since_1_3=False)
class FormatTranspose(Operator):
    """Converts between NCHW, NHWC and NC4HW4; only runtimes create it."""

    src_format: Format = enum(0, Format.NHWC)
    dst_format: Format = enum(1, Format.NHWC)


@operator(45, layout="nhwc", tflite="DEPTH_TO_SPACE", onnx="DepthToSpace", tensorflow="DepthToSpace")
class DepthToSpace(Operator):
    """Moves channels to spatial blocks."""

    block_size: int = long(0)
    format: Format = enum(1, Format.NCHW)
    mode: str | None = text(2)


@operator(142, layout="nhwc", tflite="SPACE_TO_DEPTH", onnx="SpaceToDepth", tensorflow="SpaceToDepth")
class SpaceToDepth(Operator):
    """Moves spatial blocks to channels."""

    block_size: int = long(0)
    format: Format = enum(1, Format.NCHW)


@operator(
    21,
    inputs="x [block_shape] [crops]",
    layout="nhwc",
    tflite="BATCH_TO_SPACE_ND",
    tensorflow="BatchToSpaceND BatchToSpace",
)
class BatchToSpace(Operator):
    """Moves the batch to spatial blocks, and crops."""

    block_size: Longs = longs(0)
    crops: Vec2D = vec2d(1)


@operator(22, inputs="x [block_shape] [crops]")
class BatchToSpaceND(Operator):
    """BatchToSpace for any number of spatial dimensions."""

    block_shape: Longs = longs(0)
    crops: Vec2D = vec2d(1)


@operator(140, layout="nhwc")
class SpaceToBatch(Operator):
    """Pads, and moves spatial blocks to the batch."""

    block_size: Longs = longs(0)
    paddings: Vec2D = vec2d(1)


@operator(
    141, inputs="x [block_shape] [paddings]", layout="nhwc", tflite="SPACE_TO_BATCH_ND", tensorflow="SpaceToBatchND"
)
class SpaceToBatchND(Operator):
    """SpaceToBatch for any number of spatial dimensions."""

    block_shape: Longs = longs(0)
    paddings: Vec2D = vec2d(1)


@operator(122, tflite="REVERSE_V2", tensorflow="ReverseV2")
class ReverseV2(Operator):
    """Reverses elements along axes."""

    axis: Longs = longs(0)


@operator(121, inputs="x lengths", tflite="REVERSE_SEQUENCE", onnx="ReverseSequence", tensorflow="ReverseSequence")
class ReverseSequence(Operator):
    """Reverses the first elements of each sequence."""

    seq_dim: int = long(0)
    batch_dim: int = long(1)


@operator(174, tensorflow="InvertPermutation")
class InvertPermutation(Operator):
    """The inverse of a permutation vector."""


@operator(1135, tflite="BITCAST", tensorflow="Bitcast", custom_type="mslite.Bitcast")
class Bitcast(Operator):
    """The same bytes as another element type; the last dimension is added or removed if the element sizes differ."""

    data_type: int = long(0)
    """TypeId number of the result"""
