"""Normalizations of onnxruntime. It supported LayerNormalization before operator set 17."""

from __future__ import annotations

from .body import Body
from .formulas import layer_norm, rms_norm, swish
from .registry import MICROSOFT, expands


def _affine(body: Body, x: str, scale: str, bias: str) -> str:
    scaled = body.op("Mul", x, scale)
    return body.op("Add", scaled, bias) if bias else scaled


def _optional(body: Body, index: int) -> str:
    return body.input(index) if body.has_input(index) else ""


def _inverse(body: Body, index: int, root: str) -> None:
    """Creates the output 1 / root if it is used."""
    if body.has_output(index):
        body.result(index, body.op("Reciprocal", root))


def _last_axes(body: Body, x: str) -> tuple[int, ...]:
    """Returns the axes from `axis` on, as negative indices."""
    axis = body.integer("axis", -1)
    first = axis if axis < 0 else axis - body.rank(x)
    if first >= 0:
        raise body.block(f"{axis} is out of range", "Export the model again", "axis")
    return tuple(range(first, 0))


@expands("LayerNormalization", domain="")
def layer_normalization(body: Body) -> None:
    body.ignore("stash_type")
    x, scale = body.input(0), body.input(1)
    axes, epsilon = _last_axes(body, x), body.real("epsilon", 1e-5)
    normalized, mean, root = layer_norm(body, x, epsilon, axes, x, scale)
    body.result(0, _affine(body, normalized, scale, _optional(body, 2)))
    body.result(1, mean)
    _inverse(body, 2, root)


@expands("SimplifiedLayerNormalization", domain="")
@expands("SimplifiedLayerNormalization", domain=MICROSOFT)
def simplified_layer_normalization(body: Body) -> None:
    """RMS normalization."""
    body.ignore("stash_type")
    x, scale = body.input(0), body.input(1)
    axes, epsilon = _last_axes(body, x), body.real("epsilon", 1e-5)
    normalized, root = rms_norm(body, x, epsilon, axes, x, scale)
    body.result(0, body.op("Mul", normalized, scale))
    _inverse(body, 1, root)


def _skip_sum(body: Body, bias: int) -> str:
    """Returns input + skip + bias, which is also output 3."""
    total = body.op("Add", body.input(0), body.input(1))
    if body.has_input(bias):
        total = body.op("Add", total, body.input(bias))
    body.result(3, total)
    return total


@expands("SkipLayerNormalization")
def skip_layer_normalization(body: Body) -> None:
    """Inputs: x, skip, gamma, [beta], [bias]. Outputs: y, [mean], [1 / deviation], [sum]."""
    total = _skip_sum(body, 4)
    like, epsilon = [name for name in body.node.input if name], body.real("epsilon", 1e-12)
    normalized, mean, root = layer_norm(body, total, epsilon, (-1,), *like)
    body.result(0, _affine(body, normalized, body.input(2), _optional(body, 3)))
    body.result(1, mean)
    _inverse(body, 2, root)


@expands("SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(body: Body) -> None:
    """Inputs: x, skip, gamma, [bias]. Outputs: y, [mean], [1 / root], [sum]."""
    if body.has_output(1):
        raise body.block("the output 'mean' is undefined here", "Export the model without it")
    total = _skip_sum(body, 3)
    like, epsilon = [name for name in body.node.input if name], body.real("epsilon", 1e-12)
    normalized, root = rms_norm(body, total, epsilon, (-1,), *like)
    body.result(0, body.op("Mul", normalized, body.input(2)))
    _inverse(body, 2, root)


def _group_norm(body: Body, x: str) -> str:
    """Group normalization of x, channels last by default, with its activation (0: none, 1: x * sigmoid(x))."""
    gamma, beta, groups = body.input(1), body.input(2), body.integer("groups")
    if groups < 1:
        raise body.block(f"{groups} groups are invalid", "Export the model again", "groups")
    last = body.boolean("channels_last", True)
    image = body.transpose(x, 0, 3, 1, 2) if last else x
    rows = body.reshape(image, 0, groups, -1)
    # As PyTorch exports it, an instance normalization of groups; passes fuse this pattern.
    ones, zeros = (body.cast_like(body.const([value] * groups, "float32"), gamma) for value in (1.0, 0.0))
    epsilon = body.real("epsilon", 1e-5)
    normalized = body.op("InstanceNormalization", rows, ones, zeros, epsilon=epsilon)
    back = body.op("Reshape", normalized, body.op("Shape", image))
    channels = (body.reshape(value, -1, 1, 1) for value in (gamma, beta))
    scale, bias = (body.cast_like(value, x, gamma) for value in channels)
    result = _affine(body, back, scale, bias)
    if body.integer("activation") == 1:
        result = swish(body, result, 1.0)
    return body.transpose(result, 0, 2, 3, 1) if last else result


@expands("GroupNorm")
def group_norm(body: Body) -> None:
    body.result(0, _group_norm(body, body.input(0)))


@expands("SkipGroupNorm")
def skip_group_norm(body: Body) -> None:
    """GroupNorm of x + skip + bias; skip is [n, h, w, c], [n, 1, 1, c] or [n, c]. Output 1 is the sum."""
    skip = body.input(3)
    if body.rank(skip) == 2:
        skip = body.unsqueeze(skip, 1, 2)
    total = body.op("Add", body.input(0), skip)
    if body.has_input(4):
        total = body.op("Add", total, body.input(4))
    body.result(0, _group_norm(body, total))
    body.result(1, total)
