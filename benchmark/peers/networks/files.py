"""The files of a network: ONNX by PyTorch, TensorFlow Lite by litert-torch, and both in int8 by the quantizers of their own runtimes.

Int8: unsigned activations with an offset and a scale for each output channel in ONNX (QDQ), signed ones in TensorFlow Lite. Ranges
are those of four random inputs: these files are for speed, not for accuracy.
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
    return [{name: value.numpy() for name, value in network.draw(seed).items()} for seed in _CALIBRATION]


def write_onnx(network: Network, path: Path) -> None:
    """Fixed shapes, float32. Raises ValueError where onnxruntime computes something that is not finite."""
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
        raise ValueError(f"{network.name} computes numbers that are not finite")


def write_onnx_int8(network: Network, source: Path, path: Path) -> None:
    """The ONNX file `source` by onnxruntime's static quantizer."""
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
    import litert_torch

    with torch.no_grad():
        litert_torch.convert(network.module(), tuple(network.draw(0).values())).export(str(path))


def write_tflite_int8(network: Network, source: Path, path: Path) -> None:
    """The TensorFlow Lite file `source` by LiteRT's quantizer."""
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
    """Writes a file that is not there. Returns "", or why it cannot be written; nothing half-written is left."""
    if path.exists():
        return ""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write()
    except Exception as error:  # converters of others may fail in any way; the caller reports it
        path.unlink(missing_ok=True)
        lines = str(error).strip().splitlines() or ["no reason is given"]
        return f"{type(error).__name__}: {lines[0][:160]}"
    return "" if path.exists() else "the converter wrote nothing"
