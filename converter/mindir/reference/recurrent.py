"""References of the recurrent operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..ops import recurrent as ops
from ..ops._declare import Floats
from ..ops.enums import DataType
from ..ops.quantization import DynamicQuant, DynamicQuantizeLinear
from ._declare import Array, Inputs, case, fixed_seed, integers, normal, reference
from .quantization import dynamic_quant, dynamic_quantize_linear

Function = Callable[[Array], Array]


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


_FORMULAS: dict[str, tuple[tuple[float, ...], Callable[..., Array]]] = {
    "Sigmoid": ((), _sigmoid),
    "Tanh": ((), np.tanh),
    "Relu": ((), lambda x: np.maximum(x, 0)),
    "Affine": ((1, 0), lambda x, a, b: a * x + b),
    "LeakyRelu": ((0.01,), lambda x, a: np.where(x < 0, a * x, x)),
    "ThresholdedRelu": ((1,), lambda x, a: np.where(x > a, x, 0)),
    "ScaledTanh": ((1, 1), lambda x, a, b: a * np.tanh(b * x)),
    "HardSigmoid": ((0.2, 0.5), lambda x, a, b: np.clip(a * x + b, 0, 1)),
    "Elu": ((1,), lambda x, a: np.where(x < 0, a * np.expm1(x), x)),
    "Softsign": ((), lambda x: x / (1 + np.abs(x))),
    "Softplus": ((), lambda x: np.log1p(np.exp(x))),
}
"""ONNX's activations -> default alpha and beta, formula."""


def _functions(names: str | None, defaults: list[str], *given: Floats) -> list[Function]:
    """Returns the named functions; the lists `given` are used in order by those with alpha (and beta)."""
    lists = [list(values or ()) for values in given]
    result: list[Function] = []
    for name in names.split() if names else defaults:
        parameters, formula = _FORMULAS[name]
        numbers = [values.pop(0) if values else default for values, default in zip(lists, parameters, strict=False)]
        result.append(partial(_apply, formula, numbers))
    return result


def _apply(formula: Callable[..., Array], numbers: list[float], x: Array) -> Array:
    return formula(x, *numbers)


def _rounded_to_even(h: Array) -> Array:
    """Returns the state of one sequence quantized to 8 bits and dequantized, with ONNX's rounding."""
    y, scale, zero = dynamic_quantize_linear(DynamicQuantizeLinear(), [h.astype(np.float32)])
    return np.asarray(scale * (y.astype(np.float32) - zero), np.float64)


