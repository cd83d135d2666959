"""Small detectors with NonMaxSuppression, and inputs (predictions) with few boxes or the maximum number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

import mslite
from mslite.codegen.lowering.padded import PaddedModel, pad_non_max_suppressions
from mslite.codegen.lowering.read_model import as_ms

from .generated import Array

BOXES, CLASSES, MOST = 40, 3, 4
CONSTANTS = """
    int64 one = {1}, int64 two = {2}, int64[1] minus = {-1}, int64[2] ab = {0, 1}, int64[2] halves = {2, 2}, int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {2}, int64[1] d = {3}, int64[1] four = {4},
    int64[1] seven = {7}, int64[1] ten = {10}, int64[1] back = {-2}, int64[1] most = {4}, float[1] overlap = {0.4},
    float[1] lowest = {0.6}, int64[3] numbers = {0, 1, 2}, int64[2] flat = {-1, 4}
"""
HEAD = """
    boxes = Slice (predictions, a, four, c)
    logits = Slice (predictions, four, seven, c)
    probabilities = Sigmoid (logits)
    scores = Transpose <perm = [0, 2, 1]> (probabilities)
"""
SELECTED = "selected = NonMaxSuppression <center_point_box = 1> (boxes, scores, most, overlap, lowest)"


def detector(
    path: Path,
    behind: str = "",
    outputs: str = "int64[n, 3] selected",
    suppression: str = SELECTED,
    constants: str = "",
) -> Path:
    """Returns an ONNX model for the `predictions` [1, BOXES, 4 + CLASSES] of one image: centers, sizes, logits. `behind` adds nodes."""
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
        detector (float[1, {BOXES}, {4 + CLASSES}] predictions) => ({outputs}) <{CONSTANTS}{constants}> {{
            {HEAD} {suppression} {behind}
        }}"""
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def predictions(found: int, seed: int = 0) -> Array:
    """Returns predictions with `found` non-overlapping boxes per class with scores above the threshold."""
    draw = np.random.default_rng([found, seed])
    places = np.stack([np.arange(BOXES) % 8, np.arange(BOXES) // 8], 1) * 10
    sizes = draw.uniform(2, 8, (BOXES, 2))
    logits = np.full((BOXES, CLASSES), -3.0)
    for column in range(CLASSES):
        logits[draw.permutation(BOXES)[:found], column] = draw.uniform(1, 4, found)
    return np.concatenate([places, sizes, logits], 1).astype(np.float32)[None]


def run(model: Path, *given: Array) -> list[Array]:
    """Returns the outputs of a `.ms` file in the runtime."""
    built = mslite.Model()
    built.build_from_file(str(model), mslite.ModelType.MINDIR_LITE, mslite.Context())
    tensors = built.get_inputs()
    for tensor, array in zip(tensors, given, strict=True):
        tensor.set_data_from_numpy(array)
    return [np.array(output.get_data_to_numpy()) for output in built.predict(tensors)]


def run_plain(model: Path, *given: Array) -> list[Array]:
    """Returns the outputs of the original model: one row per detected box."""
    with as_ms(model, {}) as path:
        return run(path, *given)


def padded(model: Path, folder: Path) -> PaddedModel:
    """Returns the model copy that generated C is made of."""
    with as_ms(model, {}) as path:
        return pad_non_max_suppressions(path, folder, {}, str(model))


def filled(rows: Array, count: int) -> Array:
    """Pads `rows` with rows of -1 to `count` rows."""
    return np.pad(rows, ((0, count - len(rows)), (0, 0)), constant_values=-1)
