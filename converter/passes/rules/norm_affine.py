"""Folds a multiplication by or an addition of a constant after a normalization into gamma and beta."""

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
    broadcast_keeps_rank,
    float_value,
    is_float,
    is_plain,
    replace_operator,
)
from mslite.converter.passes.rules._shared_constants import (
    REFUSAL,
    are_shared,
    is_neutral,
    is_shared,
    shared_replacement,
    would_split,
)


def _parameter_shape(norm: Node) -> tuple[int, ...] | None:
    """Returns the shape of gamma for broadcasting with the input: channels, or the normalized dimensions of RmsNorm."""
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
    """Returns a constant that varies along the dimensions of gamma only as a flat vector, else None."""
    if data.dtype != np.float32:
        return None
    while data.ndim > len(sizes) and data.shape[0] == 1:
        data = data[0]
    try:
        return np.ascontiguousarray(np.broadcast_to(data, sizes)).astype(np.float32).reshape(-1)
    except ValueError:
        return None


def _parameters(norm: Node) -> list[Value]:
    """Returns gamma and beta; empty if the operator has no parameters."""
    return list(norm.inputs[1:])


def _check(match: Match, context: Context) -> str | None:
    norm = match.node("norm")
    if not is_float(norm.inputs[0]) or any(value.data is None for value in _parameters(norm)):
        return "gamma or beta is not constant"
    if any(value.array().dtype != np.float32 for value in _parameters(norm)):
        return "gamma or beta is not float32"
    sizes = _parameter_shape(norm)
    if sizes is None or not broadcast_keeps_rank(norm, match.value("constant")):
        return "the shape is unknown, or changes"
    if _vector(match.array("constant"), sizes) is None:
        return "the constant is not one float32 number per parameter"
    if isinstance(norm.op, RmsNorm) and "mul" not in match.nodes:
        return "RmsNorm has no beta"
    if isinstance(norm.op, GroupNormFusion) and not norm.op.affine:
        return "the normalization has no gamma and beta"
    return _shared_check(match, context) if context.settings.training else None


def _changed(norm: Node, root: Node) -> list[Value]:
    """Returns the parameters that the rewrite would change."""
    return _parameters(norm)[0 if root.op.name == "MulFusion" else 1 :]


def _takes_over(norm: Node, root: Node) -> bool:
    """Returns whether the constant of `root` becomes gamma or beta unchanged."""
    changed = _changed(norm, root)
    number = 1.0 if root.op.name == "MulFusion" else 0.0
    return all(is_neutral(value, expected) for value, expected in zip(changed, (number, 0.0), strict=False))


def _shared_check(match: Match, context: Context) -> str | None:
    """Returns a reason if the rewrite would split the gamma or beta of a normalization that is used several times."""
    norm, root, constant = match.node("norm"), match.root, match.value("constant")
    if not is_shared(constant):
        others = (value for value in _changed(norm, root) if not is_neutral(value, 1.0) and not is_neutral(value, 0.0))
        return REFUSAL if are_shared(others, context) else None

    def alike(user: Node) -> bool:
        producers = [value.producer for value in user.inputs if value is not constant]
        other = producers[0] if len(producers) == 1 else None
        return (
            other is not None
            and (user.op, other.op) == (root.op, norm.op)
            and user.quant_type == 0
            and len(set(other.output.users)) == 1
            and other.output not in context.graph_outputs
            and _parameter_shape(other) == _parameter_shape(norm)
            and all(value.data is not None for value in _parameters(other))
            and _takes_over(other, user)
            and broadcast_keeps_rank(user, constant)
        )

    return None if _takes_over(norm, root) and not would_split(constant, context, alike) else REFUSAL


def _rewrite(match: Match, graph: Graph) -> None:
    norm, root = match.node("norm"), match.root
    sizes = _parameter_shape(norm)
    assert sizes is not None
    constant = _vector(match.array("constant"), sizes)
    assert constant is not None
    if match.training and (is_shared(match.value("constant")) or "mul" not in match.nodes):
        replace_operator(
            root, norm.op, [norm.inputs[0], *_trained_once(match, constant.reshape(_stored(norm, sizes)))], norm.name
        )
        return
    old = [as_float(value).reshape(-1) for value in _parameters(norm)] or [np.ones_like(constant)]
    new = [vector * constant for vector in old] if "mul" in match.nodes else [old[0], old[1] + constant]
    named = zip(("gamma", "beta"), new, strict=False)
    inputs = [float_value(f"{root.name}_{name}", vector.reshape(_stored(norm, sizes))) for name, vector in named]
    for place, value in enumerate(inputs):
        own = _parameters(norm)[place : place + 1]
        is_changed = place == 1 or "mul" in match.nodes
        value.is_parameter = is_parameter_of([*own, match.value("constant")] if is_changed else own)
    replace_operator(root, norm.op, [norm.inputs[0], *inputs], norm.name)


def _trained_once(match: Match, data: Float) -> list[Value]:
    """Returns gamma and beta for a model that is trained: unchanged and shared parameters stay the same constants."""
    norm, name, added = match.node("norm"), match.root.name, match.value("constant")
    own = _parameters(norm)
    if "mul" in match.nodes:
        return [shared_replacement(added, ("gamma", data.shape), f"{name}_gamma", data, match), *own[1:]]
    if is_shared(added):
        return [own[0], shared_replacement(added, ("beta", data.shape), f"{name}_beta", data, match)]
    beta = float_value(f"{name}_beta", as_float(own[1]).reshape(-1) + data)
    beta.is_parameter = is_parameter_of([own[1], added])
    return [own[0], beta]


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
