"""Data structures of the code generator: the program to generate and its memory plan.

`lowering` makes a `Program` from a model, `memory` makes a `Plan` for it, and `emit` writes both as C. All sizes and
offsets are bytes.
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
"""`Step.kernel` of a step without kernel that copies input 0 to output 0."""


CONTROL = "control"
"""`Step.kernel` of a step without kernel that runs the blocks of its `Step.nest` (loop or branch)."""


class Storage(Enum):
    """Kind of a tensor, which determines where its data is."""

    INPUT = "input"
    """Provided by the caller of each run."""
    ACTIVATION = "activation"
    """Computed by a step; this includes the outputs of the model."""
    CONSTANT = "constant"
    """Known when the program is generated; in flash."""
    VARIABLE = "variable"
    """Keeps its value from run to run; `data` is the initial value."""


@dataclass(eq=False)
class Tensor:
    """A tensor of the program. `shape` is fixed."""

    name: str
    dtype: DataType
    shape: tuple[int, ...]
    storage: Storage
    size: int
    data: Array | None = None
    quant: tuple[QuantParam, ...] = ()
    alias_of: Tensor | None = None
    """The tensor that this one shares all its memory with (reshape), or None."""


@dataclass(frozen=True)
class Overlap:
    """Output 0 of a step may overlap input `input` if it begins at least `lead` bytes before it and no later step reads
    the input."""

    input: int
    lead: int


@dataclass(frozen=True)
class RowWise:
    """Describes a step that can compute single rows of its output (axis 1 of NHWC tensors with batch 1).

    Row r of output 0 needs the rows `r * stride - pad` to `r * stride - pad + extent - 1` of input `input`, and
    constants. Rows outside of the input are padding.
    """

    extent: int
    """Height of the window, with dilation."""
    stride: int
    pad: int
    """Padding rows before the first row."""
    input: int = 0
    others: tuple[int, ...] = ()
    """Further inputs of the same shape, of which the same rows are read (element-wise operators)."""


@dataclass(frozen=True)
class Band:
    """A call of a row-wise step for some rows: computes `rows_out` rows from `rows_in` rows of the input, with
    `pad_before` and `pad_after` rows of padding."""

    pad_before: int
    rows_in: int
    pad_after: int
    rows_out: int


@dataclass(frozen=True)
class Call:
    """A function that a step calls in place of a kernel. It has the arguments of a kernel."""

    function: str
    header: str
    """Header that declares the function and `type`; path below `src/`."""
    type: str
    """Name of the struct with its parameters."""
    numbers: Callable[[str], str]
    """Returns the C initializer of the struct for an instruction set."""
    files: Mapping[str, str]
    """Path within the project -> C text."""
    kernels: tuple[str, ...] = ()
    """Kernels that it calls."""
    more_instructions: int | None = 0
    """Estimated instructions in addition to those of the step; None: there is no estimate for the step."""
    alignment: int = 1
    """Smallest alignment of its constants and workspace, in bytes."""
    plain_constants: int | None = None
    """Uncompressed size of the step's constants; None if they are not compressed."""


@dataclass(eq=False)
class Step:
    """One call of one kernel."""

    name: str
    """Name of the node in the source model."""
    operator: str
    """MindIR's name of the operator."""
    kernel: str
    """Name of the kernel in the kernel table, such as `conv2d_int8_dsp`."""
    inputs: list[Tensor | None]
    outputs: list[Tensor]
    derived: bytes
    """The struct with the kernel's parameters, as its function `prepare` filled it; in the memory layout of the
    host."""
    parts: tuple[int, ...]
    """Number of parts of each phase."""
    shared_size: int
    """Bytes of workspace for all parts, kept between phases."""
    scratch_size: int
    """Bytes of workspace for one part."""
    packed: dict[int, bytes] = field(default_factory=dict)
    """Input index -> packed data that replaces the constant input."""
    in_place: int = -1
    """Index of the input that output 0 may overwrite at the same address, or -1."""
    overlaps: tuple[Overlap, ...] = ()
    macs: int = 0
    """Multiply-accumulates; 0 for operators that are not matmuls or convolutions."""
    rows: RowWise | None = None
    """If set, `Program.cut` can make calls of this step that compute only some rows."""
    call: Call | None = None
    """If set, this function is called in place of the kernel, and `derived` is empty."""
    note: str = ""
    """A note for the report on how the step runs."""
    nest: ControlFlowNest | None = None
    """Loop or branch of a CONTROL step. The step's inputs are all outer tensors that it reads; its tensors are in the
    step's workspace."""

    @property
    def workspace(self) -> int:
        """Bytes of the whole workspace: the shared part, then the scratch part at a multiple of 8."""
        return (
            self.shared_size if not self.scratch_size else self.shared_size + -self.shared_size % 8 + self.scratch_size
        )


@dataclass(frozen=True)
class Pass:
    """Copies `source` to `target`, which has the same size; None: fills `target` with zeros."""

    source: Tensor | None
    target: Tensor


@dataclass(frozen=True)
class Jump:
    """Does the copies `passes` in order, then continues with block `block` of the nest, or after the nest if it is
    None."""

    block: int | None
    passes: tuple[Pass, ...] = ()


@dataclass(frozen=True)
class Choice:
    """Continues with one of `targets`: `targets[selector]` if `by_index`, otherwise the first if the condition
    `selector` is true and the second if it is false."""

    selector: Tensor
    by_index: bool
    targets: tuple[Jump | Choice, ...]


Next = Jump | Choice


