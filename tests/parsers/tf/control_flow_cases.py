"""Small TensorFlow models with loops, branches, lists and arrays, of both versions of control flow."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # needed by the cells of TensorFlow 1
import tensorflow as tf

v1 = tf.compat.v1
rng = np.random.default_rng(11)

FIRST: dict[str, Callable[[], tuple[list[Any], list[Any], list[list[Any]]]]] = {}
"""Models of TensorFlow 1: placeholders, outputs, and the inputs of each run."""
SECOND: dict[str, Callable[[], tuple[Any, list[list[Any]]]]] = {}
"""Functions of TensorFlow 2, and the inputs of each run."""


def first(function: Any) -> Any:
    FIRST[function.__name__] = function
    return function


def second(function: Any) -> Any:
    SECOND[function.__name__] = function
    return function


def normal(*shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def rows(shape: list[Any], name: str = "x0", dtype: Any = tf.float32) -> Any:
    return v1.placeholder(dtype, shape, name=name)


# ---- TensorFlow 1 ----


@first
def nested_loops() -> Any:
    x, n = rows([None, 4]), rows([], "x1", tf.int32)
    w = tf.constant(normal(4, 4) * 0.3)

    def outer(i: Any, y: Any) -> Any:
        _, z = v1.while_loop(lambda j, _: j < i, lambda j, z: (j + 1, tf.tanh(z @ w) + x), [tf.constant(0), y])
        return i + 1, z

    _, y = v1.while_loop(lambda i, _: i < n, outer, [tf.constant(0), x])
    return [x, n], [y], [[normal(2, 4), np.int32(3)], [normal(5, 4), np.int32(0)], [normal(1, 4), np.int32(6)]]


@first
def branches_in_a_loop() -> Any:
    x, n = rows([None, 4]), rows([], "x1", tf.int32)

    def body(i: Any, y: Any) -> Any:
        def odd() -> Any:
            return v1.cond(tf.reduce_sum(y) > 0, lambda: y - 1.0, lambda: x + 0.5)

        return i + 1, v1.cond(tf.equal(i % 2, 0), lambda: tf.abs(y) * 2.0, odd)

    i, y = v1.while_loop(lambda i, _: i < n, body, [tf.constant(0), x])
    return [x, n], [y, i], [[normal(2, 4), np.int32(3)], [normal(5, 4), np.int32(1)], [normal(3, 4), np.int32(6)]]


@first
def branches_after_each_other() -> Any:
    x, b = rows([None, 4]), rows([], "x1", tf.bool)
    a, c = v1.cond(b, lambda: (x + 1.0, tf.constant(2.0)), lambda: (tf.nn.relu(x), tf.reduce_sum(x)))
    offset = tf.constant(normal(1, 4))
    d = v1.cond(b, lambda: a * c, lambda: offset + a)
    return [x, b], [d], [[normal(2, 4), np.bool_(True)], [normal(5, 4), np.bool_(False)]]


@first
def chain_of_branches() -> Any:
    x, k = rows([None, 4]), rows([], "x1", tf.int32)
    choices = [(tf.equal(k, 0), lambda: x + 1.0), (tf.equal(k, 1), lambda: x * 2.0)]
    y = v1.case(choices, default=lambda: -x, exclusive=True)
    return [x, k], [y], [[normal(2, 4), np.int32(number)] for number in range(3)]


@first
def loop_in_a_branch() -> Any:
    x, b = rows([None, 4]), rows([], "x1", tf.bool)

    def steps() -> Any:
        return v1.while_loop(lambda i, _: i < 4, lambda i, y: (i + 1, y * 0.5 + x), [tf.constant(0), x])[1]

    return [x, b], [v1.cond(b, steps, lambda: x)], [[normal(2, 4), np.bool_(True)], [normal(5, 4), np.bool_(False)]]


@first
def growing_variable() -> Any:
    x, n = rows([1, 4]), rows([], "x1", tf.int32)
    open_rows = [tf.TensorShape([]), tf.TensorShape([None, 4])]

    def longer(i: Any, y: Any) -> Any:
        return i + 1, tf.concat([y, y[-1:] * 0.5], 0)

    _, y = v1.while_loop(lambda i, _: i < n, longer, [tf.constant(0), x], shape_invariants=open_rows)
    return [x, n], [y], [[normal(1, 4), np.int32(number)] for number in (3, 0, 20)]


@first
def growing_array() -> Any:
    x = rows([None, 4])
    source = tf.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[4])

    def body(i: Any, array: Any) -> Any:
        return i + 1, array.write(i, source.read(i) * tf.cast(i, tf.float32))

    _, array = v1.while_loop(lambda i, _: i < tf.shape(x)[0], body, [tf.constant(0), array])
    return [x], [array.stack(), array.size()], [[normal(2, 4)], [normal(5, 4)]]


@first
def array_of_pieces() -> Any:
    x = rows([6, 4])
    pieces = tf.TensorArray(tf.float32, size=3).split(x, [2, 2, 2])
    turned = tf.TensorArray(tf.float32, size=3, element_shape=[2, 4])

    def body(i: Any, turned: Any) -> Any:
        return i + 1, turned.write(2 - i, pieces.read(i) + tf.cast(i, tf.float32))

    _, turned = v1.while_loop(lambda i, _: i < 3, body, [tf.constant(0), turned])
    return [x], [turned.concat()], [[normal(6, 4)]]


@first
def array_of_different_pieces() -> Any:
    x, n = rows([None, 4]), rows([], "x1", tf.int32)
    pieces = v1.TensorArray(tf.float32, n, infer_shape=False, element_shape=[None, 4])

    def body(i: Any, pieces: Any) -> Any:
        return i + 1, pieces.write(i, x[: i + 1] * tf.cast(i, tf.float32))

    _, pieces = v1.while_loop(lambda i, _: i < n, body, [tf.constant(0), pieces])
    return [x, n], [pieces.concat()], [[normal(6, 4), np.int32(number)] for number in (4, 1, 6)]


@first
def functions_over_rows() -> Any:
    x = rows([None, 4])
    mapped = v1.map_fn(lambda row: tf.nn.softmax(row) * tf.reduce_sum(row), x)
    scanned = v1.scan(lambda a, row: a * 0.5 + row, x)
    folded = v1.foldl(lambda a, row: a + tf.abs(row), x)
    return [x], [mapped, scanned, folded], [[normal(2, 4)], [normal(5, 4)]]


def recurrent(make: Any, lengths: bool = False, steps_first: bool = False, both_ways: bool = False) -> Any:
    x = rows([None, None, 5])
    feeds = [x]
    counts = rows([None], "x1", tf.int32) if lengths else None
    settings = {"sequence_length": counts, "dtype": tf.float32, "time_major": steps_first}
    if both_ways:
        outputs, state = v1.nn.bidirectional_dynamic_rnn(make(), make(), x, **settings)
        y = tf.concat(outputs, -1)
    else:
        y, state = v1.nn.dynamic_rnn(make(), x, **settings)
    runs = []
    for batch, steps in ((2, 6), (3, 4), (1, 1)):
        runs.append([normal(steps, batch, 5) if steps_first else normal(batch, steps, 5)])
        if lengths:
            runs[-1].append(rng.integers(1, steps + 1, batch).astype(np.int32))
    return [*feeds, *([counts] if lengths else [])], [y, tf.nest.flatten(state)[-1]], runs


@first
def lstm_with_lengths() -> Any:
    return recurrent(lambda: v1.nn.rnn_cell.BasicLSTMCell(4), lengths=True)


@first
def gru_steps_first() -> Any:
    return recurrent(lambda: v1.nn.rnn_cell.GRUCell(4), lengths=True, steps_first=True)


@first
def stacked_cells() -> Any:
    cells = v1.nn.rnn_cell
    return recurrent(lambda: cells.MultiRNNCell([cells.LSTMCell(4, use_peepholes=True), cells.GRUCell(3)]))


@first
def projected_lstm_both_ways() -> Any:
    return recurrent(lambda: v1.nn.rnn_cell.LSTMCell(4, num_proj=3), lengths=True, both_ways=True)


@first
def lstm_with_peepholes() -> Any:
    return recurrent(lambda: v1.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=3))


@first
def gru_both_ways() -> Any:
    return recurrent(lambda: v1.nn.rnn_cell.GRUCell(4), both_ways=True)


@first
def greedy_decoder() -> Any:
    """A TensorArray whose element shape is only known in the loop."""
    state = rows([1, 6])
    embedding, product, scores = (tf.constant(normal(*shape)) for shape in ((9, 4), (10, 6), (6, 9)))

    def step(i: Any, word: Any, h: Any, said: Any) -> Any:
        h = tf.tanh(tf.concat([tf.gather(embedding, word), h], 1) @ product)
        word = tf.argmax(h @ scores, 1, output_type=tf.int32)
        return i + 1, word, h, said.write(i, word[0])

    said = v1.TensorArray(tf.int32, 0, dynamic_size=True)
    start = [tf.constant(0), tf.constant([1]), state, said]
    count, _, h, said = v1.while_loop(lambda i, word, h, said: (i < 7) & tf.not_equal(word[0], 3), step, start)
    return [state], [said.stack(), h, count], [[normal(1, 6)], [normal(1, 6)]]


# ---- TensorFlow 2 ----

_ROWS = tf.TensorSpec([None, 4], tf.float32, name="x0")


@second
def written_array() -> Any:
    @tf.function(input_signature=[_ROWS])
    def function(x: Any) -> Any:
        count = tf.shape(x)[0]
        array = tf.TensorArray(tf.float32, size=count)
        state = tf.zeros([4])
        for i in tf.range(count):
            state = state * 0.5 + x[i]
            array = array.write(i, state)
        return array.stack(), state

    return function, [[normal(2, 4)], [normal(5, 4)], [normal(1, 4)]]


@second
def array_until_small() -> Any:
    @tf.function(input_signature=[_ROWS])
    def function(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        i = 0
        while tf.reduce_sum(tf.abs(x)) > 0.5:
            x = x * 0.7
            array = array.write(i, x)
            i += 1
        return array.stack()

    return function, [[normal(2, 4)], [normal(5, 4)], [normal(1, 4)]]


@second
def different_pieces() -> Any:
    @tf.function(input_signature=[_ROWS])
    def function(x: Any) -> Any:
        count = tf.shape(x)[0]
        pieces = tf.TensorArray(tf.float32, count, infer_shape=False, element_shape=[None, 4])
        for i in tf.range(count):
            pieces = pieces.write(i, tf.boolean_mask(x, x[:, 0] <= x[i, 0]) + x[i])
        return tf.nn.relu(pieces.concat())

    return function, [[normal(2, 4)], [normal(5, 4)], [normal(1, 4)]]


@second
def left_early() -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None], name="x0"), tf.TensorSpec([], name="x1")])
    def function(x: Any, limit: Any) -> Any:
        total, count = 0.0, 0
        for i in tf.range(tf.shape(x)[0]):
            if x[i] < 0:
                continue
            total += x[i]
            count += 1
            if total > limit:
                break
        return total, count

    return function, [[normal(7), np.float32(1)], [normal(9), np.float32(100)], [normal(30), np.float32(3)]]


@second
def branches_of_other_sizes() -> Any:
    @tf.function(input_signature=[_ROWS])
    def function(x: Any) -> Any:
        y = tf.concat([x, x], 0) if tf.reduce_mean(x) > 0 else x[:1]
        return tf.nn.relu(y) + 1.0

    return function, [[np.abs(normal(2, 4))], [-np.abs(normal(5, 4))]]


@second
def numbered_branches() -> Any:
    @tf.function(input_signature=[_ROWS, tf.TensorSpec([], tf.int32, name="x1")])
    def function(x: Any, number: Any) -> Any:
        return tf.switch_case(number, [lambda: x + 1.0, lambda: x * 2.0, lambda: -x])

    return function, [[normal(2, 4), np.int32(number)] for number in range(4)]


def keras(build: Any, *shapes: Any) -> Any:
    import tf_keras

    inputs, outputs = build(tf_keras.layers)
    network = tf_keras.Model(inputs, outputs)
    for weights in network.weights:
        weights.assign(normal(*weights.shape) * 0.4)
    spec = tf.TensorSpec(network.inputs[0].shape, tf.float32, name="x0")
    return tf.function(network).get_concrete_function(spec), [[normal(*shape)] for shape in shapes]


_SEQUENCES = ((1, 5, 3), (3, 2, 3), (2, 9, 3))


@second
def keras_lstm() -> Any:
    def build(layers: Any) -> Any:
        x = layers.Input([None, 3])
        return x, layers.LSTM(3)(layers.LSTM(4, return_sequences=True)(x))

    return keras(build, *_SEQUENCES)


@second
def keras_lstm_states() -> Any:
    def build(layers: Any) -> Any:
        x = layers.Input([None, 3])
        settings = {"activation": "relu", "recurrent_activation": "hard_sigmoid", "use_bias": False}
        return x, layers.LSTM(4, return_sequences=True, return_state=True, **settings)(x)

    return keras(build, *_SEQUENCES)


@second
def keras_gru() -> Any:
    def build(layers: Any) -> Any:
        x = layers.Input([None, 3])
        return x, layers.GRU(4)(layers.SimpleRNN(4, return_sequences=True)(x))

    return keras(build, *_SEQUENCES)


@second
def keras_gru_backwards() -> Any:
    def build(layers: Any) -> Any:
        x = layers.Input([None, 3])
        return x, layers.GRU(4, reset_after=False, return_sequences=True, go_backwards=True)(x)

    return keras(build, *_SEQUENCES)


@second
def keras_both_ways() -> Any:
    def build(layers: Any) -> Any:
        x = layers.Input([None, 3])
        return x, layers.Bidirectional(layers.GRU(4, return_sequences=True))(x)

    return keras(build, *_SEQUENCES)


@second
def keras_masked() -> Any:
    def build(layers: Any) -> Any:
        x = layers.Input([None, 3])
        return x, layers.LSTM(4, return_sequences=True)(layers.Masking(0.0)(x))

    return keras(build, *_SEQUENCES)


@second
def keras_convolutional() -> Any:
    def build(layers: Any) -> Any:
        x = layers.Input([None, 4, 4, 1])
        return x, layers.ConvLSTM2D(2, 3, padding="same", return_sequences=True)(x)

    return keras(build, (1, 3, 4, 4, 1), (2, 2, 4, 4, 1))
