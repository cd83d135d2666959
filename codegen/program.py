"""What the stages of the code generator hand to each other: the program to generate, and its memory plan.

`lowering` makes a `Program` of a model; `memory` makes a `Plan` of it; `emit` writes both as C. All sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam

if TYPE_CHECKING:
    from mslite import _codegen

Array = npt.NDArray[np.generic]


COPY = "memcpy"
"""`Step.kernel` of a step that copies input 0 to output 0, byte for byte, and has no kernel."""


CONTROL = "control"
"""`Step.kernel` of a step that runs the blocks of its `Step.nest`, and has no kernel."""


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


@dataclass(frozen=True)
class RowWise:
    """Row r of output 0 is computed from the rows `r * stride - pad` to `r * stride - pad + extent - 1` of input `input`, of
    which those outside of it are padding, and from constants. Rows run along axis 1 of NHWC tensors with one image."""

    extent: int
    """Of the window, with its dilation."""
    stride: int
    pad: int
    """Rows of padding before the first."""
    input: int = 0
    others: tuple[int, ...] = ()
    """Further inputs, of the same shape, of which the same rows are read (sums of two tensors)."""


@dataclass(frozen=True)
class Band:
    """Some rows of a row-wise step as a call of its own: `rows_in` rows of the input with `pad_before` and `pad_after` rows of
    padding around them become `rows_out` rows."""

    pad_before: int
    rows_in: int
    pad_after: int
    rows_out: int


@dataclass(frozen=True)
class Call:
    """How a step is called whose function is no kernel's, but has a kernel's arguments."""

    function: str
    header: str
    """Declares it, and `type`; below `src/`."""
    type: str
    """Of the struct of its numbers."""
    numbers: Callable[[str], str]
    """Their initializer, for an instruction set."""
    files: Mapping[str, str]
    """Path within the project -> C text."""
    kernels: tuple[str, ...] = ()
    """Kernels that it calls."""
    more_instructions: int | None = 0
    """Beyond those of the step; None: there is no estimate."""
    alignment: int = 1
    """Of the constants that it reads and of its workspace, where nothing else asks for more."""
    plain_constants: int | None = None
    """Bytes of the step's constants before they were compressed."""


@dataclass(eq=False)
class Step:
    """One call of one kernel."""

    name: str
    """Of the node in the source model."""
    operator: str
    """MindIR's name."""
    kernel: str
    """The name in the kernel's table entry, e.g. `conv2d_int8_dsp`."""
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
    rows: RowWise | None = None
    """Where set, `Program.cut` can make calls of it that compute only some rows."""
    call: Call | None = None
    """Where set, it is called in place of the kernel, and `derived` is empty."""
    note: str = ""
    """What is special about how it runs, for the report."""
    nest: Nest | None = None
    """Of a CONTROL step. Its inputs are all tensors around it that the nest reads, its workspace holds what lies in it."""

    @property
    def workspace(self) -> int:
        """The shared part, and from the next multiple of 8 on the scratch."""
        return (
            self.shared_size if not self.scratch_size else self.shared_size + -self.shared_size % 8 + self.scratch_size
        )


@dataclass(frozen=True)
class Pass:
    """A copy of `source` to `target`, which has as many bytes; of None: zeros."""

    source: Tensor | None
    target: Tensor


@dataclass(frozen=True)
class Jump:
    """Passes values, in this order, and goes on with block `block` of the nest, or, where that is None, behind the nest."""

    block: int | None
    passes: tuple[Pass, ...] = ()


@dataclass(frozen=True)
class Choice:
    """Goes on with one of `targets`: the first where the condition `selector` is true and the second where it is not, or that
    of this number (`by_index`)."""

    selector: Tensor
    by_index: bool
    targets: tuple[Jump | Choice, ...]


Next = Jump | Choice


def jumps_of(following: Next) -> list[Jump]:
    """All ways that it may go on."""
    if isinstance(following, Jump):
        return [following]
    return [jump for target in following.targets for jump in jumps_of(target)]


def selectors_of(following: Next) -> list[Tensor]:
    if isinstance(following, Jump):
        return []
    return [following.selector, *(tensor for target in following.targets for tensor in selectors_of(target))]


@dataclass(eq=False)
class Block:
    """Steps of a nest that run one after the other, and what runs then. Which memory `program` may not use for anything else is
    in its `outside`; its outputs are what the passes behind it read."""

    name: str
    program: Program
    following: Next


@dataclass(eq=False)
class Nest:
    """Branches and loops: blocks that follow on each other as their contents say. Blocks may hold nests in turn."""

    entry: Next
    blocks: list[Block]
    carried: list[Tensor]
    """What is handed from block to block, in memory of the nest."""

    @property
    def loops(self) -> bool:
        """Whether some block may run more than once."""
        later = {number: {jump.block for jump in jumps_of(block.following)} for number, block in enumerate(self.blocks)}

        def reached(first: int) -> set[int]:
            found: set[int] = set()
            todo = [first]
            while todo:
                for number in later[todo.pop()]:
                    if number is not None and number not in found:
                        found.add(number)
                        todo.append(number)
            return found

        return any(number in reached(number) for number in range(len(self.blocks)))


