"""Which graph of a file is converted, and under which names: that of a signature, or the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mslite.converter.errors import UsageError
from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.quoting import shortened

from .model import SourceGraph, SourceModel
from .signatures import Names, Signature

_MOST_LISTED = 20


def _check_names(key: str, names: Names, indices: Sequence[int], what: str) -> None:
    known = set(indices)
    for name, index in names:
        if index not in known:
            raise FlatBufferError(
                f"'{name}' of the signature '{key}' is tensor {index}, which is not {what} of its graph"
            )
    if len({name for name, _ in names}) != len(names):
        raise FlatBufferError(f"the signature '{key}' gives the same name twice to {what}")


def with_signature(model: SourceModel, name: str) -> tuple[SourceModel, int]:
    """The model and the number of the graph to convert: that of the signature `name`, under its names.

    Without a name it is the first graph, under the names of its tensors, if no signature is of another graph.

    Raises:
        UsageError: when there is no such signature, or when one has to be chosen.
        FlatBufferError: when the signature does not fit its graph.
    """
    if not name:
        if any(signature.number for signature in model.signatures):
            raise UsageError(
                f"INPUT MISSING: signature: {model.name} has signatures of more than its first graph: {_listed(model)}. Name "
                f"one with --signature={model.signatures[0].key}; each is converted to a file of its own"
            )
        return model, 0
    chosen = next((signature for signature in model.signatures if signature.key == name), None)
    if chosen is None:
        there = f"its signatures are {_listed(model)}" if model.signatures else "it has none; leave --signature out"
        raise UsageError(f"INPUT ILLEGAL: signature: {model.name} has no signature '{shortened(name, 100)}': {there}")
    graphs = list(model.graphs)
    graphs[chosen.number] = _renamed(graphs[chosen.number], chosen)
    return replace(model, graphs=graphs), chosen.number


def _listed(model: SourceModel) -> str:
    more = len(model.signatures) - _MOST_LISTED
    texts = [shortened(str(signature), 200) for signature in model.signatures[:_MOST_LISTED]]
    return ", ".join(texts) + (f" and {more} more" if more > 0 else "")


def _renamed(graph: SourceGraph, signature: Signature) -> SourceGraph:
    """The graph with the names of the signature, and with those outputs that it names, in the graph's order."""
    _check_names(signature.key, signature.inputs, graph.inputs, "an input")
    _check_names(signature.key, signature.outputs, graph.outputs, "an output")
    tensors = list(graph.tensors)
    entering = {index: name for name, index in signature.inputs}
    for index, name in entering.items():
        tensors[index] = replace(tensors[index], name=name)
    place = {index: number for number, index in reversed(list(enumerate(graph.outputs)))}
    outputs = sorted(signature.outputs, key=lambda pair: place[pair[1]])
    named = set(entering)
    for name, index in outputs:
        if index not in named:
            tensors[index] = replace(tensors[index], name=name)
            named.add(index)
    return replace(
        graph,
        tensors=tensors,
        outputs=tuple(index for _, index in outputs),
        output_names=tuple(name for name, _ in outputs),
    )
