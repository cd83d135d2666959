"""A normalisation of images or rows, * constant or + constant → folded into gamma and beta."""

from __future__ import annotations

import math

import numpy as np

from mslite.converter.mindir.graph import Array, Graph, Node, Value, is_parameter_of
from mslite.converter.mindir.ops.normalization import GroupNormFusion, InstanceNorm, RmsNorm
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, const, op
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import (
    Float,
    as_float,
    become,
    broadcast_keeps_rank,
    float_value,
    is_float,
    is_plain,
)


def _parameter_shape(norm: Node) -> tuple[int, ...] | None:
    """The shape with which gamma broadcasts against the input: channels, or the normalised sizes of RmsNorm."""
    shape = norm.inputs[0].shape
    if shape is None:
        return None
    if isinstance(norm.op, RmsNorm):
        sizes = shape[norm.op.axis % len(shape) :]
    elif isinstance(norm.op, GroupNormFusion | InstanceNorm):
        sizes = (shape[1], *[1] * (len(shape) - 2))
    else:
        sizes = shape[-1:]
    return None if any(size < 0 for size in sizes) else sizes


def _vector(data: Array, sizes: tuple[int, ...]) -> Float | None:
    """A constant operand that varies along the parameters' dimensions only, as one number per parameter."""
    if data.dtype != np.float32:
        return None
    while data.ndim > len(sizes) and data.shape[0] == 1:
        data = data[0]
    try:
        return np.ascontiguousarray(np.broadcast_to(data, sizes)).astype(np.float32).reshape(-1)
    except ValueError:
        return None


def _parameters(norm: Node) -> list[Value]:
    """gamma and beta as they are; an operator without them has none."""
    return list(norm.inputs[1:])


def _check(match: Match, context: Context) -> str | None:
    norm = match.node("norm")
    if not is_float(norm.inputs[0]) or any(value.data is None for value in _parameters(norm)):
        return "gamma or beta is not constant"
    if any(value.array().dtype != np.float32 for value in _parameters(norm)):
        return "gamma or beta is not float32"
    sizes = _parameter_shape(norm)
    if sizes is None or not broadcast_keeps_rank(norm, match.value("constant")):
        return "the shape is not known, or changes"
    if _vector(match.array("constant"), sizes) is None:
        return "the constant is not one float32 number per parameter"
    if isinstance(norm.op, RmsNorm) and "mul" not in match.nodes:
        return "RmsNorm has no beta"
    if isinstance(norm.op, GroupNormFusion) and not norm.op.affine:
        return "the normalisation has no gamma and beta"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    norm, root = match.node("norm"), match.root
    sizes = _parameter_shape(norm)
    assert sizes is not None
    constant = _vector(match.array("constant"), sizes)
    assert constant is not None
    old = [as_float(value).reshape(-1) for value in _parameters(norm)] or [np.ones_like(constant)]
    new = [vector * constant for vector in old] if "mul" in match.nodes else [old[0], old[1] + constant]
    named = zip(("gamma", "beta"), new, strict=False)
    inputs = [float_value(f"{root.name}_{name}", vector.reshape(_stored(norm, sizes))) for name, vector in named]
    for place, value in enumerate(inputs):
        own = _parameters(norm)[place : place + 1]
        is_changed = place == 1 or "mul" in match.nodes
        value.is_parameter = is_parameter_of([*own, match.value("constant")] if is_changed else own)
    become(root, norm.op, [norm.inputs[0], *inputs], norm.name)


def _stored(norm: Node, sizes: tuple[int, ...]) -> tuple[int, ...]:
    return sizes if isinstance(norm.op, RmsNorm) else (math.prod(sizes),)


def _rule(name: str, operators: str) -> Rule:
    norm = op(operators, name="norm")
    patterns = (
        op("MulFusion", norm, const("constant"), name="mul", commutative=True, where=is_plain),
        op("AddFusion", norm, const("constant"), commutative=True, where=is_plain),
    )
    return Rule(name, patterns, _rewrite, _check)


CHANNELS_FIRST = _rule("GroupNormAffineFusion", "GroupNormFusion")
RULE = _rule("NormAffineFusion", "InstanceNorm ChannelsLastInstanceNorm RmsNorm")
