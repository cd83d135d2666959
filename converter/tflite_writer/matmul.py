"""Matrix products."""

from __future__ import annotations

from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion

from .call import Call
from .registry import writes


@writes("FullConnection")
def fully_connected(call: Call) -> None:
    """x is taken as [-1, in]; where the node keeps more dimensions in front, the last one alone is multiplied."""
    op = call.op
    assert isinstance(op, FullConnection)
    rank = len(call.shape())
    axis = op.axis if op.use_axis else 1
    keeps = axis == rank - 1 and rank != 2
    if not keeps and axis != 1:
        raise call.refuse(f"it joins the dimensions from {axis} on")
    operands = [call.input(), call.weight(1), *call.bias(2)]
    call.emit("FULLY_CONNECTED", operands, activation=call.fused(op.activation_type), keep_num_dims=keeps)


@writes("MatMulFusion")
def product(call: Call) -> None:
    """Of two activations; one with constant weights rounds as a fully connected layer."""
    op = call.op
    assert isinstance(op, MatMulFusion)
    if call.value(1).data is not None and len(call.shape(1)) == 2 and not op.transpose_a:
        weight = call.weight(1, None if op.transpose_b else (1, 0))
        activation = call.fused(op.activation_type)
        call.emit("FULLY_CONNECTED", [call.input(), weight, *call.bias(2)], activation=activation, keep_num_dims=1)
        return
    if call.input_count > 2 or op.activation_type is not ActivationType.NO_ACTIVATION:
        raise call.refuse("TensorFlow Lite's product of activations has neither bias nor activation")
    call.emit("BATCH_MATMUL", [call.input(), call.input(1)], adj_x=op.transpose_a, adj_y=op.transpose_b)
