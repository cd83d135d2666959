"""The state that passes share: settings, known contents of integer tensors, symbols of dynamic dimensions, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Node, Shape, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format

StrictAttributes = tuple[int, ...]
"""The elements of a small integer tensor; each is a number or the symbol of a dynamic dimension."""


@dataclass(frozen=True)
class Settings:
    """The options of a conversion that passes read."""

    fusion: bool = True
    disabled_fusions: frozenset[str] = frozenset()
    source_layout: Format = Format.NHWC
    """Layout of the activations after parsing."""
    keep_layout: bool = False
    """The result keeps the source's layout; passes that need NHWC do not run."""
    input_shapes: Mapping[str, Shape] = field(default_factory=dict)
    fixed_sizes: bool = False
    """Fixed dimensions of inputs cannot be resized when the result runs, as in the source's framework."""
    input_format: Format | None = None
    """Layout of 4-D graph inputs of the result; None: NHWC, except for a single NCHW input with a width of 3."""
    output_format: Format | None = None
    """Layout of 4-D graph outputs of the result; None keeps the source's."""
    input_type: DataType | None = None
    output_type: DataType | None = None
    int64_to_int32: bool = False
    """All int64 tensors become int32, as in MindSpore Lite, instead of only those that are proven to fit."""
    float16_weights: bool = False
    training: bool = False
    """The result will be trained: equal constants may become different, and Dropout is not a no-op."""
    trained_constants: frozenset[str] = frozenset()
    """Names of constants that will be trained; they are not folded into other constants."""
    target: Version | None = None
    """The version of MindSpore Lite that has to run the result; None: only mslite."""


@dataclass
class Context:
    """The state of one run of the pipeline."""

    settings: Settings = field(default_factory=Settings)
    layout: Format = Format.NHWC
    """Current layout of the activations; the layout pass changes it."""
    known: dict[Value, StrictAttributes] = field(default_factory=dict)
    depends_on_input_sizes: bool = False
    """Constants were computed from dimensions, so that known dimensions of inputs cannot be resized any more."""
    inputs_of_unknown_rank: set[Value] = field(default_factory=set)
    """Inputs of subgraphs that are called with different ranks."""
    folded: dict[tuple[Operator, tuple[Value, ...], int], list[Value]] = field(default_factory=dict)
    """In training: (operator, inputs, number of outputs) of folded nodes -> the constants."""
    source_bytes: int = 0
    """Bytes of the constants after parsing."""
    folded_growth: int = 0
    """Bytes by which constant folding has made the constants larger."""
    next_symbol: int = SYMBOL_LIMIT
    notes: list[str] = field(default_factory=list)
    """Notes for the user, printed in the summary."""
    applied: dict[str, int] = field(default_factory=dict)
    """Name of a rule -> number of rewrites."""

    graph_outputs: Sequence[Value] = ()
    """The outputs of the graph that rules are currently applied to."""
    float16_source: bool = False
    """The source computes at least partly in float16; weights are stored as float16 again."""
    float32_source: bool = False
    """Other parts of such a source compute in float32; weights that float16 would round stay float32."""
    refusals: list[tuple[str, str, str]] = field(default_factory=list)
    """(rule, node, reason) of each match that was not rewritten."""

    def refuse(self, rule: str, node: Node, reason: str) -> None:
        entry = (rule, node.name, reason)
        if entry not in self.refusals:
            self.refusals.append(entry)

    def new_symbol(self) -> int:
        """Returns a new symbol for a dynamic dimension."""
        symbol = self.next_symbol
        self.next_symbol -= 1
        return symbol

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
