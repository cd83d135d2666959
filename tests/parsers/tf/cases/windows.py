"""Convolutions, pooling and normalization."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .registry import IMAGE, case, raw, weight

case("conv2d_same", IMAGE)(lambda x: tf.nn.conv2d(x, weight(3, 3, 3, 4), 2, "SAME"))
case("conv2d_valid_dilated", (2, 9, 9, 3))(lambda x: tf.nn.conv2d(x, weight(3, 2, 3, 4), 1, "VALID", dilations=2))
case("conv2d_explicit", IMAGE)(lambda x: tf.nn.conv2d(x, weight(3, 3, 3, 4), [1, 2], [[0, 0], [1, 2], [0, 1], [0, 0]]))
case("conv2d_dynamic_batch", IMAGE, shapes=[(None, 7, 6, 3)])(lambda x: tf.nn.conv2d(x, weight(3, 3, 3, 4), 1, "SAME"))
case("conv2d_dynamic_size", IMAGE, shapes=[(None, None, None, 3)])(
    lambda x: tf.nn.relu(tf.nn.conv2d(x, weight(3, 3, 3, 4), 2, "SAME"))
)
case("depthwise", IMAGE)(lambda x: tf.nn.depthwise_conv2d(x, weight(3, 3, 3, 1), [1, 2, 2, 1], "SAME"))
case("depthwise_multiplier", IMAGE)(lambda x: tf.nn.depthwise_conv2d(x, weight(3, 3, 3, 2), [1, 1, 1, 1], "VALID"))
case("conv2d_transpose_same", (1, 4, 5, 3))(
    lambda x: tf.nn.conv2d_transpose(x, weight(3, 3, 2, 3), [1, 8, 10, 2], 2, "SAME")
)
case("conv2d_transpose_valid", (1, 4, 5, 3))(
    lambda x: tf.nn.conv2d_transpose(x, weight(3, 2, 2, 3), [1, 10, 10, 2], 2, "VALID")
)
case("conv2d_transpose_odd", (1, 4, 5, 3))(
    lambda x: tf.nn.conv2d_transpose(x, weight(4, 3, 2, 3), [1, 7, 10, 2], 2, "SAME")
)
case("conv2d_transpose_dynamic", (1, 4, 5, 3), shapes=[(None, None, None, 3)])(
    lambda x: tf.nn.conv2d_transpose(
        x, weight(3, 3, 2, 3), tf.stack([tf.shape(x)[0], 2 * tf.shape(x)[1], 2 * tf.shape(x)[2], 2]), 2, "SAME"
    )
)
case("conv3d", (1, 4, 5, 6, 2))(lambda x: tf.nn.conv3d(x, weight(2, 3, 3, 2, 3), [1, 1, 2, 1, 1], "SAME"))
case("conv3d_dynamic_batch", (2, 4, 5, 6, 2), shapes=[(None, 4, 5, 6, 2)])(
    lambda x: (tf.nn.conv3d(x, weight(3, 3, 2, 2, 3), [1, 2, 1, 1, 1], "VALID"), tf.nn.max_pool3d(x, 2, 2, "SAME"))
)
case("conv3d_transpose", (1, 3, 4, 5, 3))(
    lambda x: (
        tf.nn.conv3d_transpose(x, weight(3, 3, 2, 2, 3), [1, 6, 8, 5, 2], [2, 2, 1], "SAME"),
        tf.nn.conv3d_transpose(x, weight(3, 2, 3, 2, 3), [1, 8, 9, 7, 2], [2, 2, 1], "VALID"),
        tf.nn.conv3d_transpose(x, weight(4, 3, 1, 2, 3), [1, 5, 7, 5, 2], [2, 2, 1], "SAME"),
    )
)
case("conv3d_transpose_dynamic_batch", (2, 3, 4, 5, 3), shapes=[(None, 3, 4, 5, 3)])(
    lambda x: tf.nn.conv3d_transpose(x, weight(3, 3, 3, 2, 3), tf.stack([tf.shape(x)[0], 6, 8, 10, 2]), 2, "SAME")
)
case("depthwise_transpose", (1, 4, 5, 6))(
    lambda x: raw.DepthwiseConv2dNativeBackpropInput(
        input_sizes=[1, 8, 10, 3], filter=weight(3, 3, 3, 2), out_backprop=x, strides=[1, 2, 2, 1], padding="SAME"
    )
)
case("pool3d", (1, 4, 5, 6, 2))(lambda x: (tf.nn.max_pool3d(x, 2, 2, "SAME"), tf.nn.avg_pool3d(x, 3, 1, "SAME")))
case("pool", IMAGE)(
    lambda x: (
        tf.nn.max_pool2d(x, 3, 2, "SAME"),
        tf.nn.avg_pool2d(x, 3, 2, "SAME"),
        tf.nn.avg_pool2d(x, [2, 3], 1, "VALID"),
    )
)
case("pool_v2", IMAGE)(
    lambda x: raw.MaxPoolV2(
        input=x, ksize=tf.constant([1, 2, 2, 1]), strides=tf.constant([1, 2, 1, 1]), padding="VALID"
    )
)
case("pool_argmax", IMAGE)(
    lambda x: raw.MaxPoolWithArgmax(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")[0]
)
for version in ("", "V2", "V3"):

    def batch_norm(x: Any, version: str = version) -> Any:
        return getattr(raw, f"FusedBatchNorm{version}")(
            x=x,
            scale=weight(3),
            offset=weight(3) * 2,
            mean=weight(3) * 3,
            variance=tf.abs(weight(3)) + 0.3,
            epsilon=0.01,
            is_training=False,
        )[0]

    case(f"batch_norm{version.lower()}", IMAGE)(batch_norm)
case("batch_norm_training", (2, 7, 6, 3))(
    lambda x: raw.FusedBatchNormV3(
        x=x, scale=weight(3), offset=weight(3) * 2, mean=[], variance=[], epsilon=0.01, is_training=True
    )[0]
)
case("batch_norm_statistics", (2, 3, 2, 3), (2, 3, 2, 3), shapes=[(2, 3, 2, 3), (None, 3, 2, 3)])(
    lambda x, y: (
        *raw.FusedBatchNormV3(x=x, scale=weight(3), offset=weight(3), mean=[], variance=[], is_training=True)[1:3],
        *raw.FusedBatchNormV3(
            x=y,
            scale=weight(3),
            offset=weight(3),
            mean=weight(3) * 3,
            variance=tf.abs(weight(3)),
            exponential_avg_factor=0.25,
            is_training=True,
        )[:3],
    )
)
case("lrn", (1, 3, 3, 9))(lambda x: tf.nn.local_response_normalization(x, 2, 1.5, 0.3, 0.7))
case("moments", (2, 3, 4))(lambda x: tf.nn.moments(x, [1], keepdims=True))
case("layer_norm", (2, 3, 8))(
    lambda x: tf.nn.batch_normalization(x, *tf.nn.moments(x, [-1], keepdims=True), weight(8), weight(1, 8), 1e-3)
)


def _dilation(x: Any, height: int, width: int, stride: int, rate: int, padding: str) -> Any:
    return tf.nn.dilation2d(x, weight(height, width, 3), [1, stride, stride, 1], padding, "NHWC", [1, rate, rate, 1])


case("dilation2d_same", IMAGE)(lambda x: _dilation(x, 3, 2, 1, 1, "SAME"))
case("dilation2d_same_strided", IMAGE)(lambda x: _dilation(x, 3, 3, 2, 1, "SAME"))
case("dilation2d_valid_rates", (2, 9, 8, 3))(lambda x: _dilation(x, 2, 3, 2, 2, "VALID"))
case("dilation2d_open", IMAGE, shapes=[(None, None, None, 3)])(lambda x: _dilation(x, 2, 3, 1, 2, "SAME"))
case("erosion2d", IMAGE)(lambda x: tf.nn.erosion2d(x, weight(2, 2, 3), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]))
