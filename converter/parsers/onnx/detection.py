"""Post-processing of object detectors, and sampling of image regions."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import detection as ops
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.resize import GridSampler

from .call import Call
from .casting import as_type, to_int64
from .registry import onnx_operator


@onnx_operator("NonMaxSuppression")
def non_max_suppression(call: Call) -> Value:
    """Defaults of missing inputs: 0 boxes per class; IoU threshold 0; no score threshold."""
    boxes, scores = call.input(0), call.input(1)
    limit = call.optional(2)
    limit = call.ints((0,)) if limit is None else as_type(call, limit, DataType.INT32)
    overlap = call.optional(3) or call.const(np.zeros(1, np.float32))
    operands = [boxes, scores, limit, overlap]
    if call.has_input(4):
        operands.append(call.input(4))
    op = ops.NonMaxSuppression(center_point_box=call.integer("center_point_box", 0))
    return to_int64(call, call.emit(op, *operands))


@onnx_operator("RoiAlign")
def roi_align(call: Call) -> Value:
    """By default, coordinates are shifted by half a pixel since version 16."""
    mode = call.choice("mode", call.text("mode", "avg"), {"avg": "avg", "max": "max"})
    default = "half_pixel" if call.version >= 16 else "output_half_pixel"
    coordinates = call.text("coordinate_transformation_mode", default)
    half_pixel = call.choice(
        "coordinate_transformation_mode", coordinates, {"half_pixel": True, "output_half_pixel": False}
    )
    op = ops.RoiAlign(
        mode=mode,
        output_height=call.integer("output_height", 1),
        output_width=call.integer("output_width", 1),
        sampling_ratio=call.integer("sampling_ratio", 0),
        spatial_scale=call.real("spatial_scale", 1.0),
        half_pixel=half_pixel,
    )
    return call.emit(op, call.input(0), call.input(1), as_type(call, call.input(2), DataType.INT32))


@onnx_operator("GridSample")
def grid_sample(call: Call) -> Value:
    """Supports the names of the modes before and since version 20."""
    modes = {"linear": 0, "bilinear": 0, "nearest": 1, "cubic": 2, "bicubic": 2}
    paddings = {"zeros": 0, "border": 1, "reflection": 2}
    op = GridSampler(
        interpolation_mode=call.choice("mode", call.text("mode", "linear"), modes),
        padding_mode=call.choice("padding_mode", call.text("padding_mode", "zeros"), paddings),
        align_corners=call.boolean("align_corners"),
    )
    return call.emit(op, call.input(0), call.input(1))
