"""Window operators on [batch, channels, spatial...], which the channels-last operators do not support."""

from __future__ import annotations

from ._declare import Longs, Operator, boolean, long, longs, operator


@operator(1154, inputs="x image_shape block_shape", onnx="Col2Im", custom_type="mslite.Col2Im")
class Col2Im(Operator):
    """Adds overlapping blocks [batch, channels * block, blocks] to images. Lists have one entry per dimension."""

    dilations: Longs = longs(0)
    pads: Longs = longs(1)
    """paddings before all dimensions, then after all dimensions"""
    strides: Longs = longs(2)


@operator(1155, inputs="x weight offset [bias] [mask]", onnx="DeformConv", custom_type="mslite.DeformConv")
class DeformConv(Operator):
    """2-D convolution with window elements shifted by `offset` and multiplied by `mask`; weight [out, in / group, kh,
    kw].

    offset [batch, offset_group * kh * kw * 2, out_h, out_w] contains (y, x) for each element; pixels are interpolated
    bilinearly.
    """

    strides: Longs = longs(0)
    pads: Longs = longs(1)
    """[top, left, bottom, right]"""
    dilations: Longs = longs(2)
    group: int = long(3, 1)
    offset_group: int = long(4, 1)


@operator(1156, outputs="y [indices]", onnx="MaxPool", custom_type="mslite.MaxPoolWithIndices")
class MaxPoolWithIndices(Operator):
    """Max pooling over one to three dimensions, and the index of each maximum in the flattened tensor (int64)."""

    kernel_size: Longs = longs(0)
    strides: Longs = longs(1)
    dilations: Longs = longs(2)
    pads: Longs = longs(3)
    """paddings before all dimensions, then after all dimensions"""
    ceil_mode: bool = boolean(4)
    column_major: bool = boolean(5)
    """indices are column-major in the spatial dimensions: the first dimension varies fastest"""
