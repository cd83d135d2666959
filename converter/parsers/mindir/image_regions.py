"""Image regions: ROI align, crop and resize, non-maximum suppression."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import SliceFusion, Split
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.detection import NonMaxSuppression, RoiAlign
from mslite.converter.mindir.ops.enums import DataType, ResizeMethod
from mslite.converter.mindir.ops.indexing import Gather, ScatterElements
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from mslite.converter.mindir.ops.resize import CropAndResize

from .call import Call
from .entries import Entry, Sequence
from .registry import primitive
from .sorting import ordered


@primitive("ROIAlign", operators="RoiAlign Split Reshape Cast", arguments="features rois")
def roi_align(call: Call) -> Value:
    """Converts ROIAlign. Regions are [image, x1, y1, x2, y2]; `roi_end_mode` 1 shifts their ends by a pixel."""
    x, rois = call.input(0), call.input(1)
    image, corners = (
        call.value(each) for each in call.emit_many(Split(output_num=2, size_splits=(1, 4), axis=1), [rois], 2).items
    )
    scale, samples, shifts_end = (
        call.real("spatial_scale", 1.0),
        call.integer("sample_num", 2),
        call.boolean("roi_end_mode", True),
    )
    if samples < 1:
        raise call.block("the number of samples depends on the size of each region", "Set sample_num=2", "sample_num")
    if shifts_end:
        # Then regions may be smaller than a pixel, as in mslite's RoiAlign with half_pixel, which moves coordinates
        # by half a pixel. The addition moves them back.
        half = 0.5 / scale
        corners = call.emit(AddFusion(), corners, call.const([half, half, half + 1, half + 1], "float32"))
    op = RoiAlign(
        output_height=call.integer("pooled_height", 1),
        output_width=call.integer("pooled_width", 1),
        sampling_ratio=samples,
        spatial_scale=scale,
        half_pixel=shifts_end,
    )
    number = call.cast(call.emit(Reshape(), image, call.ints((-1,))), DataType.INT32)
    return call.emit(op, x, corners, number)


@primitive(
    "NMSWithMask", operators="TopKFusion Gather NonMaxSuppression ScatterElements", arguments="bboxes iou_threshold"
)
def suppress(call: Call) -> Entry:
    """Converts NMSWithMask. Boxes are [x1, y1, x2, y2, score]; the results are the boxes sorted by score, their
    indices, and a mask of the boxes that are kept."""
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


_CROPS = {"bilinear": ResizeMethod.LINEAR, "nearest": ResizeMethod.NEAREST}


@primitive("CropAndResize", operators="CropAndResize", arguments="image boxes box_index crop_size")
def crop_and_resize(call: Call) -> Value:
    """Converts CropAndResize; its images are NHWC."""
    given = call.attribute("method")
    if isinstance(given, str) and given not in _CROPS:
        raise call.block(f"'{given}' is not bilinear or nearest", "Use bilinear", "method")
    method = _CROPS[given] if isinstance(given, str) else call.choice("method", ResizeMethod, ResizeMethod.LINEAR)
    op = CropAndResize(method=method, extrapolation_value=call.real("extrapolation_value", 0.0))
    return call.emit(op, call.input(0), call.input(1), call.input(2), call.index_list(3))
