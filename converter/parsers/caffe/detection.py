"""Layers of SSD detectors: prior boxes and detection output."""

from __future__ import annotations

from math import isclose, prod, sqrt

import numpy as np

from mslite.converter.mindir.ops import detection as ops
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.parsers.protobuf import Message

from .call import Blob, Call
from .registry import caffe_layer
from .weights import Floats

_CODES = {"CORNER": 1, "CENTER_SIZE": 2, "CORNER_SIZE": 3}
_MAX_SIZES = 32
"""Largest number of elements of each list in the kernel."""


def _ratios(given: Message) -> list[float]:
    """Returns the aspect ratios in Caffe's order: 1 first, without duplicates; with `flip`, each is followed by its
    inverse."""
    ratios = [1.0]
    for ratio in given.aspect_ratio:
        if any(isclose(ratio, other, rel_tol=0, abs_tol=1e-6) for other in ratios):
            continue
        ratios += [ratio, 1 / ratio] if given.flip else [ratio]
    return ratios


def _sides(call: Call, given: Message, ratios: list[float]) -> list[tuple[float, float]]:
    """Returns (width, height) of each box of a cell. Raises Blocked."""
    smallest, largest = list(given.min_size), list(given.max_size)
    if not smallest or any(size <= 0 for size in smallest):
        raise call.block(f"{smallest} must be positive sizes", attribute="min_size")
    if largest and (len(largest) != len(smallest) or any(b <= a for a, b in zip(smallest, largest, strict=True))):
        raise call.block(f"{largest} must be larger than the values {smallest} of min_size", attribute="max_size")
    sides = []
    for index, size in enumerate(smallest):
        sides.append((size, size))
        if largest:
            sides.append((sqrt(size * largest[index]),) * 2)
        sides += [(size * sqrt(ratio), size / sqrt(ratio)) for ratio in ratios[1:]]
    return sides


@caffe_layer("PriorBox")
def prior_box(call: Call) -> Blob:
    """Converts PriorBox: boxes around the cells of the first bottom blob, relative to the image (the second bottom
    blob), and their variances."""
    cells, image, given = call.bottom(0), call.bottom(1), call.parameter("prior_box")
    call.require_rank(cells, 4)
    call.require_rank(image, 4)
    if any(ratio <= 0 for ratio in given.aspect_ratio):
        raise call.block(f"{list(given.aspect_ratio)} must be positive", attribute="aspect_ratio")
    if len(given.variance) not in (0, 1, 4):
        raise call.block(f"it has {len(given.variance)} variances instead of 1 or 4", attribute="variance")
    ratios = _ratios(given)
    sides = _sides(call, given, ratios)
    if len(sides) > 4 * _MAX_SIZES:
        raise call.block(f"{len(sides)} boxes for each cell are too many")
    steps = (given.step_h or given.step, given.step_w or given.step)
    size = (given.img_h or given.img_size, given.img_w or given.img_size)
    if min(*steps, 0) < 0 or (size[0] == 0) != (size[1] == 0):
        raise call.block(f"the steps {steps} or sizes {size} are not valid")
    height, width = cells.shape[2:]
    shape = (1, 2, 4 * height * width * len(sides))
    lists = (given.min_size, given.max_size, ratios)
    if any(value != int(value) for value in (*given.min_size, *given.max_size)) or max(map(len, lists)) > _MAX_SIZES:
        return Blob(call.const(_constant(given, cells, image, sides, steps, size)), shape)
    op = ops.PriorBox(
        min_sizes=tuple(int(value) for value in given.min_size),
        max_sizes=tuple(int(value) for value in given.max_size),
        aspect_ratios=tuple(ratios[1:]),
        variances=tuple(given.variance) or (0.1,),
        image_size_h=size[0],
        image_size_w=size[1],
        step_h=steps[0],
        step_w=steps[1],
        clip=given.clip,
        flip=False,
        offset=given.offset,
    )
    operands = [call.emit(Transpose(), blob.value, call.ints((0, 2, 3, 1))) for blob in (cells, image)]
    return Blob(call.emit(op, *operands), shape)


def _constant(
    given: Message,
    cells: Blob,
    image: Blob,
    sides: list[tuple[float, float]],
    steps: tuple[float, float],
    size: tuple[int, int],
) -> Floats:
    """Returns the boxes as a constant, for sizes that are not integers: the operator's sizes are integers."""
    height, width = cells.shape[2:]
    image_h, image_w = size if size[0] else image.shape[2:]
    step_h, step_w = steps if steps[0] and steps[1] else (image_h / height, image_w / width)
    y, x = np.mgrid[:height, :width] + given.offset
    centers = np.stack([x * step_w, y * step_h], -1)[:, :, None]
    half = np.array(sides) / 2
    scale = np.array([image_w, image_h])
    boxes = np.concatenate([(centers - half) / scale, (centers + half) / scale], -1)
    if given.clip:
        boxes = boxes.clip(0, 1)
    variances = np.broadcast_to(np.array(list(given.variance) or [0.1]), boxes.shape)
    return np.stack([boxes.ravel(), variances.ravel()])[None].astype(np.float32)


@caffe_layer("DetectionOutput")
def detection_output(call: Call) -> Blob:
    """Converts DetectionOutput: decoded boxes after suppression, as rows of image, label, score, corners. The number of
    rows depends on the scores."""
    locations, scores, priors = call.bottom(0), call.bottom(1), call.bottom(2)
    given = call.parameter("detection_output")
    suppression = given.nms_param
    count, classes = priors.shape[-1] // 4, given.num_classes
    sets = 1 if given.share_location else classes
    wanted = (locations.shape[0] * count * sets * 4, scores.shape[0] * count * classes)
    if classes < 1 or (prod(locations.shape), prod(scores.shape)) != wanted or priors.rank != 3:
        shown = ", ".join("x".join(map(str, blob.shape)) for blob in (locations, scores, priors))
        raise call.block(f"the bottom blobs do not match {classes} classes: {shown}")
    if suppression.nms_threshold < 0 or not 0 < suppression.eta <= 1:
        raise call.block("the threshold or eta of the suppression is not valid", attribute="nms_param")
    op = ops.DetectionOutput(
        num_classes=classes,
        share_location=given.share_location,
        background_label=given.background_label_id,
        code_type=_CODES[call.choice(given, "code_type")],
        variance_encoded_in_target=given.variance_encoded_in_target,
        nms_threshold=suppression.nms_threshold,
        nms_top_k=max(-1, suppression.top_k) if suppression.HasField("top_k") else -1,
        nms_eta=suppression.eta,
        keep_top_k=max(-1, given.keep_top_k),
        confidence_threshold=given.confidence_threshold if given.HasField("confidence_threshold") else -3.0e38,
    )
    return Blob(call.emit(op, locations.value, scores.value, priors.value), (1, 1, 1, 7))
