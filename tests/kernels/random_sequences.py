"""Random calls of recurrent operators, of operators that create tensors, and of detection."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import creation, detection, indexing, recurrent
from mslite.converter.mindir.ops.enums import DataType

from .random_calls import Call, Draw, axis_of, ints, normal, shapes


@st.composite
def recurrences(draw: Draw) -> Call:
    """LSTM and GRU with MindIR's and ONNX's attributes, including empty sequences."""
    time, batch, size, hidden = (draw(st.integers(low, 9)) for low in (0, 1, 1, 1))
    both = draw(st.booleans())
    kind = draw(st.sampled_from(("LSTM", "GRU", "LSTMSequence", "GRUSequence", "RNNSequence")))
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind.removesuffix("Sequence")]
    directions = 1 + both
    x = normal(draw, (time, batch, size))
    weights = [normal(draw, (directions, gates * hidden, each), -0.4, 0.4) for each in (size, hidden)]
    bias = normal(draw, (directions, 2 * gates * hidden), -0.4, 0.4)
    states = [normal(draw, (directions, batch, hidden)) for _ in range(2)]
    if kind == "LSTM":
        return Call(recurrent.LSTM(bidirectional=both), (x, *weights, bias, *states), (1, 2, 3), 3e-5)
    if kind == "GRU":
        return Call(recurrent.GRU(bidirectional=both), (x, *weights, bias, states[0]), (1, 2, 3), 3e-5)
    lengths = np.array([draw(st.integers(0, time)) for _ in range(batch)], np.int32)
    has = {name: draw(st.booleans()) for name in ("has_bias", "has_sequence_lengths", "has_initial_hidden")}
    direction = "bidirectional" if both else draw(st.sampled_from(("forward", "reverse")))
    optional = [array for array, given in zip((bias, lengths, states[0]), has.values(), strict=True) if given]
    op = getattr(recurrent, kind)(direction=direction, clip=draw(st.sampled_from((0.0, 0.5))), **has)
    return Call(op, (x, *weights, *optional), (1, 2), 3e-5)


@st.composite
def creations(draw: Draw) -> Call:
    kind = draw(st.sampled_from(("Fill", "Range", "LinSpace", "OneHot", "EyeLike")))
    if kind == "Fill":
        value = np.asarray(draw(st.sampled_from((np.float32(1.5), np.int32(-3), np.int64(7)))))
        return Call(creation.Fill(), (value, ints(*draw(shapes()))), (1,))
    if kind == "Range":
        start, count, delta = (
            draw(st.integers(-20, 20)),
            draw(st.integers(0, 12)),
            draw(st.sampled_from((1, 2, 5, -1, -3))),
        )
        limit = start + count * delta + draw(st.integers(0, abs(delta) - 1)) * (1 if delta > 0 else -1)
        dtype = draw(st.sampled_from(("int32", "int64", "float32")))
        return Call(creation.Range(), tuple(np.asarray(each, dtype) for each in (start, limit, delta)), (0, 1, 2))
    if kind == "LinSpace":
        ends = tuple(np.asarray(draw(st.integers(-9, 9)), np.float32) for _ in range(2))
        return Call(creation.LinSpace(), (*ends, np.asarray(draw(st.integers(1, 9)), np.int32)), (0, 1, 2))
    if kind == "EyeLike":
        op = creation.EyeLike(data_type=int(DataType.FLOAT32), k=draw(st.integers(-4, 4)))
        return Call(op, (normal(draw, draw(shapes(2, 2))),))
    shape = draw(shapes(0, 4, 0, 4))
    depth = draw(st.integers(1, 6))
    indices = np.random.default_rng(draw(st.integers(0, 99))).integers(-1, depth + 1, shape).astype(np.int32)
    indices = np.asarray(np.maximum(indices, 0), np.int32)
    values = np.array([0.5, 2.5], np.float32)
    on, off = np.asarray(values[1]), np.asarray(values[0])
    axis = axis_of(draw, len(shape) + 1)
    return Call(indexing.OneHot(axis=axis), (indices, np.asarray(depth, np.int32), on, off), (1, 2, 3))


@st.composite
def detections(draw: Draw) -> Call:
    """Non-maximum suppression of boxes with unique scores."""
    batch, classes, count = (draw(st.integers(low, high)) for low, high in ((1, 2), (1, 3), (1, 12)))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    corners = generator.uniform(0, 1, (batch, count, 2))
    boxes = np.concatenate([corners, corners + generator.uniform(0.05, 0.6, (batch, count, 2))], 2).astype(np.float32)
    scores = generator.permutation(batch * classes * count).reshape(batch, classes, count)
    limit = np.array([draw(st.integers(0, count))], np.int64)
    thresholds = [np.array([draw(st.sampled_from((0.1, 0.35, 0.7)))], np.float32) for _ in range(2)]
    scaled = (scores / scores.size).astype(np.float32)
    return Call(detection.NonMaxSuppression(), (boxes, scaled, limit, *thresholds), (2, 3, 4))
