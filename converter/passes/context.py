"""What the passes share: the settings of a conversion, what is known of integer tensors, fresh symbols, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mslite.converter.compatibility.versions import Version
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Node, Shape, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType, Format

Known = tuple[int, ...]
"""The contents of a small integer tensor; each entry is a value or a symbol."""


@dataclass(frozen=True)
class Settings:
    """The choices of one conversion that passes depend on."""

    fusion: bool = True
    disabled_fusions: frozenset[str] = frozenset()
    source_layout: Format = Format.NHWC
    """Layout of the activations that the parser delivered."""
    keep_layout: bool = False
    """The result keeps the source's layout: what needs NHWC is left out."""
    input_shapes: Mapping[str, Shape] = field(default_factory=dict)
    fixed_sizes: bool = False
    """Sizes of inputs that the source fixes cannot change in a run of the result, as they cannot in the source's framework."""
    input_format: Format | None = None
    """Wanted layout of 4-D graph inputs, where the source has the other one; None: NHWC, but for a single input 3 wide."""
    output_format: Format | None = None
    """Wanted layout of 4-D graph outputs; None keeps the source's."""
    input_type: DataType | None = None
    output_type: DataType | None = None
    int64_to_int32: bool = False
    """Every int64 tensor becomes int32, as in MindSpore Lite, instead of only those proven to fit."""
    float16_weights: bool = False
    training: bool = False
    """The result is trained: constants that are equal now need not stay so, and Dropout does something."""
    trained_constants: frozenset[str] = frozenset()
    """Names of constants that are trained: no other constant is computed of them."""
    target: Version | None = None
    """The version of MindSpore Lite that has to run the result; None: mslite alone."""


@dataclass
class Context:
    """State that lives as long as one run of the pipeline."""

    settings: Settings = field(default_factory=Settings)
    layout: Format = Format.NHWC
    """Layout of the activations at this moment; the layout pass changes it."""
    known: dict[Value, Known] = field(default_factory=dict)
    reads_sizes: bool = False
    """Constants were made of sizes, so that no size that is known may change any more."""
    unranked: set[Value] = field(default_factory=set)
    """Inputs of subgraphs that are called with different numbers of dimensions."""
    folded: dict[tuple[Operator, tuple[Value, ...], int], list[Value]] = field(default_factory=dict)
    """In training: constants by the operators, operands and number of results that they were computed by."""
    source_bytes: int = 0
    """Of the constants that the parser delivered."""
    folded_growth: int = 0
    """Bytes by which constant folding has made the constants larger."""
    next_symbol: int = SYMBOL_LIMIT
    notes: list[str] = field(default_factory=list)
    """Things worth telling the user that do not stop the conversion."""
    applied: dict[str, int] = field(default_factory=dict)
    """How often each rule rewrote something."""

    graph_outputs: Sequence[Value] = ()
    """Of the graph that rules are applied to at this moment: they keep their values."""
    float16_source: bool = False
    """The source computes in float16, at least in part: its weights are stored that way again."""
    float32_source: bool = False
    """Other parts of such a source compute in float32: what float16 would round is stored as it is."""
    refusals: list[tuple[str, str, str]] = field(default_factory=list)
    """(rule, node, reason) of each match that a rule left alone."""

    def refuse(self, rule: str, node: Node, reason: str) -> None:
        entry = (rule, node.name, reason)
        if entry not in self.refusals:
            self.refusals.append(entry)

    def new_symbol(self) -> int:
        """A dimension of unknown size that equals no other."""
        symbol = self.next_symbol
        self.next_symbol -= 1
        return symbol

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
