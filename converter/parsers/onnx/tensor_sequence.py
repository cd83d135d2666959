"""The value that stands for a sequence of tensors while a graph is imported; it never gets into the graph."""

from __future__ import annotations

from dataclasses import dataclass

from mslite.converter.mindir.graph import Value


@dataclass(eq=False, repr=False)
class TensorSequence(Value):
    """Some tensors in order."""

    items: tuple[Value, ...] = ()
