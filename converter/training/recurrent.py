"""Unrolls recurrent layers into matmuls and element-wise operators with gradients.

MindSpore Lite has a gradient for its LSTM only. Unrolled, all layers can be trained with its operators, including
initial states, projections and peepholes, but the graph grows with the number of steps. The weights stay the constants
of the source, which are sliced in the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import Concat, SliceFusion, Split, Stack
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.recurrent import GRU, LSTM, GRUSequence, LSTMSequence, RNNSequence
from mslite.converter.passes.context import Context
from mslite.converter.passes.target.decompositions.float_arithmetic import Function, clamp, recurrent_functions
from mslite.converter.passes.target.writer import Writer
from mslite.converter.training.gradients import shape_of

General = RNNSequence | GRUSequence | LSTMSequence

_FUNCTIONS = {
    "RNNSequence": ("Tanh",),
    "GRUSequence": ("Sigmoid", "Tanh"),
    "LSTMSequence": ("Sigmoid", "Tanh", "Tanh"),
}
_ONNX_ORDER = (0, 1, 2, 3)
_FLAT_ORDER = (0, 3, 1, 2)
"""Positions of the gates i o f c in flat weights, which have the order i f c o."""


@dataclass
class Unrolled:
    """The constants of unrolled layers: `weights` are trained; `masks` mark the steps within each sequence."""

    weights: set[Value] = field(default_factory=set)
    masks: set[Value] = field(default_factory=set)


def unroll_layers(graph: Graph, frozen: set[Value], context: Context) -> Unrolled:
    """Unrolls the recurrent layers of a graph, except unsupported ones and frozen ones that need no gradient; these
    are not
    changed."""
    found = Unrolled()
    behind_trained: set[Node] = set()
    for node in list(graph.nodes):
        learns = any(value.data is not None and value not in frozen for value in node.inputs)
        if not learns and not any(value.producer in behind_trained for value in node.inputs if value.producer):
            continue
        behind_trained.add(node)
        if not isinstance(node.op, General | LSTM | GRU):
            continue
        writer = Writer(graph, node, context)
        try:
            layer = _read(node, writer)
            results, masks = _Unrolling(layer, writer).run()
        except Blocked:
            writer.drop()
            continue
        behind_trained.update(value.producer for value in results if value.producer is not None)
        found.weights.update(value for value in layer.weights if value.data is not None)
        found.masks.update(masks)
        writer.finish(results[: len(node.outputs)])
    return found


# ---- a common form of the inputs of all operators ----


@dataclass
class _Direction:
    """The weights of one direction; matrices are [out, in]."""

    w: Value
    r: Value
    bias: Value | None = None
    state_bias: Value | None = None
    hidden: Value | None = None
    """[batch, state]; None: zeros."""
    cell: Value | None = None
    peepholes: Value | None = None
    projection: Value | None = None
    projection_bias: Value | None = None


@dataclass
class _Layer:
    op: General
    x: Value
    """[time, batch, input]."""
    directions: list[_Direction]
    weights: list[Value]
    lengths: Value | None = None
    order: Sequence[int] = _ONNX_ORDER
    is_flat: bool = False
    """The form of MINDIR files: y is [time, batch, directions * state]."""

    @property
    def name(self) -> str:
        return self.op.name


def _read(node: Node, writer: Writer) -> _Layer:
    """Reads a layer. Raises Blocked if it cannot be unrolled."""
    op = node.op
    inputs = list(node.inputs)
    if inputs[0].rank != 3 or not inputs[0].is_static:
        raise Blocked("its input has dynamic dimensions", "Fix the input shapes with --inputShape")
    if isinstance(op, LSTM):
        if op.zoneout_cell or op.zoneout_hidden:
            raise Blocked("zoneout is not supported", "Train a part without it")
        if len(inputs) == 4:
            return _flat(op, inputs, writer)
        general: General = LSTMSequence(
            direction="bidirectional" if op.bidirectional else "forward",
            has_bias=len(inputs) > 3,
            has_initial_hidden=len(inputs) > 4,
            has_initial_cell=len(inputs) > 5,
            has_projection=len(inputs) > 6,
        )
    elif isinstance(op, GRU):
        direction = "bidirectional" if op.bidirectional else "forward"
        has_lengths = len(inputs) > 5
        general = GRUSequence(
            direction=direction, has_bias=True, has_sequence_lengths=has_lengths, has_initial_hidden=True
        )
        if has_lengths:
            inputs[4:6] = [inputs[5], inputs[4]]
    else:
        assert isinstance(op, General)
        general = op
    return _general(general, inputs, writer)


def _general(op: General, inputs: list[Value], writer: Writer) -> _Layer:
    if getattr(op, "rounding", 0) or getattr(op, "has_normalization", False) or getattr(op, "input_is_rest", False):
        raise Blocked("a quantized state or normalized gates are not supported", "Train a part without it")
    rest = iter(inputs[3:])

    def optional(flag: str) -> Value | None:
        return next(rest) if getattr(op, flag, False) else None

    x, w, r = inputs[:3]
    bias, lengths = optional("has_bias"), optional("has_sequence_lengths")
    states = [optional("has_initial_hidden"), optional("has_initial_cell")]
    peepholes, projection = optional("has_peepholes"), optional("has_projection")
    projection_bias = optional("has_projection_bias")
    if op.layout:
        swap = writer.ints(1, 0, 2)
        x = writer.emit(Transpose(), x, swap)
        states = [None if state is None else _swapped(state, swap, writer) for state in states]
    count, rows = shape_of(w)[0], shape_of(w)[1]
    directions = []
    for place in range(count):
        own = _Direction(_part(w, place, writer), _part(r, place, writer))
        if bias is not None:
            own.bias = _part(bias, place, writer, 0, rows)
            # Front ends of formats with one bias set the other to zeros, which are not trained.
            if getattr(op, "linear_before_reset", False) or not _is_zero(bias, rows):
                own.state_bias = _part(bias, place, writer, rows, rows)
        given = [None if _is_zero(state) else state for state in states]
        parts = [
            None if value is None else _part(value, place, writer)
            for value in (*given, peepholes, projection, projection_bias)
        ]
        own.hidden, own.cell, own.peepholes, own.projection, own.projection_bias = parts
        directions.append(own)
    weights = [value for value in (w, r, bias, peepholes, projection, projection_bias) if value is not None]
    return _Layer(op, x, directions, weights, lengths)


def _swapped(state: Value, swap: Value, writer: Writer) -> Value:
    """Transposes a state to directions first; constants stay constants."""
    if state.data is not None:
        return writer.const(np.swapaxes(state.data, 0, 1), name=state.name)
    return writer.emit(Transpose(), state, swap)


def _is_zero(value: Value | None, first: int = 0) -> bool:
    """Returns whether a value is omitted, or constant zeros from element `first` of the last dimension on."""
    return value is None or (value.data is not None and not np.any(value.data[..., first:]))


def _cut(value: Value, begin: Sequence[int], size: Sequence[int], shape: Sequence[int], writer: Writer) -> Value:
    """Adds a slice of `value`, reshaped to `shape`."""
    if tuple(size) != value.shape:
        op = SliceFusion(axes=tuple(range(len(begin))))
        value = writer.emit(op, value, writer.ints(*begin), writer.ints(*size))
    return value if value.shape == tuple(shape) else writer.emit(Reshape(), value, writer.ints(*shape))


def _part(value: Value, place: int, writer: Writer, first: int = 0, count: int | None = None) -> Value:
    """Adds the slice of one direction, without that dimension; `count` elements of the last dimension from `first`
    on."""
    _, *rest = shape_of(value)
    begin = [place, *[0] * (len(rest) - 1), first]
    rest[-1] = rest[-1] if count is None else count
    return _cut(value, begin, [1, *rest], rest, writer)


def _flat(op: LSTM, inputs: list[Value], writer: Writer) -> _Layer:
    """Reads the weights of MINDIR files, one vector: with one bias ordered by kind, with two biases ordered by
    direction."""
    x, hidden, cell, flat = inputs
    units, width, count = op.hidden_size, shape_of(x)[2], 2 if op.bidirectional else 1
    state, rows = op.proj_size or units, 4 * units
    biases = rows if op.has_bias else 0
    projected = state * units if op.proj_size else 0
    (size,) = shape_of(flat)
    by_kind = size == count * (rows * (width + state) + projected + biases)
    if not by_kind and size != count * (rows * (width + state) + projected + 2 * biases):
        raise Blocked(f"the number of its weights, {size}, does not match its sizes", "Export the model again")
    at = 0

    def cut(*shape: int) -> Value:
        nonlocal at
        length = int(np.prod(shape))
        at += length
        return _cut(flat, [at - length], [length], shape, writer)

    if by_kind:
        matrices = [[cut(rows, width) for _ in range(count)], [cut(rows, state) for _ in range(count)]]
        pairs = list(zip(*matrices, strict=True))
    else:
        pairs = [(cut(rows, width), cut(rows, state)) for _ in range(count)]
    directions = [_Direction(w, r) for w, r in pairs]
    for own in directions if projected else ():
        own.projection = cut(state, units)
    for own in directions if biases else ():
        own.bias = cut(rows)
        own.state_bias = None if by_kind else cut(rows)
    for place, own in enumerate(directions):
        own.hidden, own.cell = (None if _is_zero(value) else _part(value, place, writer) for value in (hidden, cell))
    general = LSTMSequence(direction="bidirectional" if op.bidirectional else "forward")
    return _Layer(general, x, directions, [flat], order=_FLAT_ORDER, is_flat=True)


# ---- the steps ----


@dataclass
class _Unrolling:
    layer: _Layer
    writer: Writer

    def run(self) -> tuple[list[Value], list[Value]]:
        """Returns the outputs of the layer, and the masks."""
        layer, writer = self.layer, self.writer
        steps = shape_of(layer.x)[0]
        masks = self._masks(steps)
        names = (
            layer.op.activations.split() if layer.op.activations else [*_FUNCTIONS[layer.name]] * len(layer.directions)
        )
        functions = recurrent_functions(names, layer.op.activation_alpha, layer.op.activation_beta, writer)
        each = len(functions) // len(layer.directions)
        ys: list[Value] = []
        states: list[list[Value]] = []
        for number, weights in enumerate(layer.directions):
            own = functions[number * each : (number + 1) * each]
            backward = number == 1 or layer.op.direction == "reverse"
            y, last = _Steps(layer, weights, own, masks, writer).run(steps, backward)
            ys.append(y)
            states.append(last)
        axis = 2 if layer.is_flat else 1
        joined = [ys[0]] if layer.is_flat and len(ys) == 1 else [writer.emit(self._join(axis), *ys)]
        joined += [writer.emit(Stack(axis=0), *(last[kind] for last in states)) for kind in range(len(states[0]))]
        if layer.op.layout:
            orders = [(2, 0, 1, 3), *[(1, 0, 2)] * (len(joined) - 1)]
            joined = [
                writer.emit(Transpose(), value, writer.ints(*order))
                for value, order in zip(joined, orders, strict=True)
            ]
        return joined, [mask for mask in masks or () if mask.data is not None]

    def _join(self, axis: int) -> Concat | Stack:
        return Concat(axis=axis) if self.layer.is_flat else Stack(axis=axis)

    def _masks(self, steps: int) -> list[Value] | None:
        """Returns a mask [batch, 1] for each step, 1 within a sequence, else 0; None if all sequences have the full
        length."""
        if self.layer.lengths is None:
            return None
        if self.layer.lengths.data is None:
            raise Blocked("the lengths of its sequences are computed at run time", "Export it with fixed lengths")
        lengths = self.layer.lengths.data.astype(np.int64)
        if np.all(lengths >= steps):
            return None
        return [self.writer.const((lengths > step).reshape(-1, 1), name=f"mask{step}") for step in range(steps)]


@dataclass
class _Steps:
    """One direction of a layer. States are [batch, size]; None before the first step if they are zeros."""

    layer: _Layer
    weights: _Direction
    functions: list[Function]
    masks: list[Value] | None
    writer: Writer
    turned: dict[Value, Value] = field(default_factory=dict)
    """Transposed matrices, [in, out], shared by all steps."""
    cuts: dict[tuple[Value, int, int], Value] = field(default_factory=dict)
    """Slices of weights by first row and number of rows, shared by all steps."""

    def run(self, steps: int, backward: bool) -> tuple[Value, list[Value]]:
        """Returns y [time, batch, state], and the last states."""
        inputs = self._inputs(steps)
        hidden, cell = self.weights.hidden, self.weights.cell
        ys: dict[int, Value] = {}
        for step in reversed(range(steps)) if backward else range(steps):
            new, new_cell = self._step(inputs[step], hidden, cell)
            if self.masks is None:
                hidden, cell, ys[step] = new, new_cell, new
                continue
            mask = self.masks[step]
            ys[step] = self._mul(new, mask)
            hidden = self._kept(ys[step], hidden, step)
            cell = None if new_cell is None else self._kept(self._mul(new_cell, mask), cell, step)
        y = self.writer.emit(Stack(axis=0), *(ys[step] for step in range(steps)))
        return y, [state for state in (hidden, cell) if state is not None]

    def _kept(self, new: Value, old: Value | None, step: int) -> Value:
        """Returns the new state, or the old state if a sequence has ended."""
        if old is None:
            return new
        assert self.masks is not None
        rest = self._sub(self.writer.const([[1.0]], name="one"), self.masks[step])
        return self._add(new, self._mul(old, rest))

    def _add(self, a: Value, b: Value | None) -> Value:
        return a if b is None else self.writer.emit(AddFusion(), a, b)

    def _mul(self, a: Value, b: Value) -> Value:
        return self.writer.emit(MulFusion(), a, b)

    def _sub(self, a: Value, b: Value) -> Value:
        return self.writer.emit(SubFusion(), a, b)

    def _product(self, a: Value, matrix: Value, bias: Value | None = None) -> Value:
        operands = (a, matrix) if bias is None else (a, matrix, bias)
        return self.writer.emit(MatMulFusion(transpose_b=True), *operands)

    def _rows(self, weights: Value, first: int, count: int) -> Value:
        place = (weights, first, count)
        if place not in self.cuts:
            rest = shape_of(weights)[1:]
            size = [count, *rest]
            self.cuts[place] = _cut(weights, [first, *[0] * len(rest)], size, size, self.writer)
        return self.cuts[place]

    def _product_of_step(self, a: Value, matrix: Value, bias: Value | None = None) -> Value:
        if matrix not in self.turned:
            self.turned[matrix] = self.writer.emit(Transpose(), matrix, self.writer.ints(1, 0))
        operands = (a, self.turned[matrix]) if bias is None else (a, self.turned[matrix], bias)
        return self.writer.emit(MatMulFusion(), *operands)

    def _pieces(self, value: Value, count: int, axis: int) -> list[Value]:
        return [value] if count == 1 else list(self.writer.many(Split(output_num=count, axis=axis), [value], count))

    def _resets_late(self) -> bool:
        """Returns whether the recurrent bias of the candidate is multiplied by the reset gate."""
        return isinstance(self.layer.op, GRUSequence) and self.layer.op.linear_before_reset

    def _inputs(self, steps: int) -> list[Value]:
        """Returns the contribution of x to the gates for each step, [batch, gates], with the biases that no gate
        multiplies."""
        x, bias = self.layer.x, self.weights.bias
        if bias is not None and self.weights.state_bias is not None and not self._resets_late():
            bias = self._add(bias, self.weights.state_bias)
        rows = self.writer.emit(Reshape(), x, self.writer.ints(-1, shape_of(x)[2]))
        return self._pieces(self._product(rows, self.weights.w, bias), steps, 0)

    def _step(self, x: Value, h: Value | None, c: Value | None) -> tuple[Value, Value | None]:
        if self.layer.name == "RNNSequence":
            product = None if h is None else self._product_of_step(h, self.weights.r)
            return self.functions[0](self._clipped(self._add(x, product))), None
        if self.layer.name == "GRUSequence":
            return self._gru(x, h), None
        return self._lstm(x, h, c)

    def _clipped(self, x: Value) -> Value:
        bound = self.layer.op.clip
        return clamp(x, -bound, bound, self.writer) if bound else x

    def _gru(self, x: Value, h: Value | None) -> Value:
        f, g = self.functions
        of_x = self._pieces(x, 3, 1)
        of_h: list[Value | None] = [None] * 3
        units = shape_of(of_x[0])[1]
        r = self.weights.r
        if self._resets_late():
            bias = self.weights.state_bias
            if h is not None:
                of_h = [*self._pieces(self._product_of_step(h, r, bias), 3, 1)]
            elif bias is not None:
                of_h = [*self._pieces(bias, 3, 0)]
        elif h is not None:
            of_h[:2] = self._pieces(self._product_of_step(h, self._rows(r, 0, 2 * units)), 2, 1)
        update = f(self._clipped(self._add(of_x[0], of_h[0])))
        reset = f(self._clipped(self._add(of_x[1], of_h[1])))
        if of_h[2] is not None:
            of_h[2] = self._mul(reset, of_h[2])
        elif h is not None and not self._resets_late():
            of_h[2] = self._product_of_step(self._mul(reset, h), self._rows(r, 2 * units, units))
        candidate = g(self._clipped(self._add(of_x[2], of_h[2])))
        if h is None:
            return self._sub(candidate, self._mul(update, candidate))
        return self._add(candidate, self._mul(update, self._sub(h, candidate)))

    def _lstm(self, x: Value, h: Value | None, c: Value | None) -> tuple[Value, Value]:
        op = self.layer.op
        assert isinstance(op, LSTMSequence)
        f, g, last = self.functions
        sums = self._pieces(self._add(x, None if h is None else self._product_of_step(h, self.weights.r)), 4, 1)
        i, o, forget, candidate = (sums[place] for place in self.layer.order)
        new = f(self._clipped(self._peeped(i, 0, c)))
        fresh = self._mul(new, g(self._clipped(candidate)))
        if c is None:
            c = fresh
        else:
            one = self.writer.const([[1.0]], name="one")
            old = self._sub(one, new) if op.input_forget else f(self._clipped(self._peeped(forget, 2, c)))
            c = self._add(self._mul(c, old), fresh)
        c = clamp(c, -op.cell_clip, op.cell_clip, self.writer) if op.cell_clip else c
        h = self._mul(f(self._clipped(self._peeped(o, 1, c))), last(c))
        if self.weights.projection is not None:
            h = self._product_of_step(h, self.weights.projection, self.weights.projection_bias)
            h = clamp(h, -op.projection_clip, op.projection_clip, self.writer) if op.projection_clip else h
        return h, c

    def _peeped(self, x: Value, gate: int, c: Value | None) -> Value:
        if self.weights.peepholes is None or c is None:
            return x
        (size,) = shape_of(self.weights.peepholes)
        units = size // 3
        return self._add(x, self._mul(c, self._rows(self.weights.peepholes, gate * units, units)))
