"""Cross-layer equalization: scales move between the channels of neighboring products until both use their range.

A ReLU (or nothing, or any f with f(s x) = s f(x)) between two products lets channel i of the first be divided by any
s > 0 and what the second multiplies it by be multiplied by s: the function stays. With r1 and r2 the largest weights of
both, s = sqrt(r1 r2) / r2 makes them equal (Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias
Correction", 2019, eq. 11). It matters where a weight has one scale for all channels, and for the one scale that the
activation between has. ReLU6 is no such f: pairs across it are left alone.
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
_MOST = 1e4
"""No factor is larger, or smaller than its inverse: float32 must hold what comes out."""


@dataclass(frozen=True)
class Pair:
    """A product and all that its channels are multiplied by next."""

    first: Node
    path: Path

    @property
    def readers(self) -> tuple[Reader, ...]:
        return self.path.readers


def pairs(graph: Graph) -> tuple[list[Pair], list[str]]:
    """All pairs that can be equalized; and the names of products whose ReLU6 (or other activation) forbids it."""
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
    notes = [f"cross-layer equalization: {len(found)} products scaled"]
    if refused:
        notes.append(f"cross-layer equalization: {len(refused)} products left alone, they end in ReLU6")
    return notes


def _equalize_pair(pair: Pair) -> float:
    """Returns the largest |ln s|."""
    layout = layout_of(pair.first)
    assert layout is not None
    first = result_magnitudes(blocks_of(pair.first, layout))
    second = np.zeros_like(first)
    for reader in pair.readers:
        second = np.maximum(second, reader_magnitudes(reader, first.size))
    usable = (first > 0) & (second > 0)
    factors = np.ones_like(first)
    factors[usable] = np.clip(np.sqrt(first[usable] / second[usable]), 1 / _MOST, _MOST)
    move_scales(pair.first, pair.readers, factors)
    return float(np.abs(np.log(factors)).max(initial=0.0))


def reader_magnitudes(reader: Reader, channels: int) -> Reals:
    """The largest weight by which a reader multiplies each channel."""
    layout = layout_of(reader.node)
    assert layout is not None
    magnitudes = channel_magnitudes(blocks_of(reader.node, layout))
    return np.asarray(magnitudes.reshape(reader.repeats, channels).max(axis=0))


def move_scales(first: Node, readers: tuple[Reader, ...], factors: Reals) -> None:
    """Divides the channels of a product's result by `factors` and lets the readers multiply them again."""
    layout = layout_of(first)
    assert layout is not None
    scale_results(first, layout, 1 / factors)
    scale_readers(readers, factors)


def scale_readers(readers: tuple[Reader, ...], factors: Reals) -> None:
    """Multiplies what each channel is multiplied by."""
    for reader in readers:
        layout = layout_of(reader.node)
        assert layout is not None
        scale_channels(reader.node, layout, np.tile(factors, reader.repeats))
