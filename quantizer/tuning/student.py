"""Builds the student: a trainable float graph with fake quantization at the places where the quantized model rounds.

Activations and weights pass x' = s round(clip(x / s)). With straight-through gradients of round, the scale s has LSQ's
gradient (Esser et al., "Learned Step Size Quantization", 2020). Zero points stay those of the calibration.

All trainable values are expressed in units for which one learning rate suits every layer: weights in steps of their
integers divided by sqrt(k), if k weights contribute to an output (rounding errors of k weights add up to sqrt(k), but a
training step changes all of them in the same direction, which adds up to k); biases in steps of the layer's output;
scales in SCALE_UNIT of their initial value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value, constant
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.ops.arithmetic import DivFusion, Maximum, Minimum, MulFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.ops.unary import Round
from mslite.converter.mindir.quantized import channel_axis, dequantized_array
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.training.builder import Builder
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import Choices, Precision
from mslite.quantizer.precision.devices import activation_scheme, is_per_channel, weight_scheme
from mslite.quantizer.precision.operators import Kind, OperatorRule, rule_of
from mslite.quantizer.precision.schemes import Range, stored
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.rewrite.activation_params import ActivationParams
from mslite.quantizer.rewrite.mac_constants import mean_shift, with_bias
from mslite.quantizer.settings import QuantizerSettings
from mslite.quantizer.weights.stored_weight import quantize_weight

SCALE_UNIT = 0.01
_WIDE_STEPS = 1 << 8
"""Number of int16 steps per int8 step."""
_PREFIX = "tuning/"

Floats = npt.NDArray[np.float32]
_Grid = tuple[float, int]
"""Scale and zero point."""


@dataclass(frozen=True)
class TunedWeight:
    """A trained weight: its constant, its initial quantization, and the names of the trainable parameters."""

    value: Value
    """The constant in the student's graph. It has the same name in the float model."""
    first: StoredWeight
    numbers: str
    scales: str
    unit: Floats
    """Unit of the trainable parameter `numbers`."""


@dataclass(frozen=True)
class TunedBias:
    """A trained bias. Its trainable parameter `numbers` is the bias divided by `unit`."""

    name: str
    numbers: str
    unit: float


@dataclass
class Student:
    """The student. `module` has one output: a vector of all float outputs, each multiplied by a factor, a further
    input."""

    module: Module
    outputs: tuple[int, ...] = ()
    """Indices of the model's outputs that are trained: the float outputs."""
    first: dict[str, Floats] = field(default_factory=dict)
    """Name of a trainable parameter -> its initial value."""
    weights: list[TunedWeight] = field(default_factory=list)
    biases: list[TunedBias] = field(default_factory=list)
    scales: dict[_Grid, str] = field(default_factory=dict)
    """Initial scale and zero point of activations -> name of the trainable scale."""
    grids: dict[str, _Grid] = field(default_factory=dict)
    """Name of an activation -> its initial scale and zero point."""

    def behind(self, stops: Iterable[str]) -> frozenset[str]:
        """Returns the trainable parameters whose gradients do not pass the nodes in `stops`."""
        wanted = set(stops)
        before: set[int] = set()
        for node in reversed(self.module.main.nodes):
            if node.name in wanted or any(id(value) in before for value in node.outputs):
                before.update(id(value) for value in node.inputs)
        values = [value for value in self.module.main.values() if value.name in self.first]
        return frozenset(value.name for value in values if id(value) not in before)

    def range_of(self, grid: _Grid, scale: float, settings: QuantizerSettings) -> Range:
        """Returns the range of integers with the zero point of `grid` and another scale."""
        scheme = activation_scheme(settings, Precision.INT8.value)
        return Range(scale * (scheme.low - grid[1]), scale * (scheme.high - grid[1]))


def student_of(
    module: Module, calibration: Calibration, choices: Choices, settings: QuantizerSettings, sample: Sample
) -> Student:
    """Builds the student of the float `module` for inputs with the shapes of `sample`. `module` is not changed.

    Nodes that `choices` leave in float get no fake quantization.
    """
    copy = copy_module(module)
    for value, array in zip(copy.main.inputs, sample, strict=True):
        value.shape = tuple(array.shape)
    infer_shapes(copy, Context())
    return _Maker(copy, calibration, choices, settings).make()


