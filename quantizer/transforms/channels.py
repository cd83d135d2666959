"""Follows the channels of a value through per-channel operators to the convolutions and matmuls that read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import ActivationType, ReduceMode
from mslite.quantizer.transforms.blocks import layout_of

_HOMOGENEOUS = frozenset({ActivationType.NO_ACTIVATION, ActivationType.RELU, ActivationType.LEAKY_RELU})
"""f(s x) = s f(x) for s > 0."""
_POOLING = frozenset({"MaxPoolFusion", "AvgPoolFusion"})


@dataclass(frozen=True)
class Reader:
    """A convolution or matmul that reads the channels. Its input has them `repeats` times in a row, if it is
    flattened."""

    node: Node
    repeats: int = 1


@dataclass(frozen=True)
class Path:
    """The nodes that the channels of a value pass, and the nodes that read them."""

    between: tuple[Node, ...]
    readers: tuple[Reader, ...]


def rename_scaled(source: Node, path: Path) -> None:
    """Renames the scaled values of a path, so that `--verify` does not compare them with values of the source model."""
    for node in (source, *path.between):
        node.output.name = f"{node.output.name}_scaled"


Passes = Callable[[Node, int], bool]
"""Whether a node processes the `channels` channels, its last dimension, independently of each other."""


def is_homogeneous(kind: ActivationType) -> bool:
    """Whether f(s x) = s f(x) for all s > 0 for an activation function."""
    return kind in _HOMOGENEOUS


def passes_scales(node: Node, channels: int) -> bool:
    """Whether scaling an input channel by s > 0 scales that output channel by s."""
    name = node.op.name
    if not is_homogeneous(ActivationType(getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION))):
        return False
    if name == "PReLUFusion":
        return node.inputs[1].is_constant
    return name in ("Activation", "LeakyRelu") or keeps_channels(node, channels)


def keeps_channels(node: Node, channels: int) -> bool:
    """Whether the node is a pooling, padding, resize or reduction over pixels that processes channels independently."""
    name, rank = node.op.name, node.inputs[0].rank
    if name in _POOLING:
        return True
    if name == "PadFusion":
        return len(node.inputs) == 2 and float(getattr(node.op, "constant_value", 0.0)) == 0.0 and _pads_pixels(node)
    if name == "Resize":
        return rank == 4 and (
            len(node.inputs) == 1 or (node.inputs[1].data is not None and node.inputs[1].data.size == 2)
        )
    if name == "ReduceFusion":
        axes = node.inputs[1].data if len(node.inputs) > 1 else None
        modes = (ReduceMode.ReduceMean, ReduceMode.ReduceMax, ReduceMode.ReduceSum)
        if axes is None or rank is None or getattr(node.op, "mode", None) not in modes:
            return False
        if getattr(node.op, "reduce_to_end", False):
            return False
        return all(int(axis) % rank != rank - 1 for axis in axes.reshape(-1).astype(np.int64))
    return False


def _pads_pixels(node: Node) -> bool:
    paddings = node.inputs[1].data
    return paddings is not None and not bool(paddings.reshape(-1, 2)[-1].any())


def repeats_of(node: Node, channels: int) -> int | None:
    """Returns how many times a reshape repeats the channels in the last dimension; None if it does not keep them."""
    if node.op.name not in ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "ExpandDims"):
        return None
    before, after = node.inputs[0].shape, node.output.shape
    if before is None or after is None or not before or not after or min(before[-1], after[-1]) < 1:
        return None
    if before[-1] % channels or after[-1] % channels:
        return None
    return after[-1] // channels


def trace(graph: Graph, value: Value, channels: int, passes: Passes = passes_scales) -> Path | None:
    """Follows the channels (last dimension) of `value` to convolutions and matmuls with constant weights.

    Returns None if the value is an output of the graph, or another node reads it for which `passes` is false.
    """
    between: list[Node] = []
    readers: list[Reader] = []
    leaving = {id(item) for item in graph.outputs}
    pending = [(value, 1)]
    while pending:
        current, repeats = pending.pop()
        if id(current) in leaving or not current.users or current.quant:
            return None
        for node in dict.fromkeys(current.users):
            if node.inputs.count(current) != 1 or node.inputs[0] is not current or node.quant_type != 0:
                return None
            layout = layout_of(node)
            if layout is not None:
                if node.op.name == "FullConnection" and layout.all_channels % channels == 0:
                    repeats = layout.all_channels // channels  # it flattens its input
                if layout.all_channels != channels * repeats or (repeats > 1 and layout.groups > 1):
                    return None
                readers.append(Reader(node, repeats))
                continue
            if len(node.outputs) != 1:
                return None
            again = repeats_of(node, channels)
            if again is not None:
                pending.append((node.output, again))
            elif repeats == 1 and passes(node, channels):
                pending.append((node.output, 1))
            else:
                return None
            between.append(node)
    return Path(tuple(between), tuple(readers))
