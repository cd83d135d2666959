"""`.ms` files whose element types no kernel takes: the runtime computes in wider ones, as the converter would have written it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.activation import Activation, Softmax
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Shape
from tests.element_types.direct_files import INTEGERS, Call, calls, is_as_converted, outcome, run

OPEN = frozenset({"MatMulFusion-empty-inner-weights", "Conv2DBackpropInputFusion-empty-batch"})
"""A file says -1 for the size 0 of an input, and weights have no rows or a shape is a constant: no size can be assumed."""
OF_TYPES = "Cast"
"""Its results are what it says, and not what retyped references have."""
COMPLEX = "Rfft"
"""Gives complex numbers, which NumPy's arrays of the API do not hold."""
_SAMPLE = 11


def wrong_halves(found: Iterable[Call], folder: Path) -> tuple[dict[str, str], set[str]]:
    """What is wrong of calls in float16, and the operators that are right."""
    wrong, right = {}, set()
    for call in found:
        if call.name in (OF_TYPES, COMPLEX) or call.case.name in OPEN:
            continue
        if problem := outcome(call, folder):
            wrong[call.case.name] = problem
        else:
            right.add(call.name)
    return wrong, right


def wrong_integers(found: Iterable[Call], folder: Path) -> tuple[list[str], int]:
    """Calls that differ from what the converter makes of them, and how many do not."""
    wrong, right = [], 0
    for call in found:
        same = None if call.case.name in OPEN else is_as_converted(call, folder)
        right += same is True
        if same is False:
            wrong.append(call.case.name)
    return wrong, right


@pytest.mark.nonconforming("every operator by itself, in one layout")
def test_every_primitive_in_float16(tmp_path: Path) -> None:
    wrong, right = wrong_halves(calls("float16", once=True), tmp_path)
    assert wrong == {}
    assert len(right) > 170


@pytest.mark.nonconforming("every operator by itself, in one layout")
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_as_the_converter_has_them(dtype: str, tmp_path: Path) -> None:
    found = list(calls(dtype, once=True))
    wrong, right = wrong_integers(found[INTEGERS.index(dtype) :: _SAMPLE], tmp_path)
    assert wrong == []
    assert right > 10


def network(kind: type[np.floating], weights: type[np.floating]) -> Module:
    """Convolution, ReLU, product, sum and softmax of numbers of one type."""
    draw = np.random.default_rng(3)

    def stored(name: str, *shape: int) -> Value:
        return constant(name, draw.uniform(-1, 1, shape).astype(np.float16).astype(weights))

    dtype = DataType.FLOAT16 if kind is np.float16 else DataType.FLOAT32
    x, y = Value("x", dtype, (2, 6, 5, 3)), Value("y", dtype, (2, 7))
    inner = [Value(f"v{index}", dtype, None) for index in range(5)]
    shape = Value("shape", DataType.INT32, (4,))
    convolution = Conv2DFusion(
        kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_list=(1, 1, 1, 1), in_channel=3, out_channel=4,
        format=Format.NHWC, activation_type=ActivationType.RELU,
    )  # fmt: skip
    nodes = [
        Node(convolution, "conv", (x, stored("w", 4, 3, 3, 3), stored("b", 4)), (inner[0],)),
        Node(Activation(activation_type=ActivationType.TANH), "tanh", (inner[0],), (inner[1],)),
        Node(Shape(), "shape", (inner[1],), (shape,)),
        Node(Reshape(), "flat", (inner[1], constant("two", np.array([2, -1], np.int32))), (inner[2],)),
        Node(MatMulFusion(), "product", (inner[2], stored("m", 120, 7)), (inner[3],)),
        Node(AddFusion(), "sum", (inner[3], stored("a", 7)), (inner[4],)),
        Node(Softmax(axis=(-1,)), "y", (inner[4],), (y,)),
    ]
    return Module([Graph("main", [x], [y, shape], nodes)])


@pytest.mark.nonconforming("every operator by itself, in one layout")
@pytest.mark.parametrize("weights", [np.float16, np.float32])
def test_a_network_in_float16(weights: type[np.floating], tmp_path: Path) -> None:
    """It computes in float32: the bits are those of the float32 network, rounded once."""
    x = np.random.default_rng(4).normal(size=(2, 6, 5, 3)).astype(np.float16)
    got = run(network(np.float16, weights), [x], tmp_path)
    wanted = run(network(np.float32, np.float32), [x.astype(np.float32)], tmp_path)
    assert not isinstance(got, str), got
    assert not isinstance(wanted, str), wanted
    assert got[0].dtype == np.float16
    np.testing.assert_array_equal(got[0], wanted[0].astype(np.float16))
    np.testing.assert_array_equal(got[1], [2, 6, 5, 4])


def test_a_result_that_is_read_too_leaves_as_float16(tmp_path: Path) -> None:
    x, one, two = (Value(name, DataType.FLOAT16, (3,)) for name in ("x", "one", "two"))
    tanh = Activation(activation_type=ActivationType.TANH)
    nodes = [Node(tanh, "one", (x,), (one,)), Node(dataclasses.replace(tanh), "two", (one,), (two,))]
    given = np.array([-0.5, 0.25, 3], np.float16)
    got = run(Module([Graph("main", [x], [one, two, x], nodes)]), [given], tmp_path)
    assert not isinstance(got, str), got
    real = np.tanh(given.astype(np.float32))
    np.testing.assert_allclose(got[0], real.astype(np.float16), rtol=1e-3)
    np.testing.assert_allclose(got[1], np.tanh(real).astype(np.float16), rtol=1e-3)
    assert [array.dtype for array in got[:2]] == [np.float16, np.float16]


def test_integers_wrap_as_their_own_type(tmp_path: Path) -> None:
    x, y = Value("x", DataType.INT16, (3,)), Value("y", DataType.INT16, (3,))
    node = Node(AddFusion(), "add", (x, x), (y,))
    got = run(Module([Graph("main", [x], [y], [node])]), [np.array([1, 32767, -32768], np.int16)], tmp_path)
    assert not isinstance(got, str), got
    np.testing.assert_array_equal(got[0], np.array([2, -2, 0], np.int16))
