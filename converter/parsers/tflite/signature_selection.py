"""Selects the graph to convert and its input and output names: by a signature, or the first graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mslite.converter.errors import UsageError
from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.text_shortening import shortened

from .model import SourceGraph, SourceModel
from .signatures import Names, Signature

_MAX_LISTED = 20


def _check_names(key: str, names: Names, indices: Sequence[int], what: str) -> None:
    known = set(indices)
    for name, index in names:
        if index not in known:
            raise FlatBufferError(
                f"'{name}' of the signature '{key}' is tensor {index}, which is not {what} of the graph"
            )
    if len({name for name, _ in names}) != len(names):
        raise FlatBufferError(f"the signature '{key}' has a name twice for {what}")


def with_signature(model: SourceModel, name: str) -> tuple[SourceModel, int]:
    """Returns the model, with the names of the signature `name`, and the number of the graph to convert.

    Without a name, it is the first graph with the names of its tensors, if all signatures are for the first graph.

    Raises:
        UsageError: if the signature does not exist, or if one must be selected.
        FlatBufferError: if the signature does not match its graph.
    """
    if not name:
        if any(signature.number for signature in model.signatures):
            raise UsageError(
                f"INPUT MISSING: signature: {model.name} has signatures for several graphs: {_listed(model)}. Select "
                f"one with --signature={model.signatures[0].key}; each signature is converted to a separate file"
            )
        return model, 0
    chosen = next((signature for signature in model.signatures if signature.key == name), None)
    if chosen is None:
        there = (
            f"its signatures are {_listed(model)}" if model.signatures else "it has no signatures; remove --signature"
        )
        raise UsageError(f"INPUT ILLEGAL: signature: {model.name} has no signature '{shortened(name, 100)}': {there}")
    graphs = list(model.graphs)
    graphs[chosen.number] = _renamed(graphs[chosen.number], chosen)
    return replace(model, graphs=graphs), chosen.number


def _listed(model: SourceModel) -> str:
    more = len(model.signatures) - _MAX_LISTED
    texts = [shortened(str(signature), 200) for signature in model.signatures[:_MAX_LISTED]]
    return ", ".join(texts) + (f" and {more} more" if more > 0 else "")


def _renamed(graph: SourceGraph, signature: Signature) -> SourceGraph:
    """Returns the graph with the names of the signature, and only with its outputs, in the order of the graph."""
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
