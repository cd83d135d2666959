"""Learned rounding: rounds each weight up or down to minimize the output error of the layer on the calibration data.

The objective is that of AdaRound (Nagel et al., "Up or Down? Adaptive Rounding for Post-Training Quantization", 2020):
|(w' - w) x|^2 over the inputs x of the layer, with w' the lower or the upper neighbor of w. Instead of gradient descent
on a relaxation, it uses greedy coordinate descent: in each iteration every channel changes the weight that lowers its
error most, until no change does. The error is never larger than with rounding to nearest. The result is deterministic.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Module, Node
from mslite.quantizer.calibration.sources import CalibrationData
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import Choices, Precision
from mslite.quantizer.precision.devices import is_per_channel, weight_scheme
from mslite.quantizer.precision.operators import is_mac_node
from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.progress import Progress, silent
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.transforms.blocks import Floats, blocks_of, layout_of
from mslite.quantizer.weights.gram import grams
from mslite.quantizer.weights.stored_weight import quantize_weight

Reals = npt.NDArray[np.float64]

DAMPING = 0.01
"""This share of the mean second moment is added to the diagonal of H, so that inputs that are zero in all samples
count."""
_MIN_GAIN = 1e-9
_ROWS = 1 << 22
"""Number of elements that are processed at once."""


class LearnedRounding:
    """The step of FULL_QUANT that quantizes weights with learned rounding."""

    def __init__(self, progress: Progress = silent) -> None:
        self._progress = progress

    def __call__(
        self,
        module: Module,
        calibration: Calibration,
        data: CalibrationData,
        settings: QuantizerSettings,
        choices: Choices,
    ) -> dict[str, StoredWeight]:
        """Returns name of the constant -> weight, for all quantized convolutions and matmuls with a weight of their
        own."""
        nodes = [node for node in module.main.nodes if _is_wanted(node, choices)]
        result: dict[str, StoredWeight] = {}
        scheme = weight_scheme(settings)
        for node, gram in grams(module, nodes, data):
            plain = quantize_weight(node, 1, scheme, is_per_channel(node, settings))
            iterations = settings.methods.rounding_iterations
            result[node.inputs[1].name] = learned(node, plain, gram.moments, scheme, iterations)
            self._progress(len(result), len(nodes), "rounding")
        return result


def _is_wanted(node: Node, choices: Choices) -> bool:
    is_integer = choices.get(node.name, Precision.FLOAT) is not Precision.FLOAT
    return is_integer and is_mac_node(node) and layout_of(node) is not None and len(node.inputs[1].users) == 1


def learned(node: Node, plain: StoredWeight, moments: Floats, scheme: Scheme, iterations: int) -> StoredWeight:
    """Returns the weight of `node` with the scales of `plain` and learned integers. `moments` is H (gram.py)."""
    layout = layout_of(node)
    assert layout is not None
    scales = np.array([record.scale for record in plain.records], np.float64)
    if any(record.zeroPoint for record in plain.records):
        raise ValueError("learned rounding is for symmetric weights")
    scales = np.broadcast_to(scales, (layout.all_results,)).reshape(layout.groups, layout.results, 1)
    size = layout.taps * layout.channels
    steps = blocks_of(node, layout).reshape(layout.groups, layout.results, size) / scales
    integers = layout.blocks(plain.data).reshape(steps.shape).astype(np.float64)
    h = damped(moments)
    per_part = max(_ROWS // max(layout.results * size, 1), 1)
    for begin in range(0, layout.groups, per_part):
        part = slice(begin, begin + per_part)
        integers[part] = coordinate_descent(steps[part], integers[part], h[part], (scheme.low, scheme.high), iterations)
    blocks = integers.reshape(layout.groups, layout.results, layout.taps, layout.channels)
    return StoredWeight(layout.stored(blocks).astype(plain.data.dtype), plain.records, plain.axis)


def damped(moments: Floats) -> Floats:
    """H plus DAMPING of its mean diagonal; the identity where it is zero or not finite."""
    size = moments.shape[-1]
    diagonal = np.einsum("gkk->gk", moments).mean(axis=1, dtype=np.float64)
    usable = np.isfinite(diagonal) & (diagonal > 0) & np.isfinite(moments).all(axis=(1, 2))
    h = np.where(usable[:, None, None], moments, 0).astype(np.float32)
    h[:, np.arange(size), np.arange(size)] += np.where(usable, diagonal * DAMPING, 1.0)[:, None].astype(np.float32)
    return np.asarray(h, np.float32)


def coordinate_descent(steps: Reals, start: Reals, h: Floats, limits: tuple[int, int], iterations: int) -> Reals:
    """Returns integers [groups, results, k] next to the floats `steps` that reduce e H eT, with e = integers -
    steps."""
    low, high = np.floor(steps), np.ceil(steps)
    integers = start.copy()
    error = (integers - steps).astype(np.float32)
    pressure = np.matmul(error, h)  # e H
    diagonal = np.ascontiguousarray(np.einsum("gkk->gk", h))[:, None, :]
    # Change of a weight if it is rounded to its other neighbor; 0 if that is outside the limits.
    other = np.where(integers <= low, high, low)
    move = np.where((other >= limits[0]) & (other <= limits[1]), other - integers, 0).astype(np.float32)
    group, row = np.meshgrid(np.arange(steps.shape[0]), np.arange(steps.shape[1]), indexing="ij")
    least = -_MIN_GAIN * np.maximum(diagonal.mean(axis=2), np.float32(1e-30))
    for _ in range(iterations):
        gain = move * (2 * pressure + move * diagonal)
        best = gain.argmin(axis=2)
        is_better = gain[group, row, best] < least
        if not is_better.any():
            break
        g, r, k = group[is_better], row[is_better], best[is_better]
        by = move[g, r, k]
        integers[g, r, k] += by
        move[g, r, k] = -by
        pressure[g, r] += by[:, None] * h[g, k]
    return integers
