"""Cross-layer equalization: moves scales between the channels of successive layers until their weights have equal
ranges.

If the activation between two layers has f(s x) = s f(x), as ReLU or none, then output channel i of the first layer can
be divided by any s > 0, and the weights of the second layer for this channel multiplied by s, without changing the
function. With r1 and r2 the largest weights of both, s = sqrt(r1 r2) / r2 makes them equal (Nagel et al., "Data-Free
Quantization Through Weight Equalization and Bias Correction", 2019, eq. 11). It helps per-tensor weights, and the
activation between the layers, which has one scale. ReLU6 does not satisfy the condition, so layers with ReLU6 are not
changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Graph, Module, Node
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.quantizer.transforms.blocks import (
    activation_of,
    blocks_of,
    channel_magnitudes,
    has_own_constants,
    layout_of,
    result_magnitudes,
    scale_channels,
    scale_results,
)
from mslite.quantizer.transforms.channels import Path, Reader, is_homogeneous, rename_scaled, trace

Reals = npt.NDArray[np.float64]

ROUNDS = 20
_CONVERGED = 1e-3
_MAX = 1e4
"""Factors are between 1 / _MAX and _MAX, to avoid an overflow of float32."""


@dataclass(frozen=True)
class Pair:
    """A convolution or matmul, and the path to the layers that read its output channels."""

    first: Node
    path: Path

    @property
    def readers(self) -> tuple[Reader, ...]:
        return self.path.readers


def pairs(graph: Graph) -> tuple[list[Pair], list[str]]:
    """Returns all pairs that can be equalized, and the names of nodes that cannot because of a ReLU6."""
    found: list[Pair] = []
    refused: list[str] = []
    for node in graph.nodes:
        layout = layout_of(node)
        if layout is None or node.quant_type != 0 or not has_own_constants(node):
            continue
        kind = activation_of(node)
        if not is_homogeneous(kind):
            if kind is ActivationType.RELU6:
                refused.append(node.name)
            continue
        path = trace(graph, node.output, layout.all_results)
        if path is None or not path.readers or not all(has_own_constants(reader.node) for reader in path.readers):
            continue
        found.append(Pair(node, path))
    return found, refused


def equalize(module: Module) -> list[str]:
    """Equalizes the main graph in place; returns notes. Float results change by rounding only."""
    found, refused = pairs(module.main)
    for _ in range(ROUNDS):
        largest = max((_equalize_pair(pair) for pair in found), default=0.0)
        if largest < _CONVERGED:
            break
    for pair in found:
        rename_scaled(pair.first, pair.path)
    notes = [f"cross-layer equalization: {len(found)} layers scaled"]
    if refused:
        notes.append(f"cross-layer equalization: {len(refused)} layers unchanged because of ReLU6")
    return notes


def _equalize_pair(pair: Pair) -> float:
    """Equalizes one pair in place and returns the largest |ln s|."""
    layout = layout_of(pair.first)
    assert layout is not None
    first = result_magnitudes(blocks_of(pair.first, layout))
    second = np.zeros_like(first)
    for reader in pair.readers:
        second = np.maximum(second, reader_magnitudes(reader, first.size))
    usable = (first > 0) & (second > 0)
    factors = np.ones_like(first)
    factors[usable] = np.clip(np.sqrt(first[usable] / second[usable]), 1 / _MAX, _MAX)
    move_scales(pair.first, pair.readers, factors)
    return float(np.abs(np.log(factors)).max(initial=0.0))


def reader_magnitudes(reader: Reader, channels: int) -> Reals:
    """Returns the largest |w| of a reader for each channel."""
    layout = layout_of(reader.node)
    assert layout is not None
    magnitudes = channel_magnitudes(blocks_of(reader.node, layout))
    return np.asarray(magnitudes.reshape(reader.repeats, channels).max(axis=0))


def move_scales(first: Node, readers: tuple[Reader, ...], factors: Reals) -> None:
    """Divides the output channels of `first` by `factors`, and multiplies the weights of the readers by them."""
    layout = layout_of(first)
    assert layout is not None
    scale_results(first, layout, 1 / factors)
    scale_readers(readers, factors)


def scale_readers(readers: tuple[Reader, ...], factors: Reals) -> None:
    """Multiplies the weights of the readers for each channel by `factors`."""
    for reader in readers:
        layout = layout_of(reader.node)
        assert layout is not None
        scale_channels(reader.node, layout, np.tile(factors, reader.repeats))
