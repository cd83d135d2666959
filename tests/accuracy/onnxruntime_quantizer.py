"""onnxruntime's static quantizer: its preprocessing, QDQ, int8, per-channel weights, MinMax calibration."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnx.version_converter
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from .tasks import Array, Sample, Task


class Reader(CalibrationDataReader):  # type: ignore[misc]
    """Returns the calibration samples of a task one by one."""

    def __init__(self, names: list[str], samples: list[Sample]) -> None:
        self.samples: Iterator[dict[str, Array]] = iter([dict(zip(names, sample, strict=True)) for sample in samples])

    def get_next(self) -> dict[str, Array] | None:
        return next(self.samples, None)


def input_names(model: Path) -> list[str]:
    """Returns the inputs that are not constants."""
    graph = onnx.load(str(model), load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    return [value.name for value in graph.input if value.name not in constants]


def at_least_opset_13(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the model in an opset that supports per-channel scales."""
    version = max(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    return model if version >= 13 else onnx.version_converter.convert_version(model, 17)


def quantize(task: Task, folder: Path) -> Path:
    """Returns the quantized ONNX file. Raises the exceptions of onnxruntime."""
    logging.getLogger().setLevel(logging.ERROR)
    newer, prepared, result = (folder / name for name in ("newer.onnx", "prepared.onnx", "onnxruntime.onnx"))
    onnx.save(at_least_opset_13(onnx.load(str(task.model))), newer)
    quant_pre_process(str(newer), str(prepared), skip_symbolic_shape=True)
    for per_channel in (True, False):  # fails for some models with per-channel scales
        try:
            quantize_static(
                str(prepared), str(result), Reader(input_names(prepared), task.calibration),
                quant_format=QuantFormat.QDQ, per_channel=per_channel, activation_type=QuantType.QInt8,
                weight_type=QuantType.QInt8, calibrate_method=CalibrationMethod.MinMax,
            )  # fmt: skip
            break
        except ValueError:
            if not per_channel:
                raise
    return result


def run(model: Path, samples: list[Sample]) -> list[list[Array]]:
    """Returns the outputs of every sample, with each layer computed in float between its QDQ nodes.

    onnxruntime's integer kernels saturate on processors without int8 dot products, which is not an error of the quantizer.
    """
    options: Any = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = input_names(model)
    return [session.run(None, dict(zip(names, sample, strict=True))) for sample in samples]
