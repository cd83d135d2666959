"""References of layers in training, and of their gradients."""

from __future__ import annotations

import numpy as np

from ..ops import training as ops
from ._declare import Array, Inputs, case, float32, int32, normal, reference


def _wide(inputs: Inputs) -> list[Array]:
    return [np.asarray(array, np.float64) for array in inputs if array is not None]


def _narrow(*results: Array) -> list[Array]:
    return [np.asarray(result, np.float32) for result in results]


@reference("BatchNormTraining")
def batch_norm_training(op: ops.BatchNormTraining, inputs: Inputs) -> list[Array]:
    """Normalizes with the statistics of the batch, channels last; running statistics are updated with `momentum`."""
    x, scale, offset, mean, variance = _wide(inputs)
    rows = x.reshape(-1, x.shape[-1])
    own_mean, own_variance = rows.mean(axis=0), rows.var(axis=0)
    estimate = own_variance if op.biased else own_variance * len(rows) / max(len(rows) - 1, 1)
    y = (x - own_mean) / np.sqrt(own_variance + op.epsilon) * scale + offset
    new_mean = (1 - op.momentum) * mean + op.momentum * own_mean
    new_variance = (1 - op.momentum) * variance + op.momentum * estimate
    return _narrow(y, new_mean, new_variance, own_mean, own_variance)


@reference("BatchNormGrad")
def batch_norm_gradient(op: ops.BatchNormGrad, inputs: Inputs) -> list[Array]:
    """The gradient, including that through mean and variance if these are computed from x."""
    dy, x, scale, mean, variance = _wide(inputs)[:5]
    axes = tuple(range(x.ndim - 1))
    r = 1 / np.sqrt(variance + op.epsilon)
    n = (x - mean) * r
    dscale, doffset = (dy * n).sum(axis=axes), dy.sum(axis=axes)
    centered = dy - dy.mean(axis=axes) - n * (dy * n).mean(axis=axes) if op.is_training else dy
    return _narrow(scale * r * centered, dscale, doffset)


@reference("LayerNormGrad")
def layer_norm_gradient(op: ops.LayerNormGrad, inputs: Inputs) -> list[Array]:
    """With n = (x - mean) / sqrt(variance) and g = dy gamma: (g - mean(g) - n mean(g n)) / sqrt(variance)."""
    x, dy, variance, mean, gamma = _wide(inputs)
    axes = tuple(range(op.begin_norm_axis % x.ndim, x.ndim))
    kept = (*x.shape[: axes[0]], *(1 for _ in axes))
    r = 1 / np.sqrt(variance + 1e-12).reshape(kept)
    n = (x - mean.reshape(kept)) * r
    g = dy * gamma
    dx = r * (g - g.mean(axis=axes, keepdims=True) - n * (g * n).mean(axis=axes, keepdims=True))
    before = tuple(range(x.ndim - gamma.ndim))
    return _narrow(dx, (dy * n).sum(axis=before), dy.sum(axis=before))


def _mixed(value: int) -> int:
    mask = (1 << 64) - 1
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & mask
    value = (value ^ value >> 27) * 0x94D049BB133111EB & mask
    return value ^ value >> 31


def _random_bits(seed: int, counter: int) -> int:
    return _mixed((_mixed(seed) + (counter + 1) * 0x9E3779B97F4A7C15) & ((1 << 64) - 1)) >> 40


@reference("Dropout")
def dropout(op: ops.Dropout, inputs: Inputs) -> list[Array]:
    """The identity without a seed; else y, the mask, which depends on the seed and the position, and the next seed."""
    x = np.asarray(inputs[0])
    if len(inputs) < 2:
        return [x]
    assert inputs[1] is not None
    number, step = (int(entry) for entry in inputs[1])
    seed = (number & 0xFFFFFFFF) << 32 | step & 0xFFFFFFFF
    kept = int(np.float32(op.keep_prob) * 2.0**24)
    stays = np.array([_random_bits(seed, i) < kept for i in range(x.size)]).reshape(x.shape)
    y = np.where(stays, x.astype(np.float64) / op.keep_prob, 0)
    return [*_narrow(y, stays), int32([number, (step + 1 + 2**31) % 2**32 - 2**31])]


@reference("DropoutGrad")
def dropout_gradient(op: ops.DropoutGrad, inputs: Inputs) -> list[Array]:
    """dy mask / keep_prob."""
    dy, mask = _wide(inputs)
    return _narrow(dy * mask / op.keep_prob)


for _label, _shape in (("image", (2, 5, 6, 19)), ("rows", (33, 7)), ("one-channel", (4, 3, 3, 1)), ("one-row", (1, 5))):
    _depth = _shape[-1]
    _x, _dy = normal(*_shape) + np.float32(1.5), normal(*_shape)
    _scale, _offset, _mean = normal(_depth), normal(_depth), normal(_depth)
    _variance = np.abs(normal(_depth)) + np.float32(0.1)
    case(_label, ops.BatchNormTraining(epsilon=1e-3), [_x, _scale, _offset, _mean, _variance])
    for _trains in (False, True):
        case(f"{_label}-{'batch' if _trains else 'running'}", ops.BatchNormGrad(epsilon=1e-3, is_training=_trains),
             [_dy, _x, _scale, _mean, _variance])  # fmt: skip
_image, _gradient = normal(3, 9, 40), normal(3, 9, 40)
case("momentum", ops.BatchNormTraining(epsilon=1e-5, momentum=0.75),
     [_image, normal(40), normal(40), normal(40), np.abs(normal(40))])  # fmt: skip
case("biased", ops.BatchNormTraining(epsilon=1e-5, biased=True),
     [normal(5, 18), normal(18), normal(18), normal(18), np.abs(normal(18))])  # fmt: skip
case("reserve", ops.BatchNormGrad(epsilon=1e-5, is_training=True),
     [_gradient, _image, normal(40), _image.mean(axis=(0, 1)), _image.var(axis=(0, 1)), normal(40)])  # fmt: skip
for _label, _whole, _axis, _parameters in (
    ("last", (4, 6, 50), -1, -1),
    ("two", (5, 3, 7), 1, 1),
    ("parameters-behind", (2, 6, 5, 7), 1, 3),
    ("parameters-before", (4, 3, 50), 2, 1),
    ("long", (3, 20000), 1, 1),
    ("left-out", (9, 33), 1, 0),
):
    _x, _begin = normal(*_whole), _axis % len(_whole)
    _axes = tuple(range(_begin, len(_whole)))
    _of_gamma = _whole[_begin:] if _label == "left-out" else _whole[_parameters % len(_whole) :]
    case(_label, ops.LayerNormGrad(begin_norm_axis=_axis, begin_params_axis=_parameters),
         [_x, normal(*_whole), _x.var(axis=_axes) + np.float32(1e-3), _x.mean(axis=_axes), normal(*_of_gamma)])  # fmt: skip
case("inference", ops.Dropout(), [normal(2, 3, 4)])
for _label, _extent, _keep, _seed in (
    ("half", (7, 11), 0.5, (3, 0)),
    ("several-parts", (2, 20000), 0.8, (-5, 17)),
    ("all", (5,), 1.0, (1, 2147483647)),
    ("few", (5, 60), 0.01, (1, -1)),
):
    case(_label, ops.Dropout(keep_prob=_keep), [normal(*_extent), int32(_seed)])
    case(_label, ops.DropoutGrad(keep_prob=_keep), [normal(*_extent), float32(normal(*_extent) > 0)])
