"""Writes the files of a network: ONNX with PyTorch, TensorFlow Lite with litert-torch, and int8 files with each runtime's quantizer.

The int8 ONNX files use QDQ with asymmetric uint8 activations and per-channel int8 weights; the int8 TensorFlow Lite files have int8
activations. Four random inputs are the calibration data: these files are for measuring speed, not accuracy.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .zoo import Network

_CALIBRATION = range(1, 5)
_OPSET = 17


def _samples(network: Network) -> list[dict[str, Any]]:
    """Returns the calibration inputs, each as input name -> array."""
    return [{name: value.numpy() for name, value in network.draw(seed).items()} for seed in _CALIBRATION]


def write_onnx(network: Network, path: Path) -> None:
    """Writes the network as a float32 ONNX file with fixed shapes.

    Raises:
        ValueError: the outputs of the network in onnxruntime are not all finite.
    """
    import onnxruntime

    inputs = network.draw(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network.module(), tuple(inputs.values()), str(path), input_names=list(inputs), opset_version=_OPSET, dynamo=False
        )  # fmt: skip
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    outputs = session.run(None, {name: value.numpy() for name, value in inputs.items()})
    if not all(np.isfinite(output).all() for output in outputs):
        raise ValueError(f"the outputs of {network.name} are not finite")


def write_onnx_int8(network: Network, source: Path, path: Path) -> None:
    """Quantizes the ONNX file `source` with onnxruntime's static quantizer."""
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.samples = iter(_samples(network))

        def get_next(self) -> dict[str, Any] | None:
            return next(self.samples, None)

    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / path.name
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        quantization.quantize_static(
            str(prepared),
            str(path),
            Reader(),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
        )


def write_tflite(network: Network, path: Path) -> None:
    """Writes the network as a float32 TensorFlow Lite file."""
    import litert_torch

    with torch.no_grad():
        litert_torch.convert(network.module(), tuple(network.draw(0).values())).export(str(path))


def write_tflite_int8(network: Network, source: Path, path: Path) -> None:
    """Quantizes the TensorFlow Lite file `source` with LiteRT's quantizer."""
    from ai_edge_litert.interpreter import Interpreter
    from ai_edge_quantizer import quantizer, recipe

    interpreter = Interpreter(str(source))
    signature = next(iter(interpreter.get_signature_list()))
    details = interpreter.get_signature_runner(signature).get_input_details()
    samples = [
        {
            name: value.astype(detail["dtype"])
            for (name, detail), value in zip(details.items(), sample.values(), strict=True)
        }
        for sample in _samples(network)
    ]
    made = quantizer.Quantizer(str(source))
    made.load_quantization_recipe(recipe.static_wi8_ai8())
    made.quantize(made.calibrate({signature: samples})).export_model(str(path), overwrite=True)


def attempt(write: Callable[[], None], path: Path) -> str:
    """Calls `write` if `path` does not exist. Returns "", or the reason of the failure; a partial file is deleted."""
    if path.exists():
        return ""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write()
    except Exception as error:  # third-party converters raise errors of any type; the caller reports the reason
        path.unlink(missing_ok=True)
        lines = str(error).strip().splitlines() or ["no message"]
        return f"{type(error).__name__}: {lines[0][:160]}"
    return "" if path.exists() else "the converter wrote nothing"
