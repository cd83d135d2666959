"""Layers of language models that are one primitive in MindSpore, which exports them on any machine but runs them only
on Ascend."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.activation import Softmax
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import BroadcastTo, Concat, SliceFusion
from mslite.converter.mindir.ops.comparison import Where
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.normalization import RmsNorm
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape, Transpose
from mslite.converter.mindir.ops.unary import Neg

from .call import Call
from .entries import Entry, Sequence, UnsupportedResult
from .registry import primitive

_LAYOUTS = {0: "BSH", 1: "BNSD", 2: "SBH", 3: "BSND"}
_HIDDEN = -65504.0
"""The score of a masked position, the lowest float16 value: its exponential is 0."""
_EVERYTHING = 2**31 - 1


@primitive("AddRmsNorm", operators="AddFusion RmsNorm", arguments="x1 x2 gamma epsilon")
def added_norm(call: Call) -> Entry:
    """Converts AddRmsNorm: the norm of the sum, its deviation (unsupported), and the sum."""
    total = call.emit(AddFusion(), call.input(0), call.input(1))
    sizes = call.require_shape(call.input(2), "AddRmsNorm")
    op = RmsNorm(axis=-len(sizes), epsilon=call.real("epsilon", 1e-6))
    return Sequence(
        (call.emit(op, total, call.input(2)), UnsupportedResult("result 1 of AddRmsNorm is not computed"), total)
    )


@primitive(
    "RotaryPositionEmbedding",
    operators="MulFusion AddFusion SliceFusion Neg Concat Reshape",
    arguments="x cos sin mode",
)
def rotated(call: Call) -> Value:
    """Converts RotaryPositionEmbedding: x * cos + rotated * sin. Rotated is (-second, first) of the halves of the last
    dimension in mode 0, of pairs of its elements in mode 1."""
    x = call.input(0)
    axis = call.rank(x) - 1
    size = call.size(x, axis, "a rotation")
    mode = call.integer("mode", 0)
    if mode not in (0, 1) or size % 2:
        raise call.block(
            f"mode {mode} with a last dimension of {size} is unsupported", "Use an even size and mode 0 or 1", "mode"
        )
    shape = call.require_shape(x, "a rotation of pairs") if mode else ()
    # In mode 1, the pairs become a separate last dimension.
    given = call.emit(Reshape(), x, call.ints((*shape[:-1], size // 2, 2))) if mode else x
    place, half = (axis + 1, 1) if mode else (axis, size // 2)
    first, second = (
        call.emit(SliceFusion(axes=(place,)), given, call.ints((begin,)), call.ints((half,))) for begin in (0, half)
    )
    turned = call.emit(Concat(axis=place), call.emit(Neg(), second), first)
    turned = call.emit(Reshape(), turned, call.ints(shape)) if mode else turned
    straight = call.emit(MulFusion(), x, call.input(1))
    return call.emit(AddFusion(), straight, call.emit(MulFusion(), turned, call.input(2)))


# ---- attention ----


@primitive(
    "FlashAttentionScore",
    operators="MatMulFusion MulFusion AddFusion Where Softmax Transpose Reshape BroadcastTo",
    arguments="query key value real_shift drop_mask padding_mask attn_mask prefix actual_seq_qlen actual_seq_kvlen head_num"
    " keep_prob scale_value pre_tokens next_tokens inner_precise input_layout sparse_mode",
)
def attention(call: Call) -> Entry:
    """Converts FlashAttentionScore: softmax(scale * (query key^T + shift)) value; elements for which the mask is true
    are ignored. This is the fourth result; the other results are unsupported."""
    _check(call)
    layout = call.attribute("input_layout")
    layout = _LAYOUTS.get(layout, "") if isinstance(layout, int) else str(layout)
    if layout not in _LAYOUTS.values():
        raise call.block(
            f"the layout {layout!r} is not one of {', '.join(_LAYOUTS.values())}", attribute="input_layout"
        )
    heads = call.integer("head_num", 0)
    shape = call.require_shape(call.input(0), "attention")
    if len(shape) != len(layout) or heads < 1 or (len(layout) == 3 and shape[-1] % heads):
        raise call.block(f"{heads} heads in layout {layout} do not match the shape {list(shape)}", attribute="head_num")
    width = shape[-1] if len(layout) == 4 else shape[-1] // heads
    query, key, value = (_heads_first(call, index, layout, width, heads) for index in range(3))
    scores = call.emit(MatMulFusion(transpose_b=True), query, key)
    shift, mask = call.optional(3), call.optional(6)
    if shift is not None:
        scores = call.emit(AddFusion(), scores, shift)
    scores = call.emit(MulFusion(), scores, call.like(call.real("scale_value", 1.0), call.input(0)))
    if mask is not None:
        scores = call.emit(Where(), call.cast(mask, DataType.BOOL), call.like(_HIDDEN, call.input(0)), scores)
    made = call.emit(MatMulFusion(), call.emit(Softmax(axis=(-1,)), scores), value)
    made = call.emit(Reshape(), call.emit(Transpose(), made, call.ints(_order(layout, back=True))), call.ints(shape))
    return Sequence((*(UnsupportedResult(f"result {i} of attention is not computed") for i in range(3)), made))


def _check(call: Call) -> None:
    remedy = "Use ops.softmax and ops.matmul, and a mask"
    for index, name in ((4, "drop_mask"), (5, "padding_mask"), (7, "prefix"), (8, "lengths"), (9, "lengths")):
        if call.optional(index) is not None:
            raise call.block(f"attention with {name} is unsupported", remedy, name)
    if call.real("keep_prob", 1.0) != 1:
        raise call.block("it drops random elements", "Export with keep_prob=1.0", "keep_prob")
    if call.integer("sparse_mode", 0) not in (0, 1):
        raise call.block("only masks of the full size are supported", "Use sparse_mode=0", "sparse_mode")
    for name in ("pre_tokens", "next_tokens"):
        if call.integer("sparse_mode", 0) == 0 and call.integer(name, _EVERYTHING) < _EVERYTHING:
            raise call.block("band masks are unsupported", "Write the band into the mask", name)


def _order(layout: str, back: bool = False) -> tuple[int, ...]:
    """Returns the permutation from `layout` to [batch, head, length, size], or the inverse with `back`."""
    order = {"BNSD": (0, 1, 2, 3), "SBH": (1, 2, 0, 3)}.get(layout, (0, 2, 1, 3))
    return tuple(order.index(axis) for axis in range(4)) if back else order


def _heads_first(call: Call, index: int, layout: str, width: int, heads: int) -> Value:
    """Returns an operand as [batch, head, length, size]; heads that several query heads share are repeated."""
    x = call.input(index)
    shape = call.require_shape(x, "attention")
    if len(shape) != len(layout):
        raise call.block(f"'{x.name}' has {len(shape)} dimensions, but the layout is {layout}")
    if len(layout) == 3:
        shape = (*shape[:2], shape[2] // width, width)
        x = call.emit(Reshape(), x, call.ints(shape))
    batch, own, length, _ = (shape[axis] for axis in _order(layout))
    x = call.emit(Transpose(), x, call.ints(_order(layout)))
    if own == heads:
        return x
    if own < 1 or heads % own:
        raise call.block(
            f"{heads} heads of the query are not a multiple of the {own} heads of '{call.input(index).name}'"
        )
    wide = call.emit(ExpandDims(), x, call.ints(2))
    wide = call.emit(BroadcastTo(), wide, call.ints((batch, own, heads // own, length, width)))
    return call.emit(Reshape(), wide, call.ints((batch, heads, length, width)))
