"""Functions of single elements, with onnxruntime as the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.parsers.onnx import parse

from .helper import Array, check, compute, make_model, node, one, operators, random

POSITIVE = {"Log", "Sqrt", "Acosh"}
BOUNDED = {"Asin", "Acos", "Atanh"}


@pytest.mark.parametrize(
    "name",
    [
        "Abs",
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Ceil",
        "Cos",
        "Cosh",
        "Erf",
        "Exp",
        "Floor",
        "Log",
        "Neg",
        "Reciprocal",
        "Round",
        "Sign",
        "Sin",
        "Sinh",
        "Sqrt",
        "Tan",
        "Relu",
        "Sigmoid",
        "Softplus",
        "Softsign",
        "Tanh",
        "HardSwish",
    ],
)
def test_unary(name: str, tmp_path: Path) -> None:
    x = random(2, 3, 5)
    if name in POSITIVE:
        x = np.abs(x) + 1
    elif name in BOUNDED:
        x = np.clip(x, -0.9, 0.9)
    check(one(name, {"x": x}), {"x": x}, tmp_path)


@pytest.mark.parametrize(
    ("name", "opset", "attributes"),
    [
        ("LeakyRelu", 16, {"alpha": 0.2}),
        ("Elu", 17, {"alpha": 0.7}),
        ("Celu", 17, {"alpha": 1.7}),
        ("Selu", 17, {}),
        ("Selu", 17, {"alpha": 1.3, "gamma": 0.5}),
        ("HardSigmoid", 17, {"alpha": 0.3, "beta": 0.4}),
        ("Mish", 18, {}),
        ("Shrink", 17, {"bias": 0.3, "lambd": 0.4}),
        ("Gelu", 20, {}),
        ("Gelu", 20, {"approximate": "tanh"}),
        ("ThresholdedRelu", 17, {"alpha": 0.3}),
        ("Clip", 6, {"min": -0.5, "max": 0.5}),
        ("Clip", 6, {"max": 0.25}),
        ("Softmax", 17, {"axis": 1}),
        ("Softmax", 11, {"axis": 1}),
        ("LogSoftmax", 11, {}),
        ("Hardmax", 17, {"axis": 1}),
        ("Hardmax", 11, {"axis": 0}),
    ],
)
def test_parametrised_functions(name: str, opset: int, attributes: dict[str, Any], tmp_path: Path) -> None:
    x = random(2, 3, 5)
    check(one(name, {"x": x}, opset=opset, **attributes), {"x": x}, tmp_path)


@pytest.mark.parametrize("name", ["Add", "Sub", "Mul", "Div", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"])
@pytest.mark.parametrize("shape", [(3, 4), (1,), (4,), (2, 1, 4)])
def test_binary_broadcasts(name: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"a": random(2, 3, 4), "b": random(*shape, seed=1)}
    check(one(name, inputs), inputs, tmp_path)


@pytest.mark.parametrize("name", ["And", "Or", "Xor", "Equal"])
def test_logic(name: str, tmp_path: Path) -> None:
    inputs = {"a": random(2, 3) > 0, "b": random(3, seed=1) > 0}
    check(one(name, inputs), inputs, tmp_path)


@pytest.mark.parametrize(("axis", "shape"), [(1, (3, 1)), (0, (2, 3)), (1, (3,))])
def test_broadcast_axis_of_opset_6(axis: int, shape: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"a": random(2, 3, 4, 5), "b": random(*shape, seed=1)}
    model = one("Add", inputs, opset=6, broadcast=1, axis=axis)
    trailing = inputs["a"].ndim - axis - len(shape)
    wanted = inputs["a"] + inputs["b"].reshape(shape + (1,) * trailing)
    check(model, inputs, tmp_path, wanted=[wanted])


@pytest.mark.parametrize("fmod", [0, 1])
def test_mod_signs(fmod: int, tmp_path: Path) -> None:
    inputs = {"a": np.array([-7, 7, -7, 7], np.int32), "b": np.array([3, -3, -3, 3], np.int32)}
    check(one("Mod", inputs, fmod=fmod), inputs, tmp_path)


@pytest.mark.parametrize("name", ["Max", "Min", "Sum", "Mean"])
def test_variadic(name: str, tmp_path: Path) -> None:
    inputs = {"a": random(2, 3), "b": random(3, seed=1), "c": random(2, 1, seed=2)}
    check(one(name, inputs), inputs, tmp_path)


def test_pow_keeps_the_type_of_the_base(tmp_path: Path) -> None:
    inputs = {"x": np.array([1, 2, 3], np.int32)}
    check(one("Pow", inputs, {"e": np.array([2.0, 0.5, 2.0], np.float32)}), inputs, tmp_path)


@pytest.mark.parametrize("bounds", [(-0.5, 0.5), (0.0, 6.0), (None, 0.3), (0.0, None)])
def test_clip_bounds_as_inputs(bounds: tuple[float | None, float | None], tmp_path: Path) -> None:
    x = random(3, 4)
    constants = {n: np.array(b, np.float32) for n, b in zip(("low", "high"), bounds, strict=True) if b is not None}
    names = ["x", *(n if b is not None else "" for n, b in zip(("low", "high"), bounds, strict=True))]
    model = make_model([node("Clip", names, ["y"])], {"x": x}, ["y"], constants)
    check(model, {"x": x}, tmp_path)


def test_clip_becomes_the_named_activations() -> None:
    x = random(3)

    def kinds(low: float, high: float) -> list[str]:
        constants = {"low": np.array(low, np.float32), "high": np.array(high, np.float32)}
        module = parse(one("Clip", {"x": x}, constants))
        return [getattr(entry.op, "activation_type", entry.op).name for entry in module.main.nodes]

    assert kinds(0, 6) == ["RELU6"]
    assert kinds(0, np.inf) == ["RELU"]
    assert kinds(-1, 1) == ["Clip"]


@pytest.mark.parametrize("slope", [(1,), (3, 1, 1), (5,), (3, 4, 5)])
def test_prelu_slopes(slope: tuple[int, ...], tmp_path: Path) -> None:
    x = random(2, 3, 4, 5)
    model = one("PRelu", {"x": x}, {"slope": random(*slope, seed=1)})
    check(model, {"x": x}, tmp_path)
    own = slope in ((1,), (3, 1, 1))
    assert (operators(parse(model)) == ["PReLUFusion"]) is own


def test_cast_and_where(tmp_path: Path) -> None:
    inputs: dict[str, Array] = {"c": random(2, 3) > 0, "a": random(2, 3, seed=1), "b": random(3, seed=2)}
    nodes = [node("Where", ["c", "a", "b"], ["w"]), node("Cast", ["w"], ["y"], to=7), node("Not", ["c"], ["n"])]
    check(make_model(nodes, inputs, ["y", "n"]), inputs, tmp_path)


def test_dropout_passes_in_inference(tmp_path: Path) -> None:
    inputs = {"x": random(2, 3)}
    nodes = [node("Dropout", ["x"], ["d", "m"], ratio=0.5), node("Neg", ["d"], ["y"])]
    model = make_model(nodes, inputs, ["y", "m"], opset=10)
    check(model, inputs, tmp_path, wanted=[-inputs["x"], np.ones((2, 3), np.bool_)])


def test_logarithms_of_sigmoids_that_are_no_float(tmp_path: Path) -> None:
    """What PyTorch's exporter makes of LogSigmoid: sigmoid(-200) is 0, whose logarithm is infinite, and sigmoid(30) is rounded to 1."""
    x = np.array([-1e30, -200, -88, -20, -1, 0, 1, 20, 30, 80, 1e30], np.float32)
    model = make_model([node("Sigmoid", ["x"], ["s"]), node("Log", ["s"], ["y"])], {"x": x}, ["y"])
    (found,) = compute(model, {"x": x}, tmp_path)
    np.testing.assert_allclose(found, -np.logaddexp(0, -x.astype(np.float64)), rtol=3e-6)
