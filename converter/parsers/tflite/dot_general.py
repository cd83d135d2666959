"""StableHLO's dot_general and convolution, with dimensions in any order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import Format, PadMode
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose

from .call import Call
from .matrices import spread
from .registry import tflite_operator


def _turned(call: Call, x: Value, order: Sequence[int]) -> Value:
    return x if list(order) == list(range(len(order))) else call.emit(Transpose(), x, call.ints(order))


@tflite_operator("STABLEHLO_DOT_GENERAL")
def dot_general(call: Call) -> Value:
    """Converts dot_general to a matmul. The result is [batch..., other dimensions of a..., other dimensions of
    b...]."""
    operands, rests = [], []
    names = (("lhs_batching", "lhs_contracting"), ("rhs_batching", "rhs_contracting"))
    counts = []
    for index, pair in enumerate(names):
        rank, shape = call.rank(index), call.shape(index)
        batch, inner = (call.options.integers(name) or () for name in pair)
        used = (*batch, *inner)
        if len(set(used)) != len(used) or any(not 0 <= axis < rank for axis in used):
            raise call.block(f"{used} are not dimensions of {shape}", attribute=pair[0])
        rest = [axis for axis in range(rank) if axis not in used]
        order = [*batch, *rest, *inner] if index == 0 else [*batch, *inner, *rest]
        sizes = [[shape[axis] for axis in part] for part in (batch, inner, rest)]
        flat = [math.prod(part) for part in sizes]
        dims = (flat[0], flat[2], flat[1]) if index == 0 else (flat[0], flat[1], flat[2])
        operands.append(call.emit(Reshape(), _turned(call, call.weight(index), order), call.ints(dims)))
        rests.append(sizes[2])
        counts.append(sizes[:2])
    if counts[0] != counts[1]:
        raise call.block(f"the shapes of the inputs, {call.shape(0)} and {call.shape(1)}, do not match")
    product = call.emit(MatMulFusion(), *operands)
    return call.emit(Reshape(), product, call.ints((*counts[0][0], *rests[0], *rests[1])))


def _numbers(call: Call, name: str, count: int, default: int) -> tuple[int, ...]:
    values = call.options.integers(name) or (default,) * count
    if len(values) != count:
        raise call.block(f"{len(values)} numbers are given, not {count}", attribute=name)
    return values


def _order(call: Call, prefix: str, names: Sequence[str], spatial: int) -> list[int]:
    """Returns the dimensions in the order (first, spatial..., second). Raises Blocked."""
    first, second = (call.options.integer(f"{prefix}_{name}") for name in names)
    between = call.options.integers(f"{prefix}_spatial") or ()
    order = [first, *between, second]
    if sorted(order) != list(range(spatial + 2)):
        raise call.block(f"{order} is not a permutation of the dimensions", attribute=f"{prefix}_dimensions")
    return order


@tflite_operator("STABLEHLO_CONVOLUTION")
def convolution(call: Call) -> Value:
    """Converts a convolution with one or two spatial dimensions, and with feature groups."""
    spatial = call.rank(0) - 2
    if spatial not in (1, 2) or call.rank(1) != spatial + 2:
        raise call.block(f"{spatial} spatial dimensions are unsupported", "Use one or two")
    if call.options.integer("batch_group_count") > 1 or any(call.options.integers("window_reversal") or ()):
        raise call.block("batch groups and reversed windows are unsupported", "Export a plain convolution")
    x_order = _order(call, "input", ("batch", "feature"), spatial)
    w_order = _order(call, "kernel", ("output_feature", "input_feature"), spatial)
    y_order = _order(call, "output", ("batch", "feature"), spatial)
    strides, base, dilation = (
        _numbers(call, name, spatial, 1) for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    pads = _numbers(call, "padding", 2 * spatial, 0)
    if min((*strides, *base, *dilation)) < 1 or min(pads) < 0:
        raise call.block("negative padding, strides or dilations are unsupported", "Export a plain convolution")
    x = _turned(call, call.input(0), x_order)
    weight = _turned(call, call.weight(1), w_order)
    sizes = [call.shape(0)[axis] for axis in x_order]
    kernel = [call.shape(1)[axis] for axis in w_order]
    if max(base) > 1:
        x = spread(call, x, sizes, (1, *base, 1), None)
        sizes[1:-1] = [(size - 1) * step + 1 for size, step in zip(sizes[1:-1], base, strict=True)]
    if spatial == 1:
        x = call.emit(Reshape(), x, call.ints((sizes[0], 1, sizes[1], sizes[2])))
        weight = call.emit(Reshape(), weight, call.ints((kernel[0], 1, kernel[1], kernel[2])))
        kernel = [kernel[0], 1, *kernel[1:]]
        strides, dilation, pads = (1, *strides), (1, *dilation), (0, 0, *pads)
    group = call.options.integer("feature_group_count") or 1
    if group < 1 or kernel[3] * group != sizes[-1] or kernel[0] % group:
        raise call.block(
            f"{group} groups of {sizes[-1]} features do not match the weight", attribute="feature_group_count"
        )
    op = Conv2DFusion(
        format=Format.NHWC,
        kernel_size=(kernel[1], kernel[2]),
        stride=(strides[0], strides[1]),
        dilation=(dilation[0], dilation[1]),
        pad_mode=PadMode.PAD,
        pad_list=tuple(pads),
        mode=1,
        group=group,
        in_channel=sizes[-1],
        out_channel=kernel[0],
    )
    y = call.emit(op, x, weight)
    shape = call.output().shape
    if spatial == 1:
        y = call.emit(Reshape(), y, call.ints([shape[axis] for axis in y_order]))
    return _turned(call, y, np.argsort(y_order).tolist())
