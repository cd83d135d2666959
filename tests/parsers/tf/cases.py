"""Small TensorFlow models, one per operator or idiom: `CASES` maps a name to its function and its inputs."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

raw = tf.raw_ops


@dataclass
class Case:
    """`function` takes one tensor per entry of `inputs` (arrays); `shapes` are what the model says of them."""

    function: Callable[..., Any]
    inputs: list[Any]
    shapes: list[Any] = field(default_factory=list)


CASES: dict[str, Case] = {}


def rng(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def normal(name: str, *shape: int) -> Any:
    return rng(name).standard_normal(shape).astype(np.float32)


def case(
    name: str, *inputs: Any, shapes: list[Any] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function; an input that is a tuple is a shape of normal numbers."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        arrays = [
            normal(f"{name}{n}", *spec) if isinstance(spec, tuple) else np.asarray(spec)
            for n, spec in enumerate(inputs)
        ]
        assert name not in CASES, name
        CASES[name] = Case(function, arrays, shapes or [array.shape for array in arrays])
        return function

    return register


def weight(*shape: int) -> Any:
    return tf.constant(normal(str(shape), *shape) * 0.5)


IMAGE = (1, 7, 6, 3)

# ---- element-wise ----

for name in [
    "Abs",
    "Acos",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Cos",
    "Cosh",
    "Erf",
    "Erfc",
    "Exp",
    "Expm1",
    "Floor",
    "Neg",
    "Reciprocal",
    "Rint",
    "Round",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Square",
    "Tan",
    "Tanh",
    "Relu",
    "Relu6",
    "Elu",
    "Selu",
    "Softplus",
    "Softsign",
    "OnesLike",
    "ZerosLike",
]:
    x = np.clip(normal(name, 2, 9), -0.95, 0.95) if name in ("Acos", "Asin", "Atanh") else normal(name, 2, 9) * 3

    def unary(x: Any, name: str = name) -> Any:
        operator = getattr(raw, name)
        return (
            operator(features=x) if name in ("Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign") else operator(x=x)
        )

    case(f"unary_{name.lower()}", x)(unary)

for name in ["Acosh", "Log", "Log1p", "Rsqrt", "Sqrt", "Inv"]:
    case(f"unary_{name.lower()}", np.abs(normal(name, 2, 9)) + 1.0)(lambda x, name=name: getattr(raw, name)(x=x))

for name in ["IsFinite", "IsInf", "IsNan"]:
    case(f"unary_{name.lower()}", np.array([[1, np.inf, np.nan], [-np.inf, 0, -2]], np.float32))(
        lambda x, name=name: getattr(raw, name)(x=x)
    )

for name in [
    "Add",
    "AddV2",
    "Sub",
    "Mul",
    "Div",
    "RealDiv",
    "FloorDiv",
    "FloorMod",
    "Maximum",
    "Minimum",
    "SquaredDifference",
    "Atan2",
    "DivNoNan",
    "MulNoNan",
    "Xdivy",
    "Xlogy",
    "Xlog1py",
    "Equal",
    "NotEqual",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
]:
    b = np.abs(normal(name + "b", 3, 1, 4)) + 0.5
    b[0, 0, 0] = 0 if name in ("DivNoNan", "MulNoNan") else b[0, 0, 0]

    def binary(a: Any, b: Any, name: str = name) -> Any:
        operator = getattr(raw, name)
        return operator(y=a, x=b) if name == "Atan2" else operator(x=a, y=b)

    case(f"binary_{name.lower()}", (2, 4), b)(binary)

for name in [
    "FloorDiv",
    "FloorMod",
    "TruncateDiv",
    "TruncateMod",
    "Maximum",
    "Mul",
    "Sub",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "LeftShift",
    "RightShift",
]:
    case(
        f"integers_{name.lower()}",
        np.array([[7, -7, 100], [-3, 5, 9]], np.int32),
        np.array([2, 3, 4], np.int32),
    )(lambda x, y, name=name: getattr(raw, name)(x=x, y=y))

case("power", np.abs(normal("power", 2, 5)), np.float32(1.7))(lambda x, y: tf.pow(x, y))
case("logic", np.array([True, False, True]), np.array([True, True, False]))(
    lambda a, b: (tf.logical_and(a, b), tf.logical_or(a, tf.logical_not(b)))
)
case("select_v2", np.array([[True], [False]]), (2, 3), (1, 3))(lambda c, a, b: tf.where(c, a, b))
case("select_rows", np.array([True, False]), (2, 3), (2, 3))(lambda c, a, b: raw.Select(condition=c, x=a, y=b))
case("where_indices", np.array([[1, 0, 2], [0, 0, 3]], np.float32))(lambda x: tf.where(x))
case("clip", (2, 6))(lambda x: tf.clip_by_value(x, -0.5, 0.7))
case("casts", (2, 3))(lambda x: (tf.cast(x * 3, tf.int32), tf.cast(x > 0, tf.float32), tf.cast(x, tf.bool)))
case("add_n", (2, 3), (2, 3), (2, 3))(lambda *x: tf.add_n(x))
case("leaky_relu", (2, 7))(lambda x: tf.nn.leaky_relu(x, 0.3))
case("softmax", (2, 3, 5))(lambda x: (tf.nn.softmax(x), tf.nn.log_softmax(x)))
case("bias_add", IMAGE)(lambda x: tf.nn.bias_add(x, weight(3)))

# ---- convolutions, pooling, normalisation ----

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
case("lrn", (1, 3, 3, 9))(lambda x: tf.nn.local_response_normalization(x, 2, 1.5, 0.3, 0.7))
case("moments", (2, 3, 4))(lambda x: tf.nn.moments(x, [1], keepdims=True))
case("layer_norm", (2, 3, 8))(
    lambda x: tf.nn.batch_normalization(x, *tf.nn.moments(x, [-1], keepdims=True), weight(8), weight(1, 8), 1e-3)
)

# ---- matrix products ----

case("matmul", (3, 4), (3, 5))(lambda a, b: tf.matmul(a, b, transpose_a=True))
case("matmul_constant", (3, 4))(lambda a: tf.matmul(a, weight(5, 4), transpose_b=True) + weight(5))
for version in ("", "V2"):
    case(f"batch_matmul{version.lower()}", (2, 3, 4), (2, 5, 4))(
        lambda a, b, version=version: getattr(raw, f"BatchMatMul{version}")(x=a, y=b, adj_y=True)
    )
case("batch_matmul_broadcast", (2, 1, 3, 4), (5, 4, 6))(lambda a, b: tf.matmul(a, b))
case("einsum_attention", (2, 5, 3, 4), (2, 6, 3, 4))(lambda q, k: tf.einsum("btnh,bsnh->bnts", q, k))
case("einsum_dense", (2, 5, 6))(lambda x: tf.einsum("abc,cde->abde", x, weight(6, 3, 4)))

# ---- reductions ----

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

# ---- shapes and rearrangements ----

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

# ---- indices ----

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

# ---- creation ----

case("fill_range", np.array(5, np.int32), shapes=[()])(
    lambda n: (tf.fill([n, 2], 1.5), tf.range(n), tf.range(1, n, 2), tf.range(0.0, 1.0, 0.25))
)
case("lin_space", np.float32(2), np.float32(3), shapes=[(), ()])(lambda a, b: tf.linspace(a, b, 5))

# ---- resizing, detection ----

for method in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"):
    for mode, flags in (("plain", {}), ("corners", {"align_corners": True}), ("centers", {"half_pixel_centers": True})):

        def resized(x: Any, method: str = method, flags: Any = flags) -> Any:
            operator = getattr(raw, method)
            return operator(images=x, size=[9, 4], **flags), operator(images=x, size=[3, 13], **flags)

        case(f"{method[6:].lower()}_{mode}", (1, 5, 6, 2))(resized)
case("resize_computed", (1, 4, 5, 2), shapes=[(None, None, None, 2)])(
    lambda x: raw.ResizeBilinear(images=x, size=tf.shape(x)[1:3] * 2, half_pixel_centers=True)
)
BOXES = np.array([[0.1, 0.1, 0.8, 0.7], [0.5, 0.2, 0.9, 1.1], [0.0, 0.0, 1.0, 1.0]], np.float32)
case("crop_and_resize", (2, 6, 7, 3), BOXES)(
    lambda x, b: (
        tf.image.crop_and_resize(x, b, [0, 1, 0], [4, 3]),
        tf.image.crop_and_resize(x, b, [0, 1, 0], [3, 5], method="nearest", extrapolation_value=0.5),
    )
)
MANY = np.sort(rng("boxes").random((12, 2, 2)).astype(np.float32), 1).reshape(12, 4)
SCORES = rng("scores").random(12).astype(np.float32)
case("suppression", MANY, SCORES)(
    lambda b, s: (
        tf.image.non_max_suppression(b, s, 5, 0.3),
        raw.NonMaxSuppressionV2(boxes=b, scores=s, max_output_size=4, iou_threshold=0.4),
        raw.NonMaxSuppressionV3(boxes=b, scores=s, max_output_size=9, iou_threshold=0.4, score_threshold=0.3),
    )
)
case("suppression_padded", MANY, SCORES)(
    lambda b, s: tuple(
        raw.NonMaxSuppressionV4(
            boxes=b, scores=s, max_output_size=10, iou_threshold=0.3, score_threshold=0.4, pad_to_max_output_size=True
        )
    )
)
case("suppression_scores", MANY, SCORES)(
    lambda b, s: tuple(
        raw.NonMaxSuppressionV5(
            boxes=b, scores=s, max_output_size=10, iou_threshold=0.3, score_threshold=0.4, soft_nms_sigma=0.0
        )
    )
)

# ---- quantisation, cells ----

case("fake_quant", (3, 4))(
    lambda x: (
        tf.quantization.fake_quant_with_min_max_args(x, -1.3, 2.1),
        tf.quantization.fake_quant_with_min_max_vars(x, -0.9, 1.4, num_bits=4, narrow_range=True),
        tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [-1.0, -0.5, 0.0, -2.0], [1.0, 0.7, 1.0, 0.5]),
    )
)
case("lstm_cell", (2, 3), (2, 4), (2, 4))(
    lambda x, c, h: tuple(
        raw.LSTMBlockCell(
            x=x,
            cs_prev=c,
            h_prev=h,
            w=weight(7, 16),
            wci=weight(4),
            wcf=weight(1, 4)[0],
            wco=weight(4) * 2,
            b=weight(16),
            forget_bias=0.5,
            cell_clip=0.4,
            use_peephole=True,
        )
    )
)
case("block_lstm", (3, 2, 3), (2, 4), (2, 4))(
    lambda x, c, h: tuple(
        raw.BlockLSTM(
            seq_len_max=tf.constant(3, tf.int64),
            x=x,
            cs_prev=c,
            h_prev=h,
            w=weight(7, 16),
            wci=weight(4),
            wcf=weight(4),
            wco=weight(4),
            b=weight(16),
        )
    )[1::5]
)
case("block_lstm_v2", (3, 2, 3), (2, 4), (2, 4))(
    lambda x, c, h: raw.BlockLSTMV2(
        seq_len_max=tf.constant(3, tf.int64),
        x=x,
        cs_prev=c,
        h_prev=h,
        w=weight(7, 16),
        wci=weight(4),
        wcf=weight(4),
        wco=weight(4),
        b=weight(16),
        cell_clip=0.0,
    )[6]
)
case("gru_cell", (2, 3), (2, 4))(
    lambda x, h: tuple(
        raw.GRUBlockCell(x=x, h_prev=h, w_ru=weight(7, 8), w_c=weight(7, 4), b_ru=weight(8), b_c=weight(4))
    )
)

# ---- control flow and functions ----


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


# ---- matrices, patches, sparse tensors, audio ----

case("diagonals", (2, 3))(
    lambda x: (
        tf.linalg.diag(x),
        tf.linalg.diag(x, k=1),
        tf.linalg.diag(x, k=-2, num_rows=5, num_cols=4, padding_value=7.0),
    )
)
case("diagonal_parts", (2, 3, 5))(
    lambda x: (tf.linalg.diag_part(x), tf.linalg.diag_part(x, k=2), tf.linalg.diag_part(x, k=-1), tf.linalg.trace(x))
)
case("set_diagonal", (2, 3, 4), (2, 3), (2, 2))(
    lambda x, a, b: (tf.linalg.set_diag(x, a), tf.linalg.set_diag(x, b, k=-1), tf.linalg.set_diag(x, b, k=2))
)
case("patches", (1, 7, 6, 2))(
    lambda x: (
        tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 2, 1], "VALID"),
        tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1], "SAME"),
    )
)
case("contrast", (2, 4, 5, 3))(lambda x: tf.image.adjust_contrast(x, 1.7))
case("bucketize", (2, 6))(lambda x: raw.Bucketize(input=x, boundaries=[-1.0, 0.0, 0.5]))
case(
    "combined_suppression",
    np.stack([MANY, MANY[::-1]])[:, :, None],
    rng("combined").random((2, 12, 3)).astype(np.float32),
)(lambda b, s: tuple(tf.image.combined_non_max_suppression(b, s, 4, 6, 0.3, 0.4)))
case(
    "combined_suppression_classes",
    np.stack([MANY, MANY[::-1] * 1.2], 1)[None],
    rng("classes").random((1, 12, 2)).astype(np.float32),
)(lambda b, s: tuple(tf.image.combined_non_max_suppression(b, s, 3, 9, 0.3, 0.4, pad_per_class=True, clip_boxes=False)))
PLACES = np.array([[0, 1], [2, 3], [2, 0], [4, 2]], np.int64)
case("sparse_rows", PLACES, (4,))(
    lambda i, v: tuple(
        raw.SparseFillEmptyRows(indices=i, values=v, dense_shape=tf.constant([6, 5], tf.int64), default_value=0.5)
    )
)
case("sparse_reshape", PLACES)(
    lambda i: tuple(
        raw.SparseReshape(
            input_indices=i, input_shape=tf.constant([5, 4], tf.int64), new_shape=tf.constant([2, -1, 5], tf.int64)
        )
    )
)
case("sparse_segments", (5, 3))(
    lambda x: raw.SparseSegmentSum(data=x, indices=tf.constant([0, 4, 4, 2]), segment_ids=tf.constant([0, 0, 2, 3]))
)
case("ragged_range", np.array([0, 3], np.int32), np.array([2, 9], np.int32))(
    lambda a, b: tuple(raw.RaggedRange(starts=a, limits=b, deltas=tf.constant([1, 2])))
)
case("spectrogram", np.clip(normal("spectrogram", 400, 1), -1, 1))(
    lambda x: raw.AudioSpectrogram(input=x, window_size=128, stride=64, magnitude_squared=True)
)
case("mfcc", np.abs(normal("mfcc", 1, 5, 129)))(
    lambda x: raw.Mfcc(spectrogram=x, sample_rate=tf.constant(8000), upper_frequency_limit=3800.0)
)
case("fourier", (2, 32))(
    lambda x: (tf.abs(tf.signal.rfft(x)), tf.math.real(tf.signal.rfft(x)), tf.math.imag(tf.signal.rfft(x, [16])))
)

# ---- what graph optimisers write ----


def _created(operator: str, inputs: list[Any], **attributes: Any) -> Any:
    """A node of an operator that has no function in Python; attributes are bytes, lists of bytes or int, or floats."""
    from tensorflow.core.framework import attr_value_pb2

    values = {"T": attr_value_pb2.AttrValue(type=inputs[0].dtype.as_datatype_enum)}
    for name, given in attributes.items():
        value = values[name] = attr_value_pb2.AttrValue()
        if isinstance(given, bytes):
            value.s = given
        elif isinstance(given, int):
            value.i = given
        elif isinstance(given, float):
            value.f = given
        else:
            field = value.list.s if isinstance(given[0], bytes) else value.list.i
            field.extend(given)
    if operator == "_FusedConv2D":
        values["num_host_args"] = attr_value_pb2.AttrValue(i=0)
        values["TArgs"] = attr_value_pb2.AttrValue()
        values["TArgs"].list.type.extend(value.dtype.as_datatype_enum for value in inputs[2:])
    graph = tf.compat.v1.get_default_graph()
    return graph.create_op(operator, inputs, [inputs[0].dtype], attrs=values, name="fused").outputs[0]


for steps in (["BiasAdd"], ["BiasAdd", "Relu"], ["BiasAdd", "LeakyRelu"]):
    label = "_".join(steps).lower()
    case(f"fused_conv2d_{label}", IMAGE)(
        lambda x, steps=steps: _created(
            "_FusedConv2D",
            [x, weight(3, 3, 3, 4), weight(4)],
            num_args=1,
            strides=[1, 2, 2, 1],
            padding=b"SAME",
            fused_ops=[step.encode() for step in steps],
            leakyrelu_alpha=0.3,
        )
    )
    case(f"fused_matmul_{label}", (2, 5))(
        lambda x, steps=steps: _created(
            "_FusedMatMul",
            [x, weight(5, 3), weight(3)],
            num_args=1,
            fused_ops=[step.encode() for step in steps],
            leakyrelu_alpha=0.3,
        )
    )
case("fused_conv2d_batch_norm", IMAGE)(
    lambda x: _created(
        "_FusedConv2D",
        [x, weight(3, 3, 3, 4), weight(4), weight(4) * 2, weight(4) * 3, tf.abs(weight(4)) + 0.2],
        num_args=4,
        strides=[1, 1, 1, 1],
        padding=b"VALID",
        fused_ops=[b"FusedBatchNorm", b"Relu6"],
        epsilon=0.01,
    )
)
case("fused_pad_conv2d", IMAGE)(
    lambda x: raw.FusedPadConv2D(
        input=x,
        paddings=[[0, 0], [1, 2], [2, 1], [0, 0]],
        filter=weight(3, 3, 3, 4),
        mode="REFLECT",
        strides=[1, 1, 1, 1],
        padding="VALID",
    )
)
case("formats", np.array([1, 5, 6, 3], np.int32), np.array([-1, 2], np.int32))(
    lambda x, d: (
        raw.DataFormatVecPermute(x=x, src_format="NHWC", dst_format="NCHW"),
        raw.DataFormatVecPermute(x=x, src_format="NCHW", dst_format="NHWC"),
        raw.DataFormatDimMap(x=d, src_format="NHWC", dst_format="NCHW"),
    )
)
case("approximately", (2, 3), (2, 3))(lambda a, b: raw.ApproximateEqual(x=a, y=b, tolerance=0.7))
