"""What an examination finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mslite.converter.errors import Blocker
from mslite.converter.ethosu import Placement
from mslite.converter.shares import Share


class State(StrEnum):
    """Whether a node can be converted."""

    FINE = "fine"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    """It reads what a blocked node would write."""


@dataclass(frozen=True)
class NodeFacts:
    """A node of the drawn graph: the converted one, or, where that is not to be had, what the front end read."""

    name: str
    operator: str
    origin: str
    """The source operator and node; empty where the conversion made it of several."""
    inputs: tuple[int, ...]
    """Numbers of the nodes whose outputs it reads."""
    shapes: tuple[str, ...]
    """Of its outputs, with their element types."""
    share: Share
    """Its multiply-accumulates, and their share of the model's."""
    state: State
    blockers: tuple[Blocker, ...] = ()
    graph: str = ""
    """The subgraph in which it stands: a branch, or the body of a loop; empty for the main graph."""
    kernels: tuple[tuple[str, str], ...] = ()
    """Target -> the kernel that computes it there, or why there is none, in this order."""


@dataclass(frozen=True)
class PortFacts:
    """An input or an output of the main graph."""

    name: str
    shape: str
    """With its element type."""
    nodes: tuple[int, ...]
    """Numbers of the nodes that read the input, or of the one that writes the output."""
    source: int | None = None
    """Of an output that no node writes: the number of the input that it is."""


@dataclass(frozen=True)
class TargetFacts:
    """What a target makes of the converted model."""

    name: str
    summary: str
    runs: bool
    problem: str = ""
    """Why it does not, as far as it is no matter of single nodes."""
    blockers: tuple[Blocker, ...] = ()
    ram: int | None = None
    """Bytes of activations and workspace; None where shapes are open."""
    flash: int | None = None
    """Bytes of constants, to which code comes; of the runtime, those of the file."""


@dataclass(frozen=True)
class PlacedFacts:
    """What an engine does with a node of the main graph."""

    node: str
    op: str
    part: int
    """Which of the engine's parts it belongs to; -1: the engine leaves it to the CPU."""
    reason: str
    """Why; empty where the engine takes it."""
    flops: int
    """Of one run; 0 where shapes are open."""


@dataclass(frozen=True)
class EngineFacts:
    """What an engine of this library would run of the converted model, the CPU the rest."""

    name: str
    """With the device, where that is there: "OpenCL (...)"."""
    missing: str
    """Why it is not on this machine; empty where it is."""
    nodes: tuple[PlacedFacts, ...]

    @property
    def taken(self) -> list[PlacedFacts]:
        """The nodes that it takes."""
        return [node for node in self.nodes if node.part >= 0]

    @property
    def parts(self) -> int:
        """In how many parts it takes them."""
        return len({node.part for node in self.taken})

    @property
    def share(self) -> float:
        """Of the floating-point operations, 0 to 1."""
        total = sum(node.flops for node in self.nodes)
        return sum(node.flops for node in self.taken) / total if total else 0.0

    @property
    def left(self) -> dict[tuple[str, str], list[PlacedFacts]]:
        """Operator and reason -> the nodes that it leaves to the CPU for it."""
        found: dict[tuple[str, str], list[PlacedFacts]] = {}
        for node in sorted(self.nodes, key=lambda node: (node.op, node.reason)):
            if node.part < 0:
                found.setdefault((node.op, node.reason), []).append(node)
        return found


@dataclass(frozen=True)
class Examination:
    """Everything that the report says."""

    file: str
    framework: str
    converts: bool
    problem: str
    """Why it does not, as far as it is no matter of single nodes."""
    blockers: tuple[Blocker, ...]
    nodes: tuple[NodeFacts, ...]
    targets: tuple[TargetFacts, ...]
    inputs: tuple[PortFacts, ...] = ()
    outputs: tuple[PortFacts, ...] = ()
    engines: tuple[EngineFacts, ...] = ()
    """Those of this library, whether they are on this machine or not; none where the model cannot be converted."""
    placement: Placement | None = None
    """What runs on the NPU of `--target`; graph and targets are those of the same model without it."""
    batches: tuple[str, ...] = ()
    """Inputs whose first size is open: it is taken as 1."""
    npu_problem: str = ""
    """Why nothing does, where one was asked for."""

    @property
    def macs(self) -> int:
        """Of the whole model, as far as shapes are known."""
        return sum(node.share.macs or 0 for node in self.nodes)

    @property
    def blocked_targets(self) -> list[tuple[list[TargetFacts], tuple[Blocker, ...]]]:
        """The targets that do not run the model, together where the same stands in their way."""
        found: dict[tuple[Blocker, ...], list[TargetFacts]] = {}
        for target in self.targets:
            if target.blockers:
                found.setdefault(target.blockers, []).append(target)
        return [(targets, blockers) for blockers, targets in found.items()]

    @property
    def has_open_inputs(self) -> bool:
        """Whether sizes beside the batch are known only when the model runs, or when --inputShape gives them."""
        sizes = ((port.shape.partition("[")[2], port.name in self.batches) for port in self.inputs)
        return any("?" in (text.removeprefix("?") if is_batch else text) for text, is_batch in sizes)

    @property
    def shares(self) -> dict[str, Share]:
        """Name of a node -> its share of the multiply-accumulates."""
        return {node.name: node.share for node in self.nodes}
