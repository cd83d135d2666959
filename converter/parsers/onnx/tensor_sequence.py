"""A sequence of tensors during the import of a graph. It never becomes part of the graph."""

from __future__ import annotations

from dataclasses import dataclass

from mslite.converter.mindir.graph import Value


@dataclass(eq=False, repr=False)
class TensorSequence(Value):
    """A sequence of tensors."""

    items: tuple[Value, ...] = ()
