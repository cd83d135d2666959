"""A file as MindSpore Lite's runtimes build it: the producer, data and run-time layout of each tensor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.ops.control_flow import Call, PartialFusion
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.tables import CNode, MetaGraph, QuantParam, SubGraph, Tensor

VERSIONS = ("1.3", "1.5", "2.0", "2.7")
"""Versions of the rules, oldest first."""

CONSTANT = 0
"""Values of a tensor's nodeType."""

_NUMPY = {
    DataType.BOOL: np.bool_,
    DataType.INT8: np.int8,
    DataType.INT16: np.int16,
    DataType.INT32: np.int32,
    DataType.INT64: np.int64,
    DataType.UINT8: np.uint8,
    DataType.FLOAT16: np.float16,
    DataType.FLOAT32: np.float32,
    DataType.FLOAT64: np.float64,
}
_DECIDING = (DataType.FLOAT32, DataType.FLOAT16, DataType.INT8, DataType.INT32, DataType.BOOL)
_FLOATS_THEN = (DataType.STRING, DataType.TENSOR_LIST)
_TO_NCHW, _TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)
_FOLLOWS_RANK = (
    "AddFusion SubFusion MulFusion DivFusion RealDiv FloorDiv FloorMod Mod Maximum Minimum SquaredDifference Eltwise "
    "Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr"
)
_ELEMENTWISE = frozenset(_FOLLOWS_RANK.split())
"""Operators whose output has the layout of the input with the highest rank."""


def versions_after(version: str | None) -> frozenset[str]:
    """Returns the versions that a file for `version` must suit: this and later ones; all if None."""
    found = re.search(r"(\d+)\.(\d+)", version or "")
    own = (int(found[1]), int(found[2])) if found else (0, 0)
    later = {each for each in VERSIONS if tuple(map(int, each.split("."))) >= own}
    return frozenset(later or VERSIONS[-1:])


@dataclass
class Operand:
    """A tensor as an input or output of a node."""

    index: int
    tensor: Tensor
    layout: Format
    """The layout at run time, which can differ from the stored layout."""
    is_constant: bool
    """Whether the data are known when the model is built (stored in the file)."""

    @property
    def name(self) -> str:
        return self.tensor.name or f"tensor {self.index}"

    @property
    def dtype(self) -> DataType:
        return DataType(self.tensor.dataType) if self.tensor.dataType in set(DataType) else DataType.UNKNOWN

    @property
    def dims(self) -> tuple[int, ...] | None:
        """The shape; None if it is unknown. Scalars look the same as unknown shapes."""
        dims = self.tensor.dims
        return (dims or ()) if self.is_constant else (dims or None)

    @property
    def rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def size(self) -> int | None:
        """The number of elements; None if it is unknown."""
        if self.dims is None or min(self.dims, default=0) < 0:
            return None
        return int(np.prod(self.dims, dtype=np.int64))

    @property
    def records(self) -> list[QuantParam]:
        return self.tensor.quantParams or []

    @property
    def numbers(self) -> npt.NDArray[Any] | None:
        """The data of a constant, flat; None if it is packed or not a constant."""
        kind = _NUMPY.get(self.dtype)
        if not self.is_constant or self.tensor.data is None or kind is None:
            return None
        stored = memoryview(self.tensor.data)
        count = self.size
        if count is None or stored.nbytes != count * np.dtype(kind).itemsize:
            return None
        return np.frombuffer(bytes(stored), kind)


@dataclass
class NodeView:
    """A node with its operands."""

    node: CNode
    inputs: list[Operand]
    outputs: list[Operand]

    @property
    def name(self) -> str:
        return self.node.name or ""

    @property
    def operator(self) -> str:
        return self.node.primitive.name if self.node.primitive is not None else ""

    @property
    def deciding(self) -> DataType:
        """The data type by which 1.x selects the kernel."""
        for operand in self.inputs:
            if operand.dtype in _DECIDING:
                return operand.dtype
            if operand.dtype in _FLOATS_THEN:
                return DataType.FLOAT32
        return self.inputs[0].dtype if self.inputs else DataType.UNKNOWN


