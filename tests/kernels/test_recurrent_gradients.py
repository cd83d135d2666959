"""LSTMGrad against central differences, in float64, of an LSTM's formulas."""

from __future__ import annotations

import numpy as np
import pytest

from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.ops import training
from mslite.converter.mindir.ops.recurrent import LSTM

from .calls import results
from .test_gradients import agree, differences, numbers


def _lstm(x: Array, h0: Array, c0: Array, flat: Array) -> Array:
    """One direction, gates i f g o, one bias: y, then the last states."""
    size, rows = h0.shape[2], 4 * h0.shape[2]
    w, r, bias = np.split(flat, [rows * x.shape[2], rows * (x.shape[2] + size)])
    h, c, found = h0[0], c0[0], []
    for step in x:
        gates = step @ w.reshape(rows, -1).T + h @ r.reshape(rows, -1).T + bias
        i, f, g, o = (np.tanh(gate / (1 if place == 2 else 2)) for place, gate in enumerate(np.split(gates, 4, axis=1)))
        c = (f + 1) / 2 * c + (i + 1) / 2 * g
        h = (o + 1) / 2 * np.tanh(c)
        found.append(h)
    return np.stack([*found, h, c])


def _both_ways(x: Array, h0: Array, c0: Array, flat: Array) -> Array:
    """The second direction reads x backwards; of the flat weights each kind stands together."""
    size, rows = h0.shape[2], 4 * h0.shape[2]
    kinds = np.split(flat, 2 * rows * np.cumsum([x.shape[2], size]))
    own = [np.concatenate([np.split(kind, 2)[direction] for kind in kinds]) for direction in (0, 1)]
    first = _lstm(x, h0[:1], c0[:1], own[0])
    second = _lstm(x[::-1], h0[1:], c0[1:], own[1])
    return np.stack([first, np.concatenate([second[-3::-1], second[-2:]])])


@pytest.mark.parametrize("directions", [1, 2])
def test_lstm(directions: int) -> None:
    """The loss reads y and the last states; y is what the kernel of LSTM gives."""
    time, batch, width, size = 3, 2, 4, 3
    x, flat = numbers(time, batch, width), numbers(directions * 4 * size * (width + size + 1))
    h0, c0 = numbers(directions, batch, size), numbers(directions, batch, size)
    dy, dh, dc = numbers(time, batch, directions * size), numbers(*h0.shape), numbers(*h0.shape)
    attributes = {"bidirectional": directions == 2, "has_bias": True, "input_size": width, "hidden_size": size}

    def forward(*operands: Array) -> Array:
        return _both_ways(*operands) if directions == 2 else _lstm(*operands)[None]

    of_y = np.stack(np.split(dy, directions, axis=2))
    wanted = differences(forward, [x, h0, c0, flat], np.concatenate([of_y, dh[:, None], dc[:, None]], axis=1))
    for _, found in results(LSTM(**attributes), [x, h0, c0, flat], (3,), 3):
        agree(training.LSTMGrad(**attributes), [x, h0, c0, flat, *found, dy, dh, dc], wanted)


def test_lstms_of_several_layers_are_refused() -> None:
    x, state = numbers(2, 1, 1), numbers(1, 1, 1)
    operands = [x, state, state, numbers(8), x, state, state, x, state, state]
    op = training.LSTMGrad(input_size=1, hidden_size=1, num_layers=2)
    with pytest.raises(AssertionError, match="no kernel takes"):
        list(results(op, operands, (), 4))
