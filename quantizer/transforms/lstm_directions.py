"""Rewrites LSTMs to forward LSTMSequence nodes, which have an integer implementation.

MindSpore's LSTM is the same operator with fewer attributes. A backward LSTM becomes a forward one with reversed input
and output. A bidirectional LSTM becomes two nodes whose outputs are concatenated.
"""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph, Node, Value, constant
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import ReverseV2
from mslite.converter.mindir.ops.recurrent import LSTM, LSTMSequence
from mslite.converter.passes.graph_edit import changed
from mslite.quantizer.precision.operators import is_plain_lstm

_RANK = 4
_OPERANDS = 6


def split_lstm_directions(graph: Graph, node: Node) -> None:
    """Rewrites an LSTM node if the result can be quantized; otherwise leaves it unchanged."""
    if isinstance(node.op, LSTM):
        _as_sequence(node, node.op)
    if not isinstance(node.op, LSTMSequence) or node.op.layout != 0 or node.op.direction in (None, "", "forward"):
        return
    if len(node.outputs) != 3 or node.outputs[0].rank != _RANK or node.op.direction not in ("reverse", "bidirectional"):
        return
    constants = list(node.inputs[1:])
    if any(value.data is None for value in constants):
        return
    count = 2 if node.op.direction == "bidirectional" else 1
    if any(value.array().ndim != 3 and index < 2 for index, value in enumerate(constants)):
        return
    if any(value.array().shape[0] != count for value in constants):
        return
    _split(graph, node, node.op, count)


def _as_sequence(node: Node, op: LSTM) -> None:
    """Changes the operator LSTM to LSTMSequence. Its inputs are x, weights, bias and both initial states."""
    usual = op.has_bias and not op.proj_size and op.num_layers in (0, 1) and not (op.zoneout_cell or op.zoneout_hidden)
    if not usual or len(node.inputs) != _OPERANDS or len(node.outputs) != 3 or node.outputs[0].rank != _RANK:
        return
    if any(value.data is None or value.array().ndim != 3 for value in node.inputs[1:3]):
        return
    node.op = LSTMSequence(
        direction="bidirectional" if op.bidirectional else None,
        has_bias=True,
        has_initial_hidden=True,
        has_initial_cell=True,
    )


def _split(graph: Graph, node: Node, op: LSTMSequence, count: int) -> None:
    """Splits the node into one per direction. The second of two, or the only one, runs on the reversed sequence."""
    x = node.inputs[0]
    one = changed(op, direction=None, activations=_of_one(op.activations, count))
    parts: list[list[Value]] = []
    made: list[Node] = []
    for index in range(count):
        backwards = index == count - 1
        name = f"{node.name}_{'backward' if backwards else 'forward'}"
        constants = [
            constant(f"{value.name}_{index}", value.array()[index : index + 1], value.format)
            for value in node.inputs[1:]
        ]
        source = _reversed(x, f"{name}_input", made) if backwards else x
        outputs = [Value(f"{value.name}_{index}", DataType.FLOAT32, _one_direction(value, at)) for at, value in
                   ((1, node.outputs[0]), (0, node.outputs[1]), (0, node.outputs[2]))]  # fmt: skip
        part = Node(one, name, (source, *constants), tuple(outputs))
        if not is_plain_lstm(part):  # cannot be quantized, for example because of peepholes
            _forget(made, part)
            return
        made.append(part)
        if backwards:
            outputs[0] = _reversed(outputs[0], f"{name}_result", made)
        parts.append(outputs)
    for position, value in enumerate(node.outputs):
        joined = [part[position] for part in parts]
        if count == 1:
            graph.replace_uses(value, joined[0])
            joined[0].name, value.name = value.name, joined[0].name
        elif value.users or value in graph.outputs:
            axis = 1 if position == 0 else 0
            made.append(Node(Concat(axis=axis), f"{node.name}_join_{position}", tuple(joined), (value,)))
    at = graph.nodes.index(node)
    node.set_inputs(())
    graph.nodes[at : at + 1] = made


def _of_one(activations: str | None, count: int) -> str | None:
    """Returns the activation functions of one direction if both directions have the same."""
    words = (activations or "").split()
    half = len(words) // count
    return " ".join(words[:half]) if count == 2 and words[:half] == words[half:] else activations


def _one_direction(value: Value, axis: int) -> tuple[int, ...] | None:
    return None if value.shape is None else tuple(1 if at == axis else size for at, size in enumerate(value.shape))


def _reversed(value: Value, name: str, made: list[Node]) -> Value:
    result = Value(f"{name}_reversed", DataType.FLOAT32, value.shape, format=value.format)
    made.append(Node(ReverseV2(axis=(0,)), f"{name}_reverse", (value,), (result,)))
    return result


def _forget(made: list[Node], part: Node) -> None:
    for node in (*made, part):
        node.set_inputs(())