@dataclass(eq=False)
class Program:
    """A model, ready to be written as C: `steps` in an order that computes it."""

    name: str
    target: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    steps: list[Step]
    cut: Callable[[Step, Band], Step | None] | None = None
    """Prepares the kernel of a step with `rows` for a band of it: a step with tensors of the band's shapes and the same packed
    constants. None: the kernel does not take that shape."""
    cut_channels: Callable[[Step, int, int], Step | None] | None = None
    """Prepares the kernel of a product with packed weights for some output channels (first, count): a step with their
    packed constants and workspaces. None: the kernel does not take them."""
    numbers: Callable[[Step], _codegen.CallNumbers | None] | None = None
    """The numbers of a step's call, as other kernel libraries want them; None: it calls no kernel."""
    outside: frozenset[Tensor] = frozenset()
    """Of a block: what lies in memory of others."""
    assumed: tuple[str, ...] = ()
    """Inputs whose first size the model leaves open: it was taken as 1."""

    def outside_roots(self) -> set[Tensor]:
        """The tensors whose memory that is."""
        found = set()
        for tensor in self.outside:
            while tensor.alias_of is not None:
                tensor = tensor.alias_of
            found.add(tensor)
        return found


def all_steps(program: Program) -> Iterator[Step]:
    """The steps of a program and of the nests in it, a nest's behind the step that runs it."""
    for step in program.steps:
        yield step
        if step.nest is not None:
            for block in step.nest.blocks:
                yield from all_steps(block.program)


@dataclass(frozen=True)
class RowCall:
    """One call within a RowLoop, in its first turn. All places are bytes in the arena."""

    layer: int
    """Which of `FusedRows.steps` it computes rows of."""
    step: Step
    """Made by `Program.cut`; its tensors are in no other list."""
    input: int
    output: int
    workspace: int
    input_advance: int
    """So much further on the chain's own input lies in each later turn of the loop; 0 where the call does not read it."""
    output_advance: int
    """The same of `output`, for the chain's own output."""
    others: tuple[tuple[int, int], ...] = ()
    """Inputs and places of the step's `RowWise.others`; `input` is the place of its `RowWise.input`."""
    advancing: int = 0
    """The input that `input_advance` is meant for."""


@dataclass(frozen=True)
class RowMove:
    """A memmove of `size` bytes from `source` to `target`: rows that are needed again go to the front of their buffer."""

    target: int
    source: int
    size: int


@dataclass(frozen=True)
class RowLoop:
    """`moves`, then `calls`, `count` times over."""

    count: int
    moves: tuple[RowMove, ...]
    calls: tuple[RowCall, ...]


@dataclass(eq=False)
class FusedRows:
    """Row-wise steps that are run some rows at a time, so that what lies between its steps needs a few rows of memory
    only. Chain input and output are whole tensors, placed by `Plan.offsets`; what lies between them is placed nowhere."""

    name: str
    steps: list[Step]
    """The steps of the program that it stands for, in order."""
    loops: list[RowLoop]


@dataclass(frozen=True)
class Move:
    """From here on `tensor` lies at byte `target` of the arena: a memmove of its bytes from where it lay."""

    tensor: Tensor
    target: int


@dataclass(eq=False)
class Plan:
    """Where everything lies in the arena.

    `order` holds the steps in the order of their execution, without those that the placement makes needless (a concat whose
    inputs are computed in their places, a split whose outputs are looked at where they lie); `offsets` the first byte of each
    tensor of the arena that is not an alias, when it is computed (only a `Move` changes it); `workspaces` the first byte of each step's workspace, shared part first, then
    scratch.
    Program inputs lie in the caller's memory unless `offsets` names them; program outputs likewise are written to the
    arena and copied, or point into it, as the emitter chooses.
    """

    order: list[Step | FusedRows | Move]
    offsets: dict[Tensor, int]
    workspaces: dict[Step, int]
    size: int
    fast_size: int = 0
    """Where the arena lies in two memories: bytes up to this one are the fast memory's, the others the slow one's; nothing
    lies in both. 0: it is one."""
    nests: dict[Step, NestPlan] = field(default_factory=dict)
    """Of each CONTROL step, where things lie in its workspace."""


@dataclass(eq=False)
class NestPlan:
    """Places in the workspace of a CONTROL step: of what its blocks hand to each other, and, behind that, from byte `base` on,
    the blocks' own tensors, over each other."""

    offsets: dict[Tensor, int]
    base: int
    plans: list[Plan]
    size: int