@dataclass
class _Cell:
    """One direction of a recurrent layer, in float64."""

    w: Array
    r: Array
    bias_w: Array
    bias_r: Array
    functions: list[Function]
    clip: float = 0
    linear_before_reset: bool = False
    input_forget: bool = False
    cell_clip: float = 0
    projection_clip: float = 0
    peepholes: Array | None = None
    projection: Array | None = None
    projection_bias: Array | None = None
    normalization: Array | None = None
    rounding: int = 0

    def _multiplied(self, h: Array) -> Array:
        """Returns the vector that is multiplied with the weights, quantized to 8 bits if requested."""
        if not self.rounding:
            return h
        if self.rounding == 3:
            return _rounded_to_even(h)
        op = DynamicQuant(symmetric=self.rounding == 1, dst_type=int(DataType.FLOAT32))
        return np.asarray(dynamic_quant(op, [h.astype(np.float32)])[0], np.float64)

    def _clipped(self, x: Array) -> Array:
        return np.clip(x, -self.clip, self.clip) if self.clip else x

    def rnn(self, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        product = self._multiplied(h) @ self.r.T
        return self.functions[0](self._clipped(x @ self.w.T + product + self.bias_w + self.bias_r)), c

    def gru(self, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        f, g = self.functions
        size = h.shape[-1]
        wz, wr, wh = np.split(x @ self.w.T + self.bias_w, 3, -1)
        bz, br, bh = np.split(self.bias_r, 3)
        rz, rr, rh = self.r[:size], self.r[size : 2 * size], self.r[2 * size :]
        z = f(self._clipped(wz + h @ rz.T + bz))
        r = f(self._clipped(wr + h @ rr.T + br))
        hidden = r * (h @ rh.T + bh) if self.linear_before_reset else (r * h) @ rh.T + bh
        return (1 - z) * g(self._clipped(wh + hidden)) + z * h, c

    def _gate(self, number: int, x: Array) -> Array:
        """Returns the pre-activation of gate i o f c with its biases, normalized if requested."""
        bias = np.split(self.bias_w + self.bias_r, 4)[number]
        if self.normalization is None:
            return np.asarray(x + bias)
        normal = (x - x.mean()) / np.sqrt(x.var() + 1e-8)
        return np.asarray(normal * np.split(self.normalization, 4)[number] + bias)

    def lstm(self, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        f, g, last = self.functions
        i, o, forget, candidate = np.split(x @ self.w.T + self._multiplied(h) @ self.r.T, 4, -1)
        pi, po, pf = np.split(self.peepholes if self.peepholes is not None else np.zeros(3 * c.shape[-1]), 3)
        i = f(self._clipped(self._gate(0, i + pi * c)))
        forget = 1 - i if self.input_forget else f(self._clipped(self._gate(2, forget + pf * c)))
        c = forget * c + i * g(self._clipped(self._gate(3, candidate)))
        c = np.clip(c, -self.cell_clip, self.cell_clip) if self.cell_clip else c
        h = f(self._clipped(self._gate(1, o + po * c))) * last(c)
        if self.projection is not None:
            bias = 0 if self.projection_bias is None else self.projection_bias
            h = self._multiplied(h) @ self.projection.T + bias
            h = np.clip(h, -self.projection_clip, self.projection_clip) if self.projection_clip else h
        return h, c


def _run(
    step: Callable[[Array, Array, Array], tuple[Array, Array]],
    x: Array,
    h: Array,
    c: Array,
    lengths: Array,
    reverse: bool,
) -> tuple[Array, Array, Array]:
    """Runs x [time, batch, input]; steps after the end of a sequence return zeros and keep its state."""
    y = np.zeros((*x.shape[:2], h.shape[-1]))
    h, c = h.copy(), c.copy()
    for batch, length in enumerate(lengths):
        for time in range(length)[::-1] if reverse else range(length):
            h[batch], c[batch] = step(x[time, batch], h[batch], c[batch])
            y[time, batch] = h[batch]
    return y, h, c


def _take(inputs: Inputs, flags: list[bool]) -> list[Array | None]:
    """Returns the optional inputs after the third; None if the flag is false."""
    rest = iter(inputs[3:])
    return [next(rest) if flag else None for flag in flags]


def _f64(array: Array | None) -> Array | None:
    return None if array is None else array.astype(np.float64)


def sequence(
    kind: str,
    op: ops.RNNSequence | ops.LSTMSequence | ops.GRUSequence,
    inputs: Inputs,
    options: dict[str, object],
    defaults: list[str],
    extra: list[bool],
) -> list[Array]:
    """Runs all directions, in float64."""
    x, w, r = (np.asarray(a, np.float64) for a in inputs[:3])
    flags = [op.has_bias, op.has_sequence_lengths, op.has_initial_hidden, *extra]
    bias, lengths, h0, *more = _take(inputs, flags)
    c0, peepholes, projection, projection_bias, normalization = (_f64(a) for a in (more or [None] * 5))
    if op.layout:
        x = np.swapaxes(x, 0, 1)
    time, batch = x.shape[:2]
    directions, rows, state = r.shape
    hidden = rows // {"rnn": 1, "gru": 3, "lstm": 4}[kind]
    used = np.full(batch, time) if lengths is None else lengths
    names = defaults * directions
    functions = _functions(op.activations, names, op.activation_alpha, op.activation_beta)
    ys, hs, cs = [], [], []
    for d in range(directions):
        biases = np.zeros(2 * rows) if bias is None else bias[d].astype(np.float64)
        cell = _Cell(
            w[d],
            r[d],
            biases[:rows],
            biases[rows:],
            functions[d * len(defaults) : (d + 1) * len(defaults)],
            op.clip,
            peepholes=None if peepholes is None else peepholes[d],
            projection=None if projection is None else projection[d],
            projection_bias=None if projection_bias is None else projection_bias[d],
            normalization=None if normalization is None else normalization[d],
            **options,  # type: ignore[arg-type]
        )
        start = [np.zeros((batch, size)) for size in (state, hidden)]
        for slot, given in enumerate((_f64(h0), c0)):
            if given is not None:
                start[slot] = given[:, d] if op.layout else given[d]
        y, h, c = _run(getattr(cell, kind), x, start[0], start[1], used, d == 1 or op.direction == "reverse")
        ys.append(y)
        hs.append(h)
        cs.append(c)
    outputs = [np.stack(ys, 1), np.stack(hs), np.stack(cs)]
    if op.layout:
        outputs = [outputs[0].transpose(2, 0, 1, 3), outputs[1].swapaxes(0, 1), outputs[2].swapaxes(0, 1)]
    return outputs if kind == "lstm" else outputs[:2]


def _f32(arrays: list[Array]) -> list[Array]:
    return [a.astype(np.float32) for a in arrays]


@reference("RNNSequence")
def rnn_sequence(op: ops.RNNSequence, inputs: Inputs) -> list[Array]:
    """ONNX RNN."""
    return _f32(sequence("rnn", op, inputs, {"rounding": op.rounding}, ["Tanh"], []))


@reference("GRUSequence")
def gru_sequence(op: ops.GRUSequence, inputs: Inputs) -> list[Array]:
    """ONNX GRU."""
    options: dict[str, object] = {"linear_before_reset": op.linear_before_reset}
    return _f32(sequence("gru", op, inputs, options, ["Sigmoid", "Tanh"], []))


@reference("LSTMSequence")
def lstm_sequence(op: ops.LSTMSequence, inputs: Inputs) -> list[Array]:
    """ONNX LSTM with TensorFlow Lite's projection and clipping of the states."""
    options: dict[str, object] = {
        "input_forget": op.input_forget,
        "cell_clip": op.cell_clip,
        "projection_clip": op.projection_clip,
        "rounding": op.rounding,
    }
    extra = [op.has_initial_cell, op.has_peepholes, op.has_projection, op.has_projection_bias, op.has_normalization]
    return _f32(sequence("lstm", op, inputs, options, ["Sigmoid", "Tanh", "Tanh"], extra))


@reference("GRU")
def gru(op: ops.GRU, inputs: Inputs) -> list[Array]:
    """GRUSequence with bias and initial state, and lengths as an optional sixth input."""
    x, w, r, bias, hidden, *lengths = inputs
    general = ops.GRUSequence(
        direction="bidirectional" if op.bidirectional else "forward",
        has_bias=True,
        has_sequence_lengths=bool(lengths),
        has_initial_hidden=True,
    )
    return gru_sequence(general, [x, w, r, bias, *lengths, hidden])


def unpacked(op: ops.LSTM, inputs: Inputs) -> list[Array]:
    """Returns the inputs with MINDIR's flat weights split: x, W, R, bias, h0, c0[, projection]."""
    x, h0, c0, flat = (np.asarray(a) for a in inputs)
    directions = 2 if op.bidirectional else 1
    size, state, hidden = x.shape[2], op.proj_size or op.hidden_size, op.hidden_size
    shapes = {"w": (4 * hidden, size), "r": (4 * hidden, state)}
    projection = (state, hidden) if op.proj_size else (0, hidden)
    bias = 4 * hidden if op.has_bias else 0
    by_kind = flat.size == directions * (4 * hidden * (size + state) + projection[0] * hidden + bias)
    rest = flat

    def cut(*shape: int) -> Array:
        nonlocal rest
        count = int(np.prod(shape))
        block, rest = rest[:count].reshape(shape), rest[count:]
        return block

    if by_kind:
        w, r = cut(directions, *shapes["w"]), cut(directions, *shapes["r"])
    else:
        pairs = [(cut(*shapes["w"]), cut(*shapes["r"])) for _ in range(directions)]
        w, r = np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs])
    p = cut(directions, *projection)
    b = cut(directions, bias) if by_kind else cut(directions, 2, bias)
    b = np.stack([b, np.zeros_like(b)], 1) if by_kind else b
    order = [0, 3, 1, 2]  # i f g o -> i o f c

    def reordered(a: Array, axis: int) -> Array:
        return np.concatenate([np.split(a, 4, axis)[gate] for gate in order], axis)

    operands = [x, reordered(w, 1), reordered(r, 1)]
    operands.append(reordered(b, 2).reshape(directions, -1) if op.has_bias else np.zeros((directions, 8 * hidden)))
    return [*operands, h0, c0, *([p] if op.proj_size else [])]


@reference("LSTM")
def lstm(op: ops.LSTM, inputs: Inputs) -> list[Array]:
    """LSTMSequence; with four inputs in MINDIR's form, y is [time, batch, directions * state]."""
    mindir = len(inputs) == 4
    operands: Inputs = unpacked(op, inputs) if mindir else inputs
    general = ops.LSTMSequence(
        direction="bidirectional" if op.bidirectional else "forward",
        has_bias=len(operands) > 3,
        has_initial_hidden=len(operands) > 4,
        has_initial_cell=len(operands) > 5,
        has_projection=len(operands) > 6,
    )
    y, h, c = lstm_sequence(general, operands)
    if mindir:
        y = y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)
    return [y, h, c]


