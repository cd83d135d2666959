"""QONNX's quantizers against their definition in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.parsers.onnx import parse

from .helper import Array, compute, make_model, node, operators, random
from .test_quantized import lowered

F32 = np.float32
DOMAIN = "qonnx.custom_op.general"
MODES: dict[str, Any] = {
    "ROUND": np.rint,
    "half_even": np.rint,
    "CEIL": np.ceil,
    "FLOOR": np.floor,
    "UP": lambda x: np.where(x < 0, np.floor(x), np.ceil(x)),
    "DOWN": np.trunc,
    "HALF_UP": lambda x: np.where(x < 0, np.ceil(x - F32(0.5)), np.floor(x + F32(0.5))),
    "HALF_DOWN": lambda x: np.where(x < 0, np.floor(x + F32(0.5)), np.ceil(x - F32(0.5))),
}
TIES = (np.arange(-40, 40) / 8).astype(F32)
"""Eighths: numbers half-way between two integers at a scale of 1/4."""
X = np.concatenate([TIES, random(76) * 3, [1e9, -1e9, 40, -40]]).astype(F32).reshape(4, 10, 4)


def limits(bits: float, signed: bool, narrow: bool) -> tuple[float, float]:
    if signed:
        return -(2 ** (bits - 1)) + narrow, 2 ** (bits - 1) - 1
    return 0, 2**bits - 1 - narrow


def quantized(x: Array, scale: Array, zero: Array, bits: float, mode: str, signed: bool, narrow: bool) -> Array:
    steps = x / scale + zero
    if bits == 1 and signed:
        return ((np.where(steps >= 0, 1, -1) - zero) * scale).astype(F32)
    result: Array = ((MODES[mode](np.clip(steps, *limits(bits, signed, narrow))) - zero) * scale).astype(F32)
    return result


def model_of(
    op_type: str, x: Array, constants: dict[str, Array], *, stored: bool, version: int = 1, **attributes: Any
) -> ModelProto:
    """y = op(x, constants), or with a constant operand y = op(w, constants) + x for an x of zeros."""
    names = ["w" if stored else "x", *constants]
    nodes = [node(op_type, names, ["q"], domain=DOMAIN, **attributes), node("Identity", ["q"], ["y"])]
    if stored:
        nodes[1] = node("Add", ["q", "x"], ["y"])
    model = make_model(nodes, {"x": x}, ["y"], {**constants, **({"w": X} if stored else {})})
    model.opset_import.add(domain=DOMAIN, version=version)
    return model


def check(op_type: str, constants: dict[str, Array], want: Array, folder: Path, *, stored: bool, **others: Any) -> None:
    x = np.zeros_like(X) if stored else X
    (found,) = compute(model_of(op_type, x, constants, stored=stored, **others), {"x": x}, folder)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


def quant_constants(scale: Array, zero: float, bits: float) -> dict[str, Array]:
    return {"s": np.asarray(scale, F32), "z": np.array(zero, F32), "b": np.array(bits, F32)}


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("bits", "signed", "narrow"), [(8, 1, 0), (3, 1, 1), (4, 0, 0), (12, 1, 1)])
def test_rounding(mode: str, bits: int, signed: int, narrow: int, stored: bool, tmp_path: Path) -> None:
    constants = quant_constants(np.array(0.25), 0, bits)
    want = quantized(X, constants["s"], constants["z"], bits, mode, bool(signed), bool(narrow))
    attributes = {"rounding_mode": mode, "signed": signed, "narrow": narrow}
    check("Quant", constants, want, tmp_path, stored=stored, **attributes)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("axes", [(10, 1), (4, 10, 1), (4, 1, 1), (1, 1, 1)])
@pytest.mark.parametrize(
    ("bits", "signed", "narrow", "zero"), [(8, 0, 1, 2), (8, 1, 1, 1), (1, 1, 0, 0), (1, 0, 0, 0), (2, 1, 0, 0.5)]
)
def test_scales(
    bits: int, signed: int, narrow: int, zero: float, axes: tuple[int, ...], stored: bool, tmp_path: Path
) -> None:
    """One for all, per channel of a dimension, and of two; zero points that are even, odd and no integers."""
    scale = np.random.default_rng(1).uniform(0.05, 0.5, axes).astype(F32)
    constants = quant_constants(scale, zero, bits)
    want = quantized(X, scale, constants["z"], bits, "ROUND", bool(signed), bool(narrow))
    check("IntQuant", constants, want, tmp_path, stored=stored, signed=signed, narrow=narrow)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("axes", [(), (10, 1)])
def test_signs(axes: tuple[int, ...], stored: bool, tmp_path: Path) -> None:
    scale = np.random.default_rng(1).uniform(0.05, 0.5, axes).astype(F32)
    check("BipolarQuant", {"s": scale}, np.where(X >= 0, scale, -scale), tmp_path, stored=stored)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("zero", [0, 3])
def test_dropped_bits(mode: str, zero: int, tmp_path: Path) -> None:
    """Both versions: of 8 bits 3 are dropped, or a scale says how many."""
    x = np.rint(X.clip(-30, 30) * 20) * F32(0.25)
    old = {"s": F32(0.25), "z": F32(zero), "a": F32(8), "b": F32(5)}
    constants = {name: np.asarray(value) for name, value in old.items()}
    want = (MODES[mode](np.rint(x / F32(0.25) + zero) / 8) - zero) * F32(0.25)
    model = model_of("Trunc", x, constants, stored=False, rounding_mode=mode)
    np.testing.assert_allclose(compute(model, {"x": x}, tmp_path)[0], want, rtol=1e-5, atol=1e-6)
    constants = {
        "s": constants["s"],
        "z": constants["z"],
        "a": constants["a"],
        "t": np.array(2, F32),
        "b": constants["b"],
    }
    steps = np.clip(np.rint(x / F32(0.25) + zero) / 8, *limits(5, True, False))
    model = model_of("Trunc", x, constants, stored=False, version=2, rounding_mode=mode)
    np.testing.assert_allclose(
        compute(model, {"x": x}, tmp_path)[0], (MODES[mode](steps) - zero / 8) * 2, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("domain", [DOMAIN, "onnx.brevitas"])
def test_a_layer_computes_on_integers(domain: str) -> None:
    """Activations and weights between Quants of 8 bits, the weights of 4."""
    nodes = [
        node("Quant", ["x", "s", "z", "b"], ["xq"], domain=domain, signed=1, narrow=0),
        node("Quant", ["w", "ws", "z", "wb"], ["wq"], domain=domain, signed=1, narrow=1),
        node("Conv", ["xq", "wq"], ["c"]),
        node("Quant", ["c", "s", "z", "b"], ["y"], domain=domain, signed=1, narrow=0),
    ]
    constants = {
        **quant_constants(np.array(0.125), 0, 8), "w": random(5, 3, 3, 3), "wb": np.array(4, F32),
        "ws": np.linspace(0.1, 0.3, 5).astype(F32).reshape(5, 1, 1, 1),
    }  # fmt: skip
    model = make_model(nodes, {"x": random(1, 3, 8, 8)}, ["y"], constants)
    model.opset_import.add(domain=domain, version=1)
    module = lowered(model)
    assert set(operators(module)) == {"QuantDTypeCast", "Conv2DFusion", "Transpose"}
    (conv,) = (entry for entry in module.main.nodes if entry.op.name == "Conv2DFusion")
    assert conv.quant_type is QuantType.QUANT_ALL
    assert np.abs(conv.inputs[1].array()).max() <= 7


@pytest.mark.parametrize(
    ("op_type", "changes", "attributes", "reason"),
    [
        ("Quant", {"b": np.full(10, 4, F32)}, {}, "10 bit widths"),
        ("Quant", {"b": np.array(64, F32)}, {}, "bit width of 64"),
        ("Quant", {}, {"rounding_mode": "STOCHASTIC"}, "'STOCHASTIC' is not supported"),
        ("FloatQuant", {}, {}, "floats of few bits"),
    ],
)
def test_refused_by_name(op_type: str, changes: dict[str, Array], attributes: dict[str, Any], reason: str) -> None:
    constants = {**quant_constants(np.array(0.25), 0, 8), **changes}
    with pytest.raises(ConversionError, match=reason):
        parse(model_of(op_type, X, constants, stored=False, **attributes))


def test_bits_that_are_computed() -> None:
    constants = quant_constants(np.array(0.25), 0, 8)
    nodes = [node("Quant", ["x", "s", "z", "n"], ["y"], domain=DOMAIN)]
    model = make_model(nodes, {"x": X, "n": np.array(8, F32)}, ["y"], constants)
    model.opset_import.add(domain=DOMAIN, version=1)
    with pytest.raises(ConversionError, match=r"bit width \(input 3\) is not a constant"):
        parse(model)
