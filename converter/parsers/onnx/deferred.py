"""Outputs of nodes that are built when they are read, in the form that the reader asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod

from mslite.converter.mindir.graph import Value


class Deferred(ABC):
    """What a name stands for until it is read."""

    @abstractmethod
    def plain(self) -> Value:
        """As every operator can read it."""

    def stored_weight(self) -> Value | None:
        """The constant of stored integers, for operators that can have quantized weights; None where there is none."""
        return None
