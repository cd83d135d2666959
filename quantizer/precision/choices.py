"""Selects the nodes that are quantized, and their precision."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum

from mslite.converter.mindir.graph import Module, Node, Value
from mslite.converter.mindir.ops.enums import DataType
from mslite.quantizer.precision.devices import device_of
from mslite.quantizer.precision.operators import Kind, rule_of, saves_time
from mslite.quantizer.settings import QuantizerSettings

RECURRENT = frozenset({"LSTM", "GRU", "LSTMSequence", "GRUSequence", "RNNSequence"})


class Precision(Enum):
    """The data type of a node's activations. Weights are int8 for both INT8 and INT16."""

    FLOAT = 0
    INT8 = 8
    INT16 = 16


Choices = Mapping[str, Precision]
"""Node name → precision. Other nodes stay in float."""


def eligible_nodes(module: Module, settings: QuantizerSettings) -> list[Node]:
    """Returns the nodes of the main graph that FULL_QUANT can quantize, in order of execution."""
    common = settings.common
    operators = device_of(settings).operators
    skipped = frozenset(common.skip_quant_node)
    nodes = []
    for node in module.main.nodes:
        rule = rule_of(node)
        if rule is None or node.name in skipped or any(value.name in skipped for value in node.outputs):
            continue
        if operators is not None and node.op.name not in operators and rule.kind is not Kind.MOVE:
            continue
        if rule.kind is Kind.MAC and not _weight_is_wanted(node, settings):
            continue
        nodes.append(node)
    return nodes


def _weight_is_wanted(node: Node, settings: QuantizerSettings) -> bool:
    """Whether the weight is larger than min_quant_weight_size.

    min_quant_weight_channel is only for WEIGHT_QUANT: its default would keep the first layers of most networks in
    float.
    """
    weight = node.inputs[1].data
    least = settings.common.min_quant_weight_size
    return weight is None or not least or weight.size > least


def effective_precision(node: Node, chosen: Precision) -> Precision:
    """Returns the precision of a node for which `chosen` is selected. LSTMs are float instead of INT16."""
    return Precision.FLOAT if chosen is Precision.INT16 and node.op.name == "LSTMSequence" else chosen


def all_at(module: Module, names: Collection[str], precision: Precision) -> Choices:
    """Returns the choices with the named nodes at `precision`, for those that support it."""
    return {
        node.name: precision
        for node in module.main.nodes
        if node.name in names and effective_precision(node, precision) is precision
    }


def configured_precision(settings: QuantizerSettings) -> Precision:
    """Returns the precision that `bit_num` selects."""
    return Precision.INT16 if settings.common.bit_num > 8 else Precision.INT8


def default_choices(module: Module, settings: QuantizerSettings) -> dict[str, Precision]:
    """Returns every eligible node at the precision of `bit_num`, without groups of nodes that save no time.

    A Softmax or Sigmoid that produces a float output of the model stays in float. Its integers would have steps of
    1/256, which round small probabilities to zero, and integers save no time there.
    """
    precision = configured_precision(settings)
    nodes = [node for node in eligible_nodes(module, settings) if effective_precision(node, precision) is precision]
    if not settings.integer_outputs:
        last = _last_of_known_range(module, nodes)
        nodes = [node for node in nodes if id(node) not in last]
    return {node.name: precision for node in without_unprofitable_groups(nodes)}


def _last_of_known_range(module: Module, nodes: Sequence[Node]) -> set[int]:
    """Returns the ids of FIXED nodes that lead to the model's outputs through MOVE nodes only, and of these MOVE
    nodes."""
    outputs = {id(value) for value in module.main.outputs}
    leaving: set[int] = set()
    found: set[int] = set()
    kinds = {id(node): rule.kind for node in nodes if (rule := rule_of(node)) is not None}
    for node in reversed(module.main.nodes):
        kind = kinds.get(id(node))
        if kind not in (Kind.FIXED, Kind.MOVE):
            continue
        results = [value for value in node.outputs if value.users or id(value) in outputs]
        if results and all(all(id(user) in leaving for user in value.users) for value in results):
            leaving.add(id(node))
            if kind is Kind.FIXED:
                found.add(id(node))
    moves = [node for node in module.main.nodes if id(node) in leaving and id(node) not in found]
    for node in moves:
        producers = [value.producer for value in node.inputs if value.producer is not None]
        if any(id(producer) in found for producer in producers):
            found.add(id(node))
    return found


def without_unprofitable_groups(nodes: Sequence[Node]) -> list[Node]:
    """Removes connected groups without a convolution, matmul or LSTM: the casts around them cost more than they save.

    If the model has none of these operators, all nodes are kept.
    """
    if not any(saves_time(node) for node in nodes):
        return [node for node in nodes if _computes(nodes)]
    chosen = {id(node) for node in nodes}
    group: dict[int, int] = {id(node): index for index, node in enumerate(nodes)}

    def root(key: int) -> int:
        index = group[key]
        while group[id(nodes[index])] != index:
            index = group[id(nodes[index])]
        return index

    for node in nodes:
        for value in node.inputs:
            if value.producer is not None and id(value.producer) in chosen:
                group[id(nodes[root(id(node))])] = root(id(value.producer))
    useful = {root(id(node)) for node in nodes if saves_time(node)}
    return [node for node in nodes if root(id(node)) in useful]


def _computes(nodes: Sequence[Node]) -> bool:
    return any((rule := rule_of(node)) is not None and rule.kind is not Kind.MOVE for node in nodes)


def watched_values(nodes: Sequence[Node]) -> list[Value]:
    """Returns the activations whose ranges the nodes need, without duplicates."""
    watched: dict[int, Value] = {}
    for node in nodes:
        rule = rule_of(node)
        if rule is None:
            continue
        for value in (*(node.inputs[index] for index in rule.data), *node.outputs):
            if not value.is_constant and value.dtype is DataType.FLOAT32:
                watched.setdefault(id(value), value)
    return list(watched.values())
