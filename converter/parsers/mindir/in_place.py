"""In-place primitives: parameters that they change become variables; other tensors must not be read afterwards.

Order edges in the file order reads and writes of a parameter; the nodes of the file are in that order.
"""

from __future__ import annotations

from collections.abc import Iterable

from mslite.converter.mindir.graph import Value, data_type_of
from mslite.converter.mindir.ops.state import AssignVariable, ReadVariable
from mslite.converter.parsers.protobuf import Message
from mslite.converter.parsers.scope import GraphScope

from .entries import Entry, flattened
from .exceptions import Blocked

ASSIGNING = ("Assign", "AssignAdd", "AssignSub")
_IN_PLACE = "Inplace"
_COPYING = ("InplaceAdd", "InplaceSub", "InplaceUpdate", "InplaceUpdateV2")
"""Older primitives, which return a changed copy and do not change the operand."""

_EFFECT = "side_effect_mem"
"""The attribute of MindSpore 2.x primitives that change their first operand or return a view of it."""


def changes_first_operand(operator: str, attributes: Iterable[Message]) -> bool:
    if operator in ASSIGNING or (operator.startswith(_IN_PLACE) and operator not in _COPYING):
        return True
    return not is_view(operator) and any(attribute.name == _EFFECT and attribute.i for attribute in attributes)


def is_view(operator: str) -> bool:
    return operator.endswith("View")


def changed_parameters(
    graphs: Iterable[Message], primitives: dict[str, Message], parameters: Iterable[str]
) -> set[str]:
    """Returns the names of parameters that a node of any graph changes, directly or through a Load of the parameter."""
    known, changed = set(parameters), set()
    for graph in graphs:
        loaded: dict[str, str] = {}
        for node in graph.node:
            shared = primitives.get(node.op_type.removeprefix("REF::"))
            known_as = node if shared is None else shared
            operator = known_as.op_type.removeprefix("S-Prim-")
            first = node.input[0] if node.input else ""
            source = loaded.get(first, first)
            if operator == "Load" and node.output and source in known:
                loaded[node.output[0]] = source
            elif changes_first_operand(operator, known_as.attribute) and source in known:
                changed.add(source)
    return changed


class InPlaceChanges:
    """Tracks the tensors and parameters of one graph that nodes have changed so far."""

    def __init__(self, scope: GraphScope, is_main: bool) -> None:
        self._scope = scope
        self._is_main = is_main
        self._first: dict[str, Value] = {}
        self._current: dict[str, Value] = {}
        self._by: dict[int, str] = {}
        self._replaced: dict[int, Value] = {}
        """Identities of changed tensors -> their current values."""
        self._views: dict[int, str] = {}

    def variable(self, name: str, initial: Value) -> Value:
        """Returns the current value of a parameter that the model changes. Raises Blocked in a subgraph."""
        if not self._is_main:
            reason = f"a branch or a loop reads or changes the parameter '{initial.name}', which the model changes"
            raise Blocked(reason, "Pass it to construct as an input, and return its new value")
        if name not in self._first:
            (value,) = self._scope.emit(ReadVariable(variable=initial.name), (initial,), 1)
            if initial.data is not None:
                value.dtype, value.shape = data_type_of(initial.data), initial.data.shape
            self._first[name] = self._current[name] = value
        return self._current[name]

    def loaded(self, entry: Entry) -> Entry:
        """Returns the value that a Load reads: the tensor after all changes so far."""
        while isinstance(entry, Value) and id(entry) in self._replaced:
            entry = self._replaced[id(entry)]
        return entry

    def note_view(self, view: Value, base: Entry) -> None:
        """Notes that `view` is a view: a part of `base`, in the same memory."""
        if isinstance(base, Value) and view is not base:
            self._views[id(view)] = base.name

    def check(self, entries: Iterable[Entry]) -> None:
        """Raises Blocked if a node reads a tensor that another node has changed in place."""
        for entry in flattened(entries):
            if isinstance(entry, Value) and id(entry) in self._by:
                reason = f"it reads '{entry.name}' after '{self._by[id(entry)]}' has changed it in place"
                raise Blocked(
                    reason,
                    "Write y = y + x instead of y += x in the model, and pass a copy, y.copy(), to functions that change it",
                )

    def change(self, old: Value, new: Value, node: str) -> None:
        """Notes that `node` has replaced `old` by `new`. Raises Blocked if `old` is a view of another tensor."""
        if new is old:
            return
        if id(old) in self._views:
            reason = f"it changes a part of '{self._views[id(old)]}' in place"
            raise Blocked(reason, "Assign to the whole tensor in the model, x[...] = y, instead of a view of x")
        for name, value in self._current.items():
            if value is old:
                self._current[name] = new
        if not any(value is old for value in self._first.values()):
            self._by[id(old)] = node
            self._replaced[id(old)] = new

    def keep(self) -> None:
        """Adds nodes that store the value of each variable for the next run."""
        for name, value in self._current.items():
            variable = self._first[name].producer
            if value is not self._first[name] and variable is not None and isinstance(variable.op, ReadVariable):
                self._scope.emit(AssignVariable(variable=variable.op.variable), (value,), 1)
