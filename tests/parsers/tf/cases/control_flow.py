"""Control flow and functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from .registry import case, weight


@tf.function
def _doubled(x: Any) -> Any:
    return x * 2.0 + 1.0


case("function_call", (2, 3))(lambda x: _doubled(_doubled(x)))
case("if", (2, 3), np.array(True), shapes=[(2, 3), ()])(
    lambda x, c: tf.cond(c, lambda: tf.nn.relu(x) @ weight(3, 3), lambda: x - 1.0)
)
case("if_number", (2, 3))(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x[:1] + x))
case("if_nested", (2, 3), np.array(2, np.int32), shapes=[(2, 3), ()])(
    lambda x, n: tf.cond(n > 0, lambda: tf.cond(n > 1, lambda: x * 3.0, lambda: x), lambda: -x)
)
case("case", (2, 3), np.array(1, np.int32), shapes=[(2, 3), ()])(
    lambda x, n: tf.switch_case(n, [lambda: x, lambda: x * 2.0, lambda: tf.exp(x)])
)
case("case_default", (2, 3), np.array(-7, np.int32), shapes=[(2, 3), ()])(
    lambda x, n: tf.switch_case(n, [lambda: x, lambda: x * 2.0, lambda: tf.exp(x)])
)


@case("while", (2, 3), np.array(4, np.int32), shapes=[(2, 3), ()])
def _while(x: Any, n: Any) -> Any:
    return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.tanh(y @ weight(3, 3)) + x), (tf.constant(0), x))


@case("while_growing", (1, 3), np.array(3, np.int32), shapes=[(1, 3), ()])
def _growing(x: Any, n: Any) -> Any:
    return tf.while_loop(
        lambda i, y: i < n,
        lambda i, y: (i + 1, tf.concat([y, y[-1:] * 2.0], 0)),
        (tf.constant(0), x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 3])),
    )[1]


@case("while_nested", (2, 3))
def _nested(x: Any) -> Any:
    def outer(i: Any, y: Any) -> Any:
        inner = tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * 1.5 + 1.0), (tf.constant(0), y))[1]
        return i + 1, inner - y

    return tf.while_loop(lambda i, y: i < 3, outer, (tf.constant(0), x))[1]


@case("while_branch", (2, 3), np.array(3, np.int32), shapes=[(2, 3), ()])
def _while_branch(x: Any, n: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * 2.0, lambda: y - 1.0)

    return tf.while_loop(lambda i, y: i < n, body, (tf.constant(0), x))[1]
