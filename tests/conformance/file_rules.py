"""Rules about the whole file. The table lists them by name, with the versions of each.

Each rule yields (name of the node or tensor, problem).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from mslite.converter.mindir.ops.enums import DataType, Format, WeightQuantCompressType
from mslite.converter.mindir.ops.tables import Tensor

from .view import CONSTANT, View

Found = Iterator[tuple[str, str]]
FILE_RULES: dict[str, Callable[[View], Found]] = {}

CLOSURES = ("PartialFusion", "Switch", "SwitchLayer")
_CALLED_TYPES = (DataType.FLOAT32, DataType.FLOAT16, DataType.BOOL, DataType.INT32)
PACKS = ("Conv2DFusion", "Conv2dTransposeFusion", "MatMulFusion")
_BITS = {
    **dict.fromkeys((DataType.BOOL, DataType.INT8, DataType.UINT8), 1),
    **dict.fromkeys((DataType.INT16, DataType.UINT16, DataType.FLOAT16), 2),
    **dict.fromkeys((DataType.INT32, DataType.UINT32, DataType.FLOAT32), 4),
    **dict.fromkeys((DataType.INT64, DataType.UINT64, DataType.FLOAT64), 8),
}
"""Size of an element in bytes."""
_WHOLE = (0, 8, 16, 32)
"""Bits of a quantized element that is not packed."""


def file_rule(function: Callable[[View], Found]) -> Callable[[View], Found]:
    FILE_RULES[function.__name__] = function
    return function


def length(tensor: Tensor) -> int:
    return memoryview(tensor.data or b"").nbytes


def name_of(view: View, index: int) -> str:
    return view.tensors[index].name or f"tensor {index}" if index < len(view.tensors) else f"tensor {index}"


def known_indices(view: View, indices: tuple[int, ...] | None) -> Iterator[int]:
    return (index for index in indices or () if index < len(view.tensors))


@file_rule
def sub_graph_fields(view: View) -> Found:
    """Every subgraph stores its name and all its lists, even if they are empty."""
    for number, each in enumerate(view.graphs):
        for field in ("name", "inputIndices", "outputIndices", "nodeIndices", "tensorIndices"):
            if getattr(each.graph, field) is None:
                yield each.graph.name or f"subgraph {number}", f"{field} is not stored"


@file_rule
def indices_in_range(view: View) -> Found:
    """Indices of tensors, nodes and subgraphs are in range."""
    lists = [("model", view.meta.inputIndex), ("model", view.meta.outputIndex)]
    for each in view.graphs:
        name = each.graph.name or "subgraph"
        lists += [(name, each.graph.inputIndices), (name, each.graph.outputIndices), (name, each.graph.tensorIndices)]
        for number in each.graph.nodeIndices or ():
            if number >= len(view.meta.nodes or ()):
                yield name, f"there is no node {number}"
    for node in view.meta.nodes or ():
        lists += [(node.name or "", node.inputIndex), (node.name or "", node.outputIndex)]
    for name, indices in lists:
        for index in indices or ():
            if index >= len(view.tensors):
                yield name, f"there is no tensor {index}"
    for partial in view.nodes:
        if partial.operator == "PartialFusion" and view.target(partial) is None:
            yield partial.name, "its subgraph is not there"


@file_rule
def graph_has_ends(view: View) -> Found:
    """The main graph has inputs and outputs."""
    main = view.graphs[0].graph if view.graphs else None
    for what, indices in (("inputs", main and main.inputIndices), ("outputs", main and main.outputIndices)):
        if not indices:
            yield "model", f"the main graph has no {what}"


@file_rule
def ends_are_used(view: View) -> Found:
    """A node reads an input of the model, and a node writes an output of it."""
    read = {index for node in view.meta.nodes or () for index in node.inputIndex or ()}
    if view.meta.inputIndex and not read.intersection(view.meta.inputIndex):
        yield "model", "no node reads an input"
    if view.meta.outputIndex and not view.written.intersection(view.meta.outputIndex):
        yield "model", "no node writes an output"


@file_rule
def nodes_have_outputs(view: View) -> Found:
    """Every node has an output."""
    for node in view.nodes:
        if not node.node.outputIndex:
            yield node.name, "it has no outputs"


@file_rule
def order_of_nodes(view: View) -> Found:
    """Nodes are sorted: a node follows the nodes that compute its inputs."""
    for each in view.graphs:
        made: set[int] = set()
        own = {index for node in each.nodes for index in node.node.outputIndex or ()}
        for node in each.nodes:
            late = [operand.name for operand in node.inputs if operand.index in own - made]
            if late:
                yield node.name, f"it reads {late[0]}, which a later node writes"
            made.update(node.node.outputIndex or ())


@file_rule
def graph_inputs_are_nhwc(view: View) -> Found:
    """Inputs of the main graph are marked as NHWC, independently of their rank."""
    for index in known_indices(view, view.meta.inputIndex):
        if view.tensors[index].format is not Format.NHWC:
            yield name_of(view, index), f"it is in {view.tensors[index].format.name}"


@file_rule
def graph_inputs_have_no_data(view: View) -> Found:
    """Inputs of the main graph have no data."""
    for index in known_indices(view, view.meta.inputIndex):
        if length(view.tensors[index]) and view.tensors[index].dataType != DataType.TENSOR_LIST:
            yield name_of(view, index), "it is an input with data"


@file_rule
def graph_outputs_have_no_data(view: View) -> Found:
    """No constant is an output of the model."""
    for index in known_indices(view, view.meta.outputIndex):
        tensor = view.tensors[index]
        if (length(tensor) or tensor.externalData) and tensor.dataType != DataType.TENSOR_LIST:
            yield name_of(view, index), "it is an output with data"


@file_rule
def output_names_differ(view: View) -> Found:
    """Outputs have different names, because they are looked up by name."""
    seen: dict[str, int] = {}
    for index in known_indices(view, view.meta.outputIndex):
        name = name_of(view, index)
        if seen.setdefault(name, index) != index:
            yield name, "two outputs have this name"


@file_rule
def types_are_known(view: View) -> Found:
    """Every tensor has a data type."""
    for index, tensor in enumerate(view.tensors):
        if tensor.dataType == DataType.UNKNOWN:
            yield name_of(view, index), "its element type is 0"


@file_rule
def closures_have_types(view: View) -> Found:
    """Tensors between PartialFusion, Switch and Call have a data type for which these operators have kernels."""
    for node in view.nodes:
        if node.operator in CLOSURES:
            for operand in node.outputs:
                if operand.dtype not in _CALLED_TYPES:
                    yield operand.name, f"it leads to a Call as {operand.dtype.name}"


@file_rule
def constants_hold_their_elements(view: View) -> Found:
    """The size of an unpacked constant matches its shape."""
    for index, tensor in enumerate(view.tensors):
        plain = tensor.weightQuantCompressType is WeightQuantCompressType.NONE and not tensor.enableHuffmanCode
        plain = plain and all(record.numBits in _WHOLE for record in tensor.quantParams or ())
        width = _BITS.get(DataType(tensor.dataType)) if tensor.dataType in set(DataType) else None
        if not plain or width is None or tensor.externalData or tensor.quantClusters or not view.is_constant(index):
            continue
        wanted, held = width * prod(tensor.dims or ()), length(tensor)
        if wanted != held:
            yield (
                name_of(view, index),
                f"it has {held} bytes for {list(tensor.dims or ())} of {DataType(tensor.dataType).name}",
            )


@file_rule
def activations_have_no_data(view: View) -> Found:
    """Only constants and lists have data."""
    for index, tensor in enumerate(view.tensors):
        if tensor.nodeType != CONSTANT and length(tensor) and tensor.dataType != DataType.TENSOR_LIST:
            yield name_of(view, index), "it is no constant and has data"


@file_rule
def packed_constants_are_not_shared(view: View) -> Found:
    """A constant that a kernel packs and then frees has no other reader and is not an output. Nothing is freed in training."""
    if any(node.node.primitive is not None and node.node.primitive.declaration.training for node in view.nodes):
        return
    readers: dict[int, list[tuple[str, bool]]] = {}
    for node in view.nodes:
        for operand in node.inputs:
            if operand.is_constant:
                readers.setdefault(operand.index, []).append((node.name, node.operator in PACKS))
    for index, users in readers.items():
        if any(packs for _, packs in users) and any(not packs for _, packs in users):
            yield name_of(view, index), f"{', '.join(name for name, _ in users)} share it, and one frees it"
