"""GraphDefs built by hand, and their conversion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import mslite
from mslite.converter.convert import convert
from mslite.converter.mindir.graph import Module
from mslite.converter.options import Options
from mslite.converter.parsers.tf.model import load
from mslite.converter.parsers.tf.parser import module_of
from mslite.converter.parsers.tf.protos import GraphDef
from mslite.converter.passes.incremental_inference import IncrementalInference

FLOAT, INT32, STRING, INT64, BOOL, HALF = 1, 3, 7, 9, 10, 19


class Builder:
    """Adds nodes to a GraphDef."""

    def __init__(self) -> None:
        self.graph = GraphDef()
        self.graph.versions.producer = 2000

    def node(self, name: str, operator: str, *inputs: str, **attributes: Any) -> Any:
        """Adds a node; attributes are bool, int, float, bytes, lists of int, or a data type code in a one-element tuple."""
        node = self.graph.node.add(name=name, op=operator, input=inputs)
        for key, given in attributes.items():
            value = node.attr.add(key=key).value
            if isinstance(given, bool):
                value.b = given
            elif isinstance(given, tuple):
                (value.type,) = given
            elif isinstance(given, int):
                value.i = given
            elif isinstance(given, float):
                value.f = given
            elif isinstance(given, bytes):
                value.s = given
            else:
                value.list.i.extend(given)
        return node

    def input(self, name: str, *shape: int, dtype: int = FLOAT) -> Any:
        node = self.node(name, "Placeholder", dtype=(dtype,))
        dims = node.attr.add(key="shape").value.shape
        for size in shape:
            dims.dim.add(size=size)
        return node

    def constant(self, name: str, array: npt.ArrayLike) -> Any:
        data = np.asarray(array)
        kinds = {"float32": FLOAT, "int32": INT32, "int64": INT64, "bool": BOOL, "float16": HALF}
        node = self.node(name, "Const", dtype=(kinds[str(data.dtype)],))
        tensor = node.attr.add(key="value").value.tensor
        tensor.dtype = kinds[str(data.dtype)]
        for size in data.shape:
            tensor.tensor_shape.dim.add(size=size)
        tensor.tensor_content = data.tobytes()
        return node

    def content(self) -> bytes:
        text: bytes = self.graph.SerializeToString()
        return text


def parsed(content: bytes, **shapes: list[int]) -> Module:
    """Returns the module of a GraphDef; keywords are input shapes."""
    return module_of(load(content, "model.pb"), IncrementalInference(), shapes)


def results(content: bytes, folder: Path, inputs: dict[str, Any], **options: Any) -> dict[str, npt.NDArray[Any]]:
    """Returns the outputs of the converted model by name."""
    source = folder / "model.pb"
    source.write_bytes(content)
    (file,) = convert(Options(source, folder / "model", **options)).files
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    tensors = model.get_inputs()
    assert sorted(inputs) == sorted(tensor.name for tensor in tensors)
    arrays = [np.array(inputs[tensor.name], order="C") for tensor in tensors]
    shapes = [list(array.shape) for array in arrays]
    if shapes != [list(tensor.shape) for tensor in tensors]:
        model.resize(tensors, shapes)
    return {tensor.name: tensor.get_data_to_numpy() for tensor in model.predict(arrays)}
