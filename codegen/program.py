"""What the stages of the code generator hand to each other: the program to generate, and its memory plan.

`lowering` makes a `Program` of a model; `memory` makes a `Plan` of it; `emit` writes both as C. All sizes are bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam

Array = npt.NDArray[np.generic]


class Storage(Enum):
    """Where the contents of a tensor come from."""

    INPUT = "input"
    """From the caller, at each run."""
    ACTIVATION = "activation"
    """Computed; graph outputs are activations, too."""
    CONSTANT = "constant"
    """Known when the program is generated; lies in flash."""
    VARIABLE = "variable"
    """Kept from one run to the next; `data` is its first value."""


@dataclass(eq=False)
class Tensor:
    """A tensor of the program. `shape` has no unknown dimension."""

    name: str
    dtype: DataType
    shape: tuple[int, ...]
    storage: Storage
    size: int
    data: Array | None = None
    quant: tuple[QuantParam, ...] = ()
    alias_of: Tensor | None = None
    """The tensor whose memory this one is, element for element (reshapes): it has no memory of its own."""


@dataclass(frozen=True)
class Overlap:
    """Output 0 of a step may lie over input `input`, which dies there, beginning `lead` bytes or more before it."""

    input: int
    lead: int


@dataclass(eq=False)
class Step:
    """One call of one kernel."""

    name: str
    """Of the node in the source model."""
    operator: str
    """MindIR's name."""
    kernel: str
    """The name in the kernel's table entry, e.g. `conv2d_i8_dsp`."""
    inputs: list[Tensor | None]
    outputs: list[Tensor]
    derived: bytes
    """The kernel's own struct, as `prepare` filled it, in the layout of the host (natural alignment)."""
    parts: tuple[int, ...]
    """Number of parts of each phase."""
    shared_size: int
    """Workspace of the whole step, kept between phases."""
    scratch_size: int
    """Workspace of one part."""
    packed: dict[int, bytes] = field(default_factory=dict)
    """Operand -> packed form that replaces the constant input."""
    in_place: int = -1
    """The input that output 0 may overwrite at the same address, or -1."""
    overlaps: tuple[Overlap, ...] = ()
    macs: int = 0
    """Multiply-accumulates, 0 where there are none to speak of."""


@dataclass(eq=False)
class Program:
    """A model, ready to be written as C: `steps` in an order that computes it."""

    name: str
    target: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    steps: list[Step]


@dataclass(eq=False)
class Plan:
    """Where everything lies in the arena.

    `order` holds the steps in the order of their execution; `offsets` the first byte of each tensor of the arena that is
    not an alias; `workspaces` the first byte of each step's workspace, shared part first, then scratch.
    Program inputs lie in the caller's memory unless `offsets` names them; program outputs likewise are written to the
    arena and copied, or point into it, as the emitter chooses.
    """

    order: list[Step]
    offsets: dict[Tensor, int]
    workspaces: dict[Step, int]
    size: int
    peak_step: Step | None = None
    """The step that makes the arena as large as it is."""
