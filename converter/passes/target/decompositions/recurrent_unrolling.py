"""Unrolls recurrent layers into matmuls and element-wise operators, for layers that LSTM and GRU do not support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, Split
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.recurrent import GRUSequence, LSTMSequence
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.mindir.ops.unary import Cast, Rsqrt, Square
from mslite.converter.passes.target.decompositions.float_arithmetic import Function, clamp, recurrent_functions
from mslite.converter.passes.target.decompositions.recurrent_layer import REMEDY, Layer, Numbers, zero_state
from mslite.converter.passes.target.writer import Writer

_MAX_STEPS = 64
_EPSILON = 1e-8
"""Epsilon of the normalization in TensorFlow Lite's LSTM."""


def unroll(layer: Layer, writer: Writer) -> list[Value]:
    """Emits y [time, directions, batch, state] and the last states. Raises Blocked if the number of steps is unknown
    or large."""
    assert layer.x.shape is not None
    steps = layer.x.shape[0]
    if steps < 1 or steps > _MAX_STEPS:
        what = f"{steps} steps" if steps >= 0 else "an unknown number of steps"
        raise Blocked(
            f"it has to be unrolled, which is supported up to {_MAX_STEPS} steps; it has {what}",
            "Fix the length with --inputShape" if steps < 0 else REMEDY,
        )
    hidden = _by_direction(layer.hidden or zero_state(layer, layer.state, "hidden", writer), writer)
    has_cell = isinstance(layer.op, LSTMSequence)
    cell = _by_direction(layer.cell or zero_state(layer, layer.units, "cell", writer), writer) if has_cell else []
    masks = _masks(layer, steps, writer)
    functions = recurrent_functions(layer.functions(), layer.op.activation_alpha, layer.op.activation_beta, writer)
    count = len(functions) // layer.directions
    ys, last_hidden, last_cell = [], [], []
    for direction in range(layer.directions):
        own = functions[direction * count : (direction + 1) * count]
        run = _Direction(layer, direction, own, masks, writer)
        y, h, c = run.all_steps(steps, hidden[direction], cell[direction] if has_cell else None)
        ys.append(y)
        last_hidden.append(h)
        last_cell.append(c)
    results = [_joined(ys, 1, writer), _joined(last_hidden, 0, writer)]
    return [*results, _joined([c for c in last_cell if c is not None], 0, writer)] if has_cell else results


def _by_direction(states: Value, writer: Writer) -> list[Value]:
    if states.data is not None:
        return [writer.const(part, name=states.name) for part in np.split(states.data, states.data.shape[0])]
    assert states.shape is not None
    return _pieces(states, 0, states.shape[0], writer)


def _pieces(value: Value, axis: int, count: int, writer: Writer) -> list[Value]:
    return [value] if count == 1 else list(writer.many(Split(output_num=count, axis=axis), [value], count))


def _joined(values: list[Value], axis: int, writer: Writer) -> Value:
    """Emits the concatenation by a separate node, because two outputs of a layer may be the same."""
    if len(values) > 1:
        return writer.emit(Concat(axis=axis), *values)
    return writer.emit(Reshape(), values[0], writer.ints(*_sizes(values[0])))


def _sizes(value: Value) -> list[int]:
    assert value.shape is not None
    return [size if size >= 0 else -1 for size in value.shape]


def _masks(layer: Layer, steps: int, writer: Writer) -> list[Value] | None:
    """Emits a mask [1, batch, 1] for each step, 1 within a sequence, else 0. Returns None if all sequences have the
    full length."""
    if layer.lengths is None:
        return None
    if layer.lengths.data is not None:
        lengths = layer.lengths.data.astype(np.int64)
        if np.all(lengths >= steps):
            return None
        return [writer.const((lengths > step).reshape(1, -1, 1), name=f"mask{step}") for step in range(steps)]
    lengths_of = writer.emit(Cast(), layer.lengths, writer.const(int(DataType.FLOAT32), np.int32))
    column = writer.emit(Reshape(), lengths_of, writer.ints(1, -1, 1))
    masks = []
    for step in range(steps):
        left = writer.emit(SubFusion(), column, writer.const([[[step]]], name=f"step{step}"))
        masks.append(clamp(left, 0, 1, writer))
    return masks


