"""Converts between the tables of a `.ms` file and the converter's `Module`.

Files do not store which dynamic dimensions are equal (except for inputs), nor `Node.source`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import IO

import numpy as np

from .atomic import write_files_atomically
from .compatibility_fields import (
    PACKS_CONSTANTS,
    shared_with_packers,
    stored_format,
    stored_type,
    valid_quant_params,
    with_required_fields,
)
from .execution_order import CycleError, execution_order
from .graph import SYMBOL_LIMIT, Array, Encoding, Graph, Module, Node, Value, is_symbol, numpy_type
from .input_sizes import MARK, packed, share_sizes, unpacked
from .ms_reader import map_file, read_ms
from .ms_writer import SIDE_FILE_LIMIT, ms_bytes, write_ms
from .ops import Operator
from .ops.enums import DataType, WeightQuantCompressType
from .ops.tables import CNode, MetaGraph, SubGraph, Tensor
from .serialization import MindirFormatError
from .tensor_lists import described, description, list_values
from .upgrade import WIRE_VERSION, upgrade
from .verifier import MAX_RANK

_CONSTANT, _ACTIVATION = 0, 2
_LARGEST_POOL = (1 << 32) - 1
_MAIN_NAME = "main_graph"


def load(path: str | os.PathLike[str], opener: Callable[[bytes | memoryview, str], bytes] | None = None) -> Module:
    """Reads a `.ms` file and returns the module. Constants are read-only views of the file.

    `opener` decrypts the contents; its second argument is the name. Raises MindirFormatError, OSError and the errors
    of `opener`."""
    try:
        return to_module(read_ms(path if opener is None else opener(map_file(path), str(path))))
    except MindirFormatError as error:
        text = str(error)
        raise MindirFormatError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def save(
    module: Module,
    path: str | os.PathLike[str],
    side_file_limit: int = SIDE_FILE_LIMIT,
    digest: bool = False,
    check: Callable[[Path], None] | None = None,
) -> list[Path]:
    """Writes a module to a `.ms` file, and a `.msw` file if needed, optionally with their digest. Returns the files.

    `check` is passed to `write_ms`. Raises OSError and the errors of `check`."""
    return write_ms(to_meta(module), path, side_file_limit, digest, check)


def save_sealed(module: Module, path: str | os.PathLike[str], seal: Callable[[bytes], bytes]) -> list[Path]:
    """Encrypts the bytes of a `.ms` file with `seal` and writes them; plaintext is never written to disk. Returns the
    file.

    Raises OSError, the errors of `seal`, and ValueError for a model of 2 GiB or more, which would need a side file."""
    path = Path(path)
    content = seal(ms_bytes(to_meta(module)))

    def write(file: IO[bytes]) -> None:
        file.write(content)

    write_files_atomically({path: write}, owner_only=True)
    return [path]


# ---- file to module ----


def to_module(meta: MetaGraph) -> Module:
    """Converts the tables of a file to a module. Upgrades tables of old files in place. Raises MindirFormatError."""
    if meta.obfuscate or meta.obfMetaData:
        raise MindirFormatError(
            "the model is obfuscated (obfMetaData), which only a closed library of MindSpore Lite can undo. Use the "
            "model from "
            "before"
        )
    upgrade(meta)
    tensors, nodes = meta.allTensors or [], meta.nodes or []
    symbols = count(SYMBOL_LIMIT, -1)
    subgraphs = meta.subGraph or [_whole_file(meta)]
    produced = {index for node in nodes for index in node.outputIndex or ()}
    entering = {index for subgraph in subgraphs for index in subgraph.inputIndices or ()}
    values = [_value(t, i, i in produced or i in entering, symbols) for i, t in enumerate(tensors)]
    taken: set[int] = set()
    graphs = []
    for number, subgraph in enumerate(subgraphs):
        name = subgraph.name or _MAIN_NAME
        graph = Graph(name.removeprefix(f"subgraph_{number}_"))
        graph.inputs = _pick(values, subgraph.inputIndices, f"the inputs of graph {number}")
        graph.outputs = _pick(values, subgraph.outputIndices, f"the outputs of graph {number}")
        for index in subgraph.nodeIndices or ():
            if index >= len(nodes) or index in taken:
                raise MindirFormatError(f"graph {number} contains node {index}, which is missing or was already used")
            taken.add(index)
            graph.nodes.append(_node(nodes[index], index, values))
        try:
            graph.nodes = execution_order(graph.nodes)
        except CycleError as error:
            raise MindirFormatError(f"graph {number} has a cycle through node '{error.node.name}'") from None
        graphs.append(graph)
    share_sizes(graphs[0].inputs)
    outputs = _pick(values, meta.outputIndex, "the outputs of the model") if meta.outputIndex is not None else None
    if outputs is not None and [id(v) for v in outputs] == [id(v) for v in graphs[0].outputs]:
        outputs = None
    return Module(graphs, meta.name or "", meta.version or "", meta.fmkType, outputs=outputs)


def _whole_file(meta: MetaGraph) -> SubGraph:
    nodes = tuple(range(len(meta.nodes or ())))
    return SubGraph(name=_MAIN_NAME, inputIndices=meta.inputIndex, outputIndices=meta.outputIndex, nodeIndices=nodes)


def _pick(values: list[Value], indices: Iterable[int] | None, what: str) -> list[Value]:
    result = []
    for index in indices or ():
        if index >= len(values):
            raise MindirFormatError(f"{what} contain tensor {index}; there are {len(values)}")
        result.append(values[index])
    return result


def _node(node: CNode, index: int, values: list[Value]) -> Node:
    name = node.name or f"node_{index}"
    if node.primitive is None:
        raise MindirFormatError(f"node {index} '{name}' has no operator")
    inputs = _pick(values, node.inputIndex, f"the inputs of node {index} '{name}'")
    outputs = _pick(values, node.outputIndex, f"the outputs of node {index} '{name}'")
    for value in outputs:
        if value.producer is not None:
            raise MindirFormatError(f"tensor '{value.name}' is written by '{value.producer.name}' and by '{name}'")
    return Node(node.primitive, name, tuple(_known_operands(node.primitive, inputs)), tuple(outputs), node.quantType)


def _known_operands(op: Operator, inputs: list[Value]) -> list[Value]:
    """Removes constants after the last declared input. MindSpore Lite's converter leaves some that repeat attributes,
    such as the axis of
    a Split, and its runtime ignores them."""
    declared = op.declaration.inputs
    if any(operand.repeated for operand in declared):
        return inputs
    behind = inputs[len(declared) :]
    return inputs[: len(declared)] if all(value.is_constant for value in behind) else inputs


def _value(tensor: Tensor, index: int, is_activation: bool, symbols: Iterable[int]) -> Value:
    name = tensor.name or f"tensor_{index}"
    try:
        dtype = DataType(tensor.dataType)
    except ValueError:
        raise MindirFormatError(f"tensor {index} '{name}' has the unknown element type {tensor.dataType}") from None
    dims = tensor.dims
    holds_data = tensor.data is not None and len(tensor.data) > 0
    if dims is None and not is_activation:
        dims = ()
    size = 16
    for dim in dims or ():
        size *= max(dim, 1)
        if dim < -1 or size >= 1 << 63 or len(dims or ()) > MAX_RANK:
            raise MindirFormatError(f"tensor {index} '{name}' has the invalid dimensions {list(dims or ())[:12]}")
    fresh = iter(symbols)
    shape = None if dims is None else tuple(dim if dim >= 0 else next(fresh) for dim in dims)
    value = Value(name, dtype, shape, format=tensor.format, quant=tuple(tensor.quantParams or ()))
    if dtype is DataType.TENSOR_LIST and is_activation and holds_data:
        elements = described(memoryview(tensor.data or b"").cast("B"))
        if elements is None:
            raise MindirFormatError(f"tensor {index} '{name}': the description of a tensor list is invalid")
        value.dtype, sizes = elements
        length = shape[0] if shape else next(fresh)
        value.shape = None if sizes is None else (length, *(size if size >= 0 else next(fresh) for size in sizes))
    elif holds_data or not is_activation:
        _fill(value, tensor)
    elif tensor.refCount == MARK and shape is not None:
        value.size_marks = unpacked(tensor.offset, len(shape))
    return value


def _fill(value: Value, tensor: Tensor) -> None:
    """Sets the array of a constant, or its bytes if they are not plain elements."""
    stored = memoryview(tensor.data if tensor.data is not None else b"")
    encoding = Encoding(tensor.weightQuantCompressType, tensor.enableHuffmanCode, tensor.quantClusters)
    array = _array(value, stored) if encoding == Encoding() else None
    if array is None:
        value.raw = stored
        value.encoding = encoding
    else:
        value.data = array


def _array(value: Value, stored: memoryview) -> Array | None:
    """Returns the elements, or None if the bytes are not plain elements."""
    try:
        dtype = numpy_type(value.dtype)
    except ValueError:
        return None
    shape = value.shape or ()
    size = dtype.itemsize
    for dim in shape:
        size *= dim
    if not value.is_static or size != len(stored):
        return None
    array: Array = np.frombuffer(stored, dtype).reshape(shape)
    return array if array.flags.aligned else array.copy()


# ---- module to file ----


def to_meta(module: Module) -> MetaGraph:
    """Converts a module to the tables of a file. Tensors are in the order of execution."""
    index_of: dict[tuple[int, bool], int] = {}
    tensors: list[Tensor] = []
    lists = list_values(module)
    shared = shared_with_packers(module)
    graph_inputs = {id(value) for value in module.main.inputs}

    def indices(values: Iterable[Value], packed: bool = False) -> tuple[int, ...]:
        """Returns the indices of tensors. `packed`: for an operator that needs its own copies of shared constants."""
        numbers = []
        for value in values:
            key = (id(value), packed and id(value) in shared)
            if key not in index_of:
                index_of[key] = len(tensors)
                tensor = _list(value) if id(value) in lists else _tensor(value, id(value) in graph_inputs)
                if key[1]:
                    tensor.name = f"{value.name}_packed"
                tensors.append(tensor)
            numbers.append(index_of[key])
        return tuple(numbers)

    nodes: list[CNode] = []
    subgraphs = []
    for number, graph in enumerate(module.graphs):
        inputs = indices(graph.inputs)
        first, own = len(nodes), set(inputs)
        for node in graph.nodes:
            stored = CNode(
                name=node.name,
                primitive=with_required_fields(node),
                inputIndex=indices(node.inputs, node.op.name in PACKS_CONSTANTS),
                outputIndex=indices(node.outputs),
                quantType=node.quant_type,
            )
            nodes.append(stored)
            own.update(stored.inputIndex or (), stored.outputIndex or ())
        outputs = indices(graph.outputs)
        subgraphs.append(
            SubGraph(
                name=f"subgraph_{number}_{graph.name or _MAIN_NAME}",
                inputIndices=inputs,
                outputIndices=outputs,
                nodeIndices=tuple(range(first, len(nodes))),
                tensorIndices=tuple(sorted(own.union(outputs))),
            )
        )
    results = module.outputs if module.outputs is not None else module.main.outputs
    return MetaGraph(
        name=module.name or None,
        version=module.version or WIRE_VERSION,
        fmkType=module.framework,
        inputIndex=indices(module.main.inputs),
        outputIndex=indices(results),
        mempoolSize=min(module.memory_pool, _LARGEST_POOL),
        nodes=nodes,
        allTensors=tensors,
        subGraph=subgraphs,
    )


def _list(value: Value) -> Tensor:
    length = value.shape[0] if value.shape else -1
    return Tensor(
        name=value.name,
        nodeType=_ACTIVATION,
        dataType=DataType.TENSOR_LIST,
        dims=(length if length >= 0 else -1,),
        format=value.format,
        data=memoryview(description(value)),
    )


def _tensor(value: Value, is_graph_input: bool) -> Tensor:
    constant = value.is_constant and value.producer is None
    data = value.raw if value.raw is not None else None
    if value.data is not None:
        array = (
            value.data if value.data.dtype.byteorder != ">" else value.data.astype(value.data.dtype.newbyteorder("<"))
        )
        data = array.data if array.size else memoryview(b"")
    encoding = value.encoding or Encoding()
    return Tensor(
        name=value.name,
        nodeType=_CONSTANT if constant else _ACTIVATION,
        dataType=stored_type(value),
        dims=None if value.shape is None else tuple(-1 if is_symbol(dim) else dim for dim in value.shape),
        format=stored_format(value, is_graph_input),
        refCount=MARK if is_graph_input and value.size_marks else 0,
        offset=packed(value.size_marks) if is_graph_input else 0,
        data=data,
        quantParams=valid_quant_params(value),
        quantClusters=encoding.clusters,
        enableHuffmanCode=encoding.huffman,
        weightQuantCompressType=WeightQuantCompressType(encoding.compression),
    )
