"""SmoothQuant: moves outliers of single activation channels into the weights of the next layers.

With a_j the largest |x| of channel j on the calibration data and w_j its largest weight, s_j = a_j^alpha / w_j^(1 -
alpha). The layer before outputs x_j / s_j, and the weights for this channel are multiplied by s_j (Xiao et al.,
"SmoothQuant", 2023, eq. 4). The layer before is a layer normalization, whose scale and offset are divided, or a
convolution or matmul whose activation satisfies f(s x) = s f(x).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.transforms.blocks import (
    activation_of,
    blocks_of,
    has_own_constants,
    layout_of,
    replaced,
    scale_results,
)
from mslite.quantizer.transforms.channels import Path, Reader, is_homogeneous, rename_scaled, trace
from mslite.quantizer.transforms.equalize import reader_magnitudes, scale_readers

Reals = npt.NDArray[np.float64]

_MAX = 1e4


@dataclass(frozen=True)
class Site:
    """A node whose output channels can be scaled, and the path to the layers that read them."""

    source: Node
    channels: int
    path: Path

    @property
    def readers(self) -> tuple[Reader, ...]:
        return self.path.readers


def sites(graph: Graph) -> list[Site]:
    """Returns all sites of a graph, in order of execution."""
    found = []
    for node in graph.nodes:
        channels = scalable_channels(node)
        if channels is None:
            continue
        path = trace(graph, node.output, channels)
        if path is not None and _is_free(path):
            found.append(Site(node, channels, path))
    return found


def _is_free(path: Path) -> bool:
    return bool(path.readers) and all(has_own_constants(reader.node) for reader in path.readers)


def scalable_channels(node: Node) -> int | None:
    """Returns the number of output channels of a node if its constants can scale them; else None."""
    if node.quant_type != 0 or len(node.outputs) != 1:
        return None
    layout = layout_of(node)
    if layout is not None:
        return layout.all_results if has_own_constants(node) and is_homogeneous(activation_of(node)) else None
    if node.op.name != "LayerNormFusion" or len(node.inputs) != 3:
        return None
    shape = node.output.shape
    affine = node.inputs[1:]
    if not shape or any(
        value.data is None or value.dtype is not DataType.FLOAT32 or value.data.shape != (shape[-1],)
        for value in affine
    ):  # fmt: skip
        return None
    return shape[-1]


def divide_channels(node: Node, factors: Reals) -> None:
    """Divides each output channel of a node by a factor. `scalable_channels` must accept the node."""
    layout = layout_of(node)
    if layout is not None:
        scale_results(node, layout, 1 / factors)
        return
    affine = [
        replaced(node, value, (value.array().astype(np.float64) / factors).astype(np.float32))
        for value in node.inputs[1:]
    ]
    node.set_inputs([node.inputs[0], *affine])


class ChannelStatistics:
    """Smallest, largest and mean squared value of each channel."""

    def __init__(self, channels: int) -> None:
        self.low, self.high = np.zeros(channels), np.zeros(channels)
        self._squares = np.zeros(channels)
        self._count = 0

    def update(self, x: npt.NDArray[np.generic]) -> None:
        """Adds an activation. Its last dimension has the channels, once or repeated."""
        rows = np.asarray(x, np.float64).reshape(-1, self.low.size)
        self.low = np.minimum(self.low, rows.min(axis=0, initial=0.0))
        self.high = np.maximum(self.high, rows.max(axis=0, initial=0.0))
        self._squares += (rows**2).sum(axis=0)
        self._count += rows.shape[0]

    @property
    def largest(self) -> Reals:
        return np.maximum(-self.low, self.high)

    @property
    def mean_squares(self) -> Reals:
        return np.asarray(self._squares / max(self._count, 1))


def statistics(module: Module, found: list[Site], data: CalibrationData) -> list[ChannelStatistics]:
    """Returns statistics of the readers' input for each site. Raises ConversionError if the model does not run on a
    sample."""
    seen: dict[int, tuple[Value, ChannelStatistics]] = {}
    for site in found:
        value = site.readers[0].node.inputs[0]
        seen[id(value)] = (value, ChannelStatistics(site.channels))
    runner = Runner(module, [value for value, _ in seen.values()])
    count = 0
    for sample in data:
        try:
            for value, array in runner.run(sample):
                seen[id(value)][1].update(array)
        except RuntimeError as error:
            raise ConversionError(
                f"the model does not run on calibration sample {count}: {error}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            ) from None
        count += 1
    if not count:
        raise ConversionError("there is no calibration sample", code=ReturnCode.INPUT_PARAMETER_INVALID)
    return [seen[id(site.readers[0].node.inputs[0])][1] for site in found]


def smooth(module: Module, data: CalibrationData, settings: QuantizerSettings) -> list[str]:
    """Smooths the main graph in place; returns notes. Float results change by rounding only.

    A site is not changed if that would increase the quantization noise of activation and weights.
    """
    found = sites(module.main)
    if not found:
        return ["SmoothQuant: no activation of this model can be smoothed"]
    count = 0
    for site, seen in zip(found, statistics(module, found, data), strict=True):
        factors = smoothing_factors(seen.largest, _weights(site), settings.full.smooth_alpha)
        if noise(site, seen, factors) >= noise(site, seen, np.ones_like(factors)):
            continue
        divide_channels(site.source, factors)
        scale_readers(site.readers, factors)
        rename_scaled(site.source, site.path)
        count += 1
    return [f"SmoothQuant: outliers of {count} of {len(found)} activations moved into the next layers' weights"]


def noise(site: Site, seen: ChannelStatistics, factors: Reals) -> float:
    """Returns the expected squared error of the readers' outputs if activation and weights are quantized to 8 bits.

    A step of d has an error of d^2 / 12. Weights have one step per output channel.
    """
    step = (float((seen.high / factors).max()) - float((seen.low / factors).min())) / 255
    total = 0.0
    for reader in site.readers:
        layout = layout_of(reader.node)
        assert layout is not None
        scaled = blocks_of(reader.node, layout) * np.tile(factors, reader.repeats).reshape(layout.groups, 1, 1, -1)
        squares = np.tile(seen.mean_squares / factors**2, reader.repeats).reshape(layout.groups, 1, 1, -1)
        steps = np.abs(scaled).max(axis=(2, 3)) / 127
        seen_by_weights = layout.taps * squares.sum(axis=(2, 3))
        total += float((scaled**2).sum()) * step**2 / 12 + float((steps**2 * seen_by_weights).sum()) / 12
    return total


def _weights(site: Site) -> Reals:
    return np.asarray(np.max([reader_magnitudes(reader, site.channels) for reader in site.readers], axis=0))


def smoothing_factors(activation: Reals, weight: Reals, alpha: float) -> Reals:
    """Returns s, scaled to a geometric mean of 1; 1 for channels that are zero or not finite."""
    usable = (activation > 0) & (weight > 0) & np.isfinite(activation)
    factors = np.ones_like(activation)
    if not usable.any():
        return factors
    logs = alpha * np.log(activation[usable]) - (1 - alpha) * np.log(weight[usable])
    factors[usable] = np.clip(np.exp(logs - logs.mean()), 1 / _MAX, _MAX)
    return factors
