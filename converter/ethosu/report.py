"""Data for the report: nodes on the NPU, nodes on the CPU with reasons, and vela's estimates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartitionFacts:
    """A subgraph on the NPU. Cycles and bytes are vela's estimates."""

    name: str
    """Name of its Custom node."""
    nodes: tuple[str, ...]
    """Names of its nodes."""
    cycles: int
    macs: int
    sram: int
    """Bytes of SRAM for its tensors while it runs."""
    constants: int
    """Bytes of its compressed weights, scales and tables."""
    commands: int
    """Bytes of its command stream."""
    frequency: float
    """Clock frequency in Hz of the system that the estimates are for."""


@dataclass(frozen=True)
class Placement:
    """The partition of a model between the NPU and the CPU."""

    accelerator: str
    system_config: str
    memory_mode: str
    version: str
    """Version of vela."""
    parts: tuple[PartitionFacts, ...]
    left: tuple[tuple[str, str, str], ...]
    """Nodes on the CPU in execution order: name, operator, reason."""

    @property
    def nodes(self) -> int:
        return sum(len(part.nodes) for part in self.parts)

    @property
    def cycles(self) -> int:
        return sum(part.cycles for part in self.parts)

    @property
    def sram(self) -> int:
        """Peak SRAM in bytes: subgraphs run one after the other."""
        return max((part.sram for part in self.parts), default=0)
