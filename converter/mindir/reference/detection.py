"""References of the detectors' post-processing."""

from __future__ import annotations

import math

import numpy as np

from ..ops import detection as ops
from ._declare import Array, Inputs, case, float32, int32, integers, normal, reference


def _given(inputs: Inputs) -> list[Array]:
    return [array for array in inputs if array is not None]


def _overlap(a: Array, b: Array) -> float:
    """Intersection over union of (y, x, y, x) boxes."""
    areas = [float((box[2] - box[0]) * (box[3] - box[1])) for box in (a, b)]
    if min(areas) <= 0:
        return 0.0
    height, width = (float(min(a[2 + i], b[2 + i]) - max(a[i], b[i])) for i in (0, 1))
    common = max(height, 0.0) * max(width, 0.0)
    return common / (sum(areas) - common)


def _greedy(boxes: Array, scores: Array, candidates: list[int], overlap: float, limit: int) -> list[int]:
    """Returns the candidates that are kept, best score first."""
    kept: list[int] = []
    for index in sorted(candidates, key=lambda i: (-scores[i], i)):
        if len(kept) < limit and all(_overlap(boxes[index], boxes[other]) <= overlap for other in kept):
            kept.append(index)
    return kept


@reference("NonMaxSuppression")
def non_max_suppression(op: ops.NonMaxSuppression, inputs: Inputs) -> list[Array]:
    """ONNX NonMaxSuppression, indices int32."""
    boxes, scores, *rest = _given(inputs)
    limit = int(rest[0].item()) if rest else 0
    overlap = float(rest[1].item()) if len(rest) > 1 else 0.0
    if op.center_point_box:
        x, y, width, height = np.moveaxis(boxes, -1, 0)
        corners = np.stack([y - height / 2, x - width / 2, y + height / 2, x + width / 2], -1)
    else:
        low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
        corners = np.concatenate([low, high], -1)
    found = []
    for batch, label in np.ndindex(scores.shape[:2]):
        values = scores[batch, label]
        candidates = [i for i in range(len(values)) if len(rest) < 3 or values[i] > rest[2].item()]
        found += [(batch, label, i) for i in _greedy(corners[batch], values, candidates, overlap, limit)]
    return [np.array(found, np.int32).reshape(-1, 3)]


@reference("PaddedNonMaxSuppression")
def padded_non_max_suppression(op: ops.PaddedNonMaxSuppression, inputs: Inputs) -> list[Array]:
    """NonMaxSuppression, padded with rows of -1."""
    boxes, scores, *thresholds = _given(inputs)
    limit = np.array([op.max_output_boxes])
    plain = ops.NonMaxSuppression(center_point_box=op.center_point_box)
    (found,) = non_max_suppression(plain, [boxes, scores, limit, *thresholds])
    rows = scores.shape[0] * scores.shape[1] * min(op.max_output_boxes, boxes.shape[1])
    return [np.concatenate([found, np.full((rows - len(found), 3), -1, np.int32)])]


@reference("SoftNonMaxSuppression")
def soft_non_max_suppression(op: ops.SoftNonMaxSuppression, inputs: Inputs) -> list[Array]:
    """Each iteration selects the best score; scores are decreased by the selected boxes."""
    boxes, scores, limit, overlap, lowest, sigma = _given(inputs)
    corners = np.concatenate([np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])], 1)
    hard = op.hard_limit or sigma.item() <= 0
    left = {i: float(score) for i, score in enumerate(scores) if score > lowest.item()}
    indices: list[int] = []
    kept: list[float] = []
    while left and len(indices) < limit.item():
        best = max(left, key=lambda i: (left[i], -i))
        indices.append(best)
        kept.append(left.pop(best))
        for i in list(left):
            common = _overlap(corners[i], corners[best])
            if sigma.item() > 0:
                left[i] *= math.exp(-(common**2) / (2 * sigma.item()))
            if (hard and common >= overlap.item()) or left[i] <= lowest.item():
                del left[i]
    return [np.array(indices, np.int32), np.array(kept, np.float32)]


