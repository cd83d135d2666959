"""`.ms` files built tensor by tensor, and the results of MindSpore Lite's InstanceNorm for them.

The results depend on the layout that MindSpore Lite assigns to each tensor when it builds a model.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mslite
from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.ms_writer import write_ms
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.normalization import GroupNormFusion, InstanceNorm
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.tables import CNode, MetaGraph, SubGraph, Tensor
from mslite.converter.mindir.reference import REFERENCES
from tests.passes.builder import numbers

TO_FIRST, TO_LAST, ROWS = (0, 3, 1, 2), (0, 2, 3, 1), (0, 2, 1)
EPSILON = 1e-3


class Tables:
    """A file with one input under construction. Methods return tensor indices."""

    def __init__(self, *shape: int, format: Format = Format.NHWC) -> None:
        self.tensors = [Tensor(nodeType=2, dataType=DataType.FLOAT32, dims=shape, format=format, name="x")]
        self.nodes: list[CNode] = []

    def constant(self, array: Array) -> int:
        kind = DataType.FLOAT32 if array.dtype == np.float32 else DataType.INT32
        data, name = memoryview(array.tobytes()), f"c{len(self.tensors)}"
        self.tensors.append(Tensor(dataType=kind, dims=array.shape, format=Format.NHWC, data=data, name=name))
        return len(self.tensors) - 1

    def node(self, op: Operator, x: int, *constants: Array, shape: tuple[int, ...], format: Format) -> int:
        operands = (x, *(self.constant(array) for array in constants))
        name = f"{op.name}_{len(self.nodes)}"
        self.tensors.append(Tensor(nodeType=2, dataType=DataType.FLOAT32, dims=shape, format=format, name=name))
        self.nodes.append(CNode(name=name, primitive=op, inputIndex=operands, outputIndex=(len(self.tensors) - 1,)))
        return len(self.tensors) - 1

    def shape(self, tensor: int) -> tuple[int, ...]:
        return tuple(self.tensors[tensor].dims or ())

    def like(self, op: Operator, x: int, *constants: Array) -> int:
        """Adds an output in the shape and the layout of `x`."""
        return self.node(op, x, *constants, shape=self.shape(x), format=self.tensors[x].format)

    def transpose(self, x: int, perm: tuple[int, ...], format: Format) -> int:
        shape = tuple(self.shape(x)[axis] for axis in perm)
        return self.node(Transpose(), x, np.array(perm, np.int32), shape=shape, format=format)

    def reshape(self, x: int, *shape: int) -> int:
        return self.node(Reshape(), x, np.array(shape, np.int32), shape=shape, format=Format.NHWC)

    def norm(self, x: int, axis: int = 1) -> int:
        channels = self.shape(x)[axis]
        seed = len(self.nodes)
        return self.like(
            InstanceNorm(epsilon=EPSILON), x, numbers(channels, seed=seed), numbers(channels, seed=seed + 1)
        )

    def between_transposes(self, x: int, stated: Format = Format.NCHW) -> int:
        """The norm of an NHWC image, as MindSpore Lite's converters write it; `stated`: the layout that they store for its input."""
        y = self.norm(self.transpose(x, TO_FIRST, stated))
        return self.transpose(y, TO_LAST, Format.NHWC)

    def meta(self, version: str) -> MetaGraph:
        last = (len(self.tensors) - 1,)
        nodes, tensors = range(len(self.nodes)), range(len(self.tensors))
        whole = SubGraph(
            name="main", inputIndices=(0,), outputIndices=last, nodeIndices=tuple(nodes), tensorIndices=tuple(tensors)
        )
        return MetaGraph(
            name="model", version=f"MindSpore Lite {version}", inputIndex=(0,), outputIndex=last, nodes=self.nodes,
            allTensors=self.tensors, subGraph=[whole],
        )  # fmt: skip

    def write(self, folder: Path, version: str) -> Path:
        return write_ms(self.meta(version), folder / "original.ms")[0]


def original(meta: MetaGraph, x: Array, version: tuple[int, int]) -> Array:
    """Returns the file's output as that version of MindSpore Lite computes it. A wrong result of MindSpore Lite is an error."""
    tensors = meta.allTensors or []
    arrays: dict[int, Array] = {(meta.inputIndex or ())[0]: x}
    formats: dict[int, Format] = {(meta.inputIndex or ())[0]: tensors[(meta.inputIndex or ())[0]].format}
    for node in meta.nodes or ():
        op, operands = node.primitive, node.inputIndex or ()
        assert op is not None
        assert op.declaration.custom_type is None, f"{op.name} is not MindSpore Lite's"
        for index in operands:
            if index not in arrays:
                arrays[index] = _contents(tensors[index])
                formats[index] = tensors[index].format
        inputs = [arrays[index] for index in operands]
        name = op.name
        if isinstance(op, InstanceNorm):
            name = _norm(inputs, formats[operands[0]], version)
        elif isinstance(op, GroupNormFusion):
            assert inputs[0].ndim == 4
            assert formats[operands[0]] is Format.NCHW
        (result,) = (node.outputIndex or ())[:1]
        arrays[result] = REFERENCES[name](op, inputs)[0]
        formats[result] = _layout(op, inputs, [formats[index] for index in operands], version)
    return arrays[(meta.outputIndex or ())[0]]


def _contents(tensor: Tensor) -> Array:
    types = {DataType.FLOAT32: np.float32, DataType.INT32: np.int32, DataType.INT64: np.int64}
    array: Array = np.frombuffer(tensor.data or b"", types[DataType(tensor.dataType)]).reshape(tensor.dims or ())
    return array


def _norm(inputs: list[Array], format: Format, version: tuple[int, int]) -> str:
    """Returns mslite's operator with the behavior of its kernel."""
    first = version < (1, 4) or format is Format.NCHW or (version >= (2, 7) and inputs[0].ndim == 3)
    assert inputs[0].ndim == 4 or version >= (2, 7)
    assert first or version >= (1, 6), "1.5 counts channels where it does not look for them"
    assert inputs[1].size == inputs[2].size == inputs[0].shape[1 if first else -1]
    return "InstanceNorm" if first else "ChannelsLastInstanceNorm"


def _layout(op: Operator, inputs: list[Array], formats: list[Format], version: tuple[int, int]) -> Format:
    if op.declaration.layout == "elementwise" and len(inputs) == 2 and inputs[0].ndim < inputs[1].ndim:
        return formats[1]
    if not isinstance(op, Transpose):
        return formats[0]
    perm = tuple(inputs[1].tolist())
    if perm == TO_FIRST:
        return Format.NCHW
    if perm == TO_LAST:
        return Format.NHWC
    if perm == ROWS and version >= (2, 0):
        return Format.NHWC if formats[0] is Format.NCHW else Format.NCHW
    return formats[0]


def predict(path: Path, x: Array) -> Array:
    """Returns the results of mslite's runtime."""
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    inputs = model.get_inputs()
    if list(inputs[0].shape) != list(x.shape):
        model.resize(inputs, [list(x.shape)])
        inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(np.ascontiguousarray(x))
    result: Array = model.predict(inputs)[0].get_data_to_numpy()
    return result
