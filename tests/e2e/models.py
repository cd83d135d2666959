"""The open model set: which models there are, and how one is converted, run and compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
_FILES = {"onnx": "model.onnx", "tflite": "model.tflite"}


@dataclass(frozen=True)
class Entry:
    """One model of the manifest."""

    path: str
    kind: str
    tolerance_class: str
    cases: Sequence[dict[str, Any]]

    @property
    def folder(self) -> Path:
        return MODELS / self.path

    @property
    def source(self) -> Path:
        return self.folder / _FILES[self.kind]


def float_models() -> list[Entry]:
    """The ONNX and TFLite models with float weights and activations; empty when the set is not there."""
    manifest = MODELS / "manifest.json"
    if not manifest.is_file():
        return []
    return [
        Entry(model["path"], model["kind"], model["tolerance_class"], model["cases"])
        for model in json.loads(manifest.read_text())["models"]
        if model["kind"] in _FILES and model["tolerance_class"] in ("float", "fp16")
    ]


def convert_model(entry: Entry, folder: Path) -> Path:
    """Converts a model with the default options. Raises ConversionError."""
    report = convert(Options(entry.source, folder / entry.path.replace("/", "__")))
    return report.files[0]


def run_case(entry: Entry, model: mslite.Model, case: dict[str, Any]) -> list[Array]:
    """The outputs of one case; 4-D inputs are brought to the layout that the `.ms` file declares."""
    arrays = [np.load(entry.folder / name) for name in case["inputs"]]
    tensors = model.get_inputs()
    assert len(arrays) == len(tensors)
    if entry.kind == "onnx":
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
    """What is wrong with the outputs of a case; empty when all lie within the manifest's tolerance."""
    problems = []
    if len(got) != len(case["outputs"]):
        return [f"{len(got)} outputs instead of {len(case['outputs'])}"]
    for index, (mine, name, tolerance) in enumerate(zip(got, case["outputs"], case["tolerance"], strict=True)):
        want = np.load(entry.folder / name)
        if mine.shape != want.shape or mine.dtype != want.dtype:
            problems.append(f"output {index}: {mine.dtype}{mine.shape} instead of {want.dtype}{want.shape}")
        elif tolerance.get("unstable"):
            problems.extend(_unstable(index, mine, want, tolerance))
        elif want.size:
            error = float(np.abs(mine.astype(np.float64) - want.astype(np.float64)).max())
            if not error <= tolerance["max_abs_err"]:
                problems.append(f"output {index}: off by {error:.3g}, allowed {tolerance['max_abs_err']:.3g}")
    return problems


def _unstable(index: int, mine: Array, want: Array, tolerance: dict[str, Any]) -> list[str]:
    """The reference's own kernels disagree here: only the direction of the whole output is compared."""
    a, b = mine.astype(np.float64).reshape(-1), want.astype(np.float64).reshape(-1)
    cosine = float(a @ b) / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-30)
    wanted = tolerance.get("cosine_min", 0.9)
    return [] if cosine >= wanted else [f"output {index}: cosine {cosine:.5f}, wanted {wanted}"]
