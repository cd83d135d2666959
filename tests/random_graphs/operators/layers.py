"""Convolutions and resizing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..builder import Builder
from ..evaluate import Rejected
from ..values import OTHER, Value
from .registry import operator


def image(g: Builder, low: int = 1, high: int = 3, least: int = 1, dtypes: tuple[str, ...] = ("float32",)) -> Value:
    """Returns a value [N, C, ...] with the given number of spatial dimensions, usually an existing one."""
    fits = [
        v
        for v in reversed(g.values)
        if v.dtype in dtypes
        and v.fixed_rank
        and low + 2 <= v.rank <= high + 2
        and v.size
        and min(v.shape[2:]) >= least
        and v.shape[1] <= 32
    ]
    if fits and not g.maybe(4):
        return g.choose(fits[:6])
    count = g.choose([n for n in (2, 1, 3) if low <= n <= high])
    most = {1: 24, 2: 11, 3: 6}[count]
    sizes = [g.integer(least, max(least, most)) for _ in range(count)]
    return g.input(g.choose(dtypes), (g.integer(1, 2), g.choose((3, 1, 2, 4, 8, 6, 5)), *sizes))


def window(g: Builder, x: Value, dilated: bool = True) -> dict[str, Any]:
    """Returns kernel, strides, dilations and padding; some are omitted at random."""
    count = x.rank - 2
    same = g.maybe()
    one = [g.choose((3, 1, 2, 5)), g.choose((1, 2, 1, 3)), g.choose((1, 1, 2, 3))]

    def sizes(index: int, options: tuple[int, ...]) -> list[int]:
        return [one[index] if same else g.choose(options) for _ in range(count)]

    kernel, strides, dilations = sizes(0, (3, 1, 2, 4)), sizes(1, (1, 2, 3)), sizes(2, (1, 2))
    attributes: dict[str, Any] = {"kernel_shape": kernel, "strides": strides if g.maybe(3) else None}
    attributes["dilations"] = dilations if dilated and g.maybe(4) else None
    how = g.choose(("pads", None, "SAME_UPPER", "SAME_LOWER", "VALID"))
    if how == "pads":
        symmetric = g.maybe()
        first = [g.integer(0, max(0, (size - 1))) for size in kernel]
        attributes["pads"] = first + (first if symmetric else [g.integer(0, max(0, size - 1)) for size in kernel])
    else:
        attributes["auto_pad"] = how
    if how not in ("SAME_UPPER", "SAME_LOWER"):
        pads = attributes.get("pads", [0] * 2 * count)
        spread = attributes["dilations"] or [1] * count
        for axis, size in enumerate(np.minimum(x.shape[2:], x.worlds[OTHER].shape[2:])):
            if (kernel[axis] - 1) * spread[axis] + 1 > size + pads[axis] + pads[count + axis]:
                raise Rejected("the window does not fit")
    return attributes


def pooling_window(g: Builder, x: Value, dilated: bool) -> dict[str, Any]:
    """The same for operators without negative padding, which SAME requires if strides skip pixels."""
    attributes = window(g, x, dilated)
    if str(attributes.get("auto_pad")).startswith("SAME"):
        attributes["dilations"] = None  # onnxruntime ignores them in SAME padding; the standard does not
        if any(a < b for a, b in zip(attributes["kernel_shape"], attributes["strides"] or [], strict=False)):
            raise Rejected("the padding would be negative")
    return attributes


@operator("Conv")
def conv(g: Builder, name: str) -> None:
    x = image(g, dtypes=("float32", "float32", "float16"))
    attributes = window(g, x)
    channels = x.shape[1]
    group = g.choose([n for n in (1, channels, 2, 3, 4) if channels % n == 0])
    out = group * g.choose((1, 2, 3, 4, 8)) if group < 8 else group
    weights = weight(g, x, (out, channels // group, *attributes["kernel_shape"]))
    bias = g.operand(x.dtype, (out,)) if g.maybe() else None
    if g.maybe():
        del attributes["kernel_shape"]
    g.node(name, x, weights, bias, group=group if group != 1 or g.maybe() else None, **attributes)


def weight(g: Builder, x: Value, shape: tuple[int, ...]) -> Value:
    """Returns weights that preserve magnitudes; rarely graph inputs."""
    return (g.operand if g.maybe(8) else g.constant_values)(x.dtype, shape, -0.5, 0.5)


@operator("ConvTranspose")
def conv_transpose(g: Builder, name: str) -> None:
    x = image(g)
    attributes = window(g, x)
    channels = x.shape[1]
    group = g.choose([n for n in (1, channels, 2) if channels % n == 0])
    out = g.choose((1, 2, 3))
    weights = weight(g, x, (channels, out, *attributes["kernel_shape"]))
    bias = g.operand(x.dtype, (group * out,)) if g.maybe() else None
    strides = attributes["strides"] or [1] * (x.rank - 2)
    if g.maybe(3):
        attributes["output_padding"] = [g.integer(0, max(stride - 1, 0)) for stride in strides]
        if str(attributes.get("auto_pad")).startswith("SAME") and any(attributes["output_padding"]):
            raise Rejected("onnxruntime's result is smaller than ONNX's inference tells")
    if g.maybe(5) and "pads" not in attributes:
        attributes["output_shape"] = [size * stride for size, stride in zip(x.shape[2:], strides, strict=True)]
    if str(attributes.get("auto_pad")).startswith("SAME"):
        reach = zip(attributes["kernel_shape"], strides, attributes["dilations"] or [1] * len(strides), strict=True)
        if any(kernel < stride or dilation > 1 for kernel, stride, dilation in reach):
            raise Rejected("onnxruntime does not give the size that the standard asks for")
    g.node(name, x, weights, bias, group=group if group != 1 else None, **attributes)


@operator("DeformConv", since=19)
def deformable(g: Builder, name: str) -> None:
    x = image(g, 2, 2, 2)
    kernel = [g.integer(1, 3), g.integer(1, 3)]
    out = [size - k + 1 for size, k in zip(x.shape[2:], kernel, strict=True)]
    if not x.fixed_shape or min(out) < 1:
        raise Rejected("too small")
    offset_groups = g.choose([n for n in (1, 2) if x.shape[1] % n == 0])
    points = offset_groups * kernel[0] * kernel[1]
    weights = weight(g, x, (g.integer(1, 3), x.shape[1], *kernel))
    offsets = g.operand("float32", (x.shape[0], 2 * points, *out), -1.2, 1.2)
    mask = g.operand("float32", (x.shape[0], points, *out), 0.0, 1.0) if g.maybe() else None
    g.node(name, x, weights, offsets, None, mask, offset_group=offset_groups)


_CORNERS = "onnxruntime rounds the size before it aligns the corners, the standard afterwards"


@operator("Resize")
def resize(g: Builder, name: str) -> None:
    x = g.pick(("float32", "float32", "uint8", "int8"), 1, 5, where=lambda v: v.size > 0)
    if g.maybe():
        x = image(g)
    mode = g.choose(("nearest", "linear", "cubic"))
    if (
        x.dtype != "float32" and mode != "nearest"
    ):  # positions that are exact in float32, because results are truncated to integers
        scales = [g.choose((2.0, 1.0, 0.5)) if axis > 1 else 1.0 for axis in range(x.rank)]
        g.node(name, x, *((None,) if g.opset >= 11 else ()), g.constant(scales, "float32"), mode="linear")
        return
    if mode == "cubic" and x.rank != 4:
        mode = "linear"
    spatial = list(range(2, x.rank)) if x.rank > 2 else list(range(x.rank))
    if g.maybe(3) and len(spatial) > 1:
        spatial = spatial[1:]
    attributes: dict[str, Any] = {"mode": mode}
    if g.opset < 11:
        scales = [g.choose((2.0, 1.0, 0.5, 3.0)) if axis in spatial else 1.0 for axis in range(x.rank)]
        g.node(name, x, g.constant(scales, "float32"), mode=g.choose((None, "nearest", "linear")))
        return
    where = (
        "half_pixel",
        "asymmetric",
        "align_corners",
        "pytorch_half_pixel",
        *(("half_pixel_symmetric",) if g.opset >= 19 else ()),
    )
    attributes["coordinate_transformation_mode"] = aligned = g.choose((None, *where))
    if mode == "nearest":
        attributes["nearest_mode"] = g.choose((None, "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"))
        if aligned == "align_corners" and attributes["nearest_mode"] == "round_prefer_ceil":
            raise Rejected("the runtime takes it for TensorFlow's, which rounds the step first")
    if mode == "cubic":
        attributes["cubic_coeff_a"] = g.choose((None, -0.5))
        attributes["exclude_outside"] = g.choose((None, 1))
    # onnxruntime truncates negative integers when antialiasing
    if g.opset >= 18 and mode != "nearest" and x.dtype != "int8" and g.maybe(4):
        attributes["antialias"] = 1
    if g.maybe() and all(x.fixed(axis) for axis in range(x.rank)):
        sizes = [g.integer(1, 2 * n + 1) if axis in spatial else n for axis, n in enumerate(x.shape)]
        if g.opset >= 18 and g.maybe(3):
            attributes["axes"] = spatial
            sizes = [sizes[axis] for axis in spatial]
            attributes["keep_aspect_ratio_policy"] = policy = g.choose((None, "not_larger", "not_smaller"))
            if policy and aligned == "align_corners":
                raise Rejected(_CORNERS)
        g.node(name, x, None, None, g.constant(sizes, "int64"), **attributes)
        return
    scales = [g.choose((2.0, 1.0, 0.5, 1.5, 3.0, 0.75)) if axis in spatial else 1.0 for axis in range(x.rank)]
    whole = x.always(lambda array: not any((scale * n) % 1 for scale, n in zip(scales, array.shape, strict=True)))
    if aligned == "align_corners" and not whole:
        raise Rejected(_CORNERS)
    if g.opset >= 18 and g.maybe(3):
        attributes["axes"] = spatial
        scales = [scales[axis] for axis in spatial]
    g.node(name, x, None, g.constant(scales, "float32"), **attributes)


@operator("Col2Im", since=18)
def col2im(g: Builder, name: str) -> None:
    block, size = [g.integer(1, 3), g.integer(1, 3)], [g.integer(3, 6), g.integer(3, 6)]
    strides = [g.integer(1, 2), g.integer(1, 2)]
    count = 1
    for n, b, s in zip(size, block, strides, strict=True):
        count *= (n - b) // s + 1
    x = g.input("float32", (g.integer(1, 2), g.integer(1, 3) * block[0] * block[1], count))
    g.node(name, x, g.constant(size, "int64"), g.constant(block, "int64"), strides=strides)
