"""Layers that process one time step of a stream per run: their state is a variable."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import Concat, Split, StridedSlice
from mslite.converter.mindir.ops.enums import ActivationType, ReduceMode
from mslite.converter.mindir.ops.matmul import FullConnection
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.reduction import ReduceFusion

from .call import Call
from .integer_recurrent import integer_lstm_cell, integer_svdf, is_integer_layer
from .recurrent import lstm_step
from .registry import tflite_operator
from .variables import keep_state, state


@tflite_operator("SVDF")
def svdf(call: Call) -> Value:
    """Converts SVDF. Its inputs are x, feature weights [filters, in], time weights [filters, memory], [bias], state.

    The state has the last `memory` dot products of each filter with x. The result of a filter is their weighted sum,
    and a unit is the sum of `rank` adjacent filters.
    """
    rank = call.options.integer("rank")
    filters, memory = (*call.shape(2), 0, 0)[:2]
    batch = call.shape(0)[0] if call.rank(0) == 2 else 0
    if rank < 1 or batch < 1 or filters % rank or memory < 1 or call.shape(1) != (filters, call.shape(0)[1]):
        raise call.block(
            f"rank {rank} and weights {call.shape(1)} and {call.shape(2)} do not match the input {call.shape(0)}"
        )
    if call.source(4).shape != (batch, filters * memory):
        raise call.block(f"the state {call.shape(4)} does not match {memory} steps of {filters} filters")
    if is_integer_layer(call):
        return integer_svdf(call)
    x = call.input(0)
    if call.is_hybrid(1):
        x = call.rounded(x, not call.options.integer("asymmetric_quantize_inputs"), (0,))
    product = call.emit(FullConnection(use_axis=True, axis=1), x, call.weight(1))
    newest = call.emit(Reshape(), product, call.ints((batch, filters, 1)))
    steps = newest
    if memory > 1:
        before = call.emit(Reshape(), state(call, 4), call.ints((batch, filters, memory)))
        begin, end = call.ints((0, 0, 1)), call.ints((batch, filters, memory))
        kept = call.emit(StridedSlice(), before, begin, end, call.ints((1, 1, 1)))
        steps = call.emit(Concat(axis=2), kept, newest)
    keep_state(call, 4, call.emit(Reshape(), steps, call.ints((batch, filters * memory))))
    weighted = call.emit(MulFusion(), steps, call.weight(2))
    total = ReduceFusion(mode=ReduceMode.ReduceSum, coeff=1.0)
    result = call.emit(total, weighted, call.ints((2,)))
    if rank > 1:
        result = call.emit(Reshape(), result, call.ints((batch, filters // rank, rank)))
        result = call.emit(total, result, call.ints((2,)))
    if call.has_input(3):
        result = call.emit(AddFusion(), result, call.weight(3))
    return call.activated(result)


@tflite_operator("LSTM")
def lstm(call: Call) -> Value | Sequence[Value]:
    """Converts one LSTM step. The basic kernel has its states as inputs and outputs; the full kernel has state
    variables."""
    kernel = call.options.integer("kernel_type")
    if kernel == 0:
        return lstm_step(call)
    if kernel != 1:
        raise call.block(f"kernel {kernel} is unknown", attribute="kernel_type")
    if not call.is_float():
        return integer_lstm_cell(call)
    x, hidden, weight, bias, cell = call.input(0), state(call, 1), call.weight(2), call.weight(3), state(call, 4)
    if call.rank(0) != 2 or call.rank(2) != 2 or call.shape(2)[0] % 4:
        raise call.block(f"weights {call.shape(2)} do not match the input {call.shape(0)}")
    size = call.shape(2)[0] // 4
    joined = call.emit(Concat(axis=1), x, hidden)
    gates = call.emit(FullConnection(has_bias=True, use_axis=True, axis=1), joined, weight, bias)
    split = Split(output_num=4, size_splits=(size,) * 4, axis=1)
    i, g, f, o = call.emit_many(split, [gates], 4)
    sigmoid, tanh = (Activation(activation_type=kind) for kind in (ActivationType.SIGMOID, ActivationType.TANH))
    taken = call.emit(MulFusion(), call.emit(sigmoid, i), call.emit(tanh, g))
    kept = call.emit(MulFusion(), call.emit(sigmoid, f), cell)
    new_cell = call.emit(AddFusion(), kept, taken)
    y = call.emit(MulFusion(), call.emit(sigmoid, o), call.emit(tanh, new_cell))
    keep_state(call, 1, y)
    keep_state(call, 4, new_cell)
    return (y, new_cell, joined, gates)[: len(call.node.outputs)]
