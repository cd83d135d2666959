"""A common layout for the weights of convolutions and matmuls: [groups, results, taps, channels].

`results` and `channels` are the output and input channels of one group, `taps` the pixels of the kernel (1 for
matmuls). A depthwise convolution has one group per channel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Node, Value, constant
from mslite.converter.mindir.ops.enums import ActivationType, DataType

Reals = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Layout:
    """Converts between the stored layout of a node's weight and the common layout."""

    groups: int
    results: int
    taps: int
    channels: int
    shape: tuple[int, ...]
    turned: bool
    """Whether the stored matrix is [channels, results]."""

    @property
    def all_results(self) -> int:
        return self.groups * self.results

    @property
    def all_channels(self) -> int:
        return self.groups * self.channels

    def blocks(self, weight: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Returns the weight as [groups, results, taps, channels]."""
        if self.turned:
            return weight.T[None, :, None, :]
        return weight.reshape(self.groups, self.results, self.taps, self.channels)

    def stored(self, blocks: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Returns the weight in the layout of the node; the inverse of `blocks`."""
        if self.turned:
            return np.ascontiguousarray(blocks[0, :, 0, :].T)
        return np.ascontiguousarray(blocks).reshape(self.shape)


def layout_of(node: Node) -> Layout | None:
    """Returns the layout of the constant float weight of a convolution, fully connected layer or matmul; else None."""
    if len(node.inputs) < 2 or node.inputs[0].is_constant:
        return None
    weight = node.inputs[1]
    if weight.data is None or weight.dtype is not DataType.FLOAT32 or weight.quant or not weight.data.size:
        return None
    shape = tuple(weight.data.shape)
    name = node.op.name
    if name == "Conv2DFusion" and len(shape) == 4:
        groups = max(int(getattr(node.op, "group", 1)), 1)
        if shape[0] % groups:
            return None
        return Layout(groups, shape[0] // groups, shape[1] * shape[2], shape[3], shape, False)
    if name == "FullConnection" and len(shape) == 2:
        return Layout(1, shape[0], 1, shape[1], shape, False)
    if name == "MatMulFusion" and len(shape) == 2 and not getattr(node.op, "transpose_a", False):
        if getattr(node.op, "transpose_b", False):
            return Layout(1, shape[0], 1, shape[1], shape, False)
        return Layout(1, shape[1], 1, shape[0], shape, True)
    return None


def blocks_of(node: Node, layout: Layout) -> Reals:
    """Returns the weight as float64 [groups, results, taps, channels]."""
    return layout.blocks(node.inputs[1].array()).astype(np.float64)


def set_blocks(node: Node, layout: Layout, blocks: Reals) -> None:
    """Replaces the node's weight by one of the same shape."""
    _set(node, 1, layout.stored(blocks.astype(np.float32)))


def result_magnitudes(blocks: Reals) -> Reals:
    """Returns the largest |w| of each output channel."""
    return np.asarray(np.abs(blocks).max(axis=(2, 3))).reshape(-1)


def channel_magnitudes(blocks: Reals) -> Reals:
    """Returns the largest |w| of each input channel."""
    return np.asarray(np.abs(blocks).max(axis=(1, 2))).reshape(-1)


def scale_results(node: Node, layout: Layout, factors: Reals) -> None:
    """Multiplies each output channel by a factor, in weight and bias."""
    by_group = factors.reshape(layout.groups, layout.results, 1, 1)
    set_blocks(node, layout, blocks_of(node, layout) * by_group)
    if len(node.inputs) > 2:
        bias = node.inputs[2].array()
        _set(node, 2, (bias.astype(np.float64) * factors.reshape(bias.shape)).astype(np.float32))


def scale_channels(node: Node, layout: Layout, factors: Reals) -> None:
    """Multiplies the weights of each input channel by a factor."""
    by_group = factors.reshape(layout.groups, 1, 1, layout.channels)
    set_blocks(node, layout, blocks_of(node, layout) * by_group)


def has_own_constants(node: Node) -> bool:
    """Whether no other node reads the weight, and the bias, if any, has one value per output channel."""
    layout = layout_of(node)
    if layout is None or len(node.inputs[1].users) != 1 or len(node.inputs) > 3:
        return False
    if len(node.inputs) < 3:
        return True
    bias = node.inputs[2]
    is_real = bias.data is not None and bias.dtype is DataType.FLOAT32
    return is_real and bias.array().size == layout.all_results


def activation_of(node: Node) -> ActivationType:
    """Returns the fused activation of a node."""
    return ActivationType(getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION))


def _set(node: Node, index: int, data: npt.NDArray[np.generic]) -> None:
    inputs = list(node.inputs)
    inputs[index] = replaced(node, inputs[index], data)
    node.set_inputs(inputs)


def replaced(node: Node, value: Value, data: npt.NDArray[np.generic]) -> Value:
    """Returns a constant with other data for one node. It gets a new name if other nodes read the old constant."""
    name = value.name if len(value.users) == 1 else f"{value.name}_{node.name}"
    return constant(name, data, value.format)
