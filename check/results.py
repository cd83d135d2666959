"""The results of `check_model`: facts about nodes, targets and backends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mslite.converter.errors import Blocker
from mslite.converter.ethosu import Placement
from mslite.converter.mac_shares import Share


class State(StrEnum):
    """Whether a node can be converted."""

    FINE = "fine"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    """The node could not be examined, because an unsupported node comes before it."""


@dataclass(frozen=True)
class NodeFacts:
    """A node of the converted graph or, if the conversion failed, of the source graph."""

    name: str
    operator: str
    origin: str
    """The source operator and node; empty if the converter fused several nodes into this one."""
    inputs: tuple[int, ...]
    """Indices of the nodes whose outputs it reads."""
    shapes: tuple[str, ...]
    """Data type and shape of each output."""
    share: Share
    """Its multiply-accumulates, and their share of those of the model."""
    state: State
    blockers: tuple[Blocker, ...] = ()
    graph: str = ""
    """The name of its subgraph: a branch, or the body of a loop; empty for the main graph."""
    kernels: tuple[tuple[str, str], ...] = ()
    """Pairs of a target and its kernel for the node, or the reason why it has no kernel."""


@dataclass(frozen=True)
class ModelPortFacts:
    """An input or an output of the main graph."""

    name: str
    shape: str
    """Data type and shape."""
    nodes: tuple[int, ...]
    """Indices of the nodes that read the input, or of the node that writes the output."""
    source: int | None = None
    """If the output is an input of the model: the index of that input."""


@dataclass(frozen=True)
class TargetFacts:
    """Whether a target runs the converted model, and with how much memory."""

    name: str
    summary: str
    runs: bool
    problem: str = ""
    """Why it does not, apart from the unsupported nodes in `blockers`."""
    blockers: tuple[Blocker, ...] = ()
    ram: int | None = None
    """Bytes of activations and scratch buffers; None if shapes are dynamic."""
    flash: int | None = None
    """Bytes of constants, without code; for the runtime, the size of the model file."""


@dataclass(frozen=True)
class BackendNodeFacts:
    """Whether a backend runs a node of the main graph."""

    node: str
    op: str
    part: int
    """The index of its partition on the backend, or -1 if it runs on the CPU."""
    reason: str
    """Why it runs on the CPU; empty if the backend runs it."""
    flops: int
    """Floating-point operations of one inference; 0 if shapes are dynamic."""


@dataclass(frozen=True)
class BackendFacts:
    """The nodes of the converted model that a backend of this library would run. The CPU runs the rest."""

    name: str
    """The backend, with its device if this machine has one: "OpenCL (...)"."""
    missing: str
    """Why this machine does not have the backend; empty if it has."""
    nodes: tuple[BackendNodeFacts, ...]

    @property
    def taken(self) -> list[BackendNodeFacts]:
        """The nodes that the backend runs."""
        return [node for node in self.nodes if node.part >= 0]

    @property
    def parts(self) -> int:
        """The number of partitions on the backend."""
        return len({node.part for node in self.taken})

    @property
    def share(self) -> float:
        """The share of the floating-point operations that the backend runs, 0 to 1."""
        total = sum(node.flops for node in self.nodes)
        return sum(node.flops for node in self.taken) / total if total else 0.0

    @property
    def left(self) -> dict[tuple[str, str], list[BackendNodeFacts]]:
        """Operator and reason -> the nodes that run on the CPU for this reason."""
        found: dict[tuple[str, str], list[BackendNodeFacts]] = {}
        for node in sorted(self.nodes, key=lambda node: (node.op, node.reason)):
            if node.part < 0:
                found.setdefault((node.op, node.reason), []).append(node)
        return found


@dataclass(frozen=True)
class CheckResult:
    """Everything that the report shows."""

    file: str
    framework: str
    converts: bool
    problem: str
    """Why it does not, apart from the unsupported nodes in `blockers`."""
    blockers: tuple[Blocker, ...]
    nodes: tuple[NodeFacts, ...]
    targets: tuple[TargetFacts, ...]
    inputs: tuple[ModelPortFacts, ...] = ()
    outputs: tuple[ModelPortFacts, ...] = ()
    engines: tuple[BackendFacts, ...] = ()
    """All backends of this library, available on this machine or not; empty if the model cannot be converted."""
    placement: Placement | None = None
    """What runs on the NPU of `--target`. The graph and the targets are those of the model without the NPU."""
    batches: tuple[str, ...] = ()
    """Inputs with a dynamic batch, which is taken as 1."""
    npu_problem: str = ""
    """Why the conversion for the NPU of `--target` failed."""

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the nodes with known shapes."""
        return sum(node.share.macs or 0 for node in self.nodes)

    @property
    def blocked_targets(self) -> list[tuple[list[TargetFacts], tuple[Blocker, ...]]]:
        """The targets that cannot run the model, grouped by their unsupported nodes."""
        found: dict[tuple[Blocker, ...], list[TargetFacts]] = {}
        for target in self.targets:
            if target.blockers:
                found.setdefault(target.blockers, []).append(target)
        return [(targets, blockers) for blockers, targets in found.items()]

    @property
    def has_open_inputs(self) -> bool:
        """Whether inputs have dynamic dimensions other than the batch."""
        sizes = ((port.shape.partition("[")[2], port.name in self.batches) for port in self.inputs)
        return any("?" in (text.removeprefix("?") if is_batch else text) for text, is_batch in sizes)

    @property
    def shares(self) -> dict[str, Share]:
        """Node name -> its share of the multiply-accumulates."""
        return {node.name: node.share for node in self.nodes}
