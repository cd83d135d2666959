"""Rewrites a float graph with known ranges so that the selected nodes compute on integers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from mslite.converter.mac_count import macs
from mslite.converter.mindir.graph import Module, Node, Value
from mslite.converter.mindir.ops.enums import DataType, QuantType
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import is_quantized, same_quant_params
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import Choices, Precision
from mslite.quantizer.precision.devices import activation_scheme, device_of, is_per_channel
from mslite.quantizer.precision.operators import Kind
from mslite.quantizer.precision.schemes import INT16_ACTIVATION, Range, stored
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.results import LayerRecord
from mslite.quantizer.rewrite.activation_params import ActivationParams
from mslite.quantizer.rewrite.mac_constants import RoundedWeightCache, mac_constants, with_bias
from mslite.quantizer.rewrite.recurrent import recurrent_constants, stored_operator
from mslite.quantizer.settings import QuantizerSettings


@dataclass(frozen=True)
class Boundary:
    """Whether the model's inputs and outputs are integers, instead of floats with casts."""

    integer_inputs: bool = False
    integer_outputs: bool = False


def quantize_graph(
    module: Module,
    calibration: Calibration,
    choices: Choices,
    settings: QuantizerSettings,
    *,
    ranges: Mapping[str, Range] | None = None,
    weights: Mapping[str, StoredWeight] | None = None,
    boundary: Boundary | None = None,
) -> list[LayerRecord]:
    """Quantizes the main graph in place; returns a record for each node.

    `choices` may name only nodes of `precision.choices.eligible_nodes`. `ranges` (by value name) replace those of the
    calibration, `weights` (by constant name) replace rounding to nearest. Raises ValueError if a range is missing.
    """
    rewriter = _Rewriter(module, calibration, choices, settings, ranges or {}, weights or {}, boundary or Boundary())
    return rewriter.run()


