"""What is said of a placement: which nodes the NPU computes, which not and why, and vela's estimates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartFacts:
    """A subgraph on the NPU. Cycles and bytes are vela's estimates."""

    name: str
    """Of its Custom node."""
    nodes: tuple[str, ...]
    """Names of the nodes in it."""
    cycles: int
    macs: int
    sram: int
    """Bytes that its tensors take while it runs."""
    constants: int
    """Bytes of its compressed weights, scales and tables."""
    commands: int
    """Bytes of its command stream."""
    frequency: float
    """Cycles per second of the system that the estimates are for."""


@dataclass(frozen=True)
class Placement:
    """The whole of it."""

    accelerator: str
    system_config: str
    memory_mode: str
    version: str
    """Of vela."""
    parts: tuple[PartFacts, ...]
    left: tuple[tuple[str, str, str], ...]
    """Node, operator and why the NPU does not compute it, in the order of execution."""

    @property
    def nodes(self) -> int:
        return sum(len(part.nodes) for part in self.parts)

    @property
    def cycles(self) -> int:
        return sum(part.cycles for part in self.parts)

    @property
    def sram(self) -> int:
        """Subgraphs run one after the other."""
        return max((part.sram for part in self.parts), default=0)
