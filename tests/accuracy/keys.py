"""Checksums of everything that a measurement depends on: the model, the samples, the tool and its version.

For mslite these are the converted float model and the sources of the quantizer. The runtime is not included: tests check that its
integer results have the same bits in every version.
"""

from __future__ import annotations

import functools
import hashlib
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError

from .ours import BUDGETS, options
from .tasks import Task

ROOT = Path(__file__).resolve().parents[2]
_OURS = {
    **dict.fromkeys(BUDGETS, ("ours.py", "measure.py")),
    "onnxruntime": ("onnxruntime_quantizer.py", "measure.py"),
    "TFLite": ("tflite_quantizer.py", "tflite_worker.py", "measure.py"),
}
_PACKAGES = {"onnxruntime": ("onnxruntime", "onnx"), "TFLite": ("ai-edge-litert",)}


def key_of(task: Task, tool: str) -> str:
    """Returns the checksum of everything that the result of a tool for a task depends on."""
    found = hashlib.sha256(f"{task.name} {task.kind} {tool} {task.labels}".encode())
    for path in (task.model, task.weights):
        if path is not None:
            found.update(path.read_bytes())
    for part in (task.calibration, task.held_out):
        for sample in part:
            for array in sample:
                found.update(f"{array.shape} {array.dtype}".encode())
                found.update(np.ascontiguousarray(array).data)
    found.update(_tool(tool).encode())
    if tool in BUDGETS:
        found.update(_float_model(task))
    return found.hexdigest()


@functools.cache
def _tool(tool: str) -> str:
    found = hashlib.sha256()
    for name in _OURS[tool]:
        found.update(Path(__file__).with_name(name).read_bytes())
    for package in _PACKAGES.get(tool, ()):
        found.update(f"{package} {_version(package)}".encode())
    if tool in BUDGETS:
        found.update(sources().encode())
    return found.hexdigest()


@functools.cache
def sources() -> str:
    """Returns the checksum of the quantizer's sources."""
    found = hashlib.sha256()
    for path in sorted((ROOT / "quantizer").rglob("*.py")):
        found.update(path.relative_to(ROOT).as_posix().encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def _float_model(task: Task) -> bytes:
    """Returns the float `.ms` file of a task's model, or the reason if it cannot be converted."""
    try:
        with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
            return convert(options(task, Path(folder) / "float")).files[0].read_bytes()
    except ConversionError as error:
        return str(error).encode()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