@reference("DetectionPostProcess")
def detection_post_process(op: ops.DetectionPostProcess, inputs: Inputs) -> list[Array]:
    """TensorFlow Lite's TFLite_Detection_PostProcess."""
    codes, scores, anchors = (array.astype(np.float64) for array in _given(inputs))
    height, width, x_scale, y_scale = op.scale or ()
    codes = codes[0] / np.array([y_scale, x_scale, height, width])
    center = codes[:, :2] * anchors[:, 2:] + anchors[:, :2]
    half = 0.5 * np.exp(codes[:, 2:]) * anchors[:, 2:]
    boxes = np.concatenate([center - half, center + half], -1)
    values = scores[0, :, scores.shape[2] - op.num_classes :]
    everyone = range(len(boxes))
    found: list[tuple[float, int, int]] = []
    if op.use_regular_nms:
        for label in range(op.num_classes):
            candidates = [i for i in everyone if values[i, label] >= op.nms_score_threshold]
            limit = op.detections_per_class or op.max_detections
            kept = _greedy(boxes, values[:, label], candidates, op.nms_iou_threshold, limit)
            found += [(values[i, label], label, i) for i in kept]
        found = sorted(found, key=lambda entry: -entry[0])[: op.max_detections]
        count = len(found)
    else:
        best = values.max(1)
        candidates = [i for i in everyone if best[i] >= op.nms_score_threshold]
        kept = _greedy(boxes, best, candidates, op.nms_iou_threshold, op.max_detections)
        for i in kept:
            order = np.argsort(-values[i], kind="stable")[: op.max_classes_per_detection]
            found += [(values[i, label], int(label), i) for label in order]
        count = len(kept)
    slots = op.max_detections * op.max_classes_per_detection
    result = [np.zeros((1, slots, 4), np.float32), np.zeros((1, slots), np.float32), np.zeros((1, slots), np.float32)]
    for slot, (score, label, i) in enumerate(found):
        result[0][0, slot], result[1][0, slot], result[2][0, slot] = boxes[i], label, score
    return [*result, np.array([count], np.float32)]


@reference("PriorBox")
def prior_box(op: ops.PriorBox, inputs: Inputs) -> list[Array]:
    """Caffe's PriorBox: for each cell and minimum size, a square, the square of the mean size, and one box per aspect
    ratio."""
    feature, *image = _given(inputs)
    height, width = feature.shape[1:3]
    image_height, image_width = op.image_size_h, op.image_size_w
    if not (image_height and image_width):
        image_height, image_width = image[0].shape[1:3]
    step_y, step_x = op.step_h or image_height / height, op.step_w or image_width / width
    sizes = []
    for i, small in enumerate(op.min_sizes or ()):
        sizes.append((float(small), float(small)))
        if i < len(op.max_sizes or ()):
            sizes.append((math.sqrt(small * (op.max_sizes or ())[i]),) * 2)
        for ratio in op.aspect_ratios or ():
            if abs(ratio - 1) >= 1e-6:
                sizes.append((small * math.sqrt(ratio), small / math.sqrt(ratio)))
                if op.flip:
                    sizes.append((small / math.sqrt(ratio), small * math.sqrt(ratio)))
    boxes = []
    for row, column in np.ndindex(height, width):
        x, y = (column + op.offset) * step_x, (row + op.offset) * step_y
        for w, h in sizes:
            boxes.append([(x - w / 2) / image_width, (y - h / 2) / image_height])
            boxes[-1] += [(x + w / 2) / image_width, (y + h / 2) / image_height]
    corners = np.array(boxes)
    if op.clip:
        corners = corners.clip(0, 1)
    variances = np.broadcast_to(np.array(op.variances or (0.1,)), corners.shape)
    return [np.stack([corners.ravel(), variances.ravel()])[None].astype(np.float32)]