@dataclass
class _Direction:
    """One direction of a layer; all values are [1, batch, ...]."""

    layer: Layer
    direction: int
    functions: list[Function]
    masks: list[Value] | None
    writer: Writer

    def __post_init__(self) -> None:
        self._units = self.layer.units
        self._matrices: dict[str, Value] = {}
        of_x, of_state = np.split(self.layer.bias[self.direction], 2)
        self._bias = of_x + of_state
        self._reset = isinstance(self.layer.op, GRUSequence) and self.layer.op.linear_before_reset
        if self._reset:  # the recurrent bias of the candidate is multiplied by the reset gate
            self._bias = of_x + np.concatenate([of_state[: 2 * self._units], np.zeros(self._units, np.float32)])
        self._state_bias = of_state[2 * self._units :] if self._reset else None
        if self.layer.normalization is not None:
            self._bias = np.zeros_like(self._bias)
            self._late_bias = of_x + of_state

    def _const(self, data: Numbers | list[float], name: str) -> Value:
        return self.writer.const(np.asarray(data, np.float32).reshape(1, 1, -1), name=name)

    def _product(self, a: Value, matrix: Numbers, name: str) -> Value:
        """Emits `a` times the transposed matrix; MindSpore Lite needs equal ranks."""
        if name not in self._matrices:  # shared by all steps
            self._matrices[name] = self.writer.const(matrix[np.newaxis], name=name)
        return self.writer.emit(MatMulFusion(transpose_b=True), a, self._matrices[name])

    def add(self, a: Value, b: Value) -> Value:
        return self.writer.emit(AddFusion(), a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self.writer.emit(MulFusion(), a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self.writer.emit(SubFusion(), a, b)

    def all_steps(self, steps: int, h: Value, c: Value | None) -> tuple[Value, Value, Value | None]:
        backward = self.direction == 1 or self.layer.reversed
        inputs = self._inputs(steps)
        ys: dict[int, Value] = {}
        for step in reversed(range(steps)) if backward else range(steps):
            new_h, new_c = self._step(inputs[step], h, c)
            if self.masks is None:
                h, c, ys[step] = new_h, new_c, new_h
                continue
            mask = self.masks[step]
            h, ys[step] = self._kept(new_h, h, mask), self.mul(new_h, mask)
            c = None if new_c is None or c is None else self._kept(new_c, c, mask)
        y = _joined([ys[step] for step in range(steps)], 0, self.writer)
        return self.writer.emit(Reshape(), y, self.writer.ints(steps, 1, -1, self.layer.state)), h, c

    def _kept(self, new: Value, old: Value, mask: Value) -> Value:
        """Emits the new state where the mask is 1, else the old one."""
        rest = self.sub(self.writer.const([[[1.0]]]), mask)
        return self.add(self.mul(new, mask), self.mul(old, rest))

    def _inputs(self, steps: int) -> list[Value]:
        """Emits the contribution of x to the gates for each step, with the biases."""
        writer, w = self.writer, self.layer.w[self.direction]
        rows = writer.emit(Reshape(), self.layer.x, writer.ints(-1, w.shape[1]))
        bias = writer.const(self._bias, name="bias")
        products = writer.emit(MatMulFusion(transpose_b=True), rows, writer.const(w, name="weight_input"), bias)
        by_step = writer.emit(Reshape(), products, writer.ints(steps, -1, w.shape[0]))
        return _pieces(by_step, 0, steps, writer)

    def _step(self, x: Value, h: Value, c: Value | None) -> tuple[Value, Value | None]:
        if self.layer.op.name == "RNNSequence":
            product = self._product(h, self.layer.r[self.direction], "weight_hidden")
            return self.functions[0](self._clipped(self.add(x, product))), None
        if self.layer.op.name == "GRUSequence":
            return self._gru(x, h), None
        assert c is not None
        return self._lstm(x, h, c)

    def _clipped(self, x: Value) -> Value:
        bound = self.layer.op.clip
        return clamp(x, -bound, bound, self.writer) if bound else x

    def _split(self, x: Value, count: int) -> list[Value]:
        return _pieces(x, 2, count, self.writer)

    def _gru(self, x: Value, h: Value) -> Value:
        f, g = self.functions
        r, units = self.layer.r[self.direction], self._units
        xz, xr, xh = self._split(x, 3)
        hz, hr = self._split(self._product(h, r[: 2 * units], "weight_gates"), 2)
        z = f(self._clipped(self.add(xz, hz)))
        reset = f(self._clipped(self.add(xr, hr)))
        weights = r[2 * units :]
        if self._state_bias is not None:
            product = self._product(h, weights, "weight_candidate")
            hidden = self.mul(reset, self.add(product, self._const(self._state_bias, "bias_candidate")))
        else:
            hidden = self._product(self.mul(reset, h), weights, "weight_candidate")
        candidate = g(self._clipped(self.add(xh, hidden)))
        return self.add(candidate, self.mul(z, self.sub(h, candidate)))

    def _lstm(self, x: Value, h: Value, c: Value) -> tuple[Value, Value]:
        op = self.layer.op
        assert isinstance(op, LSTMSequence)
        f, g, last = self.functions
        sums = self.add(x, self._product(h, self.layer.r[self.direction], "weight_hidden"))
        i, o, forget, candidate = self._split(sums, 4)
        old = f(self._gate(2, self._peeped(forget, 2, c)))
        one = self.writer.const([[[1.0]]])
        new = self.sub(one, old) if op.input_is_rest else f(self._gate(0, self._peeped(i, 0, c)))
        kept = self.mul(self.sub(one, new) if op.input_forget else old, c)
        c = self.add(kept, self.mul(new, g(self._gate(3, candidate))))
        c = clamp(c, -op.cell_clip, op.cell_clip, self.writer) if op.cell_clip else c
        h = self.mul(f(self._gate(1, self._peeped(o, 1, c))), last(c))
        if self.layer.projection is not None:
            h = self._product(h, self.layer.projection[self.direction], "projection")
            if self.layer.projection_bias is not None:
                h = self.add(h, self._const(self.layer.projection_bias[self.direction], "projection_bias"))
            h = clamp(h, -op.projection_clip, op.projection_clip, self.writer) if op.projection_clip else h
        return h, c

    def _peeped(self, x: Value, gate: int, c: Value) -> Value:
        if self.layer.peepholes is None:
            return x
        weights = np.split(self.layer.peepholes[self.direction], 3)[gate]
        return self.add(x, self.mul(c, self._const(weights, f"peephole{gate}")))

    def _gate(self, gate: int, x: Value) -> Value:
        if self.layer.normalization is not None:
            x = self._normalized(gate, x)
        return self._clipped(x)

    def _normalized(self, gate: int, x: Value) -> Value:
        writer, axis = self.writer, self.writer.ints(2)
        mean = ReduceFusion(mode=ReduceMode.ReduceMean, keep_dims=True)
        centered = self.sub(x, writer.emit(mean, x, axis))
        variance = writer.emit(mean, writer.emit(Square(), centered), axis)
        deviation = writer.emit(Rsqrt(), self.add(variance, self._const([_EPSILON], "epsilon")))
        assert self.layer.normalization is not None
        scale = np.split(self.layer.normalization[self.direction], 4)[gate]
        scaled = self.mul(self.mul(centered, deviation), self._const(scale, f"scale{gate}"))
        return self.add(scaled, self._const(np.split(self._late_bias, 4)[gate], f"bias{gate}"))
