"""Supports programs quantized with prepare_pt2e() and convert_pt2e(). Loaded by exporter.py and runner.py.

Their operators, `torch.ops.quantized_decomposed`, are registered by the import of a module of torch. torch's ONNX
exporter only supports them with constant scales, and ignores ranges narrower than the type.
"""

from __future__ import annotations

import contextlib
import importlib
import zipfile
from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-untyped, import-not-found, unused-ignore]

aten = torch.ops.aten


def register(source: str) -> None:
    """Registers the operators in torch if the program in the file `source` uses them."""
    with zipfile.ZipFile(source) as archive:
        texts = [archive.read(name) for name in archive.namelist() if name.endswith(".json")]
    if any(b"torch.ops.quantized_decomposed." in text for text in texts):
        with contextlib.suppress(ImportError):
            importlib.import_module("torch.ao.quantization.fx._decomposed")


def _real(call: Any, value: Any) -> Any:
    return call.emit(aten.to.dtype, value, torch.float32)


def _chosen(call: Any) -> None:
    """Replaces choose_qparams: computes scale and zero point from the range of the values, extended to 0."""
    low, high = call["quant_min"], call["quant_max"]
    values = _real(call, call["input"])
    least = call.emit(aten.clamp_max.default, call.emit(aten.amin.default, values, _axes(call["input"])), 0.0)
    most = call.emit(aten.clamp_min.default, call.emit(aten.amax.default, values, _axes(call["input"])), 0.0)
    if "symmetric" in call.node.target.name():
        most = call.emit(aten.maximum.default, call.emit(aten.neg.default, least), most)
        scale = call.emit(aten.clamp_min.default, call.emit(aten.div.Tensor, most, (high - low) / 2), call["eps"])
        zero = call.emit(aten.full_like.default, scale, 128.0 if call["dtype"] is torch.uint8 else 0.0)
    else:
        width = call.emit(aten.sub.Tensor, most, least)
        scale = call.emit(aten.clamp_min.default, call.emit(aten.div.Tensor, width, float(high - low)), call["eps"])
        steps = call.emit(aten.round.default, call.emit(aten.div.Tensor, least, scale))
        zero = call.emit(aten.add.Tensor, call.emit(aten.neg.default, steps), low)
        zero = call.emit(aten.clamp.default, zero, low, high)
    found = [
        call.emit(aten.to.dtype, call.emit(aten.unsqueeze.default, value, 0), dtype)
        for value, dtype in ((scale, torch.float64), (zero, torch.int64))
    ]
    for part in list(call.node.users):
        part.replace_all_uses_with(found[part.args[1]])
        call.node.graph.erase_node(part)
    call.node.graph.erase_node(call.node)


def _axes(value: Any) -> list[int]:
    return list(range(value.meta["val"].dim()))


def _quantized(call: Any) -> None:
    """Replaces quantize_per_tensor with a computed scale."""
    steps = call.emit(aten.mul.Tensor, _real(call, call["input"]), call.emit(aten.reciprocal.default, _scale(call)))
    stored = call.emit(aten.add.Tensor, call.emit(aten.round.default, steps), _real(call, call["zero_point"]))
    stored = call.emit(aten.clamp.default, stored, call["quant_min"], call["quant_max"])
    call.replace(call.emit(aten.to.dtype, stored, call["dtype"]))


def _dequantized(call: Any) -> None:
    steps = call.emit(aten.sub.Tensor, _real(call, call["input"]), _real(call, call["zero_point"]))
    value = call.emit(aten.mul.Tensor, steps, _scale(call))
    call.replace(call.emit(aten.to.dtype, value, call["out_dtype"] or torch.float32))


def _scale(call: Any) -> Any:
    """Returns the scale as a tensor of rank 1, the program's rank; as a scalar for a scalar input."""
    return call.emit(aten.reshape.default, _real(call, call["scale"]), [] if _axes(call["input"]) == [] else [1])


def _limited(call: Any) -> None:
    """Clamps the input to a range narrower than the type; the exporter's QuantizeLinear only saturates at the type."""
    low, high, bounds = call["quant_min"], call["quant_max"], torch.iinfo(call["dtype"])
    if low > bounds.min or high < bounds.max:
        least, most = ((limit - call["zero_point"]) * call["scale"] for limit in (low, high))
        call.node.update_arg(0, call.emit(aten.clamp.default, call["input"], least, most))


def replacements() -> dict[Any, Callable[[Any], None]]:
    """Returns operator -> replacement function for `repairs.repaired`; empty if the operators are not registered."""
    if not hasattr(torch.ops.quantized_decomposed, "quantize_per_tensor"):
        return {}
    operators = torch.ops.quantized_decomposed
    return {
        operators.choose_qparams.tensor: _chosen,
        operators.choose_qparams_symmetric.tensor: _chosen,
        operators.quantize_per_tensor.tensor: _quantized,
        operators.dequantize_per_tensor.tensor: _dequantized,
        operators.quantize_per_tensor.default: _limited,
    }
