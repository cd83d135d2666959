"""Matrix products, reductions, normalizations and Einsum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.parsers.onnx import parse

from .helper import check, compute, make_model, node, one, operators, random, reference


@pytest.mark.parametrize(
    ("a", "b"), [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 6)), ((4,), (4, 5)), ((3, 4), (4,))]
)
def test_matmul(a: tuple[int, ...], b: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"a": random(*a), "b": random(*b, seed=1)}
    check(one("MatMul", inputs), inputs, tmp_path)


@pytest.mark.parametrize("bias", [None, (5,), (1, 5), (3, 1), (3, 5), (1,), ()])
@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.5, "beta": 2.0}, {"transA": 1, "transB": 1}])
def test_gemm(bias: tuple[int, ...] | None, attributes: dict[str, Any], tmp_path: Path) -> None:
    a, b = random(3, 4), random(4, 5, seed=1)
    inputs = {"a": a.T.copy() if attributes.get("transA") else a}
    constants = {"b": b.T.copy() if attributes.get("transB") else b}
    if bias is not None:
        constants["c"] = np.asarray(random(*bias, seed=2), np.float32)
    check(one("Gemm", inputs, constants, **attributes), inputs, tmp_path)


def test_gemm_with_a_vector_is_one_node() -> None:
    constants = {"b": random(4, 5), "c": random(5)}
    assert operators(parse(one("Gemm", {"a": random(3, 4)}, constants))) == ["MatMulFusion"]


REDUCTIONS = (
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
)


@pytest.mark.parametrize("name", REDUCTIONS.split())
@pytest.mark.parametrize("keep", [0, 1])
def test_reductions_with_axes_as_attribute(name: str, keep: int, tmp_path: Path) -> None:
    inputs = {"x": np.abs(random(2, 3, 4)) + np.float32(0.1)}
    check(one(name, inputs, opset=11, axes=[0, -1], keepdims=keep), inputs, tmp_path)


@pytest.mark.parametrize("name", REDUCTIONS.split())
@pytest.mark.parametrize("axes", [[1], [0, 2], []])
@pytest.mark.parametrize("noop", [0, 1])
def test_reductions_with_axes_as_input(name: str, axes: list[int], noop: int, tmp_path: Path) -> None:
    inputs = {"x": np.abs(random(2, 3, 4)) + np.float32(0.1)}
    constants = {"axes": np.array(axes, np.int64)}
    # Nothing to reduce: the standard still computes element by element, onnxruntime passes x on.
    element = {"ReduceLogSum": np.log, "ReduceSumSquare": np.square}.get(name)
    wanted = [element(inputs["x"])] if noop and not axes and element is not None else None
    check(one(name, inputs, constants, opset=18, noop_with_empty_axes=noop), inputs, tmp_path, wanted=wanted)


@pytest.mark.parametrize("name", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("keep", [0, 1])
def test_arg(name: str, last: int, keep: int, tmp_path: Path) -> None:
    inputs = {"x": np.array([[1, 3, 3, 0], [0, 2, 0, 2]], np.float32)}
    check(one(name, inputs, axis=1, select_last_index=last, keepdims=keep), inputs, tmp_path)


@pytest.mark.parametrize("attributes", [{}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}])
def test_cum_sum(attributes: dict[str, int], tmp_path: Path) -> None:
    inputs = {"x": random(3, 4)}
    check(one("CumSum", inputs, {"axis": np.array(1, np.int64)}, **attributes), inputs, tmp_path)


@pytest.mark.parametrize("opset", [9, 10, 11])
def test_top_k(opset: int, tmp_path: Path) -> None:
    inputs = {"x": random(3, 6)}
    constants = {} if opset < 10 else {"k": np.array([2], np.int64)}
    attributes = {"k": 2} if opset < 10 else {}
    check(one("TopK", inputs, constants, opset=opset, outputs=2, axis=-1, **attributes), inputs, tmp_path)


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 5), (2, 3, 4, 5), (2, 3, 2, 3, 2)])
def test_batch_norm(shape: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"x": random(*shape)}
    constants = {name: np.abs(random(3, seed=index)) + 0.5 for index, name in enumerate("sbmv")}
    constants = {name: array.astype(np.float32) for name, array in constants.items()}
    check(one("BatchNormalization", inputs, constants, epsilon=1e-3), inputs, tmp_path)


@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 4, 5)])
def test_instance_norm(shape: tuple[int, ...], tmp_path: Path) -> None:
    inputs = {"x": random(*shape)}
    check(one("InstanceNormalization", inputs, {"s": random(3), "b": random(3, seed=1)}), inputs, tmp_path)


def test_group_norm(tmp_path: Path) -> None:
    inputs = {"x": random(2, 6, 4, 5)}
    constants = {"s": random(6), "b": random(6, seed=1)}
    check(one("GroupNormalization", inputs, constants, opset=21, num_groups=3), inputs, tmp_path)


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("with_bias", [True, False])
def test_layer_norm(axis: int, outputs: int, with_bias: bool, tmp_path: Path) -> None:
    inputs = {"x": random(2, 3, 4)}
    shape = inputs["x"].shape[axis:]
    constants = {"s": random(*shape)} | ({"b": random(*shape, seed=1)} if with_bias else {})
    check(one("LayerNormalization", inputs, constants, outputs=outputs, axis=axis), inputs, tmp_path)


@pytest.mark.parametrize("size", [3, 4])
def test_lrn(size: int, tmp_path: Path) -> None:
    inputs = {"x": random(1, 7, 3, 4)}
    model = one("LRN", inputs, size=size, alpha=0.5, beta=0.7, bias=1.5)
    squares = np.pad(inputs["x"] ** 2, ((0, 0), ((size - 1) // 2, size // 2), (0, 0), (0, 0)))
    sums = sum(squares[:, offset : offset + 7] for offset in range(size))
    wanted = (inputs["x"] / (1.5 + 0.5 / size * sums) ** 0.7).astype(np.float32)
    check(model, inputs, tmp_path, wanted=[wanted])


@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalization(p: int, tmp_path: Path) -> None:
    inputs = {"x": random(3, 4)}
    check(one("LpNormalization", inputs, p=p, axis=0), inputs, tmp_path)


def test_mean_variance_norm(tmp_path: Path) -> None:
    inputs = {"x": random(2, 3, 4, 5)}
    check(one("MeanVarianceNormalization", inputs), inputs, tmp_path)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("bij,bjk", [(2, 3, 4), (2, 4, 5)]),
        ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("bnqd,bnkd,bk->bqn", [(2, 3, 4, 5), (2, 3, 6, 5), (2, 6)]),
        ("ij->ji", [(3, 4)]),
        ("ijk->", [(2, 3, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("...ij,...jk->...ik", [(2, 3, 4, 5), (3, 5, 2)]),
        ("abc,cd->bda", [(2, 3, 4), (4, 5)]),
        ("ab,ab->", [(2, 3), (2, 3)]),
        ("abcd,cdef->abef", [(2, 3, 4, 5), (4, 5, 2, 3)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]], tmp_path: Path) -> None:
    inputs = {f"x{index}": random(*shape, seed=index) for index, shape in enumerate(shapes)}
    wanted = np.asarray(np.einsum(equation, *inputs.values()), np.float32)
    check(one("Einsum", inputs, equation=equation), inputs, tmp_path, wanted=[wanted])


def test_einsum_of_two_matrices_is_one_product() -> None:
    module = parse(one("Einsum", {"a": random(3, 4), "b": random(4, 5)}, equation="ij,jk->ik"))
    assert operators(module) == ["MatMulFusion"]


def test_functions_are_expanded_with_their_defaults(tmp_path: Path) -> None:
    """HannWindow has no converter; its `periodic` attribute and output type are defaults."""
    size = {"n": np.array(7, np.int32)}
    nodes = [node("HannWindow", ["n"], ["w"]), node("Mul", ["w", "x"], ["y"])]
    inputs = {"x": random(7)}
    check(make_model(nodes, inputs, ["y"], size), inputs, tmp_path)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_order_of_what_is_no_number(count: int, largest: int, tmp_path: Path) -> None:
    """It is larger than any number, as in onnxruntime, NumPy and PyTorch."""
    nan = np.nan
    x = np.array([[1, nan, 3, 2, 2], [nan, nan, -1, np.inf, nan], [4, 3, 2, 1, nan]], np.float32)
    inputs = {"x": x}
    model = one("TopK", inputs, {"k": np.array([count])}, outputs=2, largest=largest)
    for got, wanted in zip(compute(model, inputs, tmp_path), reference(model, inputs), strict=True):
        np.testing.assert_array_equal(got, wanted)
