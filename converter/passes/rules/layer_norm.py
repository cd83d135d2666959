"""Fuses the arithmetic of a layer normalization into LayerNormFusion.

(x - mean) / sqrt(mean((x - mean)^2) + epsilon), with or without * gamma + beta, over the last dimensions.
"""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.mindir.ops.normalization import LayerNormFusion
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed
from mslite.converter.passes.pattern import Match, const, op
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import float_value, is_float, is_plain, replace_operator, single
from mslite.converter.passes.rules._shared_constants import REFUSAL, shared_replacement, would_split
from mslite.converter.passes.rules.norm_patterns import FORMS, normalized_axes

_AFFINE = frozenset({"AddFusion", "MulFusion", "SubFusion"})
"""Operators that read gamma and beta in the arithmetic of a normalization."""


def _begin(match: Match) -> int | None:
    """Returns the first normalized dimension if all dimensions from there on are normalized, else None."""
    rank = match.value("x").rank
    if rank is None:
        return None
    axes = normalized_axes(match.value("mean_axes"), rank)
    if axes != normalized_axes(match.value("variance_axes"), rank) or axes[:1] != [rank - len(axes)]:
        return None
    return axes[0]


def _check(match: Match, context: Context) -> str | None:
    x, begin = match.value("x"), _begin(match)
    if not is_float(x) or x.shape is None:
        return "the input is not float32 of known rank"
    if begin is None:
        return "the normalized dimensions are not the last ones"
    sizes = x.shape[begin:]
    if any(size < 0 for size in sizes):
        return "the normalized dimensions are unknown"
    for name in ("gamma", "beta"):
        if name in match.values and _parameters(match.value(name), sizes) is None:
            return f"{name} does not cover the normalized dimensions"
        if name in match.values and would_split(match.value(name), context, lambda user: user.op.name in _AFFINE):
            return REFUSAL
    return None


def _parameters(parameter: Value, sizes: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]] | None:
    """Returns gamma or beta broadcast to the normalized dimensions, or None."""
    data = parameter.array()
    if data.dtype != np.float32 or any(size < 0 for size in sizes):
        return None
    while data.ndim > len(sizes) and data.shape[0] == 1:
        data = data[0]
    try:
        return np.ascontiguousarray(np.broadcast_to(data, sizes)).astype(np.float32)
    except ValueError:
        return None


def _rewrite(match: Match, graph: Graph) -> None:
    x, begin, root = match.value("x"), _begin(match), match.root
    assert begin is not None
    assert x.shape is not None
    sizes = x.shape[begin:]
    inputs = [x]
    affine = "gamma" in match.values or "beta" in match.values
    if affine:
        for name, neutral in (("gamma", 1.0), ("beta", 0.0)):
            data = (
                _parameters(match.value(name), sizes) if name in match.values else np.full(sizes, neutral, np.float32)
            )
            assert data is not None
            if name in match.values:
                inputs.append(shared_replacement(match.value(name), (name, sizes), f"{root.name}_{name}", data, match))
            else:
                inputs.append(float_value(f"{root.name}_{name}", data))
    operator = LayerNormFusion(
        begin_norm_axis=begin,
        begin_params_axis=begin,
        epsilon=single(match.array("epsilon")),
        elementwise_affine=affine,
    )
    replace_operator(root, operator, inputs)


def _affine_rewrite(match: Match, graph: Graph) -> None:
    """Adds gamma and beta to a LayerNormFusion without them."""
    norm, root = match.node("norm"), match.root
    x = norm.inputs[0]
    assert isinstance(norm.op, LayerNormFusion)
    assert x.shape is not None
    sizes = x.shape[norm.op.begin_norm_axis :]
    inputs = [x]
    for name in ("gamma", "beta"):
        data = _parameters(match.value(name), sizes)
        assert data is not None
        inputs.append(shared_replacement(match.value(name), (name, sizes), f"{root.name}_{name}", data, match))
    replace_operator(root, changed(norm.op, elementwise_affine=True), inputs, norm.name)


def _affine_check(match: Match, context: Context) -> str | None:
    norm = match.node("norm")
    assert isinstance(norm.op, LayerNormFusion)
    if norm.op.elementwise_affine or len(norm.inputs) > 1:
        return "the normalization has gamma and beta already"
    x = norm.inputs[0]
    if x.rank is None or x.shape is None or norm.op.begin_norm_axis != norm.op.begin_params_axis:
        return "the shape is unknown"
    sizes = x.shape[norm.op.begin_norm_axis % x.rank :]
    if any(_parameters(match.value(name), sizes) is None for name in ("gamma", "beta")):
        return "gamma or beta do not cover the normalized dimensions"

    def scales(user: Node) -> bool:
        return user.op.name == "MulFusion" and any(
            value.producer is not None and value.producer.op == norm.op for value in user.inputs
        )

    def shifts(user: Node) -> bool:
        products = [value.producer for value in user.inputs if value.producer is not None]
        return user.op.name == "AddFusion" and any(scales(product) for product in products)

    if would_split(match.value("gamma"), context, scales) or would_split(match.value("beta"), context, shifts):
        return REFUSAL
    return None


RULE = Rule("OnnxLayerNormFusion", FORMS, _rewrite, _check)
AFFINE = Rule(
    "OnnxLayerNormFusion2",
    (
        op(
            "AddFusion",
            op("MulFusion", op("LayerNormFusion", name="norm"), const("gamma"), commutative=True, where=is_plain),
            const("beta"),
            commutative=True,
            where=is_plain,
        ),
    ),
    _affine_rewrite,
    _affine_check,
)
