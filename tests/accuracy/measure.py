"""Measures one task with one tool."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mslite.quantizer.metrics import COSINE, SQNR, top1
from mslite.quantizer.precision.choices import Precision

from . import ours
from .tasks import Array, Task

UNREADABLE = "not a format of this tool"
OTHERS = ("onnxruntime", "TFLite")
TOOLS = (ours.MSLITE, ours.STRICT, *OTHERS)
"""The tools that are measured: mslite with each accuracy budget, and the other tools."""


@dataclass
class Result:
    """The result of a tool for a task. `right` and `right_float`: top-1 accuracy in percent, -1 without labels."""

    task: str
    tool: str
    error: str = ""
    cosine: float = 0.0
    sqnr: float = 0.0
    changed: float = 0.0
    """Percent of predictions that differ from those of the tool's float model."""
    right: float = -1.0
    right_float: float = -1.0
    integers: float = -1.0
    """Percent of multiply-accumulates in integers. This and the next two are only known for mslite."""
    wide_layers: int = 0
    """Number of matmul and convolution layers with int16 activations."""
    float_layers: int = 0
    """Number of matmul and convolution layers in float32."""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    data: str = ""
    classifies: bool = False
    calibration: int = 0
    held_out: int = 0
    cosine_error: float = 0.0
    """Standard error over the held-out samples."""
    sqnr_error: float = 0.0
    wrong: list[int] = field(default_factory=list)
    """Indices of held-out samples that are classified incorrectly after quantization."""
    wrong_float: list[int] = field(default_factory=list)

    @property
    def apart(self) -> bool:
        """Returns whether the tool cannot read models of this format."""
        return UNREADABLE in self.error

    @property
    def loss(self) -> float:
        """Returns the loss of top-1 accuracy in percentage points."""
        return self.right_float - self.right


def measure(task: Task, tool: str) -> Result:
    """Quantizes, runs both models on the held-out samples, and compares. Exceptions of the tool become `error`."""
    result = Result(
        task.name, tool, data=task.data, classifies=task.classifies, calibration=len(task.calibration),
        held_out=len(task.held_out),
    )  # fmt: skip
    begin = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
            expected, actual = _outputs(task, tool, Path(folder), result)
    except Exception as error:  # tools raise exceptions of any type; the table shows the message
        result.error = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[
            :160
        ]
        return result
    result.seconds = round(time.monotonic() - begin, 1)
    result.cosine, result.cosine_error = COSINE.estimate(expected, actual)
    result.sqnr, result.sqnr_error = SQNR.estimate(expected, actual)
    result.changed = top1(expected, actual)
    if task.labels:
        result.wrong_float, result.wrong = _wrong(expected, task.labels), _wrong(actual, task.labels)
        count = len(task.labels)
        result.right_float, result.right = (
            100 * (count - len(wrong)) / count for wrong in (result.wrong_float, result.wrong)
        )
    return result


def _outputs(task: Task, tool: str, folder: Path, result: Result) -> tuple[list[list[Array]], list[list[Array]]]:
    """Returns the outputs of the float model and of the quantized model."""
    if tool in ours.BUDGETS:
        before, after, report = ours.quantize(task, folder, tool)
        if report.quantization is not None:
            result.integers = 100 * report.quantization.integer_share
            used = Counter(layer.precision for layer in report.quantization.layers if layer.macs)
            result.wide_layers, result.float_layers = used[Precision.INT16], used[Precision.FLOAT]
            result.notes = list(report.quantization.notes)
        return ours.run(before, task), ours.run(after, task)
    if tool == "onnxruntime":
        if task.kind != "onnx":
            raise ValueError(f"{UNREADABLE}: onnxruntime quantizes ONNX models only")
        from . import onnxruntime_quantizer

        quantized = onnxruntime_quantizer.quantize(task, folder)
        return tuple(onnxruntime_quantizer.run(model, task.held_out) for model in (task.model, quantized))  # type: ignore[return-value]
    from . import tflite_quantizer

    quantized = tflite_quantizer.quantize(task, folder)
    models = (folder / "float.tflite", quantized)
    return tuple(tflite_quantizer.run(model, task.held_out) for model in models)  # type: ignore[return-value]


def _wrong(outputs: list[list[Array]], labels: list[int]) -> list[int]:
    answers = [int(np.argmax(output[0].ravel())) for output in outputs]
    return [place for place, (answer, label) in enumerate(zip(answers, labels, strict=True)) if answer != label]
