"""Matmuls and reductions."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from .registry import case, raw, weight

case("matmul", (3, 4), (3, 5))(lambda a, b: tf.matmul(a, b, transpose_a=True))
case("matmul_constant", (3, 4))(lambda a: tf.matmul(a, weight(5, 4), transpose_b=True) + weight(5))
for version in ("", "V2"):
    case(f"batch_matmul{version.lower()}", (2, 3, 4), (2, 5, 4))(
        lambda a, b, version=version: getattr(raw, f"BatchMatMul{version}")(x=a, y=b, adj_y=True)
    )
case("batch_matmul_broadcast", (2, 1, 3, 4), (5, 4, 6))(lambda a, b: tf.matmul(a, b))
WHOLE = np.random.default_rng(7).integers(-128, 128, (2, 5, 4))
case("batch_matmul_sums", WHOLE[:, :3].astype(np.int8), WHOLE.astype(np.int8), np.abs(WHOLE).astype(np.uint8))(
    lambda a, b, c: (
        raw.BatchMatMulV3(x=a, y=b, Tout=tf.int32, adj_y=True),
        raw.BatchMatMulV3(x=c, y=tf.constant(WHOLE[0].T, tf.int8), Tout=tf.int32),
    )
)
case("einsum_attention", (2, 5, 3, 4), (2, 6, 3, 4))(lambda q, k: tf.einsum("btnh,bsnh->bnts", q, k))
case("einsum_dense", (2, 5, 6))(lambda x: tf.einsum("abc,cde->abde", x, weight(6, 3, 4)))

for name in ["Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm"]:
    case(f"reduce_{name.lower()}", (2, 3, 4))(
        lambda x, name=name: (
            getattr(raw, name)(input=x, axis=[0, -1], keep_dims=False),
            getattr(raw, name)(input=x, axis=tf.constant(1), keep_dims=True),
        )
    )
case("reduce_all_any", np.array([[True, False, True], [True, True, True]]))(
    lambda x: (tf.reduce_all(x, 1), tf.reduce_any(x, 0, keepdims=True), tf.reduce_all(x))
)
case("reduce_nothing", (2, 3))(lambda x: raw.Sum(input=x, axis=tf.zeros([0], tf.int32)))
case("l2_loss", (2, 3))(lambda x: tf.nn.l2_loss(x))
case("logsumexp", (2, 3, 4))(lambda x: tf.reduce_logsumexp(x, axis=-1))
case("arg", (3, 5))(
    lambda x: (tf.argmax(x, 1), tf.argmin(x, 0, output_type=tf.int32), tf.argmax(x, -1, output_type=tf.int32))
)
case("cumulative", (2, 5))(
    lambda x: (tf.cumsum(x, 1, exclusive=True), tf.cumsum(x, 0, reverse=True), tf.math.cumprod(x, -1))
)
case("top_k", (2, 7))(lambda x: tuple(tf.nn.top_k(x, 3)))
case("segments", (5, 2))(
    lambda x: (tf.math.unsorted_segment_sum(x, [2, 0, 2, 1, 0], 4), tf.math.segment_sum(x, [0, 0, 1, 2, 2]))
)
COUNTED = np.array([[1, 2, 9], [5, 2, 2]], np.int32)
case("bincount", COUNTED, np.array([0, 3, 3, 6, 1], np.int32), (2, 3))(
    lambda rows, x, w: (
        raw.Bincount(arr=x, size=6, weights=tf.constant([], tf.float32)),
        raw.Bincount(arr=rows, size=6, weights=w),
        raw.DenseBincount(input=x, size=4, weights=tf.constant([], tf.int32)),
        raw.DenseBincount(input=rows, size=6, weights=w),
        raw.DenseBincount(input=rows, size=6, weights=tf.constant([], tf.float32), binary_output=True),
    )
)
case("bincount_computed", np.array([0, 3, 3, 2], np.int64), shapes=[(None,)])(
    lambda x: raw.DenseBincount(input=x, size=tf.reduce_max(x) + 1, weights=tf.constant([], tf.int64))
)
