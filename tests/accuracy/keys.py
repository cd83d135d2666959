"""What a measurement depends on, as one checksum: the model, the samples, the tool and its version."""

from __future__ import annotations

import functools
import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from .tasks import Task

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    "quantizer": ("*.py",),
    "converter": ("*.py",),
    "lite_runtime": ("*.cc", "*.h"),
    "kernels": ("*.c", "*.h", "*.inc"),
}
"""Folder -> files that what mslite measures depends on."""
_OURS = {
    "mslite": ("ours.py", "measure.py"),
    "onnxruntime": ("onnxruntime_quantizer.py", "measure.py"),
    "TFLite": ("tflite_quantizer.py", "tflite_worker.py", "measure.py"),
}
_PACKAGES = {"mslite": (), "onnxruntime": ("onnxruntime", "onnx"), "TFLite": ("ai-edge-litert",)}


def key_of(task: Task, tool: str) -> str:
    """The checksum of everything that the result of a tool for a task depends on."""
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
    return found.hexdigest()


@functools.cache
def _tool(tool: str) -> str:
    found = hashlib.sha256()
    for name in _OURS[tool]:
        found.update(Path(__file__).with_name(name).read_bytes())
    for package in _PACKAGES[tool]:
        found.update(f"{package} {_version(package)}".encode())
    if tool == "mslite":
        found.update(sources().encode())
    return found.hexdigest()


@functools.cache
def sources() -> str:
    """The checksum of mslite's sources. Kernels for microcontrollers do not run here and are left out."""
    found = hashlib.sha256()
    for folder, patterns in SOURCES.items():
        paths = {path for pattern in patterns for path in (ROOT / folder).rglob(pattern)}
        for path in sorted(paths):
            if "micro" not in path.name:
                found.update(str(path.relative_to(ROOT)).encode())
                found.update(path.read_bytes())
    return found.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
