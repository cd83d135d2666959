"""Computes the quantization parameters of activations from calibration ranges. Some operators need equal parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import Choices, Precision
from mslite.quantizer.precision.devices import activation_scheme
from mslite.quantizer.precision.operators import Kind, OperatorRule, rule_of, state_operands
from mslite.quantizer.precision.schemes import Range, array_range, record
from mslite.quantizer.rewrite.recurrent import cell_record, hidden_record
from mslite.quantizer.settings import QuantizerSettings

_Key = tuple[int, Precision]
"""The id of a value, and the precision in which it is stored."""


class ActivationParams:
    """The quantization parameters of all activations of quantized nodes.

    Values that must have equal parameters are merged into groups, in order of execution (union-find). Outputs with
    fixed parameters (Softmax) keep them. If such a value is an input of Concat with others, it is requantized there.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        choices: Choices,
        calibration: Calibration,
        settings: QuantizerSettings,
        ranges: Mapping[str, Range],
    ) -> None:
        self._settings = settings
        self._parents: dict[_Key, _Key] = {}
        self._ranges: dict[_Key, Range] = {}
        self._fixed: dict[_Key, QuantParam] = {}
        self._apart: set[tuple[int, int]] = set()
        self._rules: dict[int, OperatorRule] = {}
        self._calibration = calibration
        self._given = ranges
        for node in nodes:
            rule = rule_of(node)
            if rule is not None:
                self._rules[id(node)] = rule
                self._add(node, rule, choices[node.name])

    def rule(self, node: Node) -> OperatorRule:
        return self._rules[id(node)]

    def result(self, value: Value, precision: Precision) -> QuantParam:
        """Returns the quantization parameters of a value in a precision."""
        root = self._root((id(value), precision))
        if root in self._fixed:
            return self._fixed[root]
        return record(self._ranges[root], activation_scheme(self._settings, precision.value))

    def operand(self, node: Node, index: int, precision: Precision) -> QuantParam:
        """Returns the quantization parameters that input `index` of a node must have."""
        value, rule = node.inputs[index], self._rules[id(node)]
        if rule.kind in (Kind.SAME, Kind.MOVE) and (value.is_constant or (id(node), index) in self._apart):
            return self.result(node.outputs[0], precision)
        if rule.kind is Kind.RECURRENT and index != 0:
            is_hidden = state_operands(node).get("hidden") == index
            return self.result(node.outputs[1 if is_hidden else 2], precision)
        if value.is_constant:
            return record(array_range(value.array()), activation_scheme(self._settings, precision.value))
        return self.result(value, precision)

    def _add(self, node: Node, rule: OperatorRule, precision: Precision) -> None:
        for value in node.outputs:
            self._watch(value, precision)
        if rule.kind is Kind.FIXED:
            self._fixed[self._root((id(node.outputs[0]), precision))] = rule.fixed_record(precision.value)
        if rule.kind is Kind.RECURRENT:
            self._add_states(node, precision)
        together = rule.kind in (Kind.SAME, Kind.MOVE)
        if together:
            for value in node.outputs[1:]:
                self._unite(node.outputs[0], value, precision)
        alike = together and self._are_alike([node.inputs[index] for index in rule.data], precision)
        for index in rule.data:
            value = node.inputs[index]
            if value.is_constant:
                if together:
                    self._extend((id(node.outputs[0]), precision), array_range(value.array()))
                continue
            self._watch(value, precision)
            if not together:
                continue
            if len(rule.data) > 1 and self._root((id(value), precision)) in self._fixed and not alike:
                self._apart.add((id(node), index))
            else:
                self._unite(value, node.outputs[0], precision)

    def _add_states(self, node: Node, precision: Precision) -> None:
        """Sets the parameters of an LSTM: output and hidden state share them; the cell state is int16.

        Their ranges include the initial states, which may be larger than any output.
        """
        y, hidden, cell = node.outputs
        self._unite(y, hidden, precision)
        initial = state_operands(node)
        for value, name, make in ((y, "hidden", hidden_record), (cell, "cell", cell_record)):
            root = self._root((id(value), precision))
            found = self._ranges[root]
            if name in initial:
                found = found.merged(self._range_of(node.inputs[initial[name]], precision))
            self._fixed[root] = make(found)

    def _range_of(self, value: Value, precision: Precision) -> Range:
        if value.is_constant:
            return array_range(value.array())
        self._watch(value, precision)
        return self._ranges[self._root((id(value), precision))]

    def _are_alike(self, values: Sequence[Value], precision: Precision) -> bool:
        """Whether all values have the same fixed parameters."""
        keys = [(id(value), precision) for value in values]
        if any(key not in self._parents for key in keys):
            return False
        fixed = [self._fixed.get(self._root(key)) for key in keys]
        return fixed[0] is not None and all(item == fixed[0] for item in fixed)

    def _watch(self, value: Value, precision: Precision) -> None:
        key = (id(value), precision)
        if key in self._parents:
            return
        self._parents[key] = key
        scheme = activation_scheme(self._settings, precision.value)
        found = self._given.get(value.name) or self._calibration.range(value.name, scheme)
        if found is None:
            raise ValueError(f"the value '{value.name}' has no range")
        self._ranges[key] = found

    def _root(self, key: _Key) -> _Key:
        while self._parents[key] != key:
            key = self._parents[key]
        return key

    def _extend(self, key: _Key, found: Range) -> None:
        root = self._root(key)
        self._ranges[root] = self._ranges[root].merged(found)

    def _unite(self, first: Value, second: Value, precision: Precision) -> None:
        a, b = self._root((id(first), precision)), self._root((id(second), precision))
        if a == b:
            return
        self._parents[b] = a
        self._ranges[a] = self._ranges[a].merged(self._ranges[b])
        if b in self._fixed:
            self._fixed[a] = self._fixed.pop(b)