_T, _B, _I, _H = 5, 3, 7, 19


def _weights(gates: int, directions: int = 1, state: int = _H) -> list[Array]:
    scale = np.float32(0.4)
    return [normal(directions, gates * _H, _I) * scale, normal(directions, gates * _H, state) * scale]


def _bias(gates: int, directions: int = 1) -> Array:
    return normal(directions, 2 * gates * _H) * np.float32(0.3)


def _state(directions: int = 1, size: int = _H) -> Array:
    return normal(directions, _B, size)


_LENGTHS = np.array([5, 2, 4], np.int32)
for _directions in (1, 2):
    _name = "bidirectional" if _directions == 2 else "forward"
    _x = normal(_T, _B, _I)
    _all = [_x, *_weights(4, _directions), _bias(4, _directions), _state(_directions), _state(_directions)]
    case(_name, ops.LSTM(bidirectional=_directions == 2), _all, (1, 2, 3))
    _all = [_x, *_weights(3, _directions), _bias(3, _directions), _state(_directions)]
    case(_name, ops.GRU(bidirectional=_directions == 2), _all, (1, 2, 3))
    case(f"{_name}-lengths", ops.GRU(bidirectional=_directions == 2), [*_all, _LENGTHS], (1, 2, 3))
    for _projected in (0, 11):
        for _biases in (0, 1, 2):
            _size = 4 * _H * (_I + (_projected or _H)) + _projected * _H + 4 * _biases * _H
            _flat = normal(_directions * _size) * np.float32(0.4)
            _lstm = ops.LSTM(
                bidirectional=_directions == 2,
                has_bias=_biases > 0,
                input_size=_I,
                hidden_size=_H,
                proj_size=_projected,
            )
            _states = [_state(_directions, _projected or _H), _state(_directions)]
            case(f"mindir-{_name}-{_projected}-{_biases}", _lstm, [_x, *_states, _flat], (3,))
