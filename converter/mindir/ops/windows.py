"""Windows that slide over [batch, channels, spatial...]: what the channels-last operators do not have."""

from __future__ import annotations

from ._declare import Longs, Operator, boolean, long, longs, operator


@operator(1154, inputs="x image_shape block_shape", onnx="Col2Im", custom_type="mslite.Col2Im")
class Col2Im(Operator):
    """Sums overlapping blocks [batch, channels * block, blocks] into images. Lists have one entry per dimension."""

    dilations: Longs = longs(0)
    pads: Longs = longs(1)
    """all begins, then all ends"""
    strides: Longs = longs(2)


@operator(1155, inputs="x weight offset [bias] [mask]", onnx="DeformConv", custom_type="mslite.DeformConv")
class DeformConv(Operator):
    """2-D convolution whose taps are moved by `offset` and weighted by `mask`; weight [out, in / group, kh, kw].

    offset [batch, offset_group * kh * kw * 2, out_h, out_w] holds (y, x) per tap; taps between pixels are interpolated.
    """

    strides: Longs = longs(0)
    pads: Longs = longs(1)
    """[top, left, bottom, right]"""
    dilations: Longs = longs(2)
    group: int = long(3, 1)
    offset_group: int = long(4, 1)


@operator(1156, outputs="y [indices]", onnx="MaxPool", custom_type="mslite.MaxPoolWithIndices")
class MaxPoolWithIndices(Operator):
    """Maximum pooling over one to three dimensions, and where in the flat tensor each maximum was (int64)."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    dilations: Longs = longs(2)
    pads: Longs = longs(3)
    """all begins, then all ends"""
    ceil_mode: bool = boolean(4)
    column_major: bool = boolean(5)
    """indices count the spatial dimensions with the first one running fastest"""
