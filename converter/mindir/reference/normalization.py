"""References of the normalizations."""

from __future__ import annotations

import numpy as np

from ..ops import normalization as ops
from ..ops.enums import ActivationType
from ._declare import Array, Inputs, case, fixed_seed, float32, normal, reference


def _float64(inputs: Inputs) -> list[Array]:
    return [np.asarray(x, np.float64) for x in inputs if x is not None]


@reference("BatchNorm")
def batch_norm(op: ops.BatchNorm, inputs: Inputs) -> list[Array]:
    """(x - mean) / sqrt(variance + epsilon), channels last."""
    x, mean, variance = _float64(inputs)[:3]
    return [((x - mean) / np.sqrt(variance + op.epsilon)).astype(np.float32)]


@reference("FusedBatchNorm")
def fused_batch_norm(op: ops.FusedBatchNorm, inputs: Inputs) -> list[Array]:
    """scale (x - mean) / sqrt(variance + epsilon) + offset, channels last."""
    x, scale, offset, mean, variance = _float64(inputs)
    return [(scale * (x - mean) / np.sqrt(variance + op.epsilon) + offset).astype(np.float32)]


@reference("InstanceNorm")
def instance_norm(op: ops.InstanceNorm, inputs: Inputs) -> list[Array]:
    """Normalizes over the pixels of each image and channel, NCHW."""
    x, gamma, beta = _float64(inputs)
    axes = tuple(range(2, x.ndim))
    normalized = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + op.epsilon)
    scale, offset = (array.reshape(-1, *[1] * (x.ndim - 2)) for array in (gamma, beta))
    return [(normalized * scale + offset).astype(np.float32)]


@reference("ChannelsLastInstanceNorm")
def channels_last_instance_norm(op: ops.ChannelsLastInstanceNorm, inputs: Inputs) -> list[Array]:
    """Normalizes over the pixels of each image and channel, NHWC."""
    x, gamma, beta = _float64(inputs)
    axes = tuple(range(1, x.ndim - 1))
    normalized = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + op.epsilon)
    return [(normalized * gamma + beta).astype(np.float32)]


@reference("GroupNormFusion")
def group_norm(op: ops.GroupNormFusion, inputs: Inputs) -> list[Array]:
    """Normalizes over groups of channels, NCHW."""
    x, *affine = _float64(inputs)
    grouped = x.reshape(x.shape[0], op.num_groups, -1)
    y = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + op.epsilon)
    y = y.reshape(x.shape)
    if op.affine:
        gamma, beta = (array.reshape(-1, *[1] * (x.ndim - 2)) for array in affine)
        y = y * gamma + beta
    return [y.astype(np.float32)]


@reference("LayerNormFusion")
def layer_norm(op: ops.LayerNormFusion, inputs: Inputs) -> list[Array]:
    """Normalizes over the dimensions from begin_norm_axis on. Mean and variance keep the rank of x."""
    x, *affine = _float64(inputs)
    axes = tuple(range(op.begin_norm_axis % x.ndim, x.ndim))
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    y = (x - mean) / np.sqrt(variance + op.epsilon)
    for k, array in enumerate(affine):
        shaped = np.broadcast_to(array.reshape(x.shape[x.ndim - array.ndim :]), y.shape)
        y = y + shaped if k else y * shaped
    return [y.astype(np.float32)]


@reference("RmsNorm")
def rms_norm(op: ops.RmsNorm, inputs: Inputs) -> list[Array]:
    """x / sqrt(mean(x^2) + epsilon) over the dimensions from `axis` on, times gamma."""
    x, *gamma = _float64(inputs)
    axes = tuple(range(op.axis % x.ndim, x.ndim))
    y = x / np.sqrt(np.square(x).mean(axes, keepdims=True) + op.epsilon)
    return [(y * gamma[0] if gamma else y).astype(np.float32)]


@reference("L2NormalizeFusion")
def l2_normalize(op: ops.L2NormalizeFusion, inputs: Inputs) -> list[Array]:
    """x / sqrt(max(sum(x^2), epsilon)) over the axes, by default all, then the activation."""
    (x,) = _float64(inputs)
    y = x / np.sqrt(np.maximum(np.square(x).sum(op.axis or None, keepdims=True), op.epsilon))
    if op.activation_type == ActivationType.RELU:
        y = np.maximum(y, 0)
    return [y.astype(np.float32)]


