"""The open model set: its models, and functions that convert, run and compare them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options

Array = npt.NDArray[Any]

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
_FILES = {"onnx": "model.onnx", "tflite": "model.tflite", "pb": "model.pb", "caffe": "model.prototxt"}
_CLASSES = ("float", "fp16", "drq", "int8")
_COSINE = 0.99
"""Minimum cosine similarity of integers that are computed through float values, over each whole output."""
_EQUAL = 0.95
"""Minimum share of equal indices if the reference's own kernels disagree."""


@dataclass(frozen=True)
class Entry:
    """A model of the manifest."""

    path: str
    kind: str
    tolerance_class: str
    """float; fp16; drq: 8-bit weights, float activations; int8: quantized activations"""
    cases: Sequence[dict[str, Any]]
    zero_points: Sequence[int]
    """tolerance class of the outputs"""

    @property
    def folder(self) -> Path:
        return MODELS / self.path

    @property
    def source(self) -> Path:
        return self.folder / _FILES[self.kind]


def models() -> list[Entry]:
    """Returns the models of the kinds that are converted; empty if the set is not available."""
    manifest = MODELS / "manifest.json"
    if not manifest.is_file():
        return []
    return [
        Entry(
            model["path"],
            model["kind"],
            model["tolerance_class"],
            model["cases"],
            [output.get("quant", {}).get("zero_point", 0) for output in model["outputs"]],
        )
        for model in json.loads(manifest.read_text())["models"]
        if model["kind"] in _FILES and model["tolerance_class"] in _CLASSES
    ]


def convert_model(entry: Entry, folder: Path) -> Path:
    """Converts a model with the default options. Raises ConversionError."""
    weights = entry.folder / "model.caffemodel" if entry.kind == "caffe" else None
    report = convert(Options(entry.source, folder / entry.path.replace("/", "__"), weight_file=weights))
    return report.files[0]


def run_case(
    entry: Entry, model: mslite.Model, case: dict[str, Any], change: Callable[[Array], Array] | None = None
) -> list[Array]:
    """Returns the outputs of one case. 4-D inputs are transposed to the layout of the `.ms` file. `change`: modifies the inputs."""
    arrays = [np.load(entry.folder / name) for name in case["inputs"]]
    if change is not None:
        arrays = [change(array) for array in arrays]
    tensors = model.get_inputs()
    assert len(arrays) == len(tensors)
    if entry.kind in ("onnx", "caffe"):
        arrays = [
            np.ascontiguousarray(array.transpose(0, 2, 3, 1))
            if array.ndim == 4 and tensor.format == mslite.Format.NHWC
            else array
            for array, tensor in zip(arrays, tensors, strict=True)
        ]
    shapes = [list(array.shape) for array in arrays]
    if shapes != [list(tensor.shape) for tensor in tensors]:
        model.resize(tensors, shapes)
    return [tensor.get_data_to_numpy() for tensor in model.predict(arrays)]


def differences(entry: Entry, case: dict[str, Any], got: Sequence[Array]) -> list[str]:
    """Returns the problems of the outputs of a case; empty if all are within the tolerance of their class.

    This is the manifest's tolerance; for quantized activations the cosine similarity of the float values, compared with LiteRT's reference
    kernels if the manifest has their outputs.
    """
    problems = []
    names = case.get("reference_kernels", case["outputs"])
    if len(got) != len(case["outputs"]):
        return [f"{len(got)} outputs instead of {len(case['outputs'])}"]
    for index, (mine, name, tolerance) in enumerate(zip(got, names, case["tolerance"], strict=True)):
        want = np.load(entry.folder / name)
        if mine.shape != want.shape or mine.dtype != want.dtype:
            problems.append(f"output {index}: {mine.dtype}{mine.shape} instead of {want.dtype}{want.shape}")
        elif tolerance.get("unstable") and tolerance["unit"] == "exact":
            problems.extend(_mostly_equal(index, mine, want))
        elif tolerance.get("unstable"):
            # The reference's own kernels disagree here, so only the cosine similarity is checked.
            wanted = tolerance.get("cosine_min", 0.9)
            problems.extend(_direction(index, mine, want, wanted, entry.zero_points[index]))
        elif entry.tolerance_class == "int8" and tolerance["unit"] != "exact":
            problems.extend(_direction(index, mine, want, _COSINE, entry.zero_points[index]))
        elif want.size and not (error := _distance(mine, want)) <= tolerance["max_abs_err"]:
            problems.append(f"output {index}: off by {error:.3g}, allowed {tolerance['max_abs_err']:.3g}")
    return problems


def is_within_tolerance(entry: Entry, case: dict[str, Any], got: Sequence[Array]) -> bool:
    """Returns whether the outputs are as close as the reference's own kernels are to each other."""
    wanted = [np.load(entry.folder / name) for name in case["outputs"]]
    return all(
        tolerance.get("unstable") or not want.size or _distance(mine, want) <= tolerance["max_abs_err"]
        for mine, want, tolerance in zip(got, wanted, case["tolerance"], strict=True)
    )


def _distance(mine: Array, want: Array) -> float:
    return float(np.abs(mine.astype(np.float64) - want.astype(np.float64)).max())


def _mostly_equal(index: int, mine: Array, want: Array) -> list[str]:
    share = float((mine == want).mean())
    return [] if share >= _EQUAL else [f"output {index}: {share:.3f} of its elements are equal, wanted {_EQUAL}"]


def _direction(index: int, mine: Array, want: Array, wanted: float, zero_point: int) -> list[str]:
    """Returns the cosine similarity of whole outputs, of the dequantized values for integers."""
    a, b = (array.astype(np.float64).reshape(-1) - zero_point for array in (mine, want))
    if not a.any() and not b.any():
        return []
    cosine = float(a @ b) / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-30)
    return [] if cosine >= wanted else [f"output {index}: cosine {cosine:.5f}, wanted {wanted}"]
