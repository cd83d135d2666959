"""Resize, crop, patches and contrast of images."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import resize as ops
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, PadFusion, StridedSlice
from mslite.converter.mindir.ops.enums import (
    CoordinateTransformMode,
    DataType,
    Format,
    NearestMode,
    ReduceMode,
    ResizeMethod,
)
from mslite.converter.mindir.ops.reduction import ReduceFusion

from .call import Call
from .convolution import spatial_pair
from .registry import tf_operator

_MAX_PIXELS = 1024
"""Largest number of pixels in a patch."""

_METHODS = {
    "ResizeBicubic": ResizeMethod.CUBIC,
    "ResizeBilinear": ResizeMethod.LINEAR,
    "ResizeNearestNeighbor": ResizeMethod.NEAREST,
}


@tf_operator(*_METHODS)
def resize(call: Call) -> Value:
    """Converts resizes. Nearest reads floor(i * scale); with align_corners round(i * scale); with half_pixel_centers
    floor((i + 1/2) * scale), which is the half-pixel coordinate rounded half up. Cubic with half_pixel_centers ignores
    pixels outside the image."""
    x = call.input(0)
    align, half = call.flag("align_corners"), call.flag("half_pixel_centers")
    if align and half:
        raise call.block("align_corners and half_pixel_centers are mutually exclusive", attribute="align_corners")
    mode = CoordinateTransformMode.ASYMMETRIC
    if align or half:
        mode = CoordinateTransformMode.ALIGN_CORNERS if align else CoordinateTransformMode.HALF_PIXEL
    method = _METHODS[call.operator]
    if method is not ResizeMethod.NEAREST:
        x = call.as_type(x, DataType.FLOAT32)
    size = call.known_integers(1)
    if size is not None and (len(size) != 2 or not all(1 <= length < 2**31 for length in size)):
        raise call.block(f"the size {list(size)} is not two positive numbers")
    nearest = NearestMode.ROUND_HALF_UP if align or half else NearestMode.FLOOR
    op = ops.Resize(
        format=Format.NHWC,
        method=method,
        new_height=0 if size is None else size[0],
        new_width=0 if size is None else size[1],
        coordinate_transform_mode=mode,
        nearest_mode=nearest if method is ResizeMethod.NEAREST else NearestMode.NORMAL,
        cubic_coeff=-0.5 if half else -0.75,
        exclude_outside=int(half and method is ResizeMethod.CUBIC),
    )
    return call.spatial(op, x) if size is not None else call.spatial(op, x, call.int32(1))


@tf_operator("CropAndResize")
def crop_and_resize(call: Call) -> Value:
    """Converts CropAndResize. Its inputs are images (NHWC), boxes, box_indices, size."""
    methods = {"bilinear": ResizeMethod.LINEAR, "nearest": ResizeMethod.NEAREST}
    text = call.text("method", "bilinear")
    if text not in methods:
        raise call.block(f"the method '{text}' is unknown", attribute="method")
    op = ops.CropAndResize(method=methods[text], extrapolation_value=call.real("extrapolation_value"))
    image = call.as_type(call.input(0), DataType.FLOAT32)
    return call.emit(op, image, call.input(1), call.int32(2), call.int32(3))


@tf_operator("ExtractImagePatches")
def patches(call: Call) -> Value:
    """Converts ExtractImagePatches: each window becomes one pixel; its pixels are concatenated in the channels."""
    x = call.input(0)
    kernel, stride = spatial_pair(call, "ksizes", False), spatial_pair(call, "strides", False)
    rate = spatial_pair(call, "rates", False)
    if call.require_rank(x) != 4:
        raise call.block(f"the rank of '{x.name}' is not 4")
    size = [call.require_size(x, axis, "a split into patches") for axis in (1, 2)]
    if kernel[0] * kernel[1] > _MAX_PIXELS:
        raise call.block(f"patches of {list(kernel)} are unsupported", "Use smaller patches", "ksizes")
    same = call.text("padding") == "SAME"
    pads, out = [], []
    for length, taps, step, spread in zip(size, kernel, stride, rate, strict=True):
        reach = (taps - 1) * spread + 1
        count = -(-length // step) if same else (length - reach) // step + 1
        if count < 1:
            raise call.block(f"a patch of {list(kernel)} is larger than the image {size}", attribute="ksizes")
        total = max(0, (count - 1) * step + reach - length) if same else 0
        pads.append((total // 2, total - total // 2))
        out.append(count)
    if any(sum(pair) for pair in pads):
        x = call.emit(PadFusion(), x, call.ints(((0, 0), *pads, (0, 0))))
    parts = []
    for row in range(kernel[0]):
        for column in range(kernel[1]):
            start = (row * rate[0], column * rate[1])
            stop = [s + (n - 1) * step + 1 for s, n, step in zip(start, out, stride, strict=True)]
            op = StridedSlice(begin_mask=1, end_mask=1)
            bounds = (call.ints((0, *start)), call.ints((0, *stop)), call.ints((1, *stride)))
            parts.append(call.emit(op, x, *bounds))
    return parts[0] if len(parts) == 1 else call.emit(Concat(axis=3), *parts)


@tf_operator("AdjustContrastv2")
def contrast(call: Call) -> Value:
    """Converts AdjustContrast: (x - mean) * factor + mean, with the mean of each channel of each image."""
    x, factor = call.input(0), call.input(1)
    rank = call.require_rank(x)
    op = ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceMean, coeff=1.0)
    mean = call.emit(op, x, call.ints((rank - 3, rank - 2)))
    scaled = call.emit(MulFusion(), call.emit(SubFusion(), x, mean), factor)
    return call.emit(AddFusion(), scaled, mean)
