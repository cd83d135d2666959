"""Fuses zero padding into a convolution. The zero of quantized tensors is the zero point."""

from __future__ import annotations

from mslite.converter.mindir.graph import Graph, Node
from mslite.converter.mindir.ops.assembly import PadFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import PaddingMode, PadMode
from mslite.converter.mindir.quantized import is_quantized, same_quant_params
from mslite.converter.passes.context import Context
from mslite.converter.passes.graph_edit import changed, scalar
from mslite.converter.passes.pattern import Match, op
from mslite.converter.passes.rule import Rule
from mslite.converter.passes.rules._common import replace_operator

_PATTERN = op("Conv2DFusion", op("PadFusion", name="pad"), name="conv", where=lambda node: node.quant_type == 0)
_STORED = op("Conv2DFusion", op("PadFusion", name="pad"), name="conv", where=lambda node: is_quantized(node.inputs[0]))


def _paddings(node: Node) -> list[int] | None:
    """Returns the padding before and after each dimension, or None if it is not constant."""
    if len(node.inputs) < 2 or node.inputs[1].data is None:
        return None
    return [int(item) for item in node.inputs[1].data.reshape(-1)]


def _check(match: Match, context: Context) -> str | None:
    pad, conv = match.node("pad"), match.root
    assert isinstance(pad.op, PadFusion)
    assert isinstance(conv.op, Conv2DFusion)
    if pad.op.padding_mode is not PaddingMode.CONSTANT:
        return "the padding mode is not CONSTANT"
    value = scalar(pad.inputs[2]) if len(pad.inputs) > 2 else pad.op.constant_value
    if value != 0:
        return "the padding value is not zero"
    return _check_sizes(pad, conv.op)


def _check_stored(match: Match, context: Context) -> str | None:
    pad, conv = match.node("pad"), match.root
    assert isinstance(pad.op, PadFusion)
    assert isinstance(conv.op, Conv2DFusion)
    x = pad.inputs[0]
    if pad.op.padding_mode is not PaddingMode.CONSTANT:
        return "the padding mode is not CONSTANT"
    if len(x.quant) != 1 or x.dtype is not pad.output.dtype or not same_quant_params(x.quant, pad.output.quant):
        return "the padding has other quantization parameters"
    if len(pad.inputs) > 2:
        border = pad.inputs[2]
        if border.data is None or border.data.size != 1 or not same_quant_params(border.quant, x.quant):
            return "the padding value is not a constant with the same quantization parameters"
        if int(border.data.item()) != x.quant[0].zeroPoint:
            return "the padding value is not zero"
    elif pad.op.constant_value != 0:
        return "the padding value is not zero"
    return _check_sizes(pad, conv.op)


def _check_sizes(pad: Node, op: Conv2DFusion) -> str | None:
    paddings = _paddings(pad)
    if paddings is None or len(paddings) != 8:
        return "the paddings are not constant"
    if paddings[:2] != [0, 0] or paddings[6:] != [0, 0]:
        return "batch or channels are padded"
    if min(paddings) < 0:
        return "the padding is negative"
    if op.pad_mode is PadMode.SAME:
        return "the convolution computes its own padding from the input size"
    return None


def _rewrite(match: Match, graph: Graph) -> None:
    pad, conv = match.node("pad"), match.root
    assert isinstance(conv.op, Conv2DFusion)
    paddings = _paddings(pad)
    assert paddings is not None
    own = (conv.op.pad_list or (0, 0, 0, 0)) if conv.op.pad_mode is PadMode.PAD else (0, 0, 0, 0)
    total = tuple(a + b for a, b in zip(own, paddings[2:6], strict=True))
    op = changed(conv.op, pad_mode=PadMode.PAD, pad_list=total)
    replace_operator(conv, op, [pad.inputs[0], *conv.inputs[1:]])


RULE = Rule("ConvPadFusion", (_PATTERN,), _rewrite, _check)
STORED = Rule("StoredConvPadFusion", (_STORED,), _rewrite, _check_stored, integers=True)
