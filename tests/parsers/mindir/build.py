"""Small `.mindir` models as MindSpore writes them: the typed form, and the older form with `ref_attr_name`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import mslite
from mslite.converter.convert import convert
from mslite.converter.mindir.graph import data_type_of
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.options import FmkType, Options
from mslite.converter.parsers.mindir.messages import TENSOR_TYPES, AttributeType, ModelProto
from mslite.converter.parsers.protobuf import Message

Array = npt.NDArray[Any]
_NUMBERS = {dtype: number for number, dtype in TENSOR_TYPES.items() if number != 17}


class Type:
    """Returns a data type as a constant."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.number = _NUMBERS[data_type_of(np.dtype(dtype))]


class Model:
    """Builds a model node by node; names are those of the file."""

    def __init__(self, version: int | None = 2) -> None:
        self.proto = ModelProto(
            ir_version="0.1.1", producer_name="MindSpore", model_version="2.3.0", little_endian=True
        )
        if version is not None:
            self.proto.mind_ir_version = version
        self.graph = self.proto.graph
        self.graph.name = "main"

    def function(self, name: str) -> Message:
        """Adds a subgraph; pass it as `graph` to the other methods."""
        proto = self.proto.functions.add()
        proto.name = name
        return proto

    def input(self, name: str, shape: Sequence[int], dtype: npt.DTypeLike = np.float32, graph: Any = None) -> str:
        tensor = (graph or self.graph).input.add(name=name).tensor.add()
        _describe(tensor, shape, dtype)
        return name

    def parameter(self, name: str, array: npt.ArrayLike) -> str:
        data = np.asarray(array)
        tensor = self.graph.parameter.add(name=name)
        _describe(tensor, data.shape, data.dtype)
        tensor.raw_data = data.tobytes()
        return name

    def constant(self, name: str, value: Any, graph: Any = None) -> str:
        node = (graph or self.graph).node.add(op_type="Constant", name=name, output=[name])
        set_value(node.attribute.add(name="value"), value)
        return name

    def node(
        self,
        operator: str,
        name: str,
        inputs: Sequence[str],
        shape: Sequence[int] | Sequence[Sequence[int]] | None = None,
        graph: Any = None,
        **attributes: Any,
    ) -> str:
        """Adds a node; `shape` is the shape of its output in the file (several for a tuple)."""
        node = (graph or self.graph).node.add(op_type=operator, name=name, output=[name], input=list(inputs))
        node.domain = f"Default/{name}"
        for key, value in attributes.items():
            set_value(node.attribute.add(name=key), value)
        if shape is not None:
            record = node.attribute.add(name="shape")
            if shape and not isinstance(shape[0], int):
                record.type = AttributeType.TUPLE
                for each in shape:
                    item = record.values.add(type=int(AttributeType.TENSORS))
                    _describe(item.tensors.add(), each, np.float32)  # type: ignore[arg-type]
            else:
                record.type = AttributeType.TENSORS
                _describe(record.tensors.add(), shape, np.float32)  # type: ignore[arg-type]
        return name

    def output(self, *names: str, graph: Any = None) -> None:
        for name in names:
            (graph or self.graph).output.add(name=name)

    def save(self, path: Path) -> Path:
        path.write_bytes(self.proto.SerializeToString())
        return path


def _describe(tensor: Message, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
    tensor.dims.extend(shape)
    tensor.data_type = _NUMBERS[data_type_of(np.dtype(dtype))]


def set_value(attribute: Message, value: Any, element: bool = False) -> None:
    """Sets an attribute in the typed form; elements of tuples are in the repeated fields."""
    if isinstance(value, np.ndarray):
        attribute.type = AttributeType.TENSORS
        tensor = attribute.tensors.add(name="value0", raw_data=value.tobytes())
        _describe(tensor, value.shape, value.dtype)
    elif isinstance(value, Type):
        attribute.type = AttributeType.TENSORS
        attribute.tensors.add(name="value0", data_type=value.number)
    elif isinstance(value, tuple):
        attribute.type = AttributeType.TUPLE
        for item in value:
            set_value(attribute.values.add(), item, element=True)
    elif value is None:
        attribute.type = AttributeType.NONE
    elif isinstance(value, str):
        attribute.type = AttributeType.STRING
        attribute.s = value.encode()
    elif isinstance(value, bool):
        attribute.type = AttributeType.BOOL
        _put(attribute, "i", "ints", int(value), element)
    elif isinstance(value, float):
        attribute.type = AttributeType.FLOAT
        _put(attribute, "f", "floats", value, element)
    else:
        attribute.type = AttributeType.INT64
        _put(attribute, "i", "ints", int(value), element)


def _put(attribute: Message, single: str, repeated: str, value: Any, element: bool) -> None:
    if element:
        getattr(attribute, repeated).append(value)
    else:
        setattr(attribute, single, value)


def run(path: Path, *inputs: Array, nchw: bool = True) -> list[Array]:
    """Converts a `.mindir` file, runs it on inputs in the source's layout, and returns its outputs."""
    options = Options(path, path.with_suffix(""), framework=FmkType.MINDIR)
    if nchw:
        options = Options(path, path.with_suffix(""), framework=FmkType.MINDIR, input_format=Format.NCHW)
    file = convert(options).files[0]
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    tensors = model.get_inputs()
    model.resize(tensors, [list(array.shape) for array in inputs])
    return [tensor.get_data_to_numpy() for tensor in model.predict(list(inputs))]
