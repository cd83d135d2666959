"""The judgment of a model: what a version of MindSpore Lite would refuse, or compute wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mslite.converter.compatibility.conditions import CONDITIONS
from mslite.converter.compatibility.formats import believed_formats, misread_image
from mslite.converter.compatibility.kernel_types import KERNEL_TYPES
from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Module, Node
from mslite.converter.mindir.ops.control_flow import PartialFusion
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType, WeightQuantCompressType
from mslite.converter.mindir.quantized import NARROW, channel_axis, channel_axis_before_2

_CHOOSING = (DataType.FLOAT32, DataType.FLOAT16, DataType.INT8, DataType.INT32, DataType.BOOL)
"""The first operand of one of these types decides which kernel a node gets."""

_UNSEEN = frozenset(
    {DataType.INT64, DataType.INT16, DataType.UINT8, DataType.UINT16, DataType.UINT32, DataType.UINT64, DataType.FLOAT64}
)  # fmt: skip
"""Types that are passed over in that search."""
_ANY_TYPE = frozenset({"Cast", "Shape", "Size", "Rank", "ConstantOfShape", "QuantDTypeCast"})
_CLOSURES = frozenset({"PartialFusion", "Switch", "SwitchLayer"})

_FSE = frozenset({WeightQuantCompressType.FSE, WeightQuantCompressType.FSE_INT, WeightQuantCompressType.FSE_INFER})
_PACKED_LATER = {
    Version.V1_3: _FSE,
    Version.V1_5: _FSE - {WeightQuantCompressType.FSE},
    Version.V2_0: frozenset[WeightQuantCompressType](),
    Version.V2_7: frozenset[WeightQuantCompressType](),
}
"""Packings that the version does not know."""

_PACKING = frozenset({"Conv2DFusion", "Conv2dTransposeFusion", "FullConnection", "GRU", "LSTM", "MatMulFusion"})
"""Operators that bring their weights into another order when the model is built."""

_IMAGE_RANK = 4


@dataclass(frozen=True)
class Verdict:
    """What the versions make of a model."""

    runs: tuple[Version, ...]
    refusals: dict[Version, tuple[Blocker, ...]]
    """For each of the others, what stands in its way."""
    custom_nodes: tuple[tuple[str, str], ...]
    """Name and type of each node that no version of MindSpore Lite knows: mslite's own operators."""


def judge(module: Module) -> Verdict:
    """What every version makes of a model in the form in which it is written."""
    found = {version: refusals(module, version) for version in Version}
    own = [
        (node.name, node.op.declaration.custom_type or "")
        for graph in module.graphs
        for node in graph.nodes
        if node.op.declaration.is_custom
    ]
    runs = tuple(version for version, blockers in found.items() if not blockers)
    return Verdict(runs, {version: blockers for version, blockers in found.items() if blockers}, tuple(own))


def refusals(module: Module, version: Version) -> tuple[Blocker, ...]:
    """Everything for which `version` does not run the model right. What to do is said for a model that was not made for it."""
    found = [*_of_loops(module, version), *_of_boundary(module, version)]
    for graph in module.graphs:
        formats = believed_formats(graph, graph is module.main, version)
        for node in graph.nodes:
            reason = refusal(node, version)
            if reason is None and misread_image(node, formats):
                reason = "takes its operand for an image in NCHW, because of a Transpose or a constant before it"
            if reason is not None:
                found.append(Blocker(node.name, shown(node), f"{version.title} {reason}", _remedy(version)))
    return tuple(found)


def refusal(node: Node, version: Version) -> str | None:
    """What `version` does, or lacks, so that it does not run the node right ("has no kernel for it"), or None. A Custom operator of
    somebody else runs with their kernel."""
    if isinstance(node.op, Custom):
        return None
    if node.op.declaration.is_custom:
        return "does not have this operator of mslite's"
    types = KERNEL_TYPES[version].get(node.op.name)
    if types is None:
        return "has no kernel for it"
    kind = kernel_type(node)
    if kind not in types:
        return f"has no kernel for it in {kind.name.lower()}"
    if (
        node.op.name not in _ANY_TYPE
        and node.inputs
        and node.inputs[0].dtype in _UNSEEN
        and kind is not node.inputs[0].dtype
    ):
        return f"reads {node.inputs[0].dtype.name.lower()} as {kind.name.lower()}"
    if any(value.data is not None and value.data.size == 0 for value in node.inputs):
        return "takes a constant without elements for none"
    if version is Version.V2_0 and any(
        value.shape is not None and 0 in value.shape for value in (*node.inputs, *node.outputs)
    ):
        return "ends the process at a tensor without elements"
    if version is Version.V2_0 and node.op.name == "Shape" and node.inputs[0].rank == 0:
        return "ends the process at the shape of a single number"
    if any(is_on_other_axis(node, index, version) for index in range(len(node.inputs))):
        return "takes the scales of its weights for those of another dimension"
    if version is Version.V2_0 and any(is_narrow_weight(node, index) for index in range(len(node.inputs))):
        return "does not load weights of fewer bits"
    if any(
        value.encoding is not None and value.encoding.compression in _PACKED_LATER[version] for value in node.inputs
    ):
        return "does not unpack its weights"
    for check in CONDITIONS.get(node.op.name, ()):
        reason = check(node, kind, version)
        if reason is not None:
            return reason
    return None


