"""Detection, random numbers and fake quantization, computed with onnxruntime's and LiteRT's operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType
from tests.kernels import random_regions as regions
from tests.kernels import random_sequences as sequences
from tests.kernels.random_calls import Call, Draw, normal, shapes

from .graph import Array, Graph, run
from .litert import run_litert
from .registry import compared


@compared("NonMaxSuppression", strategy=lambda name: sequences.detections())
def non_max_suppression(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    return run("NonMaxSuppression", *inputs, center_point_box=op.center_point_box)


@st.composite
def padded(draw: Draw, name: str) -> Call:
    boxes, scores, limit, *thresholds = draw(sequences.detections()).inputs
    op = OPERATORS[name](max_output_boxes=int(limit[0]))
    return Call(op, (boxes, scores, *thresholds), (2, 3))


@compared("PaddedNonMaxSuppression", strategy=padded)
def padded_non_max_suppression(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    boxes, scores, *thresholds = inputs
    limit = np.array([op.max_output_boxes])
    (found,) = run("NonMaxSuppression", boxes, scores, limit, *thresholds, center_point_box=op.center_point_box)
    rows = scores.shape[0] * scores.shape[1] * min(op.max_output_boxes, boxes.shape[1])
    return [np.pad(found, ((0, rows - len(found)), (0, 0)), constant_values=-1)]


@st.composite
def anchors(draw: Draw, name: str) -> Call:
    count, classes = draw(st.integers(3, 20)), draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    scores = generator.permutation(count * (classes + 1)).reshape(1, count, classes + 1) / (count * (classes + 1))
    place = np.concatenate([generator.uniform(0, 1, (count, 2)), generator.uniform(0.1, 0.5, (count, 2))], 1)
    op = OPERATORS[name](
        scale=(5.0, 4.0, 9.0, 10.0), nms_iou_threshold=draw(st.sampled_from((0.3, 0.6))),
        nms_score_threshold=draw(st.sampled_from((0.1, 0.4))), max_detections=draw(st.integers(1, 8)),
        detections_per_class=draw(st.integers(1, 5)), max_classes_per_detection=1, num_classes=classes,
        use_regular_nms=draw(st.booleans()),
    )  # fmt: skip
    codes = normal(draw, (1, count, 4))
    return Call(op, (codes, scores.astype(np.float32), place.astype(np.float32)), (2,), 1e-4)


@compared("DetectionPostProcess", strategy=anchors)
def detection_post_process(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    names = ("max_detections", "max_classes_per_detection", "detections_per_class", "num_classes", "use_regular_nms")
    options = {name: getattr(op, name) for name in names}
    options |= {name: float(getattr(op, name)) for name in ("nms_score_threshold", "nms_iou_threshold")}
    options |= dict(zip(("h_scale", "w_scale", "x_scale", "y_scale"), op.scale, strict=True))
    kinds = ("float32",) * 4
    found = run_litert("CUSTOM:TFLite_Detection_PostProcess", inputs, kinds, constant=(2,), custom=options)
    for array in found[:3]:
        array[:, int(found[3][0]) :] = 0  # values after the last detection are undefined
    return found


@st.composite
def aligned(draw: Draw, name: str) -> Call:
    batch, height, width = (draw(st.integers(low, high)) for low, high in ((1, 2), (3, 9), (3, 9)))
    count = draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    corner = generator.uniform(0, 8, (count, 2))
    rois = np.concatenate([corner, corner + generator.uniform(1, 9, (count, 2))], 1).astype(np.float32)
    op = OPERATORS[name](
        mode=draw(st.sampled_from(("avg", "max"))), output_height=draw(st.integers(1, 4)),
        output_width=draw(st.integers(1, 4)), sampling_ratio=draw(st.integers(0, 3)),
        spatial_scale=draw(st.sampled_from((0.5, 1.0))), half_pixel=draw(st.booleans()),
    )  # fmt: skip
    x = normal(draw, (batch, draw(st.integers(1, 3)), height, width))
    return Call(op, (x, rois, generator.integers(0, batch, count)), (), 1e-4)


@compared("RoiAlign", strategy=aligned)
def roi_align(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    keys = ("mode", "output_height", "output_width", "sampling_ratio", "spatial_scale")
    coordinates = "half_pixel" if op.half_pixel else "output_half_pixel"
    attributes = {key: getattr(op, key) for key in keys}
    return run("RoiAlign", *inputs, coordinate_transformation_mode=coordinates, **attributes)


@compared("PriorBox", strategy=lambda name: regions.priors())
def prior_box(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """Computes cell centers with Range and broadcasting, sizes with Sqrt, and corners with Concat."""
    graph, (cells, image) = Graph(), inputs
    height, width = cells.shape[1:3]
    size = [op.image_size_h or image.shape[1], op.image_size_w or image.shape[2]]
    steps = [op.step_h or size[0] / height, op.step_w or size[1] / width]
    sizes = []
    for index, small in enumerate(op.min_sizes):
        sizes.append([graph("Identity", float(small))] * 2)
        if op.max_sizes:
            sizes.append([graph("Sqrt", graph("Mul", float(small), float(op.max_sizes[index])))] * 2)
        for ratio in (ratio for ratio in op.aspect_ratios or () if abs(ratio - 1) > 1e-6):
            root = graph("Sqrt", float(ratio))
            pair = [graph("Mul", float(small), root), graph("Div", float(small), root)]
            sizes += [pair, pair[::-1]] if op.flip else [pair]
    one = np.array([1], np.int64)
    halves = [
        graph("Div", graph("Concat", *(graph("Reshape", pair[i], one) for pair in sizes), axis=0), 2.0) for i in (0, 1)
    ]
    centers = []
    for count, step, axis in ((width, steps[1], 1), (height, steps[0], 0)):
        places = graph("Add", graph("Range", np.float32(0), np.float32(count), np.float32(1)), float(op.offset))
        shape = [1, -1, 1] if axis else [-1, 1, 1]
        places = graph("Reshape", graph("Mul", places, float(step)), np.array(shape))
        centers.append(graph("Expand", places, np.array([height, width, len(sizes)])))
    corners = []
    for function in ("Sub", "Add"):
        for i in (0, 1):
            edge = graph("Div", graph(function, centers[i], halves[i]), float(size[1 - i]))
            corners.append(graph("Unsqueeze", edge, np.array([3])))
    boxes = graph("Reshape", graph("Concat", *corners, axis=3), np.array([-1]))
    boxes = graph("Clip", boxes, 0.0, 1.0) if op.clip else boxes
    count = 4 * height * width * len(sizes)
    variances = graph("Tile", np.array(op.variances, np.float32), np.array([count // len(op.variances)]))
    return graph.run(graph("Reshape", graph("Concat", boxes, variances, axis=0), np.array([1, 2, count])))


def _comparable(call: Call) -> Call:
    """Excludes what onnxruntime's NonMaxSuppression does not have: changing thresholds, candidate limits, and exchanged corners."""
    return replace(call, op=replace(call.op, nms_eta=1.0, nms_top_k=-1, code_type=2))  # type: ignore[call-arg]


