"""The reference of LSTMGrad: backpropagation through time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..ops import training as ops
from ._declare import Array, Inputs, case, fixed_seed, normal, reference


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _parts(op: ops.LSTMGrad, flat: Array, size: int) -> list[tuple[Array, Array, list[Array]]]:
    """Returns for each direction the weights for x and the hidden state, and the biases, as views of the flat vector.

    With one bias, the weights for x of all directions come first; with two, the weights are ordered by direction.
    """
    rows, directions = 4 * op.hidden_size, 2 if op.bidirectional else 1
    bias = rows if op.has_bias else 0
    at = 0

    def cut(count: int) -> Array:
        nonlocal at
        at += count
        return flat[at - count : at]

    if flat.size == directions * (rows * (size + op.hidden_size) + bias):
        of_x = [cut(rows * size) for _ in range(directions)]
        of_hidden = [cut(rows * op.hidden_size) for _ in range(directions)]
        biases = [[cut(bias)] for _ in range(directions)]
    else:
        pairs = [(cut(rows * size), cut(rows * op.hidden_size)) for _ in range(directions)]
        of_x, of_hidden = [first for first, _ in pairs], [second for _, second in pairs]
        biases = [[cut(bias), cut(bias)] for _ in range(directions)]
    return [
        (w.reshape(rows, -1), r.reshape(rows, -1), [b for b in own if b.size])
        for w, r, own in zip(of_x, of_hidden, biases, strict=True)
    ]


def _steps(direction: int, time: int) -> Iterator[int]:
    return iter(range(time) if direction == 0 else reversed(range(time)))


@reference("LSTMGrad")
def lstm_gradient(op: ops.LSTMGrad, inputs: Inputs) -> list[Array]:
    """Gates i f g o; c = f c + i g, h = o tanh(c). The forward pass is recomputed."""
    x, h0, c0, flat, _, _, _, dy, dhidden, dcell = (np.asarray(array, np.float64) for array in inputs[:10])
    dx, dh0, dc0, dflat = (np.zeros_like(array) for array in (x, h0, c0, flat))
    size = op.hidden_size
    pairs = zip(_parts(op, flat, x.shape[2]), _parts(op, dflat, x.shape[2]), strict=True)
    for direction, ((w, r, biases), (dw, dr, dbiases)) in enumerate(pairs):
        h, c = h0[direction], c0[direction]
        kept = []
        for t in _steps(direction, len(x)):
            i, f, g, o = np.split(x[t] @ w.T + h @ r.T + sum(biases), 4, axis=1)
            i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
            before = h, c
            c = f * c + i * g
            h = o * np.tanh(c)
            kept.append((t, before, (i, f, g, o), np.tanh(c)))
        dh, dc = dhidden[direction], dcell[direction]
        for t, (h, c), (i, f, g, o), level in reversed(kept):
            dh = dh + dy[t, :, direction * size : (direction + 1) * size]
            dc = dc + dh * o * (1 - level**2)
            slopes = (dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g**2), dh * level * o * (1 - o))
            gates = np.concatenate(slopes, axis=1)
            dx[t] += gates @ w
            dw += gates.T @ x[t]
            dr += gates.T @ h
            for dbias in dbiases:
                dbias += gates.sum(axis=0)
            dh, dc = gates @ r, dc * f
        dh0[direction], dc0[direction] = dh, dc
    return [gradient.astype(np.float32) for gradient in (dx, dh0, dc0, dflat)]


def _forward(op: ops.LSTMGrad, x: Array, h0: Array, c0: Array, flat: Array) -> list[Array]:
    """Returns y and the last states, which are inputs of the gradient."""
    h, c, y = np.array(h0, np.float64), np.array(c0, np.float64), []
    for direction, (w, r, biases) in enumerate(_parts(op, flat.astype(np.float64), x.shape[2])):
        rows: list[Array] = [h[direction]] * len(x)
        for t in _steps(direction, len(x)):
            i, f, g, o = np.split(x[t] @ w.T + h[direction] @ r.T + sum(biases), 4, axis=1)
            c[direction] = _sigmoid(f) * c[direction] + _sigmoid(i) * np.tanh(g)
            h[direction] = rows[t] = _sigmoid(o) * np.tanh(c[direction])
        y.append(np.stack(rows))
    return [array.astype(np.float32) for array in (np.concatenate(y, axis=2), h, c)]


with fixed_seed(167):
    for _label, _time, _batch, _input, _hidden, _directions, _biases in (
        ("plain", 4, 3, 5, 6, 1, 0),
        ("bias", 5, 2, 7, 3, 1, 1),
        ("two-biases", 3, 1, 2, 9, 1, 2),
        ("both-ways", 4, 2, 3, 5, 2, 1),
        ("both-ways-two-biases", 2, 3, 6, 4, 2, 2),
        ("one-step", 1, 1, 1, 1, 1, 1),
        ("long", 60, 2, 17, 11, 1, 1),
    ):
        _op = ops.LSTMGrad(bidirectional=_directions == 2, has_bias=_biases > 0, input_size=_input,
                           hidden_size=_hidden, num_layers=1, num_directions=_directions)  # fmt: skip
        _count = _directions * 4 * _hidden * (_input + _hidden + _biases)
        _own = [normal(_time, _batch, _input), normal(_directions, _batch, _hidden),
                normal(_directions, _batch, _hidden), normal(_count) * np.float32(0.4)]  # fmt: skip
        _results = _forward(_op, *_own)
        case(_label, _op, [*_own, *_results, *(normal(*result.shape) for result in _results)])
