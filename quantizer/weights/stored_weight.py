"""Quantizes weights by rounding to nearest, per channel or per tensor, symmetric or not."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Array, Node, Value, data_type_of
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import channel_axis
from mslite.quantizer.precision.schemes import Scheme, array_range, channel_records, record, stored
from mslite.quantizer.precision.stored_weight import StoredWeight


def quantize_weight(node: Node, index: int, scheme: Scheme, per_channel: bool = True) -> StoredWeight:
    """Quantizes the constant input `index` of a float node. Channels of zeros get the largest scale of the others."""
    data = node.inputs[index].array()
    axis = channel_axis(node.op, index, node.inputs)
    return stored_weight(data, axis, scheme, per_channel)


def stored_weight(data: Array, axis: int, scheme: Scheme, per_channel: bool = True) -> StoredWeight:
    """Quantizes an array with channels along `axis`, as `quantize_weight`."""
    records: tuple[QuantParam, ...]
    if per_channel and data.ndim and data.shape[axis] > 1:
        records = _with_zero_channels(channel_records(data, axis, scheme), data, axis)
    else:
        records = (record(array_range(data), scheme),)
    return StoredWeight(stored(data, records, axis, scheme), records, axis)


def _with_zero_channels(records: tuple[QuantParam, ...], data: Array, axis: int) -> tuple[QuantParam, ...]:
    """Gives channels of zeros the largest scale of the others. Their scale matters, because it is that of the bias."""
    others = tuple(index for index in range(data.ndim) if index != axis)
    used = np.abs(data).max(axis=others) > 0
    if used.all() or not used.any():
        return records
    largest = max(item.scale for item, is_used in zip(records, used, strict=True) if is_used)
    return tuple(
        item if is_used else dataclasses.replace(item, scale=largest)
        for item, is_used in zip(records, used, strict=True)
    )


def rescaled(weight: StoredWeight, real: Array, factors: Sequence[float], scheme: Scheme) -> StoredWeight:
    """Quantizes the weight `real` again, with the scales of `weight` multiplied by `factors`."""
    records = tuple(
        dataclasses.replace(item, scale=item.scale * factor)
        for item, factor in zip(weight.records, factors, strict=True)
    )
    return StoredWeight(stored(real, records, weight.axis, scheme), records, weight.axis)


def constant_of(weight: StoredWeight, source: Value, name: str) -> Value:
    """Returns a constant with a quantized weight, which replaces the float constant `source`."""
    return Value(
        name,
        data_type_of(weight.data),
        tuple(weight.data.shape),
        data=weight.data,
        format=source.format,
        quant=weight.records,
    )
