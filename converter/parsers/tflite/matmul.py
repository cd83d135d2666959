"""Fully connected layers and batch matmul."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape

from .call import Call
from .registry import tflite_operator


@tflite_operator("FULLY_CONNECTED")
def fully_connected(call: Call) -> Value:
    """Converts FULLY_CONNECTED. The weight is [out, in]; x is reshaped to [-1, in], unless keep_num_dims is set."""
    if call.options.integer("weights_format"):
        raise call.block("the weights are shuffled", "Export the model with the default format", "weights_format")
    if call.rank(1) != 2:
        raise call.block(f"the weight has {call.rank(1)} dimensions, not 2")
    x, weight, bias = call.input(0), call.stored_weight(1), call.bias(2)
    depth = call.shape(1)[1]
    shape = call.shape(0)
    activation, follow = call.fused()
    operands = [weight] if bias is None else [weight, bias]
    axis = 1
    if call.options.integer("keep_num_dims") and len(shape) != 2:
        if not shape or shape[-1] != depth:
            raise call.block(f"the input {shape} does not match a weight of shape {call.shape(1)}")
        axis = len(shape) - 1
    elif len(shape) != 2 or shape[1] != depth:
        x = call.emit(Reshape(), x, call.ints((-1, depth)))
    if call.is_hybrid(1):
        x = call.rounded(x, not call.options.integer("asymmetric_quantize_inputs"), range(axis))
    op = FullConnection(has_bias=bias is not None, use_axis=True, axis=axis, activation_type=activation)
    return follow(call.emit(op, x, *operands))


@tflite_operator("BATCH_MATMUL")
def batch_matmul(call: Call) -> Value:
    op = MatMulFusion(transpose_a=bool(call.options.integer("adj_x")), transpose_b=bool(call.options.integer("adj_y")))
    a = call.stored_weight(0)
    if call.is_hybrid(1):
        rank = call.rank(0)
        summed = rank - 2 if op.transpose_a else rank - 1
        symmetric = not call.options.integer("asymmetric_quantize_inputs")
        a = call.rounded(a, symmetric, [axis for axis in range(rank) if axis != summed])
    return call.emit(op, a, call.stored_weight(1))
