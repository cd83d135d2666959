"""Matmuls, attention and linear algebra, computed with onnxruntime's operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.ops.enums import ActivationType
from tests.kernels import random_calls as calls
from tests.kernels.random_calls import Call, Draw, normal, shapes

from .arithmetic import activated
from .graph import Array, Graph, run
from .registry import compared

_FUSED = (ActivationType.NO_ACTIVATION, ActivationType.RELU, ActivationType.RELU6)


@compared("MatMulFusion", strategy=lambda name: calls.products().filter(lambda call: all(x.size for x in call.inputs)))
def product(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (a, b, *bias) = Graph(), inputs
    left, right = (
        graph("Transpose", x, perm=[*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]) if turned else x
        for x, turned in ((a, op.transpose_a), (b, op.transpose_b))
    )
    y = graph("MatMul", left, right)
    return graph.run(graph("Add", y, bias[0]) if bias else y)


@st.composite
def layers(draw: Draw, name: str) -> Call:
    shape = draw(shapes(2, 4, 1, 5))
    axis = draw(st.integers(1, len(shape) - 1))
    outputs, width = draw(st.integers(1, 20)), int(np.prod(shape[axis:]))
    attributes = {"use_axis": draw(st.booleans()), "axis": axis, "activation_type": draw(st.sampled_from(_FUSED))}
    operands = [normal(draw, shape), normal(draw, (outputs, width)), normal(draw, (outputs,))]
    bias = draw(st.booleans())
    return Call(OPERATORS[name](has_bias=bias, **attributes), tuple(operands[: 2 + bias]), (1, 2)[: 1 + bias], 2e-5)


@compared("FullConnection", strategy=layers)
def full_connection(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x, weight, *bias) = Graph(), inputs
    rows = graph("Reshape", x, np.array([-1, weight.shape[1]]))
    y = graph("Gemm", rows, weight, *bias, transB=1)
    if op.use_axis:
        y = graph("Reshape", y, np.array([*x.shape[: op.axis], weight.shape[0]]))
    return graph.run(activated(graph, op.activation_type, y))


@st.composite
def affine_layers(draw: Draw, name: str) -> Call:
    context = sorted(draw(st.lists(st.integers(-4, 4), min_size=1, max_size=4, unique=True)))
    depth, outputs = draw(st.integers(1, 5)), draw(st.integers(1, 9))
    rows = context[-1] - context[0] + draw(st.integers(1, 6))
    turned = draw(st.booleans())
    width = len(context) * depth
    op = OPERATORS[name](
        context=tuple(context), output_dim=width, transpose_b=turned, activation_type=draw(st.sampled_from(_FUSED))
    )
    weight = normal(draw, (outputs, width) if turned else (width, outputs), -0.5, 0.5)
    operands = [normal(draw, (draw(st.integers(1, 2)), rows, depth)), weight]
    if draw(st.booleans()):
        operands.append(normal(draw, (outputs,)))
    return Call(op, tuple(operands), (1,), 2e-5)


@compared("Affine", strategy=affine_layers)
def affine(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """A convolution along the rows, with a tap per offset of the context and zeros between."""
    graph, (x, weight, *bias) = Graph(), inputs
    first, depth = min(op.context), x.shape[2]
    columns = weight if op.transpose_b else weight.T
    taps = np.zeros((columns.shape[0], depth, max(op.context) - first + 1), np.float32)
    for place, offset in enumerate(op.context):
        taps[:, :, offset - first] = columns[:, place * depth : (place + 1) * depth]
    y = graph("Transpose", graph("Conv", np.swapaxes(x, 1, 2), taps, *bias), perm=[0, 2, 1])
    return graph.run(activated(graph, op.activation_type, y))


# ---- attention ----


@st.composite
def attentions(draw: Draw, name: str) -> Call:
    """Self-attention and cross-attention, with biases or an added score, a mask, flattened inputs, a transposed last weight, a scale."""
    heads, size, batch = draw(st.integers(1, 3)), draw(st.integers(1, 6)), draw(st.integers(1, 2))
    rows = draw(st.integers(1, 6))
    cross, has_bias = draw(st.booleans()), draw(st.booleans())
    keys = draw(st.integers(1, 6)) if cross else rows
    hidden, width, outputs = heads * size, draw(st.integers(1, 8)), draw(st.integers(1, 9))
    other = draw(st.integers(1, 8)) if cross else width
    query, key = normal(draw, (batch, rows, width)), normal(draw, (batch, keys, other))
    operands = [query, key, key if cross else normal(draw, (batch, keys, other))]
    flat = has_bias and not cross and batch == 1 and draw(st.booleans())
    operands = [x[0] for x in operands] if flat else operands
    if cross:
        operands += [normal(draw, (width, hidden), -0.5, 0.5), normal(draw, (other, 2 * hidden), -0.5, 0.5)]
    else:
        operands.append(normal(draw, (width, 3 * hidden), -0.5, 0.5))
    turned = outputs != hidden and draw(st.booleans())
    operands.append(normal(draw, (outputs, hidden) if turned else (hidden, outputs), -0.5, 0.5))
    if has_bias:
        operands += [normal(draw, (3 * hidden,)), normal(draw, (outputs,))]
    else:
        operands.append(normal(draw, (draw(st.sampled_from((1, batch))), heads, rows, keys)))
    if not flat and draw(st.booleans()):
        seen = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 2, (batch, rows, keys))
        seen[:, :, 0] = 1
        operands.append(seen.astype(np.float32))
    scale = draw(st.sampled_from((0.0, 0.25)))
    op = OPERATORS[name](head_num=heads, head_size=size, cross=cross, scale=scale)
    return Call(op, tuple(operands), (), 3e-5)


@st.composite
def relative_attentions(draw: Draw, name: str) -> Call:
    """Transformer-XL's attention with relative positions, with and without biases."""
    heads, size, keys = (draw(st.integers(1, high)) for high in (3, 4, 5))
    rows = draw(st.integers(1, keys))
    hidden = heads * size
    places = 2 * keys + draw(st.integers(0, 1))
    query, key = normal(draw, (1, rows, hidden)), normal(draw, (1, keys, hidden))
    operands = [query, key, normal(draw, (1, keys, hidden)), normal(draw, (1, places, hidden))]
    operands += [normal(draw, (hidden, hidden), -0.5, 0.5) for _ in range(4)]
    operands += [
        normal(draw, (heads, size)),
        normal(draw, (heads, size), -1, 1),
        normal(draw, (hidden, hidden), -0.5, 0.5),
    ]
    if draw(st.booleans()):
        operands += [normal(draw, (hidden,)) for _ in range(4)]
    return Call(OPERATORS[name](), tuple(operands), (), 3e-5)