def jumps_of(following: Next) -> list[Jump]:
    """Returns all jumps that may be taken."""
    if isinstance(following, Jump):
        return [following]
    return [jump for target in following.targets for jump in jumps_of(target)]


def selectors_of(following: Next) -> list[Tensor]:
    """Returns the tensors that the choice of the next block reads."""
    if isinstance(following, Jump):
        return []
    return [following.selector, *(tensor for target in following.targets for tensor in selectors_of(target))]


@dataclass(eq=False)
class Block:
    """A basic block of a nest: steps that run one after the other, then `following`.

    `program.outside`: tensors in memory that the block may not reuse; `program.outputs`: tensors that `following`
    reads.
    """

    name: str
    program: Program
    following: Next


@dataclass(eq=False)
class ControlFlowNest:
    """Control flow of a loop or branch: basic blocks. `entry` selects the first one. Blocks can contain nests."""

    entry: Next
    blocks: list[Block]
    carried: list[Tensor]
    """Tensors that pass values from block to block, such as loop variables."""

    @property
    def loops(self) -> bool:
        """Whether any block may run more than once."""
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
    """A lowered model: `steps` in order of execution."""

    name: str
    target: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    steps: list[Step]
    cut: Callable[[Step, Band], Step | None] | None = None
    """Prepares the kernel of a row-wise step for a band: returns a step with tensors of the band's shapes and the same
    packed constants, or None if the kernel does not support the shape."""
    cut_channels: Callable[[Step, int, int], Step | None] | None = None
    """Prepares the kernel of a matmul or convolution for some output channels (first, count): returns a step with their
    packed weights and workspaces, or None if the kernel does not support it."""
    numbers: Callable[[Step], _codegen.Int8CallParameters | None] | None = None
    """Returns the parameters of a step in a form for other kernel libraries, or None if it calls no kernel."""
    outside: frozenset[Tensor] = frozenset()
    """For the program of a block: tensors in memory outside of the block."""
    assumed: tuple[str, ...] = ()
    """Names of inputs whose first dimension is dynamic and was assumed to be 1."""

    def outside_roots(self) -> set[Tensor]:
        """Returns the tensors of `outside`, with aliases replaced by the tensors that own the memory."""
        found = set()
        for tensor in self.outside:
            while tensor.alias_of is not None:
                tensor = tensor.alias_of
            found.add(tensor)
        return found


def all_steps(program: Program) -> Iterator[Step]:
    """Yields the steps of a program and of the nests in it; those of a nest follow its CONTROL step."""
    for step in program.steps:
        yield step
        if step.nest is not None:
            for block in step.nest.blocks:
                yield from all_steps(block.program)


@dataclass(frozen=True)
class RowCall:
    """A call in a RowLoop. Offsets in the arena are those of the first iteration."""

    layer: int
    """Index in `FusedRows.steps` of the step whose rows it computes."""
    step: Step
    """The step for these rows, made by `Program.cut`."""
    input: int
    """Offset of the input `RowWise.input`."""
    output: int
    workspace: int
    input_advance: int
    """Bytes that the input's offset grows with each iteration, if the call reads the input of the chain; otherwise
    0."""
    output_advance: int
    """Same for `output`, if the call writes the output of the chain."""
    others: tuple[tuple[int, int], ...] = ()
    """(input index, offset) of the inputs `RowWise.others`."""
    advancing: int = 0
    """Index of the input that `input_advance` is for."""


@dataclass(frozen=True)
class RowMove:
    """Moves `size` bytes from offset `source` to `target`: rows that are needed again move to the front of their
    buffer."""

    target: int
    source: int
    size: int


@dataclass(frozen=True)
class RowLoop:
    """A loop that does `moves`, then `calls`, `count` times."""

    count: int
    moves: tuple[RowMove, ...]
    calls: tuple[RowCall, ...]


@dataclass(eq=False)
class FusedRows:
    """A chain of row-wise steps that run a few rows at a time, so that tensors between them need memory for a few rows
    only.

    The input and output of the chain are whole tensors in `Plan.offsets`; the tensors between the steps have no
    offsets.
    """

    name: str
    steps: list[Step]
    """The steps of the program in the chain, in order."""
    loops: list[RowLoop]


@dataclass(frozen=True)
class Move:
    """Moves `tensor` to offset `target` of the arena."""

    tensor: Tensor
    target: int


@dataclass(eq=False)
class Plan:
    """The memory plan of a program: the layout of its arena.

    `order`: steps in order of execution, without those that need no work because of the layout (a concat whose inputs
    are computed at their offsets in its output, a split whose outputs are read inside its input). `offsets`: offset of
    each tensor in the arena when it is computed; aliases are omitted; only a `Move` changes an offset later.
    `workspaces`: offset of each step's workspace. Inputs of the program without an offset are in the caller's memory.
    Outputs of the program are copied from the arena, or stay in it, as the emitter decides.
    """

    order: list[Step | FusedRows | Move]
    offsets: dict[Tensor, int]
    workspaces: dict[Step, int]
    size: int
    fast_size: int = 0
    """If the arena is split: size of the part in fast memory. No tensor is in both parts. 0: it is not split."""
    nests: dict[Step, ControlFlowPlan] = field(default_factory=dict)
    """Layout of the workspace of each CONTROL step."""


@dataclass(eq=False)
class ControlFlowPlan:
    """Layout of the workspace of a CONTROL step: `offsets` of the tensors that its blocks pass to each other, then,
    from offset `base`, the arenas of the blocks (`plans`), which share memory."""

    offsets: dict[Tensor, int]
    base: int
    plans: list[Plan]
    size: int