case(
    "projection",
    ops.LSTM(),
    [normal(_T, _B, _I), *_weights(4, 1, 9), _bias(4), _state(1, 9), _state(), normal(1, 9, _H)],
)
for _name in ("forward", "reverse", "bidirectional"):
    _directions = 2 if _name == "bidirectional" else 1
    for _gates, _class in ((1, ops.RNNSequence), (3, ops.GRUSequence), (4, ops.LSTMSequence)):
        _x = normal(_T, _B, _I)
        case(f"{_name}-bare", _class(direction=_name), [_x, *_weights(_gates, _directions)])
        _full = _class(direction=_name, has_bias=True, has_sequence_lengths=True, has_initial_hidden=True, clip=0.6)
        _rest = [_bias(_gates, _directions), _LENGTHS, _state(_directions)]
        case(f"{_name}-full", _full, [_x, *_weights(_gates, _directions), *_rest], (1, 2, 3))
        _layout = _class(direction=_name, layout=1, has_initial_hidden=True)
        _first = [normal(_B, _T, _I), *_weights(_gates, _directions), normal(_B, _directions, _H)]
        case(f"{_name}-batch-first", _layout, _first, (1, 2))
    for _clip in (0.0, 0.5):
        _reset = ops.GRUSequence(direction=_name, linear_before_reset=True, has_bias=True, clip=_clip)
        case(f"{_name}-reset-{_clip}", _reset, [_x, *_weights(3, _directions), _bias(3, _directions)], (1, 2, 3))
    _peep = ops.LSTMSequence(
        direction=_name,
        has_bias=True,
        has_initial_hidden=True,
        has_initial_cell=True,
        has_peepholes=True,
        has_projection=True,
        has_projection_bias=True,
        cell_clip=0.7,
        projection_clip=0.9,
    )
    _rest = [_state(_directions, 9), _state(_directions), normal(_directions, 3 * _H), normal(_directions, 9, _H)]
    _rest = [_bias(4, _directions), *_rest, normal(_directions, 9)]
    case(f"{_name}-peepholes", _peep, [_x, *_weights(4, _directions, 9), *_rest], (1, 2, 3))
