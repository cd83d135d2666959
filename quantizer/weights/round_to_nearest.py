"""WEIGHT_QUANT with rounding to nearest: per-channel, per-block or per-tensor scales, and bias correction."""

from __future__ import annotations

import dataclasses

import numpy as np

from mslite.converter.mindir.graph import Array
from mslite.quantizer.precision.schemes import Scheme
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.weights.per_block import can_have_groups, grouped
from mslite.quantizer.weights.stored_weight import stored_weight
from mslite.quantizer.weights.weight_uses import WeightUse

_MAX_VARIANCE = 10.0


def rounded(use: WeightUse, scheme: Scheme, settings: QuantizerSettings) -> StoredWeight:
    """Returns the weight rounded to nearest, with bias correction if it is enabled."""
    data = use.value.array()
    exact_zeros = settings.methods.keep_integers or settings.prune.method == "MAGNITUDE"
    correct = settings.weight.bias_correction and not exact_zeros
    if settings.methods.group_size and can_have_groups(use):
        weight = grouped(use, scheme, settings.methods.group_size)
        return _corrected(weight, data) if correct and len(weight.records) > 1 else weight
    whole = settings.weight.dequant_strategy == "ON_THE_FLY" and scheme.bits < 8  # the format has one list of values
    per_channel = settings.weight.per_channel and not whole and not use.is_shared and data.shape[use.axis] > 1
    if per_channel and correct and settings.methods.small_channels == "TENSOR":
        # MindSpore Lite's rule: the quantization parameters of a channel must not be larger than the bytes it saves.
        per_channel = data.size // data.shape[use.axis] > 256 // (32 - scheme.bits)
    weight = stored_weight(data, use.axis, scheme, per_channel)
    return _corrected(weight, data) if per_channel and correct else weight


def _corrected(weight: StoredWeight, data: Array) -> StoredWeight:
    """Adds varCorr and meanCorr, which restore variance and mean of the float weights of each channel or block."""
    count = len(weight.records)  # channels or blocks
    real = np.moveaxis(weight.real().astype(np.float64), weight.axis, 0).reshape(count, -1)
    wanted = np.moveaxis(data.astype(np.float64), weight.axis, 0).reshape(real.shape)
    spread, wanted_spread = real.std(axis=1), wanted.std(axis=1)
    factors = np.divide(wanted_spread, spread, out=np.ones_like(spread), where=spread > 0)
    factors[(factors <= 0) | (factors > _MAX_VARIANCE)] = 1.0
    offsets = wanted.mean(axis=1) - real.mean(axis=1) * factors
    records = tuple(
        dataclasses.replace(record, varCorr=float(np.float32(factor)), meanCorr=float(np.float32(offset)))
        for record, factor, offset in zip(weight.records, factors, offsets, strict=True)
    )
    return dataclasses.replace(weight, records=records)
