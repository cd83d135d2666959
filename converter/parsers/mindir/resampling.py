"""Resizing by a size or by factors, regions of images, and places that pooling left."""

from __future__ import annotations

from math import prod

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.arithmetic import AddFusion, FloorMod
from mslite.converter.mindir.ops.assembly import SliceFusion, Split
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.detection import NonMaxSuppression, RoiAlign
from mslite.converter.mindir.ops.enums import CoordinateTransformMode, DataType, NearestMode, ResizeMethod
from mslite.converter.mindir.ops.indexing import Gather, ScatterElements
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.ops.resize import CropAndResize, Resize, ResizeND
from mslite.converter.mindir.ops.windows import Col2Im, MaxPoolWithIndices

from .call import Call
from .entries import Entry, Sequence
from .generic import convert_own
from .layout import in_layout
from .registry import primitive
from .sorting import ordered

_METHODS = {"Nearest": ResizeMethod.NEAREST, "Bicubic": ResizeMethod.CUBIC}

_COORDINATES = {
    "asymmetric": CoordinateTransformMode.ASYMMETRIC,
    "align_corners": CoordinateTransformMode.ALIGN_CORNERS,
    "half_pixel": CoordinateTransformMode.HALF_PIXEL,
}


@primitive(
    *("UpsampleNearest1D", "UpsampleNearest2D", "UpsampleNearest3D"),
    operators="Resize ResizeND",
    arguments="x output_size scales",
)
@primitive(
    *("UpsampleLinear1D", "UpsampleBilinear2D", "UpsampleTrilinear3D", "UpsampleBicubic2D"),
    operators="Resize ResizeND",
    arguments="x output_size scales align_corners",
)
def upsample(call: Call) -> Value:
    """The dimensions behind batch and channels. Nearest: element floor(i * old / new)."""
    method = next((each for name, each in _METHODS.items() if name in call.operator), ResizeMethod.LINEAR)
    coordinates = "align_corners" if call.boolean("align_corners") else "half_pixel"
    coordinates = "asymmetric" if method is ResizeMethod.NEAREST else coordinates
    return _resized(call, method, coordinates, call.integers("output_size"), _factors(call))


def _factors(call: Call) -> tuple[float, ...]:
    given = call.attribute("scales")
    return tuple(float(number) for number in given) if isinstance(given, tuple) else ()


_LINEAR_COORDINATES = {0: "asymmetric", 1: "align_corners", 2: "half_pixel"}


@primitive("ResizeLinear1D", operators="ResizeND", arguments="x size coordinate_transformation_mode")
def resize_rows(call: Call) -> Value:
    given = call.attribute("coordinate_transformation_mode")
    coordinates = _LINEAR_COORDINATES.get(given, str(given))
    if coordinates not in _COORDINATES:
        raise call.block(f"{given!r} is not align_corners, half_pixel or asymmetric", attribute="coordinate_transformation_mode")  # fmt: skip
    return _resized(call, ResizeMethod.LINEAR, coordinates, call.integers("size"), ())


@primitive("ResizeBicubic", operators="Resize", arguments="image size align_corners half_pixel_centers")
def resize_cubic(call: Call) -> Value:
    """As TensorFlow: with half_pixel_centers the coefficient is -0.5, and what lies outside does not count."""
    half = call.boolean("half_pixel_centers")
    coordinates = "align_corners" if call.boolean("align_corners") else "half_pixel" if half else "asymmetric"
    coefficient = -0.5 if half else -0.75
    return _resized(call, ResizeMethod.CUBIC, coordinates, call.integers("size"), (), coefficient, half)


