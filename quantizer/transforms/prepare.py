"""Rewrites a float graph to an equivalent one in which FULL_QUANT can quantize more nodes, or more accurately.

- A fused activation other than ReLU and ReLU6 becomes a separate node, because integer kernels only clamp.
- Global average pooling becomes ReduceMean. Pooling would keep the scale of its input, which is too coarse for means.
- LSTMs become forward LSTMs (`directions`).
- A division by a constant becomes a multiplication, which has an integer implementation.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import DivFusion, MulFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, PadMode, ReduceMode
from mslite.converter.mindir.ops.pooling import AvgPoolFusion
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.passes.graph_edit import changed
from mslite.quantizer.precision.operators import CLAMPS, is_mac_node
from mslite.quantizer.transforms.lstm_directions import split_lstm_directions


def prepare(module: Module) -> None:
    """Rewrites the main graph in place."""
    graph = module.main
    for node in list(graph.nodes):
        if node.quant_type != 0:
            continue
        if is_mac_node(node):
            _split_activation(graph, node)
        elif isinstance(node.op, AvgPoolFusion):
            _as_mean(node, node.op)
        elif isinstance(node.op, DivFusion):
            _as_product(node, node.op)
        elif node.op.name in ("LSTM", "LSTMSequence"):
            split_lstm_directions(graph, node)


def _split_activation(graph: Graph, node: Node) -> None:
    kind = ActivationType(getattr(node.op, "activation_type", ActivationType.NO_ACTIVATION))
    if kind in CLAMPS:
        return
    value = node.output
    inner = Value(f"{value.name}_sum", value.dtype, value.shape, format=value.format)
    node.op = changed(node.op, activation_type=ActivationType.NO_ACTIVATION)
    node.outputs = (inner,)
    inner.producer = node
    graph.insert_after(node, Node(Activation(activation_type=kind), f"{node.name}_activation", (inner,), (value,)))


def _as_mean(node: Node, op: AvgPoolFusion) -> None:
    shape = node.inputs[0].shape
    if op.activation_type is not ActivationType.NO_ACTIVATION or shape is None or len(shape) != 4:
        return
    if not op.global_ and not _covers_everything(op, shape[1:3], node.output):
        return
    axes = constant(f"{node.name}_axes", np.array([1, 2], np.int32))
    node.op = ReduceFusion(keep_dims=True, mode=ReduceMode.ReduceMean, coeff=1.0)
    node.set_inputs([node.inputs[0], axes])


def _covers_everything(op: AvgPoolFusion, size: tuple[int, ...], result: Value) -> bool:
    """Whether the pooling window is the whole image, without padding."""
    padded = op.pad_mode is PadMode.PAD and any(op.pad or ())
    one = result.shape is not None and tuple(result.shape[1:3]) == (1, 1)
    return one and not padded and tuple(op.kernel_size or ()) == tuple(size)


def _as_product(node: Node, op: DivFusion) -> None:
    divisor = node.inputs[1].data
    if divisor is None or node.inputs[1].dtype is not DataType.FLOAT32 or not bool(np.all(divisor)):
        return
    with np.errstate(over="ignore"):
        factor = (1.0 / divisor.astype(np.float64)).astype(np.float32)
    if not bool(np.isfinite(factor).all()):
        return
    node.op = MulFusion(activation_type=op.activation_type)
    node.set_inputs([node.inputs[0], constant(f"{node.name}_factor", factor, node.inputs[1].format)])