class _Rewriter:
    def __init__(
        self,
        module: Module,
        calibration: Calibration,
        choices: Choices,
        settings: QuantizerSettings,
        ranges: Mapping[str, Range],
        weights: Mapping[str, StoredWeight],
        boundary: Boundary,
    ) -> None:
        self._graph = module.main
        self._callees = module.graphs[1:]
        self._choices = choices
        self._settings = settings
        self._calibration = calibration
        self._weights = weights
        self._boundary = boundary
        self._chosen = [node for node in self._graph.nodes if self._precision(node) is not Precision.FLOAT]
        self._records = ActivationParams(self._chosen, choices, calibration, settings, ranges)
        self._nodes: list[Node] = []
        self._forms: dict[int, list[Value]] = {}
        """Outputs of the casts of a value, by the id of the value."""
        self._stored_weights: dict[tuple[int, tuple[float, ...]], Value] = {}
        self._rounded = RoundedWeightCache()
        self._alive = list(self._graph.values())
        """Keeps all values alive, because dictionaries here use their ids as keys."""

    def _precision(self, node: Node) -> Precision:
        return self._choices.get(node.name, Precision.FLOAT)

    def run(self) -> list[LayerRecord]:
        graph = self._graph
        if self._boundary.integer_inputs:
            self._store_inputs()
        layers = []
        for node in list(graph.nodes):
            precision = self._precision(node)
            if precision is Precision.FLOAT:
                node.set_inputs([self._real(value, node, index) for index, value in enumerate(node.inputs)])
                self._nodes.append(node)
                layers.append(LayerRecord(node.name, node.op.name, precision, macs(node)))
            else:
                layers.append(self._quantize(node, precision))
        for callee in self._callees:
            layers += [LayerRecord(node.name, node.op.name, Precision.FLOAT, macs(node)) for node in callee.nodes]
        graph.outputs = [
            value if self._boundary.integer_outputs and is_quantized(value) else self._real_output(value)
            for value in graph.outputs
        ]
        graph.nodes = self._nodes
        return layers

    def _store_inputs(self) -> None:
        """Makes the model's inputs integers if quantized nodes read them, with the parameters for the first of these
        nodes."""
        chosen = {id(node) for node in self._chosen}
        for value in self._graph.inputs:
            for node in value.users:
                if id(node) not in chosen or value.dtype is not DataType.FLOAT32:
                    continue
                index = next(i for i in self._records.rule(node).data if node.inputs[i] is value)
                record = self._records.operand(node, index, self._precision(node))
                value.dtype, value.quant = self._dtype(self._precision(node)), (self._final(record),)

    def _dtype(self, precision: Precision) -> DataType:
        return activation_scheme(self._settings, precision.value).dtype

    def _final(self, record: QuantParam) -> QuantParam:
        """Returns quantization parameters as they are written to the file, with `min` and `max` if the device needs
        them."""
        if not device_of(self._settings).keeps_range:
            return record
        steps = activation_scheme(self._settings, record.numBits)
        low, high = (record.scale * (q - record.zeroPoint) for q in (steps.low, steps.high))
        return dataclasses.replace(record, min=low, max=high)

    def _quantize(self, node: Node, precision: Precision) -> LayerRecord:
        rule = self._records.rule(node)
        count = macs(node)
        operands = {index: self._final(self._records.operand(node, index, precision)) for index in rule.data}
        results = [self._final(self._records.result(value, precision)) for value in node.outputs]
        scheme = activation_scheme(self._settings, precision.value)
        inputs = list(node.inputs)
        weight_scales: tuple[float, ...] = ()
        weight_error = bias_shift = 0.0
        if rule.kind is Kind.MAC and 1 not in rule.data:
            constants = mac_constants(
                node,
                operands[0],
                results[0],
                precision,
                self._settings,
                self._calibration,
                self._weights,
                self._rounded,
            )
            # Nodes that share a weight share the quantized one, too, unless a large bias changed its scales.
            key = (id(node.inputs[1]), tuple(item.scale for item in constants.weight.quant))
            weight = self._stored_weights.setdefault(key, constants.weight)
            inputs[1:] = [weight] if constants.bias is None else [weight, constants.bias]
            if constants.bias is not None:
                with_bias(node)
            weight_scales = tuple(item.scale for item in constants.weight.quant)
            weight_error, bias_shift = constants.relative_error, constants.bias_shift
        for index, record in operands.items():
            value, dtype = node.inputs[index], DataType(record.dstDtype)
            if value.is_constant:
                kind = scheme if dtype is scheme.dtype else INT16_ACTIVATION
                data = stored(value.array(), (record,), 0, kind)
                inputs[index] = Value(value.name, dtype, value.shape, data=data, format=value.format, quant=(record,))
            else:
                inputs[index] = self._stored(value, dtype, record, node, index)
        if rule.kind is Kind.RECURRENT:
            states = [inputs[index] for index in rule.data[1:]]
            per_unit = is_per_channel(node, self._settings)
            inputs = [inputs[0], *recurrent_constants(node, operands[0], results[1], per_unit), *states]
            node.op = stored_operator(node, results[1])
        node.set_inputs(inputs)
        for value, record in zip(node.outputs, results, strict=True):
            value.dtype, value.quant = DataType(record.dstDtype), (record,)
        node.quant_type = QuantType.QUANT_NONE if rule.kind is Kind.MOVE else QuantType.QUANT_ALL
        self._nodes.append(node)
        return LayerRecord(
            node.name, node.op.name, precision, count, results[0], weight_scales, weight_error, bias_shift
        )

    # ---- forms of a value ----

    def _stored(self, value: Value, dtype: DataType, record: QuantParam, node: Node, index: int) -> Value:
        """Returns `value` with this data type and these quantization parameters; inserts a cast if necessary."""
        forms: list[Value] = [value, *self._forms.get(id(value), ())]
        for form in forms:
            if form.dtype is dtype and same_quant_params(form.quant, (record,)):
                return form
        made = Value(f"{value.name}_stored", dtype, value.shape, format=value.format, quant=(record,))
        return self._cast(value, made, f"{node.name}_dtype_cast_{index}_pre")

    def _real(self, value: Value, node: Node, index: int) -> Value:
        """Returns the float value for an input of a float node; inserts a cast if necessary."""
        if value.is_constant or not self._is_ours(value):
            return value
        return self._real_form(value, f"{node.name}_dtype_cast_{index}_post", f"{value.name}_real")

    def _real_output(self, value: Value) -> Value:
        if value.is_constant or not self._is_ours(value):
            return value
        name = value.name
        existing = self._existing_real(value)
        if existing is None and value not in self._graph.inputs:
            value.name = f"{name}_stored"
            return self._real_form(value, f"{name}_dtype_cast_post", name)
        if existing is not None and value not in self._graph.inputs:
            value.name, existing.name = f"{name}_stored", name
            return existing
        return self._real_form(value, f"{name}_dtype_cast_post", f"{name}_real")

    def _is_ours(self, value: Value) -> bool:
        """Whether this rewriter quantized the value."""
        if not is_quantized(value):
            return False
        if value.producer is None:
            return self._boundary.integer_inputs and value in self._graph.inputs
        return self._precision(value.producer) is not Precision.FLOAT

    def _existing_real(self, value: Value) -> Value | None:
        return next((form for form in self._forms.get(id(value), ()) if form.dtype is DataType.FLOAT32), None)

    def _real_form(self, value: Value, node_name: str, name: str) -> Value:
        existing = self._existing_real(value)
        if existing is not None:
            return existing
        return self._cast(value, Value(name, DataType.FLOAT32, value.shape, format=value.format), node_name)

    def _cast(self, source: Value, target: Value, name: str) -> Value:
        op = QuantDTypeCast(src_t=int(source.dtype), dst_t=int(target.dtype))
        self._nodes.append(Node(op, name, (source,), (target,)))
        self._forms.setdefault(id(source), []).append(target)
        return target
