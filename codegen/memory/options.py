"""What the planner may do, as the command line asks for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Inputs(Enum):
    """Where program inputs lie."""

    CALLER = "caller"
    """In memory of the caller; read only."""
    KEPT = "kept"
    """In the arena, with their contents whole after a run: the program can run again on the same inputs."""
    ARENA = "arena"
    """In the arena, where the program overwrites them when it needs them no more: each run has to be given its inputs."""


@dataclass(frozen=True)
class MemoryOptions:
    """Bytes where not said otherwise."""

    inputs: Inputs = Inputs.ARENA
    alignment: int = 8
    """Of every tensor and workspace; a power of two."""
    in_place: bool = True
    """Outputs may take over the memory of a dying input where the kernel allows it."""
    overlap: bool = True
    """Outputs may run over a dying input, shifted (Step.overlaps): only where parts run one after the other."""
    no_copies: bool = True
    """Concats and splits of memory that follows on each other are done by placement alone."""
    reorder: bool = True
    """Steps may be run in another order than the given one."""
    fuse_rows: bool = False
    """Chains of row-wise steps may be run some rows at a time (--memory=min)."""
    moves: bool = False
    """Tensors may be moved within the arena, so that outputs that begin before their inputs do not run out of room."""
    fast_size: int | None = None
    """Bytes of fast memory, where the arena lies in two: what is accessed most for its size lies there. None: it is one."""
    seed: int = 0
    """Of the local search over placements; the same seed gives the same plan."""

    def least(self) -> MemoryOptions:
        """Everything that spares memory (--memory=min)."""
        return replace(self, fuse_rows=True, moves=True)
