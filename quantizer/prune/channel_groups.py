"""Finds channels that can only be removed together, from the convolutions and matmuls that produce them to their
readers.

A group has all nodes that produce channel c, all per-channel constants in between, and all convolutions and matmuls
that read channel c. An addition of two activations (residual add) merges their groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Graph, Node, Value, constant
from mslite.converter.passes.graph_edit import changed
from mslite.quantizer.transforms.blocks import Layout, blocks_of, has_own_constants, layout_of, replaced
from mslite.quantizer.transforms.channels import Reader, keeps_channels, repeats_of

Reals = npt.NDArray[np.float64]
Keep = npt.NDArray[np.int64]

_JOINING = frozenset({"AddFusion", "SubFusion", "MulFusion", "DivFusion", "Maximum", "Minimum", "SquaredDifference"})
_ELEMENTWISE = frozenset(
    {"Activation", "Clip", "LeakyRelu", "Elu", "HardSigmoid", "Abs", "Neg", "Sqrt", "Square", "ExpFusion", "Erf"}
)


class NotSeparableError(Exception):
    """The channels of a value cannot be removed; the text is the reason."""


@dataclass
class ChannelGroup:
    """The nodes and values that change if channels are removed."""

    channels: int
    producers: list[Node] = field(default_factory=list)
    depthwise: list[Node] = field(default_factory=list)
    vectors: list[tuple[Node, int]] = field(default_factory=list)
    """Nodes and indices of constant inputs that have one element per channel in their last dimension."""
    readers: list[Reader] = field(default_factory=list)
    values: dict[int, tuple[Value, int]] = field(default_factory=dict)
    """Values with these channels, and how many times the channels are repeated in the last dimension."""
    reshapes: list[Node] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.producers[0].name


def groups_of(graph: Graph) -> list[ChannelGroup]:
    """Returns all groups whose channels can be removed, in order of execution."""
    found: list[ChannelGroup] = []
    seen: set[int] = set()
    for node in graph.nodes:
        if id(node) in seen or node.quant_type != 0 or not _makes_channels(node):
            continue
        group = _Explorer(graph).explore(node)
        if group is not None:
            found.append(group)
            seen.update(id(item) for item in group.producers)
    return found


def _makes_channels(node: Node) -> bool:
    layout = layout_of(node)
    return layout is not None and layout.groups == 1 and has_own_constants(node)


def is_depthwise(layout: Layout) -> bool:
    """Whether the layout is that of a depthwise convolution."""
    return layout.groups > 1 and layout.channels == 1 and layout.results == 1


class _Explorer:
    def __init__(self, graph: Graph) -> None:
        self._ends = {id(value) for value in (*graph.inputs, *graph.outputs)}
        self._pending: list[tuple[Value, int]] = []
        self._visited: set[int] = set()

    def explore(self, root: Node) -> ChannelGroup | None:
        """Returns the group of the output channels of `root`; None if they cannot be removed."""
        layout = layout_of(root)
        assert layout is not None
        self._group = ChannelGroup(layout.all_results)
        self._pending.append((root.output, 1))
        try:
            while self._pending:
                value, repeats = self._pending.pop()
                known = self._group.values.get(id(value))
                if known is not None:
                    if known[1] != repeats:
                        raise NotSeparableError(f"'{value.name}' has its channels in two different orders")
                    continue
                self._group.values[id(value)] = (value, repeats)
                self._check(value, repeats)
                self._from(value, repeats)
                for node in dict.fromkeys(value.users):
                    self._into(node, value, repeats)
        except NotSeparableError:
            return None
        self._group.producers.sort(key=lambda node: node is not root)
        return self._group if self._group.readers else None

    def _check(self, value: Value, repeats: int) -> None:
        shape = value.shape
        if id(value) in self._ends or value.is_constant or value.quant:
            raise NotSeparableError(f"'{value.name}' is an input or output of the graph, a constant or quantized")
        if not shape or shape[-1] != self._group.channels * repeats:
            raise NotSeparableError(f"'{value.name}' has a different number of channels")

    def _from(self, value: Value, repeats: int) -> None:
        node = value.producer
        if node is None or len(node.outputs) != 1 or node.quant_type != 0:
            raise NotSeparableError(f"the producer of '{value.name}' cannot produce fewer channels")
        layout = layout_of(node)
        if layout is not None and not is_depthwise(layout):
            if repeats != 1 or not _makes_channels(node):
                raise NotSeparableError(f"'{node.name}' produces its channels in groups, or shares its weight")
            self._group.producers.append(node)
        else:
            self._through(node)

    def _into(self, node: Node, value: Value, repeats: int) -> None:
        layout = layout_of(node)
        if layout is None or is_depthwise(layout):
            self._through(node)
            return
        if node.inputs.count(value) != 1 or node.inputs[0] is not value or not has_own_constants(node):
            raise NotSeparableError(f"'{node.name}' shares its weight")
        if node.op.name == "FullConnection" and layout.all_channels % self._group.channels == 0:
            repeats = layout.all_channels // self._group.channels
        if layout.groups != 1 or layout.all_channels != self._group.channels * repeats:
            raise NotSeparableError(f"'{node.name}' reads its channels in groups")
        self._group.readers.append(Reader(node, repeats))

    def _through(self, node: Node) -> None:
        """Adds a node between producers and readers. All its activations have the channels."""
        if id(node) in self._visited:
            return
        self._visited.add(id(node))
        if len(node.outputs) != 1 or node.quant_type != 0:
            raise NotSeparableError(f"'{node.name}' has several outputs or is quantized")
        channels, operands = self._group.channels, [node.inputs[0]]
        name, layout = node.op.name, layout_of(node)
        again = repeats_of(node, channels)
        if layout is not None and is_depthwise(layout) and has_own_constants(node):
            self._group.depthwise.append(node)
        elif again is not None:
            self._group.reshapes.append(node)
        elif name in _JOINING:
            operands = [value for value in node.inputs if not value.is_constant]
            self._constants(node)
        elif name in ("PReLUFusion", "ScaleFusion") and all(value.is_constant for value in node.inputs[1:]):
            self._constants(node)
        elif name not in _ELEMENTWISE and not keeps_channels(node, channels):
            raise NotSeparableError(f"'{node.name}' mixes channels")
        rest = [value for value in node.inputs if not value.is_constant and value not in operands]
        if rest:
            raise NotSeparableError(f"'{node.name}' reads further activations")
        for value in (*operands, node.output):
            if not value.shape or value.shape[-1] % channels:
                raise NotSeparableError(f"'{value.name}' has a different number of channels")
            self._pending.append((value, value.shape[-1] // channels))

    def _constants(self, node: Node) -> None:
        for index, value in enumerate(node.inputs):
            if not value.is_constant or value.array().size == 1:
                continue
            shape = value.array().shape
            if node.output.rank is None or shape[-1] != self._group.channels or len(shape) > node.output.rank:
                raise NotSeparableError(f"'{value.name}' does not have one element per channel")
            if shape[-1] != (node.output.shape or (0,))[-1]:
                raise NotSeparableError(f"'{value.name}' does not have one element per channel")
            self._group.vectors.append((node, index))


def importance(group: ChannelGroup) -> Reals:
    """Returns the importance of each channel: the norm of the weights that produce it times that of those that read it.

    The result does not depend on scales that cancel between layers. Its mean is 1 (0 if all weights are 0).
    """
    made = _norms(group.producers, group.channels)
    for node in group.depthwise:
        made = made * _norms([node], group.channels)
    read = np.zeros(group.channels)
    for reader in group.readers:
        layout = layout_of(reader.node)
        assert layout is not None
        squares = (blocks_of(reader.node, layout) ** 2).sum(axis=(0, 1, 2))
        read += squares.reshape(reader.repeats, group.channels).sum(axis=0)
    both = made * np.sqrt(read)
    mean = float(both.mean())
    return np.asarray(both / mean) if mean > 0 else both


def _norms(nodes: list[Node], channels: int) -> Reals:
    squares = np.zeros(channels)
    for node in nodes:
        layout = layout_of(node)
        assert layout is not None
        squares += (blocks_of(node, layout) ** 2).sum(axis=(2, 3)).reshape(-1)
    return np.asarray(np.sqrt(squares))


def keep_channels(group: ChannelGroup, keep: Keep) -> None:
    """Removes all channels other than `keep` from the nodes and values of the group."""
    for node in (*group.producers, *group.depthwise):
        _keep_results(node, keep)
    for node, index in group.vectors:
        inputs = list(node.inputs)
        inputs[index] = replaced(node, inputs[index], np.ascontiguousarray(inputs[index].array()[..., keep]))
        node.set_inputs(inputs)
    for reader in group.readers:
        _keep_inputs(reader, group.channels, keep)
    for node in group.reshapes:
        _reshape(node, group.channels, len(keep))
    for value, repeats in group.values.values():
        assert value.shape is not None
        value.shape = (*value.shape[:-1], repeats * len(keep))


def _keep_results(node: Node, keep: Keep) -> None:
    layout = layout_of(node)
    assert layout is not None
    inputs = list(node.inputs)
    weight = inputs[1].array()
    inputs[1] = replaced(node, inputs[1], np.ascontiguousarray(weight[:, keep] if layout.turned else weight[keep]))
    if len(inputs) > 2:
        inputs[2] = replaced(node, inputs[2], np.ascontiguousarray(inputs[2].array()[..., keep]))
    node.set_inputs(inputs)
    if node.op.name == "Conv2DFusion":
        sizes: dict[str, int] = {"out_channel": len(keep)}
        if is_depthwise(layout):
            sizes |= {"group": len(keep), "in_channel": len(keep)}
        node.op = changed(node.op, **sizes)


def _keep_inputs(reader: Reader, channels: int, keep: Keep) -> None:
    node, layout = reader.node, layout_of(reader.node)
    assert layout is not None
    places = (np.arange(reader.repeats)[:, None] * channels + keep).reshape(-1)
    weight = node.inputs[1].array()
    weight = weight[places] if layout.turned else weight[..., places]
    inputs = list(node.inputs)
    inputs[1] = replaced(node, inputs[1], np.ascontiguousarray(weight))
    node.set_inputs(inputs)
    if node.op.name == "Conv2DFusion":
        node.op = changed(node.op, in_channel=len(places))


def _reshape(node: Node, channels: int, kept: int) -> None:
    """Changes the number of channels in the constant shape of a Reshape."""
    if len(node.inputs) < 2 or node.op.name != "Reshape":
        return
    shape = node.inputs[1].array().copy()
    flat = shape.reshape(-1)
    if flat.size and int(flat[-1]) > 0:
        flat[-1] = int(flat[-1]) // channels * kept
        node.set_inputs([node.inputs[0], constant(f"{node.inputs[1].name}_{node.name}", shape, node.inputs[1].format)])
