"""Convolution + another tensor of its shape → Conv2DAddFusion, which adds while the result is still in registers."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Graph
from mslite.converter.mindir.ops.convolution import Conv2DAddFusion, Conv2DFusion
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match, op, value
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import activation_of, become, float_value, is_float, is_plain

_PATTERN = op("AddFusion", op("Conv2DFusion", name="conv", where=is_plain), value("residual"), commutative=True)


def _check(match: Match, context: Context) -> str | None:
    conv, residual = match.node("conv"), match.value("residual")
    assert isinstance(conv.op, Conv2DFusion)
    if conv.op.group not in (0, 1):
        return "the convolution has groups"
    if conv.op.format is not Format.NHWC:
        return "the convolution is not in NHWC"
    if residual.is_constant or residual.shape is None or residual.shape != conv.output.shape:
        return "the other operand is not an activation of the convolution's shape"
    if not is_float(residual) or any(v.data is None or v.data.dtype != np.float32 for v in conv.inputs[1:]):
        return "weight, bias and the other operand are not float32"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    conv, root = match.node("conv"), match.root
    assert isinstance(conv.op, Conv2DFusion)
    x, weight, *rest = conv.inputs
    channels = weight.array().shape[0]
    bias = rest[0] if rest else float_value(f"{conv.name}_bias", np.zeros(channels, np.float32))
    operator = Conv2DAddFusion(
        format=conv.op.format,
        kernel_size=conv.op.kernel_size,
        stride=conv.op.stride,
        dilation=conv.op.dilation,
        pad_mode=conv.op.pad_mode,
        pad_list=conv.op.pad_list,
        group=1,
        activation_type=activation_of(root),
    )
    become(root, operator, [x, weight, bias, match.value("residual")], conv.name)


RULE = Rule("ConvAddFusion", (_PATTERN,), _rewrite, _check)
