"""Shapes, rearrangements and creation."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from .registry import case, raw

case("reshape_computed", (2, 3, 4), shapes=[(None, 3, 4)])(lambda x: tf.reshape(x, [tf.shape(x)[0], -1]))
case("flatten_dynamic", (2, 3, 4), shapes=[(None, None, 4)])(
    lambda x: tf.reshape(x, tf.stack([tf.shape(x)[0] * tf.shape(x)[1], 4]))
)
case("dimensions", (2, 3, 4), shapes=[(None, 3, None)])(
    lambda x: (tf.shape(x), tf.size(x), tf.rank(x), tf.shape(x, out_type=tf.int64))
)
case("squeeze_expand", (1, 3, 1, 4))(
    lambda x: (tf.squeeze(x), tf.squeeze(x, [0]), tf.expand_dims(x, -1), tf.expand_dims(x, 1))
)
case("transpose", (2, 3, 4))(lambda x: tf.transpose(x, [2, 0, 1]))
case("reverse", (2, 3, 4))(lambda x: tf.reverse(x, [0, -1]))
case("reverse_sequence", (3, 5, 2), np.array([2, 5, 3], np.int64))(
    lambda x, n: tf.reverse_sequence(x, n, seq_axis=1, batch_axis=0)
)
case("depth_to_space", (1, 2, 3, 8))(
    lambda x: (tf.nn.depth_to_space(x, 2), tf.nn.space_to_depth(tf.nn.depth_to_space(x, 2), 2))
)
case("space_to_batch", (1, 5, 6, 2))(
    lambda x: tf.batch_to_space(tf.space_to_batch(x, [2, 3], [[0, 1], [1, 2]]) * 2, [2, 3], [[0, 1], [1, 2]])
)
case("space_to_batch_1d", (2, 6, 3))(
    lambda x: raw.BatchToSpaceND(
        input=raw.SpaceToBatchND(input=x, block_shape=[2], paddings=[[1, 1]]) + 1.0, block_shape=[2], crops=[[1, 1]]
    )
)
case("permutation", np.array([2, 0, 1, 3], np.int32))(lambda x: tf.math.invert_permutation(x))
case("concat", (2, 3), (2, 4))(lambda a, b: (tf.concat([a, b, a], 1), raw.Concat(concat_dim=-1, values=[a, b])))
case("pack", (2, 3), (2, 3))(lambda a, b: (tf.stack([a, b]), tf.stack([a, b], -1)))
case("unpack", (2, 3))(lambda x: tuple(tf.unstack(x, axis=1)))
case("split", (2, 6))(lambda x: (*tf.split(x, 3, 1), *tf.split(x, [1, -1, 2], 1)))
case("split_dynamic", (4, 6), shapes=[(None, None)])(lambda x: tuple(tf.split(x, 2, 0)))
case("pad", (2, 3))(
    lambda x: (
        tf.pad(x, [[1, 0], [2, 1]]),
        tf.pad(x, [[1, 0], [0, 1]], constant_values=2.5),
        tf.pad(x, [[1, 1], [2, 0]], "REFLECT"),
        tf.pad(x, [[1, 1], [2, 0]], "SYMMETRIC"),
    )
)
case("tile", (2, 3))(lambda x: tf.tile(x, [2, 3]))
case("broadcast", (3, 1))(lambda x: tf.broadcast_to(x, [2, 3, 4]))
case("slice", (3, 4, 5))(lambda x: (tf.slice(x, [1, 0, 2], [2, -1, 3]), x[1:, ::2, 3]))
case("slice_computed", (3, 4), np.array(1, np.int32))(lambda x, n: (tf.slice(x, tf.stack([n, 0]), [1, 2]), x[n]))
case("strided_slice", (4, 5, 6))(
    lambda x: (x[..., 1:3], x[:, tf.newaxis, 2, ::-1], x[-2:, :-1, 4], x[1, ..., tf.newaxis], x[3:0:-2])
)
case("roll", (3, 4))(lambda x: tf.roll(x, [1, -2], [0, 1]))

case("fill_range", np.array(5, np.int32), shapes=[()])(
    lambda n: (tf.fill([n, 2], 1.5), tf.range(n), tf.range(1, n, 2), tf.range(0.0, 1.0, 0.25))
)
case("lin_space", np.float32(2), np.float32(3), shapes=[(), ()])(lambda a, b: tf.linspace(a, b, 5))