def add_own_biases(module: Module, choices: Choices) -> None:
    """Gives each quantized convolution and matmul a bias that no other node reads, so that it can be trained."""
    graph = module.main
    for node in graph.nodes:
        rule = rule_of(node)
        if choices.get(node.name, Precision.FLOAT) is Precision.FLOAT or rule is None or rule.kind is not Kind.MAC:
            continue
        shape = node.outputs[0].shape
        if 1 in rule.data or not shape or shape[-1] < 0:
            continue
        if len(node.inputs) < 3:
            data = np.zeros(shape[-1:], np.float32)
        elif len(node.inputs[2].users) > 1:
            data = np.asarray(node.inputs[2].array(), np.float32)
        else:
            continue
        bias = constant(graph.unique_name(f"{node.name}_bias"), data, node.inputs[1].format)
        node.set_inputs([*node.inputs[:2], bias])
        with_bias(node)


class _Maker:
    def __init__(self, module: Module, calibration: Calibration, choices: Choices, settings: QuantizerSettings) -> None:
        self._module, self._choices, self._settings = module, choices, settings
        self._calibration = calibration
        self._graph = module.main
        chosen = [node for node in self._graph.nodes if self._is_chosen(node)]
        self._records = ActivationParams(chosen, choices, calibration, settings, {})
        self._known = {
            _grid(rule.fixed_record(Precision.INT8.value))
            for node in chosen
            if (rule := self._records.rule(node)).kind is Kind.FIXED
        }
        """Scales and zero points that are fixed by the operator and not trained."""
        self._scheme = activation_scheme(settings, Precision.INT8.value)
        self._student = Student(module)
        self._alive = list(self._graph.values())
        """Keeps all values alive, because dictionaries here use their ids as keys."""
        self._readers = {id(value): list(value.users) for value in self._alive if value.is_constant}
        self._rounded: dict[int, Value] = {}
        self._forms: dict[tuple[int, _Grid], Value] = {}
        self._on_grid: dict[int, _Grid] = {}
        self._build = Builder(Graph(self._graph.name, self._graph.inputs, self._graph.outputs, self._graph.nodes))

    def _is_chosen(self, node: Node) -> bool:
        return self._choices.get(node.name, Precision.FLOAT) is not Precision.FLOAT

    def _is_narrow(self, node: Node) -> bool:
        return self._choices.get(node.name) is Precision.INT8

    def make(self) -> Student:
        nodes = list(self._graph.nodes)
        self._graph.nodes = []
        self._build.graph = self._graph
        for node in nodes:
            if self._is_chosen(node):
                self._add_rounded(node)
            else:
                self._graph.nodes.append(node)
        self._join_outputs()
        self._graph.nodes = live_nodes(self._graph)
        self._module.outputs = None
        return self._student

    # ---- nodes that will compute on integers ----

    def _add_rounded(self, node: Node) -> None:
        rule = self._records.rule(node)
        if rule.kind is Kind.RECURRENT:  # an LSTM rounds inside the operator
            self._graph.nodes.append(node)
            return
        if not self._is_narrow(node):
            self._add_wide(node, rule)
            return
        inputs = list(node.inputs)
        for index in rule.data:
            inputs[index] = self._operand(node, index)
        result = self._records.result(node.outputs[0], Precision.INT8)
        if rule.kind is Kind.MAC and 1 not in rule.data:
            inputs[1:] = [self._weight(node), *([self._bias(node, result.scale)] if len(inputs) > 2 else [])]
        node.set_inputs(inputs)
        results = [self._records.result(value, Precision.INT8) for value in node.outputs]
        moves = self._only_moves(node, rule, result)
        plain = list(node.outputs)
        for place, value in enumerate(node.outputs):
            grid = self._note(value, results[place])
            if not moves:
                plain[place] = Value(
                    self._build.name(f"{value.name}/real"), value.dtype, value.shape, format=value.format
                )
                plain[place].producer = node
            self._on_grid[id(value)] = grid
        rounded = list(node.outputs)
        node.outputs = tuple(plain)
        self._graph.nodes.append(node)
        if not moves:
            for before, after, record in zip(plain, rounded, results, strict=True):
                last = self._activation(before, record, after.name, cut_below=_is_rectified(node))
                self._replace_result(last, after)

    def _add_wide(self, node: Node, rule: OperatorRule) -> None:
        """Adds a node with int16 activations. Only its weight gets fake quantization, as rounding to int16 is
        negligible."""
        if rule.kind is Kind.MAC and 1 not in rule.data:
            unit = self._records.result(node.outputs[0], Precision.INT16).scale * _WIDE_STEPS
            bias = [self._bias(node, unit)] if len(node.inputs) > 2 else []
            node.set_inputs([node.inputs[0], self._weight(node), *bias])
        self._graph.nodes.append(node)

    def _replace_result(self, made: Value, wanted: Value) -> None:
        """Makes `wanted` the output of the node that produces `made`."""
        node = made.producer
        assert node is not None
        node.outputs = (wanted,)
        wanted.producer = node

    def _only_moves(self, node: Node, rule: OperatorRule, result: QuantParam) -> bool:
        """Whether the outputs are elements of inputs that are already rounded with the same scale and zero point."""
        if rule.kind is not Kind.MOVE and node.op.name not in ("MaxPoolFusion", "Maximum", "Minimum"):
            return False
        return all(
            self._grid_of(node.inputs[index]) == _grid(result)
            for index in rule.data
        )  # fmt: skip

    def _grid_of(self, value: Value) -> _Grid | None:
        return self._on_grid.get(id(value))

    def _note(self, value: Value, record: QuantParam) -> _Grid:
        grid = _grid(record)
        self._student.grids.setdefault(value.name, grid)
        return grid

    def _operand(self, node: Node, index: int) -> Value:
        value, record = node.inputs[index], self._records.operand(node, index, Precision.INT8)
        if value.is_constant:
            if id(value) not in self._rounded:
                data = dequantized_array(stored(value.array(), (record,), 0, self._scheme), (record,), 0)
                self._rounded[id(value)] = self._build.constant(f"{_PREFIX}{value.name}/rounded", data)
                self._on_grid[id(self._rounded[id(value)])] = _grid(record)
            return self._rounded[id(value)]
        grid = _grid(record)
        if self._on_grid.get(id(value)) == grid:
            return value
        key = (id(value), grid)
        if key not in self._forms:
            if value.producer is None or not self._is_narrow(value.producer):
                self._note(value, record)
            self._forms[key] = self._activation(value, record, value.name)
            self._on_grid[id(self._forms[key])] = grid
        return self._forms[key]

    # ---- rounding ----

    def _activation(self, x: Value, record: QuantParam, name: str, *, cut_below: bool = False) -> Value:
        """Applies fake quantization to x. With `cut_below`, x has no negative values and needs no lower limit."""
        grid = _grid(record)
        low, high = self._scheme.low - grid[1], self._scheme.high - grid[1]
        return self._on_steps(x, self._scale(grid), low, high, f"{_PREFIX}{name}", clips_low=low != 0 or not cut_below)

    def _on_steps(self, x: Value, scale: Value, low: float, high: float, name: str, *, clips_low: bool = True) -> Value:
        return self._times(self._steps(x, scale, low, high, name, clips_low=clips_low), scale, f"{name}/rounded")

    def _steps(self, x: Value, scale: Value, low: float, high: float, name: str, *, clips_low: bool = True) -> Value:
        """Adds nodes for round(clip(x / scale))."""
        shape = x.shape or ()
        steps = self._build.node(DivFusion(), f"{name}/steps", [x, scale], shape)
        steps = self._build.node(Minimum(), f"{name}/below", [steps, self._number(high)], shape)
        if clips_low:
            steps = self._build.node(Maximum(), f"{name}/above", [steps, self._number(low)], shape)
        return self._build.node(Round(), f"{name}/round", [steps], shape)

    def _number(self, number: float) -> Value:
        return self._build.constant(f"{_PREFIX}number", np.asarray([number], np.float32))

    def _times(self, a: Value, b: Value, name: str) -> Value:
        return self._build.node(MulFusion(), name, [a, b], a.shape or ())

    def _scale(self, grid: _Grid) -> Value:
        """Returns the trainable scale of activations; a constant if the operator fixes it."""
        key = (-1, grid)
        if key not in self._forms:
            scale = grid[0]
            if grid in self._known:
                self._forms[key] = self._number(scale)
            else:
                name = self._trained(f"{_PREFIX}scale", np.asarray([1 / SCALE_UNIT], np.float32))
                self._student.scales[grid] = name.name
                self._forms[key] = self._times(name, self._number(SCALE_UNIT * scale), f"{name.name}/real")
        return self._forms[key]

    def _trained(self, wish: str, data: Array) -> Value:
        value = self._build.constant(wish, np.asarray(data, np.float32))
        self._student.first[value.name] = np.asarray(data, np.float32)
        return value

    def _weight(self, node: Node) -> Value:
        source = node.inputs[1]
        if id(source) in self._rounded:
            return self._rounded[id(source)]
        scheme = weight_scheme(self._settings)
        first = quantize_weight(node, 1, scheme, is_per_channel(node, self._settings))
        if not self._is_only(source, 1):
            self._rounded[id(source)] = self._build.constant(f"{_PREFIX}{source.name}/rounded", first.real())
            return self._rounded[id(source)]
        axis = channel_axis(node.op, 1, node.inputs)
        scales = column(first, axis).astype(np.float32)
        steps_of_unit = float(np.sqrt(source.array().shape[axis] / source.array().size))
        unit = scales * np.float32(steps_of_unit)
        name = f"{_PREFIX}{source.name}"
        numbers = self._trained(name, source.array().astype(np.float32) / unit)
        learned = self._trained(f"{name}/scale", np.full(scales.shape, 1 / SCALE_UNIT, np.float32))
        step = self._times(learned, self._number(SCALE_UNIT / steps_of_unit), f"{name}/step")
        steps = self._steps(numbers, step, scheme.low, scheme.high, name)
        real = self._times(step, self._build.constant(f"{name}/unit", unit), f"{name}/step/real")
        self._rounded[id(source)] = self._times(steps, real, f"{name}/real")
        self._student.weights.append(TunedWeight(source, first, numbers.name, learned.name, unit))
        return self._rounded[id(source)]

    def _is_only(self, source: Value, place: int) -> bool:
        """Whether only quantized convolutions and matmuls read a constant, all of them as input `place`."""
        return all(
            self._is_product(node) and not any(value is source for i, value in enumerate(node.inputs) if i != place)
            for node in self._readers[id(source)]
        )

    def _is_product(self, node: Node) -> bool:
        return self._is_chosen(node) and self._records.rule(node).kind is Kind.MAC

    def _bias(self, node: Node, step: float) -> Value:
        """Adds the trainable bias, in steps of the output. Its initial value includes the bias correction."""
        source, unit = node.inputs[2], float(np.float32(step))
        start = source.array().astype(np.float64)
        scheme, per_channel = weight_scheme(self._settings), is_per_channel(node, self._settings)
        shift = mean_shift(node, quantize_weight(node, 1, scheme, per_channel), self._settings, self._calibration)
        if shift is not None:
            start = start - shift.reshape(start.shape)
        numbers = self._trained(f"{_PREFIX}{source.name}", start / unit)
        self._student.biases.append(TunedBias(source.name, numbers.name, unit))
        return self._times(numbers, self._number(unit), f"{numbers.name}/real")

    # ---- the end ----

    def _join_outputs(self) -> None:
        """Joins all float outputs to one vector. Each is multiplied by a factor, which is a further input."""
        parts: list[Value] = []
        used: list[int] = []
        for place, value in enumerate(self._graph.outputs):
            if value.dtype is not DataType.FLOAT32 or not value.is_static or value.producer is None:
                continue
            flat = self._build.reshaped(value, (prod(value.shape or ()),), f"{_PREFIX}output_{place}")
            factor = Value(self._build.name(f"{_PREFIX}factor_{place}"), DataType.FLOAT32, (1,))
            self._graph.inputs.append(factor)
            parts.append(self._times(flat, factor, f"{_PREFIX}output_{place}/scaled"))
            used.append(place)
        self._student.outputs = tuple(used)
        total = sum(prod(part.shape or ()) for part in parts)
        joined = parts[0] if len(parts) == 1 else None
        if joined is None and parts:
            joined = self._build.node(Concat(axis=0), f"{_PREFIX}outputs", parts, (total,))
        self._graph.outputs = [] if joined is None else [joined]


def _grid(record: QuantParam) -> _Grid:
    return (record.scale, record.zeroPoint)


def column(weight: StoredWeight, axis: int) -> npt.NDArray[np.float64]:
    """Returns the scales of a weight in a shape that broadcasts to the weight."""
    shape = [-1 if index == axis and len(weight.records) > 1 else 1 for index in range(weight.data.ndim)]
    return np.array([item.scale for item in weight.records], np.float64).reshape(shape)


def _is_rectified(node: Node) -> bool:
    kind = getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION)
    return kind in (ActivationType.RELU, ActivationType.RELU6)
