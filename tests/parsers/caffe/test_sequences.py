"""Recurrent layers against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from . import formulas
from .helper import agree, check_layer, random, run_layer


@pytest.mark.parametrize("exposed", [False, True])
@pytest.mark.parametrize("static", [False, True])
def test_lstm(static: bool, exposed: bool, tmp_path: Path) -> None:
    x, continuation = random(5, 2, 3, 2), np.array([[0, 0], [1, 1], [1, 0], [1, 1], [0, 1]], np.float32)
    blobs = [random(16, 6, seed=1), random(16, seed=2), random(16, 7, seed=3), random(16, 4, seed=4)]
    side, states = random(2, 7, seed=5), [random(1, 2, 4, seed=6), random(1, 2, 4, seed=7)]
    if not static:
        del blobs[2]
    h, c = (states[0][0], states[1][0]) if exposed else (np.zeros((2, 4)), np.zeros((2, 4)))
    wanted = formulas.lstm(x, continuation, blobs, side if static else None, h, c)
    inputs = [x, continuation, *([side] if static else []), *(states if exposed else [])]
    text = f"recurrent_param {{ num_output: 4 expose_hidden: {str(exposed).lower()} }}"
    got = run_layer(tmp_path, "LSTM", inputs, text, blobs, tops=3 if exposed else 1)
    for actual, expected in zip(got, wanted, strict=False):
        agree(actual, expected)


def test_rnn(tmp_path: Path) -> None:
    x, continuation = random(4, 2, 5), np.array([[0, 0], [1, 1], [1, 0], [1, 1]], np.float32)
    blobs = [random(3, 5, seed=1), random(3, seed=2), random(3, 3, seed=3), random(3, 3, seed=4), random(3, seed=5)]
    wanted = formulas.rnn(x, continuation, blobs)
    check_layer(tmp_path, wanted, "RNN", [x, continuation], "recurrent_param { num_output: 3 }", blobs)
