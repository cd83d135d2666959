"""Whole networks for MindSpore Lite 2.0, and their results in the runtime of 2.0.0."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import mslite
from mslite.converter.cli import main
from mslite.converter.mindir.graph import Array

PYTHON = os.environ.get("MSLITE_ORIGINAL_PYTHON")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "models"
BENCH = Path(os.environ.get("MSLITE_BUILD", "build")) / "bench-models"
"""The networks of the benchmarks; `make build/bench-models` exports them."""
BENCH_INT8 = BENCH.with_name("bench-int8")

FAMILIES = ("torch_cnn", "torch_audio", "torch_audio_int8", "control_flow", "dtln", "mnist", "silero_vad", "small_apps", "st_models")  # fmt: skip
_RUN_FILES = Path(__file__).with_name("run_files.py")


def shared_networks() -> list[Path]:
    return [path for family in FAMILIES for path in sorted((SHARED / family).glob("*/model.onnx"))]


def bench_networks(folder: Path = BENCH) -> list[Path]:
    return sorted(folder.glob("*.onnx"))


def name_of(path: Path) -> str:
    return path.parent.name if path.name == "model.onnx" else path.stem


def converted(model: Path, folder: Path, *flags: str) -> str:
    """Writes `NAME.ms` into the folder. Returns the converter's error, or ""."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([f"--modelFile={model}", f"--outputFile={folder / name_of(model)}", *flags])
    assert status in (0, 3), err.getvalue()
    return err.getvalue() if status else ""


def arranged(array: Array, tensor: mslite.Tensor) -> Array:
    """Returns the array in the layout and data type of the model."""
    shape = list(tensor.shape)
    channels_last = [array.shape[axis] for axis in (0, 2, 3, 1)] if array.ndim == 4 else None
    is_fit = all(size in (-1, given) for size, given in zip(shape, array.shape, strict=True))
    if (
        not is_fit
        and channels_last is not None
        and all(a in (-1, b) for a, b in zip(shape, channels_last, strict=True))
    ):
        array = array.transpose(0, 2, 3, 1)
    return np.ascontiguousarray(array.astype(tensor.get_data_to_numpy().dtype if -1 not in shape else array.dtype))


def drawn(tensor: mslite.Tensor, seed: int = 0) -> Array:
    """Returns an input for one of these networks: an image, or token ids and a mask."""
    draw = np.random.default_rng(seed)
    dtype = tensor.get_data_to_numpy().dtype
    if dtype.kind == "f":
        return draw.standard_normal(tensor.shape).astype(dtype)
    return draw.integers(0, 2 if tensor.name == "mask" else 30000, tensor.shape).astype(dtype)


def predicted(path: Path, given: Sequence[Array] | None = None) -> tuple[list[Array], list[Array]]:
    """Returns the inputs (`given` or random) and outputs of a run in mslite."""
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
    tensors = model.get_inputs()
    operands = (
        [drawn(t) for t in tensors] if given is None else [arranged(a, t) for a, t in zip(given, tensors, strict=True)]
    )
    if [list(tensor.shape) for tensor in tensors] != [list(array.shape) for array in operands]:
        model.resize(tensors, [list(array.shape) for array in operands])
    return operands, [tensor.get_data_to_numpy() for tensor in model.predict(operands)]


def stored(folder: Path, kind: str) -> list[Array] | None:
    """Returns `input_0.npy`, ... or `output_0.npy`, ... of a shared model; None if there are none."""
    count = len(list(folder.glob(f"{kind}_[0-9]*.npy")))
    return [np.load(folder / f"{kind}_{i}.npy") for i in range(count)] or None


def run_in_original(folder: Path) -> dict[str, str]:
    """Returns the result of each `NAME.ms` of the folder in the runtime of 2.0.0, with the inputs in `NAME.npz`."""
    assert PYTHON is not None
    lines = subprocess.run(
        [PYTHON, str(_RUN_FILES), str(folder)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return dict(line.split("\t", 1) for line in lines)


def results_of_original(folder: Path, name: str) -> list[Array]:
    with np.load(folder / f"{name}.original.npz") as results:
        return [results[f"o{i}"] for i in range(len(results.files))]


def save_operands(folder: Path, name: str, operands: Sequence[Array]) -> None:
    np.savez(folder / f"{name}.npz", **{f"i{i}": array for i, array in enumerate(operands)})