@compared("DetectionOutput", strategy=lambda name: regions.detector_outputs().map(_comparable))
def detection_output(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """NonMaxSuppression per image and class of the decoded boxes, then the best rows of an image with TopK."""
    locations, scores, priors = inputs
    images, boxes = len(locations), priors[0, 0].reshape(-1, 4)
    variances = np.ones_like(boxes) if op.variance_encoded_in_target else priors[0, 1].reshape(-1, 4)
    sets = 1 if op.share_location else op.num_classes
    codes = locations.reshape(images, len(boxes), sets, 4)
    values = scores.reshape(images, len(boxes), op.num_classes)
    found = []
    for image in range(images):
        rows = []
        for label in (label for label in range(op.num_classes) if label != op.background_label):
            graph = Graph()
            first, last = np.split(codes[image, :, label if sets > 1 else 0] * variances, 2, 1)
            size = boxes[:, 2:] - boxes[:, :2]
            center = graph("Add", graph("Mul", first, size), (boxes[:, :2] + boxes[:, 2:]) / 2)
            half = graph("Mul", graph("Exp", last), size / 2)
            corners = graph("Concat", graph("Sub", center, half), graph("Add", center, half), axis=1)
            mine = values[image, :, label]
            limits = [
                np.array([len(boxes)]),
                np.array([op.nms_threshold], np.float32),
                np.array([op.confidence_threshold], np.float32),
            ]
            kept = graph("NonMaxSuppression", graph("Unsqueeze", corners, np.array([0])), mine[None, None], *limits)
            places = graph("Gather", kept, 2, axis=1)
            chosen, at = graph.run(graph("Gather", corners, places), places)
            head = np.array([[image, label, mine[i]] for i in at], np.float32).reshape(-1, 3)
            rows.append(np.concatenate([head, chosen], 1))
        together = np.concatenate(rows) if rows else np.zeros((0, 7), np.float32)
        limit = len(together) if op.keep_top_k < 0 else min(op.keep_top_k, len(together))
        if limit:
            _, order = run("TopK", together[:, 2], np.array([limit]), outputs=2)
            found.append(together[order])
    if not found:
        found = [np.array([[image, *[-1.0] * 6]], np.float32) for image in range(images)]
    return [np.concatenate(found)[None, None]]


# ---- fake quantization ----


@st.composite
def ranges(draw: Draw, name: str) -> Call:
    """Returns values that are not half-way between two steps, where runtimes round differently."""
    x = normal(draw, draw(shapes(1, 4, 1, 6)), -6, 6)
    count = x.shape[-1] if name.endswith("PerChannel") else 1
    low = np.array([draw(st.integers(-40, 0)) / 10 for _ in range(count)], np.float32)
    high = np.array([draw(st.integers(6, 60)) / 10 for _ in range(count)], np.float32)
    op = OPERATORS[name](num_bits=draw(st.sampled_from((4, 8))), narrow_range=draw(st.booleans()))
    return Call(op, (x, low, high), (1, 2))


@compared("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", strategy=ranges)
def fake_quant(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """Uses LiteRT's operator, which has no narrow range; else steps computed with Round."""
    x, low, high = inputs
    if not op.narrow_range and low.size == 1:
        limits = {0: ("float", float(low[0])), 1: ("float", float(high[0]))}
        bits = {2: ("int", op.num_bits), 3: ("bool", False)}
        return run_litert("FAKE_QUANT", [x], options=("FakeQuantOptions", limits | bits))
    graph = Graph()
    first, last = float(op.narrow_range), float(2**op.num_bits - 1)
    scale = graph("Div", graph("Sub", high, low), last - first)
    zero = graph("Sub", first, graph("Div", low, scale))
    zero = graph("Clip", graph("Floor", graph("Add", zero, 0.5)), first, last)
    steps = graph("Clip", graph("Add", graph("Round", graph("Div", x, scale)), zero), first, last)
    return graph.run(graph("Mul", graph("Sub", steps, zero), scale))


@st.composite
def dynamic_ranges(draw: Draw, name: str) -> Call:
    x = normal(draw, draw(shapes(1, 4, 1, 6)), draw(st.sampled_from((-4.0, 0.5))), 4)
    return Call(OPERATORS[name](dst_type=int(DataType.FLOAT32)), (x,), (), 2e-2)


@compared("DynamicQuant", strategy=dynamic_ranges)
def dynamic_quant(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """Tolerance of one step: TensorFlow Lite rounds half to even, mslite away from zero."""
    graph = Graph()
    stored = graph("DynamicQuantizeLinear", inputs[0], outputs=3)
    return graph.run(graph("DequantizeLinear", *stored))