def is_on_other_axis(node: Node, index: int, version: Version) -> bool:
    """Whether the records of a constant operand, one for each channel, belong to another dimension in files of that version."""
    value = node.inputs[index]
    if version >= Version.V2_0 or len(value.quant) < 2 or not value.is_constant or value.dtype not in NARROW:
        return False
    return channel_axis(node.op, index, node.inputs) != channel_axis_before_2(node.op, index, node.inputs)


def is_narrow_weight(node: Node, index: int) -> bool:
    """Whether a constant operand is stored in integers for a float32 product. Seen by running 2.0: it looks in the file
    for float32 weights, in order to pack them, and ends."""
    value = node.inputs[index]
    return (
        node.op.name in _PACKING and value.is_constant and bool(value.quant) and value.dtype is not DataType.FLOAT32
        and kernel_type(node) is DataType.FLOAT32
    )  # fmt: skip


def kernel_type(node: Node) -> DataType:
    """The element type for which MindSpore Lite looks for a kernel; float16 kernels are not switched on."""
    if node.quant_type is QuantType.QUANT_WEIGHT or not node.inputs:
        return DataType.FLOAT32
    first = node.inputs[0].producer
    if first is not None and first.op.name in _CLOSURES:
        return DataType.FLOAT32
    chosen = next((value.dtype for value in node.inputs if value.dtype in _CHOOSING), node.inputs[0].dtype)
    return DataType.FLOAT32 if chosen in (DataType.FLOAT16, DataType.STRING, DataType.TENSOR_LIST) else chosen


def _remedy(version: Version) -> str:
    return f"--targetVersion={version.label} writes the model in what it has, where that can be done"


def shown(node: Node) -> str:
    return node.op.declaration.custom_type or node.op.name


def _of_loops(module: Module, version: Version) -> Iterable[Blocker]:
    """Seen by running 2.0: it runs branches, and loops that end after a number of rounds; others it refuses, or runs for ever."""
    if version is not Version.V2_0:
        return
    bound = [
        [(node, node.op.sub_graph_index) for node in graph.nodes if isinstance(node.op, PartialFusion)]
        for graph in module.graphs
    ]
    for index, calls in enumerate(bound):
        for node, target in calls:
            if index in _reached(bound, target):
                yield Blocker(
                    node.name, shown(node), f"{version.title} does not come back from every loop", _remedy(version)
                )


def _reached(bound: list[list[tuple[Node, int]]], first: int) -> set[int]:
    """The graphs that graph `first` leads to, with itself."""
    found, ahead = {first}, [first]
    while ahead:
        ahead = [target for index in ahead for _, target in bound[index] if target not in found]
        found.update(ahead)
    return found


def _of_boundary(module: Module, version: Version) -> Iterable[Blocker]:
    graph = module.main
    read = {value for each in module.graphs for node in each.nodes for value in node.inputs}
    if not any(value in read for value in graph.inputs):
        yield Blocker(
            "model", "graph", f"{version.title} refuses a model of which no node reads an input", _remedy(version)
        )
    outputs = module.outputs if module.outputs is not None else graph.outputs
    for value in outputs:
        if value.is_constant or value in graph.inputs:
            what = "a constant" if value.is_constant else "an input of the model, too"
            yield Blocker(
                value.name, "graph output", f"{version.title} refuses an output that is {what}", _remedy(version)
            )
    if version >= Version.V2_0:
        for value in (*graph.inputs, *outputs):
            if value.dtype is DataType.FLOAT16:
                reason = f"{version.title} takes the bits of float16 inputs and outputs for other numbers"
                yield Blocker(value.name, "graph", reason, _remedy(version))
    if version is Version.V1_3:
        for value in graph.inputs:
            if value.rank == _IMAGE_RANK and value.format is not Format.NHWC:
                reason = f"{version.title} refuses inputs in NCHW"
                yield Blocker(value.name, "graph input", reason, "Leave --inputDataFormat out")
