"""Tensor lists between the converter's tensors and the file's lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, Node, Value, constant
from mslite.converter.mindir.module_io import load, save, to_meta, to_module
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.control_flow import (
    TensorListFromTensor,
    TensorListGetItem,
    TensorListReserve,
    TensorListSetItem,
    TensorListStack,
)
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.serialization import MindirFormatError
from mslite.converter.options import FmkType, Options

_FLOAT = int(DataType.FLOAT32)


def _value(name: str, *shape: int) -> Value:
    return Value(name, DataType.FLOAT32, shape)


def _module(touched: bool = False) -> Module:
    """y: a list of three elements with x at place 1; its last element where the list is `touched` by another operator."""
    x, fresh, filled, y = _value("x", 2), _value("fresh", 3, 0), _value("filled", 3, 2), _value("y", 3, 2)
    shape, three, one = (constant(name, np.array(data, np.int32)) for name, data in (("s", [-1]), ("n", 3), ("i", 1)))
    graph = Graph("main_graph", [x], [y])
    graph.nodes = [
        Node(TensorListReserve(element_dtype=_FLOAT), "reserve", (shape, three), (fresh,)),
        Node(TensorListSetItem(element_dtype=_FLOAT), "set", (fresh, one, x), (filled,)),
        Node(TensorListStack(element_dtype=_FLOAT, num_elements=3), "stack", (filled, shape), (y,)),
    ]
    if touched:
        graph.nodes[2] = Node(AddFusion(), "add", (filled, filled), (y,))
    return Module([graph])


def _types(module: Module) -> dict[str, int]:
    return {tensor.name or "": int(tensor.dataType) for tensor in to_meta(module).allTensors or ()}


def test_lists_are_lists_in_the_file() -> None:
    types = _types(_module())
    assert (types["fresh"], types["filled"], types["y"], types["x"]) == (17, 17, 43, 43)
    tensors = {tensor.name: tensor for tensor in to_meta(_module()).allTensors or ()}
    assert tensors["filled"].dims == (3,)
    assert np.frombuffer(bytes(tensors["filled"].data or b""), np.int32).tolist() == [43, 1, 2, -1]
    assert np.frombuffer(bytes(tensors["fresh"].data or b""), np.int32).tolist() == [43, 1, -1, -1]


def test_a_list_that_others_read_is_a_tensor() -> None:
    types = _types(_module(touched=True))
    assert (types["fresh"], types["filled"]) == (43, 43)


def test_lists_come_back_as_tensors(tmp_path: Path) -> None:
    save(_module(), tmp_path / "m.ms")
    values = {value.name: value for value in load(tmp_path / "m.ms").main.values()}
    assert values["filled"].dtype is DataType.FLOAT32
    assert values["filled"].shape == (3, 2)
    assert values["fresh"].shape is None
    assert not values["filled"].is_constant


@pytest.mark.parametrize("words", [[], [43], [43, 1], [43, 9, *range(9), -1], [999, 0, -1]])
def test_a_damaged_description_is_refused(words: list[int]) -> None:
    meta = to_meta(_module())
    for tensor in meta.allTensors or ():
        if tensor.name == "filled":
            tensor.data = np.array([*words, *([0] if not words else [])], np.int32).tobytes()[: max(4 * len(words), 2)]
    with pytest.raises(MindirFormatError, match="'filled': the description of a tensor list is invalid"):
        to_module(meta)


def test_the_runtime_and_the_converter_read_them(tmp_path: Path) -> None:
    """The file runs, and so does what a conversion of the file gives."""
    (first,) = save(_module(), tmp_path / "m.ms")
    second = convert(Options(first, tmp_path / "again", framework=FmkType.MSLITE)).files[0]
    for file in (first, second):
        model = mslite.Model()
        model.build_from_file(file, mslite.ModelType.MINDIR_LITE)
        (y,) = model.predict([np.array([3, 4], np.float32)])
        np.testing.assert_array_equal(y.get_data_to_numpy(), [[0, 0], [3, 4], [0, 0]])


def test_elements_of_unknown_number(tmp_path: Path) -> None:
    """A tensor with an open first size, cut into a list of which one element is read."""
    rows = SYMBOL_LIMIT - 1
    x, parts, y = _value("x", rows, 2), _value("parts", rows, 2), _value("y", 2)
    index, shape = constant("i", np.array(-1 + 3, np.int32)), constant("s", np.array([2], np.int32))
    graph = Graph("main_graph", [x], [y])
    graph.nodes = [
        Node(TensorListFromTensor(element_dtype=_FLOAT), "cut", (x, shape), (parts,)),
        Node(TensorListGetItem(element_dtype=_FLOAT), "get", (parts, index, shape), (y,)),
    ]
    (file,) = save(Module([graph]), tmp_path / "m.ms")
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    data = np.arange(10, dtype=np.float32).reshape(5, 2)
    np.testing.assert_array_equal(model.predict([data])[0].get_data_to_numpy(), [4, 5])
    with pytest.raises(
        RuntimeError, match=r"node 'get' .TensorListGetItem.: its input 1 holds 2 at position 0; it must be"
    ):
        model.predict([data[:2]])
