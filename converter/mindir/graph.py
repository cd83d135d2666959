"""The converter's graph: values, nodes, graphs, and the module, which contains several graphs.

A `Value` is a graph input, a constant (with `data`) or the output of a node. A `Node` is one use of an operator. The
methods of `Node` update `value.users`: change inputs only through them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .ops import Operator
from .ops.enums import DataType, Format, QuantType, WeightQuantCompressType
from .ops.tables import QuantParam

Array = npt.NDArray[np.generic]

SYMBOL_LIMIT = -(1 << 40)
"""Dimensions less than or equal to this are symbols of dynamic dimensions; equal symbols are equal sizes. As in
kernels/kernel.h."""

Shape = tuple[int, ...]

_NUMPY_TYPES: dict[DataType, np.dtype[np.generic]] = {
    DataType.BOOL: np.dtype(np.bool_),
    DataType.INT: np.dtype(np.int32),
    DataType.INT8: np.dtype(np.int8),
    DataType.INT16: np.dtype(np.int16),
    DataType.INT32: np.dtype(np.int32),
    DataType.INT64: np.dtype(np.int64),
    DataType.UINT: np.dtype(np.uint32),
    DataType.UINT8: np.dtype(np.uint8),
    DataType.UINT16: np.dtype(np.uint16),
    DataType.UINT32: np.dtype(np.uint32),
    DataType.UINT64: np.dtype(np.uint64),
    DataType.FLOAT: np.dtype(np.float32),
    DataType.FLOAT16: np.dtype(np.float16),
    DataType.FLOAT32: np.dtype(np.float32),
    DataType.FLOAT64: np.dtype(np.float64),
    DataType.COMPLEX64: np.dtype(np.complex64),
    DataType.COMPLEX128: np.dtype(np.complex128),
}
_DATA_TYPES = {
    dtype: data_type
    for data_type, dtype in _NUMPY_TYPES.items()
    if data_type not in (DataType.INT, DataType.UINT, DataType.FLOAT)
}


def numpy_type(data_type: DataType) -> np.dtype[np.generic]:
    """Returns the NumPy dtype of a data type. Raises ValueError if NumPy does not have it."""
    try:
        return _NUMPY_TYPES[data_type]
    except KeyError:
        raise ValueError(f"{data_type.name} tensors have no NumPy element type") from None


def data_type_of(array: npt.NDArray[np.generic] | np.dtype[np.generic]) -> DataType:
    """Returns the data type of an array or dtype. Raises ValueError if `.ms` files do not support it."""
    dtype = np.dtype(array.dtype if isinstance(array, np.ndarray) else array)
    try:
        return _DATA_TYPES[dtype.newbyteorder("=")]
    except KeyError:
        raise ValueError(f"NumPy type {dtype} has no tensor element type") from None


def is_symbol(dimension: int) -> bool:
    return dimension <= SYMBOL_LIMIT


@dataclass(frozen=True)
class Encoding:
    """The compression of a constant (MindSpore's `Tensor` fields of these names)."""

    compression: WeightQuantCompressType = WeightQuantCompressType.NONE
    huffman: bool = False
    clusters: tuple[float, ...] | None = None


@dataclass(eq=False)
class Value:
    """A tensor. Dimensions of `shape` are sizes or symbols; `shape` is None if the rank is unknown."""

    name: str
    dtype: DataType
    shape: Shape | None = None
    data: Array | None = None
    format: Format = Format.NCHW
    quant: tuple[QuantParam, ...] = ()
    producer: Node | None = None
    users: list[Node] = field(default_factory=list)
    """The nodes that read this value, once for each input."""
    raw: bytes | memoryview | None = None
    """The stored bytes of a constant that is not an array: strings, tensor lists, compressed weights."""
    encoding: Encoding | None = None
    """The compression of `raw`, if it is compressed."""
    is_parameter: bool | None = None
    """For a constant: whether it is trainable in the source; None if unknown."""
    of_one_layer: bool = False
    """For a constant: whether the source declares that all readers are one layer, which is applied several times."""
    made: dict[Hashable, Value] = field(default_factory=dict)
    """For a trained constant: constants that rules computed from it, which its other readers share."""
    size_marks: tuple[int, ...] = ()
    """For a graph input: whether each dimension can be resized (input_sizes.py); empty if unknown."""

    @property
    def is_constant(self) -> bool:
        return self.data is not None or self.raw is not None

    @property
    def is_static(self) -> bool:
        """Whether all dimensions are known."""
        return self.shape is not None and all(dim >= 0 for dim in self.shape)

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    def array(self) -> Array:
        """Returns the elements of a constant. Raises ValueError for other values."""
        if self.data is None:
            raise ValueError(f"value '{self.name}' is not a constant array")
        return self.data

    def __repr__(self) -> str:
        shape = "?" if self.shape is None else "x".join(str(dim) if dim >= 0 else "?" for dim in self.shape)
        return f"Value({self.name!r}, {self.dtype.name}[{shape}])"


def constant(name: str, data: npt.ArrayLike, format: Format = Format.NCHW) -> Value:
    """Returns a constant. The array is not copied and must not be changed afterwards."""
    array = np.asarray(data)
    return Value(name, data_type_of(array), tuple(array.shape), data=array, format=format)


def is_parameter_of(constants: Iterable[Value]) -> bool | None:
    """Returns whether a value that is computed from these constants is trainable: True if one of them is, False if
    none is."""
    said = [value.is_parameter for value in constants]
    return True if True in said else None if None in said or not said else False


@dataclass(eq=False)
class Node:
    """One use of the operator `op`. Optional trailing inputs are omitted, never None."""

    op: Operator
    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    quant_type: QuantType = QuantType.QUANT_NONE
    source: str = ""
    """The source operator and node, for messages: `Conv 'conv1'`."""

    def __post_init__(self) -> None:
        for value in self.inputs:
            value.users.append(self)
        for value in self.outputs:
            value.producer = self

    def set_inputs(self, inputs: Sequence[Value]) -> None:
        """Replaces all inputs and updates their users."""
        for value in self.inputs:
            value.users.remove(self)
        self.inputs = tuple(inputs)
        for value in self.inputs:
            value.users.append(self)

    def replace_input(self, old: Value, new: Value) -> None:
        """Replaces the input `old` by `new`."""
        self.set_inputs([new if value is old else value for value in self.inputs])

    @property
    def output(self) -> Value:
        """The only output. Raises ValueError if there are several."""
        (value,) = self.outputs
        return value

    def __repr__(self) -> str:
        return f"Node({self.op.name} {self.name!r})"


@dataclass(eq=False)
class Graph:
    """Nodes in execution order, with inputs and outputs."""

    name: str
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)

    def values(self) -> Iterator[Value]:
        """Yields each value once: graph inputs, then for each node its new inputs and its outputs."""
        seen: set[int] = set()

        def fresh(values: Iterable[Value]) -> Iterator[Value]:
            for value in values:
                if id(value) not in seen:
                    seen.add(id(value))
                    yield value

        yield from fresh(self.inputs)
        for node in self.nodes:
            yield from fresh(node.inputs)
            yield from fresh(node.outputs)
        yield from fresh(self.outputs)

    def replace_uses(self, old: Value, new: Value) -> None:
        """Replaces `old` by `new` in all readers and in the graph's outputs."""
        for node in list(dict.fromkeys(old.users)):
            node.replace_input(old, new)
        self.outputs = [new if value is old else value for value in self.outputs]

    def remove(self, node: Node) -> None:
        """Removes a node. Raises ValueError if one of its outputs is used."""
        for value in node.outputs:
            if value.users or any(value is output for output in self.outputs):
                raise ValueError(f"node '{node.name}' cannot be removed: its output '{value.name}' is used")
        node.set_inputs(())
        self.nodes.remove(node)

    def insert_before(self, position: Node, *nodes: Node) -> None:
        at = self.nodes.index(position)
        self.nodes[at:at] = nodes

    def insert_after(self, position: Node, *nodes: Node) -> None:
        at = self.nodes.index(position) + 1
        self.nodes[at:at] = nodes

    def unique_name(self, wish: str) -> str:
        """Returns `wish`, or `wish_1`, `wish_2`, ... if nodes or values already have that name."""
        taken = {node.name for node in self.nodes} | {value.name for value in self.values()}
        if wish not in taken:
            return wish
        number = 1
        while f"{wish}_{number}" in taken:
            number += 1
        return f"{wish}_{number}"


@dataclass(eq=False)
class Module:
    """A model: `graphs[0]` is the main graph; the others are called by PartialFusion, by index."""

    graphs: list[Graph]
    name: str = ""
    version: str = ""
    framework: int = 0
    """FmkType of the source: 0 TF, 1 CAFFE, 2 ONNX, 3 MINDIR, 4 TFLITE, 5 PYTORCH, 6 MSLITE."""
    notes: list[str] = field(default_factory=list)
    """Notes for the user, printed in the summary."""
    outputs: list[Value] | None = None
    """The model's outputs if they are not those of the main graph (control flow ends in another graph)."""
    layout: Format | None = None
    """The layout of images, for frameworks without a fixed layout."""
    memory_pool: int = 0
    """Limit of the memory for running the model, if requested (MindSpore's `mempoolSize`)."""
    depends_on_input_sizes: bool = False
    """Whether constants or attributes were computed from dimensions of inputs during parsing."""
    declared_sizes: dict[int, int] = field(default_factory=dict)
    """Symbol -> the size that the source declares, which the model's inputs have until they are resized."""

    @property
    def main(self) -> Graph:
        return self.graphs[0]
