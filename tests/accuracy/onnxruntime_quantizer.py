"""onnxruntime's static quantiser: its pre-processing, QDQ, signed 8 bits, weights per channel, MinMax calibration."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from .tasks import Array, Sample, Task


class Reader(CalibrationDataReader):  # type: ignore[misc]
    """Hands out the calibration samples of a task."""

    def __init__(self, names: list[str], samples: list[Sample]) -> None:
        self.samples: Iterator[dict[str, Array]] = iter([dict(zip(names, sample, strict=True)) for sample in samples])

    def get_next(self) -> dict[str, Array] | None:
        return next(self.samples, None)


def input_names(model: Path) -> list[str]:
    """The inputs without those that are constants."""
    graph = onnx.load(str(model), load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    return [value.name for value in graph.input if value.name not in constants]


def quantise(task: Task, folder: Path) -> Path:
    """The quantised ONNX file. Raises whatever onnxruntime raises."""
    logging.getLogger().setLevel(logging.ERROR)
    prepared, result = folder / "prepared.onnx", folder / "onnxruntime.onnx"
    quant_pre_process(str(task.model), str(prepared), skip_symbolic_shape=True)
    quantize_static(
        str(prepared), str(result), Reader(input_names(prepared), task.calibration), quant_format=QuantFormat.QDQ,
        per_channel=True, activation_type=QuantType.QInt8, weight_type=QuantType.QInt8,
        calibrate_method=CalibrationMethod.MinMax,
    )  # fmt: skip
    return result


def run(model: Path, samples: list[Sample]) -> list[list[Array]]:
    """Outputs of every sample, each layer computed in float between its quantisations: onnxruntime's integer kernels
    saturate on processors without dot products of bytes, which would not be the quantiser's fault."""
    options: Any = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = input_names(model)
    return [session.run(None, dict(zip(names, sample, strict=True))) for sample in samples]
