"""Computes bounds of activations that follow from the operators (ReLU6: 0 to 6). No range needs to be wider."""

from __future__ import annotations

import math

from mslite.converter.mindir.graph import Module, Node
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.quantizer.precision.operators import Kind, rule_of
from mslite.quantizer.precision.schemes import Range

_ANY = Range(-math.inf, math.inf)
_ACTIVATIONS = {
    ActivationType.RELU: Range(0.0, math.inf),
    ActivationType.RELU6: Range(0.0, 6.0),
    ActivationType.SIGMOID: Range(0.0, 1.0),
    ActivationType.HSIGMOID: Range(0.0, 1.0),
    ActivationType.TANH: Range(-1.0, 1.0),
    ActivationType.SOFTSIGN: Range(-1.0, 1.0),
    ActivationType.SIGN: Range(-1.0, 1.0),
}


def bounds_of(module: Module) -> dict[str, Range]:
    """Returns name of a value in the main graph -> its bounds. Unbounded values are left out."""
    found: dict[str, Range] = {}
    for node in module.main.nodes:
        bounds = _bounds(node, found)
        if bounds != _ANY:
            found.update((value.name, bounds) for value in node.outputs)
    return found


def _bounds(node: Node, found: dict[str, Range]) -> Range:
    kind = getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION)
    if node.op.name == "Activation" and kind is ActivationType.HARD_TANH:
        return Range(getattr(node.op, "min_val", -math.inf), getattr(node.op, "max_val", math.inf))
    if kind in _ACTIVATIONS:
        return _ACTIVATIONS[kind]
    if node.op.name == "Clip" and len(node.inputs) == 1:
        return Range(getattr(node.op, "min", -math.inf), getattr(node.op, "max", math.inf))
    if node.op.name == "Softmax":
        return Range(0.0, 1.0)
    rule = rule_of(node)
    if rule is None or rule.kind not in (Kind.MOVE, Kind.SAME):
        return _ANY
    bounds = Range(0.0, 0.0)  # padding
    for index in rule.data:
        bounds = bounds.merged(found.get(node.inputs[index].name, _ANY))
    return bounds
