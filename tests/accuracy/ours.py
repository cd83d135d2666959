"""mslite's quantizer, as a user calls it: FULL_QUANT with an accuracy budget, the same for all models."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

import mslite
from mslite.converter.convert import Report, convert
from mslite.converter.options import Options
from mslite.quantizer.settings import QuantizerSettings, quantizer_settings

from .tasks import Array, Task

BUDGET = "cosine:0.995"
"""Configuration for every model; the table shows the layers that it raises above int8."""
STRICT_BUDGET = "cosine:0.99995"
"""Second configuration for every model; it shows how many layers leave int8 for higher fidelity."""
MSLITE, STRICT, TUNED = "mslite", "mslite, strict", "mslite, strict, QAT"
BUDGETS = {MSLITE: BUDGET, STRICT: STRICT_BUDGET, TUNED: STRICT_BUDGET}
"""The budgets, by the name of the result."""


def settings(tool: str) -> QuantizerSettings:
    """FULL_QUANT with a budget; the method of range estimation is chosen by measurement."""
    method = {"method": "QAT"} if tool == TUNED else {}
    return quantizer_settings(
        {
            "common_quant_param": {"quant_type": "FULL_QUANT"},
            "full_quant_param": {"activation_quant_method": "AUTO"} | method,
            "accuracy_param": {"budget": BUDGETS[tool]},
        }
    )


def options(task: Task, output: Path) -> Options:
    """Converts the model to float with the shapes of the samples."""
    from mslite.converter.convert import parse_model
    from mslite.converter.detect import detect

    plain = Options(task.model, output, weight_file=task.weights)
    inputs = parse_model(plain, detect(task.model)).main.inputs
    shapes = {
        value.name: tuple(array.shape)
        for value, array in zip(inputs, task.calibration[0], strict=True)
        if value.shape is not None and not value.is_static
    }
    return dataclasses.replace(plain, input_shapes=shapes)


def quantize(task: Task, folder: Path, tool: str) -> tuple[Path, Path, Report]:
    """Returns the float and the quantized `.ms` file, and the report of the conversion. Raises ConversionError."""
    plain = options(task, folder / "float")
    quantized = dataclasses.replace(
        plain, output_file=folder / "quantized", quantizer=settings(tool), calibration=task.calibration
    )
    return convert(plain).files[0], *_first(convert(quantized))


def _first(report: Report) -> tuple[Path, Report]:
    return report.files[0], report


def run(path: Path, task: Task) -> list[list[Array]]:
    """Returns the outputs of every held-out sample."""
    model, context = mslite.Model(), mslite.Context()
    context.cpu.thread_num = 1
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, context)
    tensors = model.get_inputs()
    outputs = []
    for sample in task.held_out:
        arrays = [_arranged(array, list(tensor.shape)) for array, tensor in zip(sample, tensors, strict=True)]
        outputs.append([tensor.get_data_to_numpy() for tensor in model.predict(arrays)])
    return outputs


def _arranged(array: Array, shape: list[int]) -> Array:
    """Returns a sample in the layout of the `.ms` file, which is NHWC for images."""
    if list(array.shape) != shape and array.ndim == 4:
        return np.ascontiguousarray(array.transpose(0, 2, 3, 1))
    return np.ascontiguousarray(array).reshape(shape)
