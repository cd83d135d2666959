"""Options of the memory planner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Inputs(Enum):
    """Location of the program's inputs."""

    CALLER = "caller"
    """In the caller's memory; read-only."""
    KEPT = "kept"
    """In the arena, and unchanged after a run, so that the program can run again on the same inputs."""
    ARENA = "arena"
    """In the arena, where later steps overwrite them: each run needs its inputs again."""


@dataclass(frozen=True)
class MemoryOptions:
    """Options of the memory planner. Sizes are bytes."""

    inputs: Inputs = Inputs.ARENA
    alignment: int = 8
    """Alignment of tensors and workspaces; a power of two."""
    in_place: bool = True
    """Whether outputs may reuse the memory of an input that is no longer needed, if the kernel supports it."""
    overlap: bool = True
    """Whether outputs may overlap such an input at an offset (Step.overlaps); not possible with several threads."""
    no_copies: bool = True
    """Whether contiguous concats and splits are done without copies, by offsets alone."""
    reorder: bool = True
    """Whether the order of steps may change."""
    fuse_rows: bool = False
    """Whether chains of row-wise steps may run a few rows at a time (--memory=min)."""
    moves: bool = False
    """Whether tensors may be moved within the arena, which makes room for outputs that begin before their inputs."""
    fast_size: int | None = None
    """Bytes of fast memory if the arena is split; the tensors with the most accesses per byte are in it. None: not
    split."""
    seed: int = 0
    """Seed of the local search for offsets; the same seed gives the same plan."""

    def least(self) -> MemoryOptions:
        """Returns these options with everything that saves memory (--memory=min)."""
        return replace(self, fuse_rows=True, moves=True)
