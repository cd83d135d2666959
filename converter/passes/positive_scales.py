"""Rewrites quantized constants with invalid scales: negative, infinite or NaN."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.mindir.positive_scales import are_finite, has_negative, with_positive_scales
from mslite.converter.mindir.quantized import channel_axis, dequantized_array, only_moves_elements
from mslite.converter.passes.context import Context


def make_scales_positive(module: Module, context: Context) -> None:
    """Makes negative scales of constants positive, and dequantizes constants with infinite or NaN scales.

    The float values of the constants do not change. Compressed constants are not rewritten."""
    readers: dict[int, list[tuple[Node, int]]] = {}
    values: dict[int, Value] = {}
    for graph in module.graphs:
        for node in graph.nodes:
            for index, value in enumerate(node.inputs):
                if value.data is not None and (has_negative(value.quant) or not are_finite(value.quant)):
                    values[id(value)] = value
                    readers.setdefault(id(value), []).append((node, index))
    for key, value in values.items():
        if any(only_moves_elements(node) for node, _ in readers[key]):
            continue  # the output has the same parameters
        axes = {channel_axis(node.op, index, node.inputs) for node, index in readers[key]}
        if len(value.quant) > 1 and len(axes) > 1:
            continue  # the dimension of the scales is ambiguous
        axis = axes.pop()
        if not are_finite(value.quant):
            _dequantize(value, axis, [node for node, _ in readers[key]])
            continue
        made = with_positive_scales(value.array(), value.quant, axis)
        if made is not None:
            value.data, value.quant = made


def _dequantize(value: Value, axis: int, readers: Sequence[Node]) -> None:
    with np.errstate(invalid="ignore"):
        numbers = dequantized_array(value.array(), value.quant, axis)
    real = constant(f"{value.name}_real", numbers, value.format)
    for node in readers:
        node.replace_input(value, real)
        if node.quant_type is QuantType.QUANT_WEIGHT and not any(one.quant for one in node.inputs):
            node.quant_type = QuantType.QUANT_NONE
