"""Merges the two gradient nodes of LSTM layers in MindSpore's training graphs."""

from __future__ import annotations

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.recurrent import LSTM
from mslite.converter.mindir.ops.training import LSTMGrad, LSTMGradData, LSTMGradWeight

_INTERMEDIATE = 3
"""Index of the intermediate results in the outputs of LSTM and the inputs of LSTMGradWeight."""
_DATA_INTERMEDIATE = 7
"""Index of the intermediate results in the inputs of LSTMGradData."""


def join_lstm_gradients(graph: Graph, source: str) -> None:
    """Replaces LSTMGradData and LSTMGradWeight by one LSTMGrad at the position of the first.

    LSTMGradData writes the gradients of the gates into the layer's intermediate results, where LSTMGradWeight reads
    them; LSTMGrad does not need these. Raises ConversionError if the layer is missing.
    """
    for node in [node for node in graph.nodes if isinstance(node.op, LSTMGradData)]:
        joined = _joined(graph, node, source)
        graph.nodes[graph.nodes.index(node)] = joined


def _joined(graph: Graph, data: Node, source: str) -> Node:
    kept = data.inputs[_DATA_INTERMEDIATE] if len(data.inputs) > _DATA_INTERMEDIATE else None
    layer = None if kept is None else kept.producer
    is_whole = layer is not None and isinstance(layer.op, LSTM) and len(layer.inputs) == _INTERMEDIATE + 1
    if kept is None or layer is None or not is_whole or layer.outputs[_INTERMEDIATE:][:1] != (kept,):
        raise ConversionError(
            f"{source}: LSTMGradData '{data.name}': its intermediate results do not come from an LSTM with flat "
            "weights",
            code=ReturnCode.NOT_SUPPORTED,
        )
    weight = next((n for n in graph.nodes if isinstance(n.op, LSTMGradWeight) and kept in n.inputs), None)
    flat = layer.inputs[_INTERMEDIATE]
    of_weight = Value(f"{data.name}/weight", DataType.FLOAT32, flat.shape, format=Format.NHWC)
    if weight is not None:
        of_weight = weight.outputs[0]
        weight.set_inputs(())
        graph.nodes.remove(weight)
    y, dy, dhidden, dcell = data.inputs[:4]
    inputs = (*layer.inputs, y, *layer.outputs[1:3], dy, dhidden, dcell)
    outputs = (*data.outputs, of_weight)
    data.set_inputs(())
    op = data.op
    assert isinstance(op, LSTMGradData)
    names = ("bidirectional", "has_bias", "input_size", "hidden_size", "num_layers", "num_directions", "dropout")
    numbers = {name: getattr(op, name) for name in (*names, "zoneout_cell", "zoneout_hidden")}
    return Node(LSTMGrad(**numbers), data.name, inputs, outputs)