def _resized(
    call: Call,
    method: ResizeMethod,
    coordinates: str,
    sizes: tuple[int, ...] | None,
    factors: tuple[float, ...],
    coefficient: float = -0.75,
    exclude: bool = False,
) -> Value:
    x = call.input(0)
    rank = call.rank(x)
    if not sizes and factors:
        known = (call.shape(x) or ())[2:]
        exact = [size * factor for size, factor in zip(known, factors, strict=False)]
        if min(known, default=-1) > 0 and all(number == int(number) for number in exact):
            sizes = tuple(int(number) for number in exact)
    if not sizes and not factors:
        raise call.block("its size is computed at run time", "Give the size as numbers, or a factor")
    if len(sizes or factors) != rank - 2 or min(sizes or factors) <= 0:
        raise call.block(f"{list(sizes or factors)} is not one number for each of {rank - 2} dimensions")
    if rank == 4 and sizes:
        asymmetric = coordinates == "asymmetric"
        plain = Resize(
            method=method, new_height=sizes[0], new_width=sizes[1], coordinate_transform_mode=_COORDINATES[coordinates],
            nearest_mode=NearestMode.FLOOR if asymmetric else NearestMode.NORMAL,
            cubic_coeff=coefficient if method is ResizeMethod.CUBIC else 0.0, exclude_outside=int(exclude),
        )  # fmt: skip
        return in_layout(call, plain, [x], 1)[0]
    op = ResizeND(
        method=method, coordinate_transformation_mode=coordinates, nearest_mode="floor",
        cubic_coeff=coefficient, exclude_outside=exclude, axes=tuple(range(2, rank)),
    )  # fmt: skip
    return call.emit(op, x, call.ints(sizes) if sizes else call.const(factors, "float32"))


_CROPS = {"bilinear": ResizeMethod.LINEAR, "nearest": ResizeMethod.NEAREST}


@primitive("CropAndResize", operators="CropAndResize", arguments="image boxes box_index crop_size")
def crop_and_resize(call: Call) -> Value:
    """Images are NHWC."""
    given = call.attribute("method")
    if isinstance(given, str) and given not in _CROPS:
        raise call.block(f"'{given}' is not bilinear or nearest", "Use bilinear", "method")
    method = _CROPS[given] if isinstance(given, str) else call.choice("method", ResizeMethod, ResizeMethod.LINEAR)
    op = CropAndResize(method=method, extrapolation_value=call.real("extrapolation_value", 0.0))
    return call.emit(op, call.input(0), call.input(1), call.input(2), call.index_list(3))


# ---- regions ----


@primitive("ROIAlign", operators="RoiAlign Split Reshape Cast", arguments="features rois")
def roi_align(call: Call) -> Value:
    """Regions [image, x1, y1, x2, y2]; `roi_end_mode` 1 shifts the ends by a pixel."""
    x, rois = call.input(0), call.input(1)
    image, corners = (
        call.value(each) for each in call.emit_many(Split(output_num=2, size_splits=(1, 4), axis=1), [rois], 2).items
    )
    # Ours moves every coordinate by half a pixel, and lets regions be as small as they are.
    scale, end = call.real("spatial_scale", 1.0), call.integer("roi_end_mode", 1)
    shift = 0.5 / scale
    corners = call.emit(AddFusion(), corners, call.const([shift, shift, shift + end, shift + end], "float32"))
    op = RoiAlign(
        output_height=call.integer("pooled_height", 1),
        output_width=call.integer("pooled_width", 1),
        sampling_ratio=call.integer("sample_num", 2),
        spatial_scale=scale,
        half_pixel=True,
    )
    number = call.cast(call.emit(Reshape(), image, call.ints((-1,))), DataType.INT32)
    return call.emit(op, x, corners, number)


@primitive(
    "NMSWithMask", operators="TopKFusion Gather NonMaxSuppression ScatterElements", arguments="bboxes iou_threshold"
)
def suppress(call: Call) -> Entry:
    """Boxes [x1, y1, x2, y2, score]: in the order of their scores, their numbers in that order, and which of them stay."""
    boxes = call.input(0)
    count = call.size(boxes, 0, "the suppression of boxes")
    column = call.emit(Gather(), boxes, call.ints(4), call.ints(1))
    scores, places = ordered(call, column, 0, True)
    rows = call.emit(Gather(), boxes, places, call.ints(0))
    corners = call.emit(SliceFusion(axes=(1,)), rows, call.ints((0,)), call.ints((4,)))
    kept = call.emit(
        NonMaxSuppression(),
        call.emit(Reshape(), corners, call.ints((1, -1, 4))),
        call.emit(Reshape(), scores, call.ints((1, 1, -1))),
        call.ints((count,)),
        call.const([call.real("iou_threshold", 0.5)], "float32"),
    )
    chosen = call.emit(Gather(), kept, call.ints(2), call.ints(1))
    ones = call.emit(Fill(), call.ints(1), call.emit(Shape(), chosen))
    mask = call.emit(ScatterElements(axis=0), call.const([0] * count, "int32"), chosen, ones)
    return Sequence((rows, call.ints(range(count)), call.cast(mask, DataType.BOOL)))


