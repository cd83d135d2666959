"""Checks a model for nodes that a version of MindSpore Lite would refuse, or compute incorrectly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mslite.converter.compatibility.assumed_layouts import assumed_layouts, reads_nhwc_as_nchw
from mslite.converter.compatibility.conditions import CONDITIONS
from mslite.converter.compatibility.kernel_types import KERNEL_TYPES
from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Module, Node
from mslite.converter.mindir.ops.control_flow import PartialFusion
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType, WeightQuantCompressType
from mslite.converter.mindir.quantized import NARROW, channel_axis, channel_axis_before_2

_CHOOSING = (DataType.FLOAT32, DataType.FLOAT16, DataType.INT8, DataType.INT32, DataType.BOOL)
"""The first input of one of these types selects the kernel of a node."""

_UNSEEN = frozenset(
    {DataType.INT64, DataType.INT16, DataType.UINT8, DataType.UINT16, DataType.UINT32, DataType.UINT64, DataType.FLOAT64}
)  # fmt: skip
"""Types that do not select a kernel."""
_ANY_TYPE = frozenset({"Cast", "Shape", "Size", "Rank", "ConstantOfShape", "QuantDTypeCast"})
_CLOSURES = frozenset({"PartialFusion", "Switch", "SwitchLayer"})

_FSE = frozenset({WeightQuantCompressType.FSE, WeightQuantCompressType.FSE_INT, WeightQuantCompressType.FSE_INFER})
_PACKED_LATER = {
    Version.V1_3: _FSE,
    Version.V1_5: _FSE - {WeightQuantCompressType.FSE},
    Version.V2_0: frozenset[WeightQuantCompressType](),
    Version.V2_7: frozenset[WeightQuantCompressType](),
}
"""Weight compressions that the version does not support."""

_PACKING = frozenset({"Conv2DFusion", "Conv2dTransposeFusion", "FullConnection", "GRU", "LSTM", "MatMulFusion"})
"""Operators that pack their weights when the model is built."""

_IMAGE_RANK = 4


@dataclass(frozen=True)
class VersionSupport:
    """Which versions run a model, and why the others do not."""

    runs: tuple[Version, ...]
    refusals: dict[Version, tuple[Blocker, ...]]
    """The unsupported nodes for each of the other versions."""
    custom_nodes: tuple[tuple[str, str], ...]
    """Name and type of the nodes with mslite's Custom operators, which no version of MindSpore Lite has."""


def check_versions(module: Module) -> VersionSupport:
    """Checks a module, in the form in which it is written to the file, for all versions."""
    found = {version: refusals(module, version) for version in Version}
    own = [
        (node.name, node.op.declaration.custom_type or "")
        for graph in module.graphs
        for node in graph.nodes
        if node.op.declaration.is_custom
    ]
    runs = tuple(version for version, blockers in found.items() if not blockers)
    return VersionSupport(runs, {version: blockers for version, blockers in found.items() if blockers}, tuple(own))


def refusals(module: Module, version: Version) -> tuple[Blocker, ...]:
    """Returns the nodes that `version` refuses or computes incorrectly. The remedy assumes a model that was not
    converted for it."""
    found = [*_of_loops(module, version), *_of_boundary(module, version)]
    for graph in module.graphs:
        formats = assumed_layouts(graph, graph is module.main, version)
        for node in graph.nodes:
            reason = refusal(node, version)
            if reason is None and reads_nhwc_as_nchw(node, formats):
                reason = "reads its input as NCHW, because of a Transpose or a constant before it"
            if reason is not None:
                found.append(Blocker(node.name, shown(node), f"{version.title} {reason}", _remedy(version)))
    return tuple(found)


