"""Finds state of a SavedModel or Keras model outside its graph: assigned variables, and lookup tables.

Freezing replaces variables by constants, so that assignments would be lost. TensorFlow's own error messages are
unclear, and there is none for an assignment in a branch. Used by `freeze.py`, which has TensorFlow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_WRITES = re.compile(r"Assign(Add|Sub)?VariableOp|Resource(Scatter|StridedSliceAssign|Apply|SparseApply)\w*")
_TABLES = re.compile(r"LookupTable\w+")
_TRACED = ("Identity", "IdentityN", "Enter", "Switch", "RefEnter")
_MAX_CALLS = 10_000
_SHOWN = 5

Label = str
Uses = dict[tuple[str, Label], str]
"""("variable" or "table", name) -> the operator that uses it."""


def refusal(function: Any, loaded: Any = None) -> str | None:
    """Returns why the model cannot be frozen, with a remedy; None if it has no state. `function` is a
    ConcreteFunction."""
    graph = function.graph.as_graph_def()
    names = _labels(function, loaded)
    uses: Uses = {}
    library = {one.signature.name: one for one in graph.library.function}
    _walk(graph.node, names, library, uses, set())
    variables = [f"'{label}' ({operator})" for (kind, label), operator in uses.items() if kind == "variable"]
    tables = [f"'{label}' ({operator})" for (kind, label), operator in uses.items() if kind == "table"]
    if variables:
        return (
            f"it assigns the variable{'s' * (len(variables) > 1)} {_listed(variables)}, whose contents would be lost between runs. "
            "Convert the model with tf.lite.TFLiteConverter, and convert the .tflite file, which keeps variables; or make "
            "the state an input and an output of the function"
        )
    if tables:
        return (
            f"it looks up keys in the hash table{'s' * (len(tables) > 1)} {_listed(tables)}, which cannot be converted. Look "
            "them up before the model, and pass the numbers; for a range of integers, use tf.gather of a constant"
        )
    return None


def _listed(items: Sequence[str]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def _labels(function: Any, loaded: Any) -> dict[str, Label]:
    """Returns: placeholder of a captured resource -> name of the variable, or path of the table."""
    named = {id(variable.handle): variable.name.partition(":")[0] for variable in function.graph.variables}
    for path, handle in _resources(loaded):
        named.setdefault(id(handle), path)
    return {
        inside.name.partition(":")[0]: named[id(outside)]
        for outside, inside in function.graph.captures
        if id(outside) in named
    }


def _resources(loaded: Any) -> Iterator[tuple[str, Any]]:
    """Yields (path of attributes, handle) for the tables of the loaded object."""
    work, seen = [("", loaded)], set[int]()
    while work and len(seen) < _MAX_CALLS:
        path, item = work.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        handle = getattr(item, "resource_handle", None)
        if handle is not None:
            yield path, handle
        children = getattr(item, "_trackable_children", None)
        if callable(children):
            work.extend((f"{path}.{name}" if path else name, child) for name, child in children().items())


def _walk(
    nodes: Iterable[Any], labels: Mapping[str, Label], library: Mapping[str, Any], uses: Uses, seen: set[Any]
) -> None:
    """Adds the resources that these nodes, and the functions that they call, write and look up to `uses`.

    `labels` has the labels of placeholders or arguments.
    """
    by_name = {node.name: node for node in nodes}

    def label(text: str) -> Label:
        name = text.lstrip("^").partition(":")[0]
        for _ in range(len(by_name) + 1):
            node = by_name.get(name)
            if name in labels or node is None:
                break
            if node.op == "VarHandleOp" and node.attr["shared_name"].s:
                return str(node.attr["shared_name"].s, errors="replace")
            if node.op not in _TRACED or not node.input:
                break
            name = node.input[0].lstrip("^").partition(":")[0]
        return labels.get(name, name)

    for node in by_name.values():
        kind = "variable" if _WRITES.fullmatch(node.op) else "table" if _TABLES.fullmatch(node.op) else None
        if kind is not None and node.input:
            uses.setdefault((kind, label(node.input[0])), node.op)
        first = 1 if node.op in ("If", "StatelessIf", "Case", "StatelessCase") else 0
        for name in [node.op, *_called(node)]:
            called = library.get(name)
            if called is None:
                continue
            arguments = [label(text) for text in node.input[first:] if not text.startswith("^")]
            known = dict(zip((argument.name for argument in called.signature.input_arg), arguments, strict=False))
            key = (name, *arguments)
            if key not in seen and len(seen) < _MAX_CALLS:
                seen.add(key)
                _walk(called.node_def, known, library, uses, seen)


def _called(node: Any) -> Iterator[str]:
    for value in node.attr.values():
        if value.func.name:
            yield value.func.name
        yield from (function.name for function in value.list.func)
