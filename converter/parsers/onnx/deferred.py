"""Outputs of nodes that are built when they are read, in the form that the reader needs."""

from __future__ import annotations

from abc import ABC, abstractmethod

from mslite.converter.mindir.graph import Value


class Deferred(ABC):
    """A tensor that is not built yet."""

    @abstractmethod
    def plain(self) -> Value:
        """Builds the tensor in the form that every operator can read."""

    def stored_weight(self) -> Value | None:
        """Returns the constant of stored integers, for operators with quantized weights; None if there is none."""
        return None
