"""Gather, scatter and segment operators."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from .registry import case, raw

case("gather", (3, 4), np.array([[2, 0], [1, 1]], np.int32))(lambda x, i: (tf.gather(x, i), tf.gather(x, i, axis=1)))
case("gather_constant", (3, 4))(lambda x: tf.gather(x, tf.constant([2, 0], tf.int64), axis=-1))
case("gather_batch", (2, 3, 4), np.array([[2, 0], [1, 1]], np.int32))(
    lambda x, i: tf.gather(x, i, axis=1, batch_dims=1)
)
case("gather_nd", (3, 4, 2), np.array([[2, 0], [1, 3]], np.int32))(lambda x, i: tf.gather_nd(x, i))
case("scatter_nd", np.array([[4], [1], [4]], np.int32), (3, 2))(lambda i, u: tf.scatter_nd(i, u, [6, 2]))
case("scatter_into", (5, 2), (2, 2))(
    lambda x, u: (
        tf.tensor_scatter_nd_update(x, [[1], [3]], u),
        tf.tensor_scatter_nd_add(x, [[1], [1]], u),
        tf.tensor_scatter_nd_sub(x, [[1], [0]], u),
        tf.tensor_scatter_nd_max(x, [[1], [0]], u),
        tf.tensor_scatter_nd_min(x, [[1], [0]], u),
    )
)
case("one_hot", np.array([0, 2, -1, 5], np.int64))(
    lambda i: (tf.one_hot(i, 4), tf.one_hot(i, 3, on_value=5, off_value=-1, axis=0, dtype=tf.int32))
)
case("unique", np.array([3, 1, 3, 7, 1], np.int32))(lambda x: tuple(tf.unique(x)))
case("band", (2, 4, 5))(lambda x: (tf.linalg.band_part(x, 1, 0), tf.linalg.band_part(x, -1, 2)))
case("stitch", (2, 3), (2, 3))(lambda a, b: tf.dynamic_stitch([[3, 0], [1, 2]], [a, b]))
case("sparse_to_dense", np.array([1.5, 2.5], np.float32))(
    lambda v: raw.SparseToDense(
        sparse_indices=[[0, 1], [2, 0]], output_shape=[3, 2], sparse_values=v, default_value=-1.0
    )
)


def _segments(x: tf.Tensor, ids: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """Segment 2 has no rows; the row with a negative index is ignored."""
    return tuple(
        reduce(x, ids, 4)
        for reduce in (tf.math.unsorted_segment_max, tf.math.unsorted_segment_min, tf.math.unsorted_segment_prod)
    )


_IDS = np.array([3, 0, -1, 3, 1], np.int32)
case("unsorted_segments", (5, 2, 3), _IDS)(_segments)
case(
    "unsorted_segments_integers", np.array([[4, -7], [2, 9], [5, 5], [-3, 8], [6, 1]], np.int32), _IDS.astype(np.int64)
)(_segments)
case("unsorted_segments_matrix", (2, 3, 4), np.array([[1, 0, 1], [3, 3, 0]], np.int32))(_segments)
case("unsorted_segments_open", (5, 3), _IDS, shapes=[(None, 3), (None,)])(_segments)