@compared("Attention", strategy=lambda name: attentions(name) | relative_attentions(name))
def attention(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """onnxruntime's MultiHeadAttention between projections; added scores are its `attention_bias`."""
    if len(inputs) in (11, 15):
        return _relative(inputs)
    graph = Graph()
    hidden = op.head_num * op.head_size
    q, k, v, *rest = (x if index > 2 or x.ndim == 3 else x[None] for index, x in enumerate(inputs))
    weights = [rest.pop(0)] if op.cross else []
    joined = rest.pop(0)
    weights += [joined[:, at : at + hidden] for at in range(0, joined.shape[1], hidden)]
    last = rest.pop(0)
    has_bias = rest[0].ndim == 1
    biases = [rest[0][at : at + hidden] for at in range(0, 3 * hidden, hidden)] if has_bias else []
    projected = [graph("MatMul", x, weight) for x, weight in zip((q, k, v), weights, strict=True)]
    for index, bias in enumerate(biases):
        projected[index] = graph("Add", projected[index], bias)
    shape = (q.shape[0], op.head_num, q.shape[1], k.shape[1])
    added = graph.constant(np.zeros(shape, np.float32) if has_bias else np.broadcast_to(rest[0], shape))
    for mask in rest[2:] if has_bias else rest[1:]:
        added = graph("Add", added, graph("Mul", graph("Sub", 1.0, mask[:, None]), -10000.0))
    scale = op.scale or (1 / math.sqrt(op.head_size) if has_bias else 1.0)
    attributes = {"domain": "com.microsoft", "num_heads": op.head_num, "scale": scale}
    y = graph("MultiHeadAttention", *projected, None, None, added, **attributes)
    y = graph("MatMul", y, last if last.shape[0] == hidden else last.T)
    return graph.run(graph("Add", y, rest[1]) if has_bias else y)


def _relative(inputs: Sequence[Array]) -> Sequence[Array]:
    """Relative position scores, with each row shifted by GatherElements."""
    graph = Graph()
    operands, weights, own_u, own_v, last = inputs[:4], inputs[4:8], inputs[8], inputs[9], inputs[10]
    biases = inputs[11:]
    heads, size = own_u.shape
    projected = []
    for index, (x, weight) in enumerate(zip(operands, weights, strict=True)):
        y = graph("MatMul", x, weight)
        y = graph("Add", y, biases[index]) if biases and index < 3 else y
        y = graph("Reshape", y, np.array([1, x.shape[1], heads, size]))
        projected.append(graph("Transpose", y, perm=[0, 2, 1, 3]))
    q, k, v, p = projected
    rows, keys = operands[0].shape[1], operands[1].shape[1]
    by_place = graph("MatMul", graph("Add", q, own_v[:, None]), graph("Transpose", p, perm=[0, 1, 3, 2]))
    by_place = graph("Pad", by_place, np.array([0, 0, 0, 0, 0, 0, 0, 1]))
    where = np.broadcast_to(rows - np.arange(rows)[:, None] + np.arange(keys), (1, heads, rows, keys))
    by_content = graph("MatMul", graph("Add", q, own_u[:, None]), graph("Transpose", k, perm=[0, 1, 3, 2]))
    scores = graph("Add", by_content, graph("GatherElements", by_place, np.ascontiguousarray(where), axis=3))
    y = graph("MatMul", graph("Softmax", graph("Div", scores, math.sqrt(size)), axis=-1), v)
    y = graph("Reshape", graph("Transpose", y, perm=[0, 2, 1, 3]), np.array([1, rows, heads * size]))
    y = graph("MatMul", y, last)
    return graph.run(graph("Add", y, biases[3]) if biases else y)


# ---- linear algebra ----


@st.composite
def squares(draw: Draw, name: str) -> Call:
    size = draw(st.integers(1, 5))
    x = normal(draw, (*draw(shapes(0, 2, 1, 3)), size, size))
    return Call(OPERATORS[name](), (x + 4 * np.eye(size, dtype=np.float32),), (), 1e-4)


@compared("Determinant", "MatrixInverse", strategy=squares)
def determinant(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    if op.name == "Determinant":
        return run("Det", *inputs)
    return run("Inverse", *inputs, domain="com.microsoft")
