"""Checks each quantized operator of ONNX and onnxruntime, with one model each: nodes on float values, and differences from onnxruntime.

    python -m tests.kernels.integer_audit_onnx [-k TEXT]

Prints a line per operator and data type: `integers`, or the operators that are computed on float values; then the largest difference from
onnxruntime, in quantization steps of a quantized output, else relative to the largest magnitude.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from mslite.converter.mindir import module_io
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.parsers.onnx import parse
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline
from tests.e2e.integers import run
from tests.kernels.integer_models import Array, integers
from tests.parsers.onnx.helper import make_model, node, reference

Record = tuple[float, int]
DTYPES = ("int8", "uint8", "int16", "uint16")
_MICROSOFT = "com.microsoft"


def seven_bits(dtype: str, shape: Sequence[int]) -> Array:
    """Weights. Signed ones have 7 bits, because onnxruntime's sums saturate on some processors if both sides have 8."""
    array = integers(9, dtype, shape)
    return np.asarray(array // 2 if dtype == "int8" else array)


class Parts:
    """The operands of a node under construction."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.inputs: dict[str, Array] = {}
        self.constants: dict[str, Array] = {}
        self.names: list[str] = []
        self.before: list[NodeProto] = []
        """Nodes before the tested one."""
        self.packed: list[TensorProto] = []
        """Constants with data types that NumPy does not have."""

    def point(self, offset: int = 3, dtype: str = "") -> Array:
        kind = np.dtype(dtype or self.dtype)
        middle = 0 if kind.kind == "i" else 1 << (8 * kind.itemsize - 1)
        return np.array(middle + offset, kind)

    def constant(self, array: Array) -> None:
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        self.names.append(name)

    def record(self, scale: float | Array, offset: int = 3, dtype: str = "", count: int = 0) -> None:
        self.constant(np.asarray(scale, np.float32))
        point = self.point(offset, dtype)
        self.constant(np.full(count, point) if count else point)

    def stored(self, shape: Sequence[int], dtype: str = "") -> None:
        """Adds an input of the model."""
        name = f"x{len(self.inputs)}"
        self.inputs[name] = integers(len(self.inputs) + 1, dtype or self.dtype, shape)
        self.names.append(name)

    def absent(self) -> None:
        self.names.append("")

    def operand(self, shape: Sequence[int], scale: float = 0.05, dtype: str = "") -> None:
        """Adds an input with its scale and zero point."""
        self.stored(shape, dtype)
        self.record(self.fine(scale), dtype=dtype)

    def fine(self, scale: float) -> float:
        return scale / 200 if self.dtype.endswith("16") else scale

    def weight(self, shape: Sequence[int], axis_count: int = 0, dtype: str = "") -> None:
        """Adds a constant, with a scale for each of `axis_count` channels."""
        kind = dtype or self.dtype
        self.constant(seven_bits(kind, shape))
        scale = np.linspace(0.01, 0.02, axis_count) if axis_count else np.array(0.02)
        self.record(scale, 0, kind, axis_count)


def _binary(p: Parts) -> dict[str, Any]:
    p.operand((2, 5, 7))
    p.operand((5, 7), 0.04)
    p.record(p.fine(0.1))
    return {}


def _unary(scale: float = 0.04, **attributes: Any) -> Maker:
    def make(p: Parts) -> dict[str, Any]:
        p.operand((2, 5, 7))
        p.record(p.fine(scale))
        return attributes

    return make


def _image(**attributes: Any) -> Maker:
    def make(p: Parts) -> dict[str, Any]:
        p.operand((2, 6, 8, 9))
        p.record(p.fine(0.04))
        return attributes

    return make


def _concat(p: Parts) -> dict[str, Any]:
    p.record(p.fine(0.06))
    p.operand((2, 5, 7))
    p.operand((2, 3, 7), 0.04)
    return {"axis": 1}


def _where(p: Parts) -> dict[str, Any]:
    p.inputs["c"] = integers(7, "int8", (2, 5, 7)) > 0
    p.names.append("c")
    p.operand((2, 5, 7))
    p.operand((5, 7), 0.04)
    p.record(p.fine(0.06))
    return {}


def _conv(p: Parts) -> dict[str, Any]:
    p.operand((2, 6, 8, 9))
    p.weight((5, 6, 3, 3), 5, "int8")
    p.record(p.fine(0.4))
    p.constant(np.arange(5).astype(np.int32) * 100)
    return {"pads": [1, 1, 1, 1]}


def _matmul(p: Parts) -> dict[str, Any]:
    p.operand((2, 5, 7))
    p.weight((7, 6), dtype="int8" if p.dtype.endswith("16") else "")
    p.record(p.fine(0.3))
    return {}


def _gemm(p: Parts) -> dict[str, Any]:
    p.operand((5, 7))
    p.weight((6, 7), 6, "int8")
    p.constant(np.arange(6).astype(np.int32) * 100)
    p.record(p.fine(0.3))
    return {"transB": 1}


def _conv_integer(p: Parts) -> dict[str, Any]:
    p.stored((2, 6, 8, 9))
    p.constant(seven_bits(p.dtype, (5, 6, 3, 3)))
    p.constant(p.point())
    p.constant(p.point(0))
    return {"pads": [1, 1, 1, 1]}


def _matmul_integer(p: Parts) -> dict[str, Any]:
    p.stored((2, 5, 300))
    p.constant(seven_bits(p.dtype, (300, 6)))
    p.constant(p.point())
    p.constant(p.point(0))
    return {}


def _to_float(p: Parts) -> dict[str, Any]:
    p.stored((2, 5, 7))
    p.constant(seven_bits(p.dtype, (7, 6)))
    p.constant(np.array(0.02, np.float32))
    p.constant(np.array(0.01, np.float32))
    p.constant(p.point())
    p.constant(p.point(0))
    return {}


def _conv_integer_groups(p: Parts) -> dict[str, Any]:
    """Convolutions with one spatial dimension, groups, and zero points of 0."""
    p.stored((2, 6, 9))
    p.constant(seven_bits(p.dtype, (4, 3, 3)))
    p.constant(p.point())
    return {"pads": [1, 1], "group": 2}


def _matmul_integer_two(p: Parts) -> dict[str, Any]:
    """Two activations; a zero point per column."""
    p.stored((2, 5, 30))
    p.stored((2, 30, 6))
    p.constant(p.point())
    p.constant(np.full((2, 1, 6), p.point(0)))
    return {}


def _mean(p: Parts) -> dict[str, Any]:
    p.operand((2, 5, 7))
    p.record(p.fine(0.04))
    return {"axes": [1], "keepdims": 1}


def _attention(p: Parts) -> dict[str, Any]:
    p.stored((2, 5, 16))
    p.constant(seven_bits("int8", (16, 48)))
    p.constant(np.linspace(-1, 1, 48).astype(np.float32))
    p.constant(np.array(0.02, np.float32))
    p.constant(np.array(0.01, np.float32))
    p.absent()
    p.constant(p.point())
    p.constant(np.array(0, np.int8))
    return {"num_heads": 4}


def _blockwise(bits: int) -> Maker:
    def make(p: Parts) -> dict[str, Any]:
        chance = np.random.default_rng(3)
        p.inputs["x"] = chance.normal(size=(3, 80)).astype(np.float32)
        p.names.append("x")
        p.constant(chance.integers(0, 256, (5, 3, 32 * bits // 8)).astype(np.uint8))
        p.constant(chance.uniform(0.01, 0.1, 15).astype(np.float32))
        p.constant(chance.integers(0, 256, 5 * ((3 * bits + 7) // 8)).astype(np.uint8))
        return {"K": 80, "N": 5, "bits": bits, "block_size": 32}

    return make


def _blocks(bits: int) -> Maker:
    """A matmul with a constant that is dequantized in the graph, with a scale per block of 16."""

    def make(p: Parts) -> dict[str, Any]:
        p.inputs["x"] = np.random.default_rng(1).normal(size=(3, 48)).astype(np.float32)
        unsigned = p.dtype == "uint8"
        low, high = (0, 1 << bits) if unsigned else (-1 << bits - 1, 1 << bits - 1)
        chance = np.random.default_rng(2)
        kinds = {(4, True): TensorProto.UINT4, (4, False): TensorProto.INT4}
        kind = kinds.get((bits, unsigned), TensorProto.UINT8 if unsigned else TensorProto.INT8)
        for name, shape in (("w", (48, 5)), ("wz", (3, 5))):
            values = chance.integers(low, high, shape).reshape(-1).tolist()
            p.packed.append(helper.make_tensor(name, kind, shape, values))
        p.constants["ws"] = chance.uniform(0.01, 0.1, (3, 5)).astype(np.float32)
        p.before.append(node("DequantizeLinear", ["w", "ws", "wz"], ["real"], axis=0, block_size=16))
        p.names += ["x", "real"]
        return {}

    return make


def _quantized_blocks(p: Parts) -> dict[str, Any]:
    p.inputs["x"] = np.random.default_rng(1).normal(size=(3, 10)).astype(np.float32)
    p.names.append("x")
    p.constant(np.random.default_rng(2).uniform(0.01, 0.1, (3, 3)).astype(np.float32))
    p.constant(np.full((3, 3), p.point()))
    return {"axis": 1, "block_size": 4}


def _dequantized_blocks(p: Parts) -> dict[str, Any]:
    p.stored((3, 10))
    p.constant(np.random.default_rng(2).uniform(0.01, 0.1, (3, 3)).astype(np.float32))
    p.constant(np.full((3, 3), p.point()))
    return {"axis": 1, "block_size": 4}


def _dynamic_range(p: Parts) -> dict[str, Any]:
    p.inputs["x"] = np.random.default_rng(1).normal(size=(3, 10)).astype(np.float32)
    p.names.append("x")
    return {}


def _dynamic(p: Parts) -> dict[str, Any]:
    p.inputs["x"] = np.random.default_rng(1).normal(size=(2, 5, 7)).astype(np.float32)
    p.names.append("x")
    p.constant(seven_bits(p.dtype, (7, 6)))
    p.constant(np.array(0.01, np.float32))
    p.constant(p.point(0))
    return {}


def _dynamic_lstm(p: Parts) -> dict[str, Any]:
    p.inputs["x"] = np.random.default_rng(1).normal(size=(4, 2, 7)).astype(np.float32)
    p.names.append("x")
    for columns in (7, 6):
        p.constant(seven_bits(p.dtype, (1, columns, 24)))
    for _ in range(5):
        p.absent()
    for _ in range(2):
        p.constant(np.full((1,), 0.01, np.float32))
        p.constant(np.full((1,), p.point(0)))
    return {"hidden_size": 6}


Maker = Callable[[Parts], dict[str, Any]]
CASES: Mapping[str, tuple[str, Maker, Sequence[str]]] = {
    "QLinearConv": ("", _conv, ("int8", "uint8")),
    "QLinearMatMul": ("", _matmul, ("int8", "uint8")),
    "ConvInteger": ("", _conv_integer, ("uint8",)),
    "ConvInteger groups": ("", _conv_integer_groups, ("uint8",)),
    "MatMulInteger": ("", _matmul_integer, ("int8", "uint8")),
    "MatMulInteger two": ("", _matmul_integer_two, ("int8", "uint8")),
    "DynamicQuantizeLinear": ("", _dynamic_range, ("uint8",)),
    "QuantizeLinear blocks": ("", _quantized_blocks, DTYPES),
    "DequantizeLinear blocks": ("", _dequantized_blocks, DTYPES),
    "MatMul blocks of 4 bits": ("", _blocks(4), ("int8", "uint8")),
    "MatMul blocks of 8 bits": ("", _blocks(8), ("int8", "uint8")),
    "QLinearAdd": (_MICROSOFT, _binary, DTYPES),
    "QLinearMul": (_MICROSOFT, _binary, DTYPES),
    "QLinearSigmoid": (_MICROSOFT, _unary(1 / 256), ("int8", "uint8")),
    "QLinearLeakyRelu": (_MICROSOFT, _unary(alpha=0.2), ("int8", "uint8")),
    "QLinearSoftmax": (_MICROSOFT, _unary(1 / 256, axis=-1, opset=13), ("int8", "uint8")),
    "QLinearConcat": (_MICROSOFT, _concat, ("int8", "uint8")),
    "QLinearWhere": (_MICROSOFT, _where, ("int8", "uint8")),
    "QLinearGlobalAveragePool": (_MICROSOFT, _image(channels_last=0), ("int8", "uint8")),
    "QLinearAveragePool": (_MICROSOFT, _image(kernel_shape=[2, 2], strides=[2, 2]), ("int8", "uint8")),
    "QLinearReduceMean": (_MICROSOFT, _mean, ("int8", "uint8")),
    "QGemm": (_MICROSOFT, _gemm, ("int8", "uint8")),
    "MatMulIntegerToFloat": (_MICROSOFT, _to_float, ("int8", "uint8")),
    "DynamicQuantizeMatMul": (_MICROSOFT, _dynamic, ("int8", "uint8")),
    "QAttention": (_MICROSOFT, _attention, ("uint8",)),
    "DynamicQuantizeLSTM": (_MICROSOFT, _dynamic_lstm, ("int8", "uint8")),
    "MatMulNBits of 4 bits": (_MICROSOFT, _blockwise(4), ("uint8",)),
    "MatMulNBits of 8 bits": (_MICROSOFT, _blockwise(8), ("uint8",)),
}
_ON_INTEGERS = frozenset({"MatMulInteger", "ConvInteger", "DynamicQuantizeLinear", "QuantDTypeCast"})
"""Operators that compute on integers although an input or output is float."""


def model_of(name: str, dtype: str, opset: int = 0) -> tuple[ModelProto, dict[str, Array]]:
    """Returns the model of an operator, and its inputs. Per-block scales need opset 21."""
    domain, maker, _ = CASES[name]
    parts = Parts(dtype)
    attributes = maker(parts)
    entry = node(name.split()[0], parts.names, ["y"], domain=domain, **attributes)
    blocks = "blocks" in name
    outputs = ["y"]
    if name == "DynamicQuantizeLinear":
        entry.output.extend(outputs := ["y", "scale", "point"])
        del entry.output[:1]
    version = opset or (21 if blocks else 17)
    model = make_model([*parts.before, entry], parts.inputs, outputs, parts.constants, version)
    model.ir_version = 10 if blocks else model.ir_version
    model.graph.initializer.extend(parts.packed)
    if domain:
        model.opset_import.append(helper.make_opsetid(domain, 1))
    return model, parts.inputs


def outcome(name: str, dtype: str, opset: int = 0) -> tuple[list[str], list[Array]]:
    """Returns the operators that compute on float values, in the converted model or at run time, and the outputs."""
    model, inputs = model_of(name, dtype, opset)
    module = parse(model)
    run_pipeline(module, Settings(source_layout=Format.NCHW, input_format=Format.NCHW))
    found = []
    for entry in module.main.nodes:
        real = [value for value in (*entry.inputs, *entry.outputs) if value.dtype is DataType.FLOAT32]
        if entry.op.name not in _ON_INTEGERS and any(value.data is None for value in real):
            found.append(entry.op.name)
    with tempfile.TemporaryDirectory() as folder:
        module_io.save(module, Path(folder) / "m.ms")
        paths = []
        for value in module.main.inputs:
            paths.append(Path(folder) / f"{len(paths)}.npy")
            np.save(paths[-1], inputs[value.name])
        result = run(Path(folder) / "m.ms", paths, Path(folder) / "out", "scalar")
    return sorted({*found, *(step.operator for step in result.fallbacks)}), list(result.outputs)


def distance(name: str, dtype: str, outputs: Sequence[Array], opset: int = 0) -> float:
    """Returns the difference from onnxruntime: in steps for integers, else relative to the largest magnitude."""
    wanted = reference(*model_of(name, dtype, opset))
    worst = 0.0
    for actual, expected in zip(outputs, wanted, strict=True):
        if actual.shape != expected.shape or actual.dtype != expected.dtype:
            raise AssertionError(f"{actual.dtype}{actual.shape} is not {expected.dtype}{expected.shape}")
        off = np.abs(actual.astype(np.float64) - expected.astype(np.float64)).max(initial=0)
        worst = max(worst, off / (np.abs(expected).max(initial=1e-30) if expected.dtype.kind == "f" else 1))
    return worst


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kernels.integer_audit_onnx")
    parser.add_argument("-k", default="", metavar="TEXT", help="only operators whose name contains TEXT")
    options = parser.parse_args(arguments)
    for name, (_, _, dtypes) in CASES.items():
        for dtype in dtypes:
            if options.k not in name:
                continue
            try:
                found, outputs = outcome(name, dtype)
                text = "on float values: " + ", ".join(found) if found else "integers"
                text += f"; off by {distance(name, dtype, outputs):.2g}"
            except Exception as error:  # an error of the converter or the runtime is the result
                text = f"FAILS: {str(error)[:150]}"
            print(f"{name:26} {dtype:6} {text}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