def _sample(image: Array, y: float, x: float) -> list[float]:
    """Returns the weighted neighbors of a point; zeros outside of the image."""
    height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return [0.0] * 4
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    y0, x0 = int(y), int(x)
    y1, x1 = min(y0 + 1, height - 1), min(x0 + 1, width - 1)
    dy, dx = y - y0, x - x0
    weights = [(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx]
    return [w * float(image[p]) for w, p in zip(weights, [(y0, x0), (y0, x1), (y1, x0), (y1, x1)], strict=True)]


@reference("RoiAlign")
def roi_align(op: ops.RoiAlign, inputs: Inputs) -> list[Array]:
    """ONNX RoiAlign; `max` takes the maximum of the weighted neighbors."""
    x, rois, batches = _given(inputs)
    y = np.zeros((len(rois), x.shape[1], op.output_height, op.output_width))
    shift = 0.5 if op.half_pixel else 0.0
    for r, batch in enumerate(batches):
        left, top, right, bottom = rois[r].astype(np.float64) * op.spatial_scale - shift
        sizes = [bottom - top, right - left]
        if not op.half_pixel:
            sizes = [max(size, 1.0) for size in sizes]
        bins = [sizes[0] / op.output_height, sizes[1] / op.output_width]
        rows, columns = (op.sampling_ratio or math.ceil(size) for size in bins)
        for channel, i, j in np.ndindex(*y.shape[1:]):
            points = [
                _sample(
                    x[int(batch), channel],
                    top + (i + (p + 0.5) / rows) * bins[0],
                    left + (j + (q + 0.5) / columns) * bins[1],
                )
                for p, q in np.ndindex(rows, columns)
            ]
            total = max(map(max, points)) if op.mode == "max" else sum(map(sum, points)) / max(rows * columns, 1)
            y[r, channel, i, j] = total
    return [y.astype(np.float32)]


def _decoded(op: ops.DetectionOutput, codes: Array, priors: Array, variances: Array) -> Array:
    """Returns decoded boxes (x_min, y_min, x_max, y_max)."""
    size = priors[:, 2:] - priors[:, :2]
    codes = codes * variances
    if op.code_type == 2:
        center = codes[:, :2] * size + (priors[:, :2] + priors[:, 2:]) / 2
        half = np.exp(codes[:, 2:]) * size / 2
        return np.concatenate([center - half, center + half], -1)
    return np.asarray(priors + codes * (np.tile(size, 2) if op.code_type == 3 else 1))


@reference("DetectionOutput")
def detection_output(op: ops.DetectionOutput, inputs: Inputs) -> list[Array]:
    """Caffe's (SSD's) DetectionOutput, best rows of an image first; one row of -1 for an image without detections."""
    locations, scores, priors = (array.astype(np.float64) for array in _given(inputs))
    images, sets = len(locations), 1 if op.share_location else op.num_classes
    boxes = priors[0, 0].reshape(-1, 4)
    variances = np.ones_like(boxes) if op.variance_encoded_in_target else priors[0, 1].reshape(-1, 4)
    locations = locations.reshape(images, len(boxes), sets, 4)
    scores = scores.reshape(images, len(boxes), op.num_classes)
    rows: list[list[float]] = []
    for image in range(images):
        found: list[tuple[float, int, Array]] = []
        for label in range(op.num_classes):
            if label == op.background_label:
                continue
            decoded = _decoded(op, locations[image, :, label if sets > 1 else 0], boxes, variances)
            values, threshold = scores[image, :, label], op.nms_threshold
            order = [i for i in np.argsort(-values, kind="stable") if values[i] > op.confidence_threshold]
            kept: list[int] = []
            for i in order[: None if op.nms_top_k < 0 else op.nms_top_k]:
                if all(_overlap(decoded[i], decoded[other]) <= threshold for other in kept):
                    kept.append(i)
                    if op.nms_eta < 1 and threshold > 0.5:
                        threshold *= op.nms_eta
            found += [(values[i], label, decoded[i]) for i in kept]
        best = sorted(range(len(found)), key=lambda i: -found[i][0])
        best = best[: None if op.keep_top_k < 0 else op.keep_top_k]
        rows += [[image, found[i][1], found[i][0], *found[i][2]] for i in best]
    if not rows:
        rows = [[image, *([-1.0] * 6)] for image in range(images)]
    return [np.array(rows, np.float32)[None, None]]


def _boxes(*shape: int) -> Array:
    corner = np.abs(normal(*shape, 2))
    return np.concatenate([corner, corner + np.abs(normal(*shape, 2)) + np.float32(0.1)], -1)


def _scalar(value: float, dtype: type = np.float32) -> Array:
    return np.array([value], dtype)


for _center in (0, 1):
    _op = ops.NonMaxSuppression(center_point_box=_center)
    _inputs = [_boxes(2, 60), np.abs(normal(2, 3, 60)), _scalar(9, np.int64), _scalar(0.4), _scalar(0.3)]
    case(f"center{_center}", _op, _inputs)
    case(f"center{_center}-no-threshold", _op, _inputs[:4])
    case(f"center{_center}-none", _op, _inputs[:2])
case(
    "ties",
    ops.NonMaxSuppression(),
    [_boxes(1, 40), integers(0, 3, 1, 1, 40).astype(np.float32), _scalar(40, np.int64), _scalar(0.1)],
)
for _center in (0, 1):
    for _most in (0, 9, 200):
        _padded = ops.PaddedNonMaxSuppression(center_point_box=_center, max_output_boxes=_most)
        _inputs = [_boxes(2, 60), np.abs(normal(2, 3, 60)), _scalar(0.4), _scalar(0.3)]
        case(f"center{_center}-{_most}", _padded, _inputs)
        case(f"center{_center}-{_most}-no-threshold", _padded, _inputs[:2])
for _regular in (False, True):
    for _classes in (1, 4):
        _post = ops.DetectionPostProcess(
            scale=(5, 4, 9, 10),
            nms_iou_threshold=0.4,
            nms_score_threshold=0.35,
            max_detections=12,
            detections_per_class=5,
            max_classes_per_detection=1 if _classes == 1 else 2,
            num_classes=_classes,
            use_regular_nms=_regular,
        )
        _scores = np.abs(normal(1, 50, _classes + 1)) * np.float32(0.4)
        case(f"{_regular}-{_classes}", _post, [normal(1, 50, 4), _scores, np.abs(normal(50, 4))], tolerance=1e-4)
_prior = ops.PriorBox(
    min_sizes=(30, 60),
    max_sizes=(60, 111),
    aspect_ratios=(1, 2, 3),
    variances=(0.1, 0.1, 0.2, 0.2),
    flip=True,
    clip=True,
    offset=0.5,
)
case("image", _prior, [normal(1, 5, 7, 2), normal(1, 160, 200, 3)])
case(
    "attributes",
    ops.PriorBox(min_sizes=(20,), image_size_h=100, image_size_w=80, step_h=16, step_w=16, offset=0.5),
    [normal(1, 3, 4, 2)],
)
for _mode in ("avg", "max"):
    for _half in (True, False):
        for _ratio in (0, 2):
            _align = ops.RoiAlign(
                mode=_mode, output_height=3, output_width=4, sampling_ratio=_ratio, spatial_scale=0.5, half_pixel=_half
            )
            _rois = np.array([[1, 2, 15, 13], [0, 0, 3, 30], [-6, 4, 8, 6]], np.float32)
            case(f"{_mode}-{_half}-{_ratio}", _align, [normal(2, 2, 9, 10), _rois, np.array([1, 0, 1])], tolerance=1e-4)
for _code in (1, 2, 3):
    for _shared in (True, False):
        _output = ops.DetectionOutput(
            num_classes=3,
            share_location=_shared,
            code_type=_code,
            variance_encoded_in_target=_code == 3,
            nms_threshold=0.6,
            nms_top_k=-1 if _code == 2 else 12,
            nms_eta=0.9 if _code == 1 else 1.0,
            keep_top_k=-1 if _code == 3 else 7,
            confidence_threshold=0.4,
        )
        _corners = _boxes(1, 20)
        _priors = np.concatenate([_corners.reshape(1, 1, 80), np.full((1, 1, 80), 0.1, np.float32)], 1)
        _codes = normal(2, 20 * 4 * (1 if _shared else 3)) * np.float32(0.3)
        case(f"{_code}-{_shared}", _output, [_codes, np.abs(normal(2, 60)), _priors], tolerance=1e-4)
case(
    "nothing",
    ops.DetectionOutput(num_classes=2, confidence_threshold=9.0),
    [normal(3, 8), np.abs(normal(3, 4)), np.abs(normal(1, 2, 8))],
)

_CORNER = np.abs(normal(30, 2)) * 2
_SOFT = [np.concatenate([_CORNER, _CORNER + np.abs(normal(30, 2)) + 1], 1), np.abs(normal(30))]
for _label, _hard, _most, _sigma, _least in (
    ("soft", False, 20, 0.5, 0.1),
    ("soft-and-hard", True, 20, 0.5, 0.1),
    ("hard", False, 30, 0.0, 0.0),
    ("few", False, 4, 0.2, 0.0),
    ("none", False, 20, 0.5, 100.0),
):
    case(
        _label,
        ops.SoftNonMaxSuppression(hard_limit=_hard),
        [*_SOFT, int32([_most]), float32([0.3]), float32([_least]), float32([_sigma])],
    )