@dataclass
class GraphView:
    """A subgraph with its nodes in order."""

    graph: SubGraph
    nodes: list[NodeView]


class View:
    """The whole file. Indices out of range are omitted; another rule reports them."""

    def __init__(self, meta: MetaGraph, file: bytes | None = None) -> None:
        """`file`: the bytes of the tables, if available."""
        self.meta = meta
        self.file = file
        self.tensors = meta.allTensors or []
        self.written = {index for node in meta.nodes or () for index in node.outputIndex or ()}
        self._fed = {*(meta.inputIndex or ())}.union(*(graph.inputIndices or () for graph in meta.subGraph or ()))
        self._layouts = [tensor.format for tensor in self.tensors]
        for index in self._open_ends():
            self._layouts[index] = Format.NHWC
        self.graphs = [GraphView(graph, self._nodes(graph)) for graph in meta.subGraph or ()]

    @property
    def nodes(self) -> list[NodeView]:
        return [node for graph in self.graphs for node in graph.nodes]

    def _open_ends(self) -> list[int]:
        """Tensors that are passed to and returned from subgraphs: the file does not give their layout, so they break no rule."""
        called = [index for graph in (self.meta.subGraph or ())[1:] for index in graph.inputIndices or ()]
        returned = [
            index
            for node in self.meta.nodes or ()
            if isinstance(node.primitive, Call)
            for index in node.outputIndex or ()
        ]
        return [index for index in called + returned if index < len(self.tensors)]

    def is_constant(self, index: int) -> bool:
        """Whether the tensor is stored in the file, including weights that training changes in place."""
        tensor = self.tensors[index]
        is_stored = tensor.data is not None or index not in self.written
        return tensor.nodeType == CONSTANT and is_stored and index not in self._fed

    def operand(self, index: int) -> Operand:
        return Operand(index, self.tensors[index], self._layouts[index], self.is_constant(index))

    def target(self, node: NodeView) -> SubGraph | None:
        """Returns the subgraph of a PartialFusion."""
        graphs, op = self.meta.subGraph or [], node.node.primitive
        if not isinstance(op, PartialFusion) or not 0 <= op.sub_graph_index < len(graphs):
            return None
        return graphs[op.sub_graph_index]

    def _nodes(self, graph: SubGraph) -> list[NodeView]:
        nodes, all_nodes = [], self.meta.nodes or []
        for number in graph.nodeIndices or ():
            if number < len(all_nodes):
                node = all_nodes[number]
                view = NodeView(node, self._operands(node.inputIndex), [])
                if not isinstance(node.primitive, Call):
                    self._pass_on(view)
                view.outputs = self._operands(node.outputIndex)
                nodes.append(view)
        return nodes

    def _operands(self, indices: tuple[int, ...] | None) -> list[Operand]:
        return [self.operand(index) for index in indices or () if index < len(self.tensors)]

    def _pass_on(self, node: NodeView) -> None:
        """Sets the layouts of the outputs as the runtimes do."""
        if not node.inputs:
            return
        source = node.inputs[0]
        if (
            f"{node.operator} " in _ELEMENTWISE
            and len(node.inputs) > 1
            and (node.inputs[1].rank or 0) > (source.rank or 0)
        ):
            source = node.inputs[1]
        layout = source.layout
        if node.operator == "Transpose" and len(node.inputs) > 1 and node.inputs[1].numbers is not None:
            order = tuple(node.inputs[1].numbers.tolist())
            if (layout, order) == (Format.NHWC, _TO_NCHW):
                layout = Format.NCHW
            elif (layout, order) == (Format.NCHW, _TO_NHWC):
                layout = Format.NHWC
        for index in node.node.outputIndex or ():
            if index < len(self.tensors):
                self._layouts[index] = layout
