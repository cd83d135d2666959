"""Quantized ONNX operators between casts; sums and products of all pairs of bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto

from tests.kernels.integer_models import Array
from tests.parsers.onnx.helper import make_model, node

PAIR_OPERATORS = ("Add", "Sub", "Mul")
PAIR_SCALES = (
    (0.1, 0.05, 0.03),
    (0.02, 0.02, 0.04),  # every second sum is half-way between two steps
    (0.017, 0.031, 0.0099999),
    (2.0**-31, 2.0**-31, 2.0**-29),  # too small for anything but a division
    (1.9999999, 1.9999999, 1.9999999),
)
"""Quantization parameters of both operands and the output."""


class Operand:
    """A quantized tensor with a scale and a zero point; a constant or an input of the model."""

    def __init__(self, array: Array, scale: float, point: int, constant: bool = False) -> None:
        self.array, self.scale, self.point, self.constant = array, np.float32(scale), point, constant

    @property
    def real(self) -> Array:
        """Returns the values in float64, without rounding."""
        wide: Array = (self.array.astype(np.float64) - self.point) * np.float64(self.scale)
        return wide


def between_casts(
    operator: str,
    operands: Sequence[Operand],
    result: Operand,
    attributes: Mapping[str, Any],
    rest: Sequence[Array] = (),
    then: str = "",
) -> tuple[ModelProto, dict[str, Array]]:
    """DequantizeLinear, the operator, QuantizeLinear; `rest`: constants after the operands, `then`: one more operator."""
    nodes, names = [], []
    constants: dict[str, Array] = {}
    inputs: dict[str, Array] = {}
    for index, operand in enumerate(operands):
        name = f"x{index}"
        (constants if operand.constant else inputs)[name] = operand.array
        constants |= {f"{name}s": np.array(operand.scale), f"{name}z": np.array(operand.point, operand.array.dtype)}
        nodes.append(node("DequantizeLinear", [name, f"{name}s", f"{name}z"], [f"{name}r"]))
        names.append(f"{name}r")
    for index, array in enumerate(rest):
        constants[f"c{index}"] = array
        names.append(f"c{index}")
    constants |= {"ys": np.array(result.scale), "yz": np.array(result.point, result.array.dtype)}
    nodes.append(node(operator, names, ["r"], **attributes))
    if then:
        nodes.append(node(then, ["r"], ["t"]))
    nodes.append(node("QuantizeLinear", ["t" if then else "r", "ys", "yz"], ["y"]))
    opset = 21 if result.array.itemsize == 2 else 17  # 16-bit types need a later opset
    return make_model(nodes, inputs, ["y"], constants, opset), inputs


def all_pairs(
    name: str, steps: tuple[float, float, float], repeats: bool
) -> tuple[ModelProto, dict[str, Array], Array]:
    """Returns a model of an operator, inputs with all pairs of bytes, and the results of float32 arithmetic.

    `repeats`: one operand is a column, the other one a row, and both are broadcast.
    """
    every = np.arange(-128, 128).astype(np.int8)
    column, row = every.reshape(256, 1), every.reshape(1, 256)
    if not repeats:
        column, row = np.tile(column, (1, 256)), np.tile(row, (256, 1))
    operands = [Operand(column, steps[0], 3), Operand(row, steps[1], -7)]
    scale = np.float32(steps[2] * (steps[0] * 100 if name == "Mul" else 1))
    real = [(x.array.astype(np.float32) - np.float32(x.point)) * x.scale for x in operands]
    exact = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[name](*real)
    assert exact.dtype == np.float32
    model, inputs = between_casts(name, operands, Operand(np.zeros(1, np.int8), float(scale), 5), {})
    return model, inputs, np.clip(np.rint(exact / scale) + 5, -128, 127).astype(np.int8)
