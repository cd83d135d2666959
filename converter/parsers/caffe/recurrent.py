"""Recurrent layers, unrolled. A new sequence starts at steps with a continuation blob of 0."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import Split
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.matmul import FullConnection

from .assembly import cut, join
from .call import Blob, Call
from .matmul import inner_product
from .registry import caffe_layer

_MAX_STEPS = 512


class _Sequence:
    """Common parts of the recurrent layers: bottom blobs, sizes, matmul with the input, time steps."""

    def __init__(self, call: Call, gates: int) -> None:
        self.call = call
        given = call.parameter("recurrent")
        x, continuation = call.bottom(0), call.bottom(1)
        self.hidden: int = given.num_output
        self.exposed: bool = given.expose_hidden
        self.states = 0
        if x.rank < 3 or continuation.shape != x.shape[:2] or self.hidden < 1:
            raise call.block(f"the bottom blobs {x.shape} and {continuation.shape} must be sequences [time, item, ...]")
        self.steps, self.items = x.shape[:2]
        if self.steps > _MAX_STEPS:
            raise call.block(f"{self.steps} steps are too many to unroll", f"Use sequences of up to {_MAX_STEPS}")
        self.width = gates * self.hidden
        self.used = 0
        self.inputs = self._product(x, 2, with_bias=True)
        self.continuation = continuation

    def _product(self, x: Blob, axis: int, with_bias: bool) -> Value:
        features = int(np.prod(x.shape[axis:]))
        weight = self.next_weight((self.width, features))
        bias = self.next_weight((self.width,)) if with_bias else None
        return inner_product(self.call, x.value, x.shape, axis, weight, bias)

    def next_weight(self, shape: tuple[int, ...]) -> Value:
        """Returns the next weight blob of the layer."""
        self.used += 1
        return self.call.const(self.call.weight(self.used - 1, shape))

    def add_static(self, states: int) -> int:
        """Adds the matmul with an optional blob that is the same in all steps; returns the index of the next bottom
        blob."""
        given = len(self.call.bottoms) - (states if self.exposed else 0)
        if given not in (2, 3):
            raise self.call.block(f"it has {len(self.call.bottoms)} bottom blobs")
        if given == 3:
            static = self.call.bottom(2)
            if static.rank < 2 or static.shape[0] != self.items:
                raise self.call.block(f"the static blob {static.shape} does not have {self.items} items")
            product = self._product(static, 1, with_bias=False)
            self.inputs = self.call.emit(AddFusion(), self.inputs, product)
        return given

    def cut(self, value: Value, shape: tuple[int, ...]) -> list[Value]:
        """Splits a sequence [time, ...] into steps of this shape."""
        parts = cut(self.call, value, (1,) * self.steps, 0)
        return [self.call.reshape(part, (1, *shape), shape) for part in parts]

    def continuations(self) -> list[Value]:
        """Returns the continuation flags of each step, [item, 1]."""
        flags = self.call.reshape(self.continuation.value, self.continuation.shape, (self.steps, self.items, 1))
        return self.cut(flags, (self.items, 1))

    def initial(self, index: int) -> Value:
        """Returns an initial state [item, hidden]: a bottom blob [1, item, hidden], or zeros. Raises Blocked."""
        shape = (self.items, self.hidden)
        if not self.exposed:
            return self.call.const(np.zeros(shape, np.float32))
        state = self.call.bottom(index)
        if state.shape != (1, *shape):
            raise self.call.block(f"the state {state.shape} is not [1, {self.items}, {self.hidden}]")
        return self.call.reshape(state.value, state.shape, shape)

    def stacked(self, steps: list[Value], size: int) -> Blob:
        shape = (self.items, size)
        parts = [self.call.reshape(step, shape, (1, *shape)) for step in steps]
        return Blob(join(self.call, parts, 0), (self.steps, *shape))

    def state(self, value: Value) -> Blob:
        shape = (self.items, self.hidden)
        return Blob(self.call.reshape(value, shape, (1, *shape)), (1, *shape))


@caffe_layer("LSTM")
def lstm(call: Call) -> list[Blob]:
    """Converts LSTM with gates i, f, o, g: c = f * cont * c + i * g, h = o * tanh(c); all gates also read the previous
    cont * h."""
    sequence = _Sequence(call, 4)
    first = sequence.add_static(2)
    recurrent = sequence.next_weight((sequence.width, sequence.hidden))
    h, c = sequence.initial(first), sequence.initial(first + 1)
    sigmoid, tanh = (Activation(activation_type=kind) for kind in (ActivationType.SIGMOID, ActivationType.TANH))
    split = Split(output_num=4, size_splits=(sequence.hidden,) * 4, axis=1)
    inputs = sequence.cut(sequence.inputs, (sequence.items, sequence.width))
    results = []
    for x, flag in zip(inputs, sequence.continuations(), strict=True):
        kept = call.emit(MulFusion(), h, flag)
        gates = call.emit(AddFusion(), x, call.emit(FullConnection(), kept, recurrent))
        i, f, o, g = call.emit_many(split, [gates], 4)
        forgotten = call.emit(MulFusion(), call.emit(sigmoid, f), call.emit(MulFusion(), c, flag))
        c = call.emit(AddFusion(), forgotten, call.emit(MulFusion(), call.emit(sigmoid, i), call.emit(tanh, g)))
        h = call.emit(MulFusion(), call.emit(sigmoid, o), call.emit(tanh, c))
        results.append(h)
    output = sequence.stacked(results, sequence.hidden)
    return [output, sequence.state(h), sequence.state(c)] if sequence.exposed else [output]


@caffe_layer("RNN")
def rnn(call: Call) -> list[Blob]:
    """Converts RNN: h = tanh(W_hh (cont * h) + W_xh x + b_h), o = tanh(W_ho h + b_o)."""
    sequence = _Sequence(call, 1)
    first = sequence.add_static(1)
    size = sequence.hidden
    recurrent, outgoing = sequence.next_weight((size, size)), sequence.next_weight((size, size))
    bias = sequence.next_weight((size,))
    h, tanh = sequence.initial(first), Activation(activation_type=ActivationType.TANH)
    inputs = sequence.cut(sequence.inputs, (sequence.items, sequence.width))
    results = []
    for x, flag in zip(inputs, sequence.continuations(), strict=True):
        product = call.emit(FullConnection(), call.emit(MulFusion(), h, flag), recurrent)
        h = call.emit(tanh, call.emit(AddFusion(), product, x))
        results.append(call.emit(tanh, call.emit(FullConnection(has_bias=True), h, outgoing, bias)))
    output = sequence.stacked(results, size)
    return [output, sequence.state(h)] if sequence.exposed else [output]