def refusal(node: Node, version: Version) -> str | None:
    """Returns why `version` does not run the node correctly, such as "has no kernel for it", or None.

    Custom operators of plug-ins are not checked: their kernels come with the plug-in.
    """
    if isinstance(node.op, Custom):
        return None
    if node.op.declaration.is_custom:
        return "does not have this Custom operator of mslite"
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
        return "treats a constant without elements as a missing input"
    if version is Version.V2_0 and any(
        value.shape is not None and 0 in value.shape for value in (*node.inputs, *node.outputs)
    ):
        return "crashes at a tensor without elements"
    if version is Version.V2_0 and node.op.name == "Shape" and node.inputs[0].rank == 0:
        return "crashes at the shape of a scalar"
    if any(has_scales_of_other_axis(node, index, version) for index in range(len(node.inputs))):
        return "applies the scales of its weights to another dimension"
    if version is Version.V2_0 and any(
        is_integer_weight_of_float_node(node, index) for index in range(len(node.inputs))
    ):
        return "does not load weights of this node in fewer bits"
    if any(
        value.encoding is not None and value.encoding.compression in _PACKED_LATER[version] for value in node.inputs
    ):
        return "does not support the compression of its weights"
    for check in CONDITIONS.get(node.op.name, ()):
        reason = check(node, kind, version)
        if reason is not None:
            return reason
    return None


def has_scales_of_other_axis(node: Node, index: int, version: Version) -> bool:
    """Returns whether files of that version store the per-channel parameters of a constant for another dimension."""
    value = node.inputs[index]
    if version >= Version.V2_0 or len(value.quant) < 2 or not value.is_constant or value.dtype not in NARROW:
        return False
    return channel_axis(node.op, index, node.inputs) != channel_axis_before_2(node.op, index, node.inputs)


def is_integer_weight_of_float_node(node: Node, index: int) -> bool:
    """Returns whether a constant of a float32 convolution or matmul is stored as integers.

    Observed in 2.0: it expects float32 weights in the file when it packs them, and crashes.
    """
    value = node.inputs[index]
    return (
        node.op.name in _PACKING and value.is_constant and bool(value.quant) and value.dtype is not DataType.FLOAT32
        and kernel_type(node) is DataType.FLOAT32
    )  # fmt: skip


def kernel_type(node: Node) -> DataType:
    """Returns the element type for which MindSpore Lite looks up a kernel, without float16 kernels enabled."""
    if node.quant_type is QuantType.QUANT_WEIGHT or not node.inputs:
        return DataType.FLOAT32
    first = node.inputs[0].producer
    if first is not None and first.op.name in _CLOSURES:
        return DataType.FLOAT32
    chosen = next((value.dtype for value in node.inputs if value.dtype in _CHOOSING), node.inputs[0].dtype)
    return DataType.FLOAT32 if chosen in (DataType.FLOAT16, DataType.STRING, DataType.TENSOR_LIST) else chosen


def _remedy(version: Version) -> str:
    return f"--targetVersion={version.label} lowers the model to what this version supports, if possible"


def shown(node: Node) -> str:
    return node.op.declaration.custom_type or node.op.name


def _of_loops(module: Module, version: Version) -> Iterable[Blocker]:
    """Yields loops that 2.0 does not run. Observed: it runs branches and counted loops; others are refused or never
    end."""
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
                    node.name, shown(node), f"{version.title} does not return from some loops", _remedy(version)
                )


def _reached(bound: list[list[tuple[Node, int]]], first: int) -> set[int]:
    """Returns the graphs that are reachable from graph `first`, including it."""
    found, ahead = {first}, [first]
    while ahead:
        ahead = [target for index in ahead for _, target in bound[index] if target not in found]
        found.update(ahead)
    return found


def _of_boundary(module: Module, version: Version) -> Iterable[Blocker]:
    graph = module.main
    read = {value for each in module.graphs for node in each.nodes for value in node.inputs}
    if not any(value in read for value in graph.inputs):
        yield Blocker("model", "graph", f"{version.title} refuses a model if no node reads an input", _remedy(version))
    outputs = module.outputs if module.outputs is not None else graph.outputs
    for value in outputs:
        if value.is_constant or value in graph.inputs:
            what = "a constant" if value.is_constant else "also an input of the model"
            yield Blocker(
                value.name, "graph output", f"{version.title} refuses an output that is {what}", _remedy(version)
            )
    if version >= Version.V2_0:
        for value in (*graph.inputs, *outputs):
            if value.dtype is DataType.FLOAT16:
                reason = f"{version.title} misinterprets the bits of float16 inputs and outputs"
                yield Blocker(value.name, "graph", reason, _remedy(version))
    if version is Version.V1_3:
        for value in graph.inputs:
            if value.rank == _IMAGE_RANK and value.format is not Format.NHWC:
                reason = f"{version.title} refuses inputs in NCHW"
                yield Blocker(value.name, "graph input", reason, "Leave out --inputDataFormat")