# ---- pooling with places, and back ----


def _two(numbers: tuple[int, ...] | None) -> tuple[int, ...]:
    """Of [1, 1, height, width] the last two."""
    found = numbers or (1,)
    return found * 2 if len(found) == 1 else found[-2:]


@primitive(
    *("MaxPoolWithArgmaxV2", "MaxPoolWithIndices", "MaxPoolWithMask"),
    operators="MaxPoolWithIndices Cast",
    arguments="x kernel_size strides pads dilation ceil_mode argmax_type",
)
def max_pool_with_places(call: Call) -> Entry:
    """Places count the elements of one channel, [height, width], not of the whole tensor."""
    x = call.input(0)
    height, width = call.size(x, 2, "a pool with places"), call.size(x, 3, "a pool with places")
    kernel = _two(call.integers("kernel_size"))
    pads = _two(call.integers("pads") or (0,))
    op = MaxPoolWithIndices(
        kernel_size=kernel, strides=_two(call.integers("strides") or kernel), dilations=_two(call.integers("dilation")),
        pads=(*pads, *pads), ceil_mode=call.boolean("ceil_mode"),
    )  # fmt: skip
    result, places = (call.value(each) for each in call.emit_many(op, [x], 2).items)
    places = call.emit(FloorMod(), places, call.const(height * width, "int64"))
    wanted = DataType.INT32 if call.integer("argmax_type", 4) == 3 else DataType.INT64
    return Sequence((result, call.cast(places, wanted)))


@primitive("MaxUnpool2D", "MaxUnpool3D", operators="Fill ScatterElements Reshape", arguments="x argmax")
@primitive(
    "MaxUnpool2DExt",
    operators="Fill ScatterElements Reshape",
    arguments="x argmax kernel_size stride padding output_size",
)
def max_unpool(call: Call) -> Value:
    """Elements at their places in zeros, channel by channel."""
    x, places = call.input(0), call.input(1)
    shape, wanted = call.require_shape(x, "undoing a pool"), call.declared_shape
    if wanted is None or min(wanted) < 1:
        raise call.block("the size of its result is not fixed", "Give output_shape")
    spatial = 3 if "3D" in call.operator else 2
    rows = prod(shape[:-spatial])
    empty = call.emit(Fill(), call.like(0, x), call.ints((rows, prod(wanted[-spatial:]))))
    flat = call.ints((rows, prod(shape[-spatial:])))
    there, values = (call.emit(Reshape(), each, flat) for each in (places, x))
    return call.emit(Reshape(), call.emit(ScatterElements(axis=1), empty, there, values), call.ints(wanted))


@primitive("Col2Im", operators="Col2Im Reshape", arguments="x output_size kernel_size dilation padding stride")
@primitive("Col2ImExt", operators="Col2Im Reshape", arguments="x output_size kernel_size dilation padding stride")
def columns_to_images(call: Call) -> Value:
    """x: [batch, channels, block, blocks], or [batch, channels * block, blocks]."""
    if call.scope.session.own_file:
        return call.value(convert_own(call, OPERATORS["Col2Im"]))
    x = call.input(0)
    kernel = _two(call.integers("kernel_size"))
    if call.rank(x) == 4:
        shape = call.require_shape(x, "Col2Im")
        x = call.emit(Reshape(), x, call.ints((shape[0], shape[1] * shape[2], shape[3])))
    pads = _two(call.integers("padding") or (0,))
    op = Col2Im(
        dilations=_two(call.integers("dilation")), pads=(*pads, *pads), strides=_two(call.integers("stride")),
    )  # fmt: skip
    return call.emit(op, x, call.index_list(1), call.ints(kernel))