for _peepholes in (False, True):
    _normal = ops.LSTMSequence(has_bias=True, has_peepholes=_peepholes, has_normalization=True)
    _rest = [_bias(4), *([normal(1, 3 * _H)] if _peepholes else []), normal(1, 4 * _H)]
    case(f"normalized-{_peepholes}", _normal, [normal(_T, _B, _I), *_weights(4), *_rest])
for _rounding in (1, 2, 3):
    with fixed_seed(4):
        case(f"rounded-{_rounding}", ops.RNNSequence(rounding=_rounding), [normal(_T, _B, _I), *_weights(1)])
        _rounded = ops.LSTMSequence(has_bias=True, has_projection=True, rounding=_rounding)
        case(f"rounded-{_rounding}", _rounded, [normal(_T, _B, _I), *_weights(4, 1, 9), _bias(4), normal(1, 9, _H)])
case("input-forget", ops.LSTMSequence(input_forget=True), [normal(_T, _B, _I), *_weights(4)])
case(
    "activations",
    ops.LSTMSequence(
        activations="HardSigmoid Affine ScaledTanh", activation_alpha=(0.3, 0.5, 1.2), activation_beta=(0.4,)
    ),
    [normal(_T, _B, _I), *_weights(4)],
)
case(
    "activations",
    ops.GRUSequence(
        direction="bidirectional", activations="Sigmoid Softsign HardSigmoid LeakyRelu", activation_alpha=(0.25, 0.1)
    ),
    [normal(_T, _B, _I), *_weights(3, 2)],
)
for _name in ("Relu", "Elu", "Softplus", "ThresholdedRelu"):
    case(_name, ops.RNNSequence(activations=_name, activation_alpha=(0.5,)), [normal(_T, _B, _I), *_weights(1)])
case(
    "lengths-int64",
    ops.RNNSequence(has_sequence_lengths=True),
    [normal(_T, _B, _I), *_weights(1), integers(0, 6, _B, dtype=np.int64)],
)
