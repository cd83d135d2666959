"""Tensor lists in files. Inside, a list of N elements is a tensor [N, element shape...]; a file says `TENSOR_LIST`.

The description that such a tensor holds in a file is a sequence of int32: the type of the elements, the rank of an
element and its sizes (-1: open), the number of elements (negative: open) and, when that is known, rank and sizes of
each. Contents are never stored.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .graph import Module, Node, Value, is_symbol
from .ops.control_flow import (
    Call,
    PartialFusion,
    Switch,
    SwitchLayer,
    TensorListFromTensor,
    TensorListGetItem,
    TensorListReserve,
    TensorListSetItem,
    TensorListStack,
)
from .ops.enums import DataType
from .verifier import MAX_RANK

_MAKERS = (TensorListReserve, TensorListFromTensor, TensorListSetItem)
_READERS = (TensorListGetItem, TensorListSetItem, TensorListStack)


def description(value: Value) -> bytes:
    """What the file says of a list. A size of 0, which the first element decides, is open, as is the lone -1 of an
    unknown rank."""
    sizes = (-1,) if value.shape is None else value.shape[1:]
    words = (int(value.dtype), len(sizes), *(-1 if is_symbol(size) or size == 0 else size for size in sizes), -1)
    return struct.pack(f"<{len(words)}i", *words)


def described(stored: memoryview) -> tuple[DataType, tuple[int, ...] | None] | None:
    """The type and the sizes (-1: open; None: unknown rank) of the elements of a list; None for a damaged description."""
    words = struct.unpack(f"<{len(stored) // 4}i", stored[: len(stored) // 4 * 4])
    if len(words) < 3 or not 0 <= words[1] <= MAX_RANK or len(words) < 3 + words[1]:
        return None
    sizes = words[2 : 2 + words[1]]
    try:
        return DataType(words[0]), None if sizes == (-1,) or any(size < -1 for size in sizes) else sizes
    except ValueError:
        return None


def list_values(module: Module) -> set[int]:
    """The identities of the values that a file calls lists.

    These are values that only the list operators make and read, wherever calls take them. A list that another operator
    touches too is a tensor in the file, which only this project's runtime takes.
    """
    groups = _Groups()
    found: set[int] = set()
    spoilt: set[int] = set()
    for graph in module.graphs:
        for node in graph.nodes:
            _visit(module, node, groups, found, spoilt)
    for value in [*module.main.inputs, *module.main.outputs, *(module.outputs or ())]:
        spoilt.add(id(value))
    lists = {groups.find(key) for key in found}
    lists -= {groups.find(key) for key in spoilt}
    return {key for key in groups if groups.find(key) in lists}


def _visit(module: Module, node: Node, groups: _Groups, found: set[int], spoilt: set[int]) -> None:
    """Notes what a node does to its operands."""
    inputs, outputs = node.inputs, node.outputs
    first = 0
    if isinstance(node.op, _MAKERS) and all(node.op.element_dtype == value.dtype for value in outputs):
        found.update(id(value) for value in outputs)
        for value in outputs:
            groups.find(id(value))
    else:
        spoilt.update(id(value) for value in outputs if not isinstance(node.op, Call))
    if isinstance(node.op, _READERS) and inputs:
        groups.find(id(inputs[0]))
        first = 1
        if isinstance(node.op, TensorListSetItem):
            groups.join(inputs[0], outputs[0])
    if isinstance(node.op, PartialFusion):
        if 0 <= node.op.sub_graph_index < len(module.graphs):
            for value, inner in zip(inputs, module.graphs[node.op.sub_graph_index].inputs, strict=False):
                groups.join(value, inner)
        spoilt.update(id(value) for value in inputs if value.is_constant)
        return
    if isinstance(node.op, Call) and inputs:
        for index in _callees(inputs[0]):
            if 0 <= index < len(module.graphs):
                for value, inner in zip(outputs, module.graphs[index].outputs, strict=False):
                    groups.join(value, inner)
        return
    spoilt.update(id(value) for value in inputs[first:])
    spoilt.update(id(value) for value in inputs[:first] if value.is_constant)


def _callees(closure: Value) -> list[int]:
    """The subgraphs that a closure may run."""
    pending, seen, result = [closure], set[int](), []
    while pending:
        node = pending.pop().producer
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node.op, PartialFusion):
            result.append(node.op.sub_graph_index)
        elif isinstance(node.op, Switch | SwitchLayer):
            pending.extend(node.inputs[1:])
    return result


class _Groups:
    """Values that are the same list, or handed on as such."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._parents))

    def find(self, key: int) -> int:
        self._parents.setdefault(key, key)
        while self._parents[key] != key:
            self._parents[key] = self._parents[self._parents[key]]
            key = self._parents[key]
        return key

    def join(self, a: Value, b: Value) -> None:
        self._parents[self.find(id(a))] = self.find(id(b))
