"""The outputs of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Cast

from .blocked import Blocked
from .entries import Entry, Failed, Immediate, Order, flattened

if TYPE_CHECKING:
    from .importer import GraphImporter


def import_outputs(importer: GraphImporter) -> None:
    """Gives the graph its outputs, tuples opened; what is no tensor is a blocker."""
    names = [info.name for info in importer.proto.output]
    for entry in flattened(_output_entries(importer, names)):
        if isinstance(entry, Value):
            importer.graph.outputs.append(entry)
        elif isinstance(entry, Immediate) and entry.contents is not None:
            try:
                importer.graph.outputs.append(importer.from_contents(entry.contents, "output"))
            except Blocked as blocked:
                importer.block(importer.graph_name, "graph", f"one of its outputs {blocked.reason}")
        elif not isinstance(entry, Order | Failed):
            importer.block(importer.graph_name, "graph", "one of its outputs is no tensor")
    _separate_outputs(importer)


def _output_entries(importer: GraphImporter, names: list[str]) -> list[Entry]:
    entries = []
    for name in names:
        try:
            entries.append(importer.lookup(name))
        except Blocked as blocked:
            importer.block(name, "graph", blocked.reason, blocked.remedy)
    return entries


def _separate_outputs(importer: GraphImporter) -> None:
    """An output that stands there twice gets a tensor of its own."""
    seen: set[int] = set()
    for position, value in enumerate(importer.graph.outputs):
        dtype = importer.type_of(value)
        if id(value) in seen and dtype is not DataType.UNKNOWN:
            kind = importer.constant(np.asarray(int(dtype), np.int32), value.name)
            importer.graph.outputs[position] = importer.emit(Cast(), (value, kind), 1, None)[0]
        seen.add(id(value))
