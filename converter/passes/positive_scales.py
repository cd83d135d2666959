"""Stored constants whose scales no reader of a file takes: negative ones, and such that are no numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.mindir.positive_scales import are_finite, has_negative, with_positive_scales
from mslite.converter.mindir.quantized import channel_axis, only_moves, real_numbers
from mslite.converter.passes.context import Context


def make_scales_positive(module: Module, context: Context) -> None:
    """Gives stored constants with negative scales positive ones, and decodes to float those whose scales are infinite
    or no numbers. What the constants mean stays. Packed constants stay as they are."""
    readers: dict[int, list[tuple[Node, int]]] = {}
    values: dict[int, Value] = {}
    for graph in module.graphs:
        for node in graph.nodes:
            for index, value in enumerate(node.inputs):
                if value.data is not None and (has_negative(value.quant) or not are_finite(value.quant)):
                    values[id(value)] = value
                    readers.setdefault(id(value), []).append((node, index))
    for key, value in values.items():
        if any(only_moves(node) for node, _ in readers[key]):
            continue  # what is moved has the same records
        axes = {channel_axis(node.op, index, node.inputs) for node, index in readers[key]}
        if len(value.quant) > 1 and len(axes) > 1:
            continue  # which dimension they belong to is not said
        axis = axes.pop()
        if not are_finite(value.quant):
            _dequantize(value, axis, [node for node, _ in readers[key]])
            continue
        made = with_positive_scales(value.array(), value.quant, axis)
        if made is not None:
            value.data, value.quant = made


def _dequantize(value: Value, axis: int, readers: Sequence[Node]) -> None:
    with np.errstate(invalid="ignore"):
        numbers = real_numbers(value.array(), value.quant, axis)
    real = constant(f"{value.name}_real", numbers, value.format)
    for node in readers:
        node.replace_input(value, real)
        if node.quant_type is QuantType.QUANT_WEIGHT and not any(one.quant for one in node.inputs):
            node.quant_type = QuantType.QUANT_NONE
