"""Which operators have a gradient, and the weights of which are trained: training graphs of the test cases."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.ops.activation import PReLUFusion
from mslite.converter.mindir.ops.arithmetic import MulFusion
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.reference import CASES, Case
from mslite.converter.operator_pages.cases import inputs_of, node_of
from mslite.converter.training import Loss, TrainSettings, trainable_layers, training_graph

_WRITTEN_AS_OTHERS = frozenset({"Assign", "AssignAdd", "FlattenGrad", "LSTMGradData", "LSTMGradWeight"})
"""Operators of training steps that become other operators when a training file is loaded."""


@dataclass(frozen=True)
class Training:
    """Operators with a gradient, operators whose weights are trained, and operators of the training step itself."""

    differentiable: frozenset[str]
    with_weights: frozenset[str]
    of_steps: frozenset[str]

    def cell(self, operator: str) -> str:
        if operator in self.differentiable:
            return "weights" if operator in self.with_weights else "yes"
        return "step" if operator in self.of_steps else "-"


def training_facts(kernels: Collection[str]) -> Training:
    """`kernels`: the operators with a kernel."""
    differentiable, with_weights = set(), set()
    for case in CASES:
        name = case.op.name
        if name not in differentiable and _has_gradient(case):
            differentiable.add(name)
        if name not in with_weights and _has_trained_weights(case):
            with_weights.add(name)
    steps = {
        name for name, cls in OPERATORS.items() if cls.declaration.training and name in kernels
    } | _WRITTEN_AS_OTHERS
    return Training(frozenset(differentiable), frozenset(with_weights & differentiable), frozenset(steps))


def _has_gradient(case: Case) -> bool:
    """Whether a gradient passes through the node to a weight in front of it, with constants as other inputs or without."""
    settings = TrainSettings(loss=Loss.SQUARED, only=frozenset({"weight"}))
    for has_constants in (False, True):
        module = _behind(MulFusion(), "weight", case, is_whole=True, has_constants=has_constants)
        try:
            if module is not None and training_graph(module, settings).parameters == ("weight",):
                return True
        except ConversionError:
            continue
    return False


def _has_trained_weights(case: Case) -> bool:
    """Whether constants of the node are trained, behind another layer with weights."""
    module = _behind(PReLUFusion(), "slope", case, is_whole=False, has_constants=True)
    try:
        layers = trainable_layers(module, TrainSettings(loss=Loss.SQUARED)) if module is not None else []
    except ConversionError:
        return False
    return any(layer.name != "before" for layer in layers)


def _behind(op: Operator, weight: str, case: Case, *, is_whole: bool, has_constants: bool) -> Module | None:
    """A model of two nodes: `op` with a weight, which is as large as its input or has one number per channel, and the case
    behind it. None for cases without float32 activations, or without elements."""
    node = node_of(case)
    if node is None:
        return None
    fed = next((value for value in node.inputs if value.dtype is DataType.FLOAT32 and not value.is_constant), None)
    output = node.outputs[0]
    if fed is None or not fed.shape or output.dtype is not DataType.FLOAT32 or 0 in (output.shape or ()):
        return None
    if has_constants:
        for value, array in zip(node.inputs, inputs_of(case), strict=True):
            value.data = array if value is not fed else None
    shape = fed.shape
    given = Value("given", DataType.FLOAT32, shape, format=Format.NHWC)
    factor = constant(weight, np.ones(shape if is_whole else shape[-1:], np.float32), Format.NHWC)
    inputs = [given, *(value for value in node.inputs if not value.is_constant and value is not fed)]
    before = Node(op, "before", (given, factor), (fed,))
    return Module([Graph("main", inputs, [output], [before, node])])