@reference("LpNormalization")
def lp_normalization(op: ops.LpNormalization, inputs: Inputs) -> list[Array]:
    """x divided by its L1 or L2 norm; zeros if the norm is zero."""
    (x,) = _float64(inputs)
    norm = np.linalg.norm(x, ord=op.p, axis=op.axis, keepdims=True)
    return [np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm)).astype(np.float32)]


@reference("LRN")
def local_response(op: ops.LRN, inputs: Inputs) -> list[Array]:
    """x / (bias + alpha * sum of x^2 over depth_radius channels on each side)^beta, channels last."""
    (x,) = _float64(inputs)
    padding = [(0, 0)] * (x.ndim - 1) + [(op.depth_radius, op.depth_radius)]
    squares = np.pad(np.square(x), padding)
    total = sum(squares[..., k : k + x.shape[-1]] for k in range(2 * op.depth_radius + 1))
    return [(x / (op.bias + op.alpha * total) ** op.beta).astype(np.float32)]


_IMAGE = normal(2, 9, 11, 19) + float32(3)
case("image", ops.BatchNorm(epsilon=1e-3), [_IMAGE, normal(19), np.abs(normal(19))])
case("image", ops.FusedBatchNorm(epsilon=1e-3), [_IMAGE, normal(19), normal(19), normal(19), np.abs(normal(19))])
case("one-channel", ops.FusedBatchNorm(), [normal(3, 5, 1), *(float32([v]) for v in (2, 1, 0.5, 4))])
case("image", ops.ChannelsLastInstanceNorm(epsilon=1e-5), [_IMAGE, normal(19), normal(19)])
case("wide", ops.ChannelsLastInstanceNorm(epsilon=1e-5), [normal(1, 50, 131), normal(131), normal(131)])
with fixed_seed(20261123):
    case("image", ops.InstanceNorm(epsilon=1e-5), [normal(2, 19, 9, 11) + float32(3), normal(19), normal(19)])
    case("line", ops.InstanceNorm(epsilon=1e-5), [normal(3, 131, 50), normal(131), normal(131)])
    case("large", ops.InstanceNorm(epsilon=1e-5), [normal(1, 3, 70, 65) + float32(3), normal(3), normal(3)])
    case("pixel", ops.InstanceNorm(epsilon=1e-5), [normal(2, 7, 1, 1), normal(7), normal(7)])
case("image", ops.GroupNormFusion(num_groups=4, epsilon=1e-5), [normal(2, 12, 5, 7), normal(12), normal(12)])
case("plain", ops.GroupNormFusion(num_groups=3, affine=False), [normal(2, 12, 35)])
_LAYER = ops.LayerNormFusion
case(
    "last",
    _LAYER(begin_norm_axis=-1, begin_params_axis=-1),
    [normal(3, 5, 97) + float32(10), normal(97), normal(97)],
)
case("plain", _LAYER(begin_norm_axis=1), [normal(33, 300)])
case("two-axes", _LAYER(begin_norm_axis=1, begin_params_axis=1), [normal(4, 5, 33), normal(5, 33), normal(5, 33)])
case("gamma-only", _LAYER(begin_norm_axis=-1, begin_params_axis=-1), [normal(3, 768), normal(768)])
case("fewer-parameters", _LAYER(begin_norm_axis=1, begin_params_axis=2), [normal(4, 5, 33), normal(33), normal(33)])
case("last", ops.RmsNorm(), [normal(3, 5, 97), normal(97)])
case("plain", ops.RmsNorm(axis=1), [normal(3, 5, 97)])
case("last", ops.L2NormalizeFusion(axis=(-1,), epsilon=1e-6), [normal(3, 5, 97)])
case("all-relu", ops.L2NormalizeFusion(activation_type=ActivationType.RELU), [normal(3, 5, 7)])
case("two-axes", ops.L2NormalizeFusion(axis=(1, 3), epsilon=1e-6), [normal(3, 5, 7, 9)])
for _p in (1, 2):
    case(
        f"p{_p}",
        ops.LpNormalization(axis=1, p=_p),
        [np.concatenate([normal(3, 5, 7), np.zeros((1, 5, 7), np.float32)])],
    )
case("image", ops.LRN(depth_radius=2, bias=1.0, alpha=2e-2, beta=0.75), [_IMAGE])
case("no-attributes", ops.LRN(depth_radius=1), [_IMAGE])
case("wide-radius", ops.LRN(depth_radius=40, bias=2.0, alpha=0.1, beta=0.5), [_IMAGE])
