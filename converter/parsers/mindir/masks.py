"""Masks, padding, embeddings, and comparison with a tolerance."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.assembly import BroadcastTo, PadExtend, PadFusion
from mslite.converter.mindir.ops.comparison import Equal, Less, LessEqual, LogicalAnd, LogicalOr, Where
from mslite.converter.mindir.ops.enums import DataType, PaddingMode
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import ExpandDims
from mslite.converter.mindir.ops.unary import Abs, IsFinite, IsInf, IsNaN

from .call import Call
from .entries import Entry
from .registry import primitive


@primitive(
    *("MaskedFill", "MaskedFillScalar", "InplaceMaskedFillScalar", "InplaceMaskedFillTensor"),
    operators="Where",
    arguments="input_x mask value",
)
def masked_fill(call: Call) -> Value:
    """Converts MaskedFill: `value` for elements with a true mask, else the operand."""
    x, value = call.input(0), call.input(2)
    return call.emit(Where(), call.input(1), call.cast(value, call.dtype(x)), x)


@primitive("NanToNum", operators="Where IsNaN IsInf", arguments="input nan posinf neginf")
def nan_to_num(call: Call) -> Value:
    """Converts NanToNum. By default, infinities become the lowest and the largest float32."""
    x, most = call.input(0), 3.4028234663852886e38
    wanted = (
        (IsNaN(), call.real("nan", 0.0)),
        (IsInf(detect_negative=False, detect_positive=True), call.real("posinf", most)),
        (IsInf(detect_negative=True, detect_positive=False), call.real("neginf", -most)),
    )
    result = x
    for op, number in wanted:
        result = call.emit(Where(), call.emit(op, x), call.like(number, x), result)
    return result


_CONTINUED = {"edge": "edge", "circular": "wrap"}
_MODES = {"constant": PaddingMode.CONSTANT, "reflect": PaddingMode.REFLECT}


@primitive("PadV3", operators="PadFusion", arguments="input_x paddings value")
def pad(call: Call) -> Entry:
    """Converts PadV3. Its padding is a list of pairs, the last dimension first."""
    mode = call.text("mode", "constant")
    if mode not in _MODES and mode not in _CONTINUED:
        raise call.block(f"the padding mode '{mode}' is unsupported", "Use constant, reflect, edge or circular", "mode")
    borders = call.flat_integers(call.constant(1, "the padding"), "paddings")
    if not call.boolean("paddings_contiguous", True):
        half = len(borders) // 2
        borders = tuple(number for pair in zip(borders[:half], borders[half:], strict=False) for number in pair)
    if mode in _CONTINUED:
        return call.emit(PadExtend(mode=_CONTINUED[mode]), call.input(0), call.ints(_rows(call, borders)))
    return _padded(call, borders, _MODES[mode], call.optional(2))


@primitive("ConstantPadND", operators="PadFusion", arguments="input padding value")
def constant_pad(call: Call) -> Entry:
    return _padded(call, call.integers("padding") or (), PaddingMode.CONSTANT, call.optional(2))


@primitive("ReflectionPad1D", "ReflectionPad2D", "ReflectionPad3D", operators="PadFusion", arguments="input padding")
def reflection_pad(call: Call) -> Entry:
    return _padded(call, call.integers("padding") or (), PaddingMode.REFLECT, None)


@primitive("ReplicationPad1D", "ReplicationPad2D", "ReplicationPad3D", operators="PadExtend", arguments="input padding")
def replication_pad(call: Call) -> Value:
    return call.emit(PadExtend(mode="edge"), call.input(0), call.ints(_rows(call, call.integers("padding") or ())))


def _rows(call: Call, borders: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Returns the padding (begin, end) of each dimension. Raises Blocked."""
    shape = call.shape(call.input(0))
    if shape is None or len(borders) % 2 or len(borders) > 2 * len(shape) or min(borders, default=0) < 0:
        raise call.block(
            f"{list(borders)} is not a list of non-negative pairs for the last dimensions",
            "Use a slice in the model instead of negative padding",
        )
    pairs = [borders[i : i + 2] for i in range(0, len(borders), 2)][::-1]
    return [(0, 0)] * (len(shape) - len(pairs)) + pairs


def _padded(call: Call, borders: tuple[int, ...], mode: PaddingMode, value: Value | None) -> Value:
    x, rows = call.input(0), _rows(call, borders)
    if value is None or mode is not PaddingMode.CONSTANT:
        return call.emit(PadFusion(padding_mode=mode), x, call.ints(rows))
    if value.data is None or value.data.size != 1:
        raise call.block("the padding value is computed", "Use a constant padding value")
    return call.emit(PadFusion(padding_mode=mode, constant_value=float(value.data.reshape(-1)[0])), x, call.ints(rows))


@primitive("Embedding", operators="Gather", arguments="input weight padding_idx max_norm norm_type scale_grad_by_freq")
def embedding(call: Call) -> Value:
    if call.attribute("max_norm") is not None:
        raise call.block("normalization of rows is unsupported", "Scale the weight before the export", "max_norm")
    return call.emit(Gather(), call.input(1), call.input(0), call.ints(0))


@primitive("EmbeddingLookup", operators="Gather SubFusion Where", arguments="input_params input_indices offset")
def embedding_lookup(call: Call) -> Value:
    """Converts EmbeddingLookup. With an offset, indices outside the table return zeros."""
    table, index, offset = call.input(0), call.input(1), call.integer("offset", 0)
    if not offset:
        return call.emit(Gather(), table, index, call.ints(0))
    rows = call.size(table, 0, "an offset")
    place = call.cast(call.emit(SubFusion(), index, call.like(offset, index)), DataType.INT32)
    inside = call.emit(
        LogicalAnd(), call.emit(LessEqual(), call.ints(0), place), call.emit(Less(), place, call.ints(rows))
    )
    found = call.emit(Gather(), table, call.emit(Where(), inside, place, call.ints(0)), call.ints(0))
    wide = call.emit(ExpandDims(), inside, call.ints(-1)) if call.rank(table) > 1 else inside
    return call.emit(Where(), wide, found, call.like(0, table))


@primitive("BroadcastToView", operators="BroadcastTo", arguments="input shape")
def broadcast(call: Call) -> Value:
    shape = call.integers("shape")
    return call.emit(BroadcastTo(), call.input(0), call.index_list(1) if shape is None else call.ints(shape))


@primitive(
    "IsClose",
    operators="Equal LessEqual IsFinite IsNaN LogicalAnd LogicalOr",
    arguments="input other rtol atol equal_nan",
)
def is_close(call: Call) -> Value:
    """Converts IsClose: a = b, or |a - b| <= atol + rtol |b| for a finite b."""
    a, b = (call.cast(value, DataType.FLOAT32) for value in (call.input(0), call.input(1)))
    distance = call.emit(Abs(), call.emit(SubFusion(), a, b))
    allowed = call.emit(MulFusion(), call.emit(Abs(), b), call.const(call.real("rtol", 1e-5), np.float32))
    allowed = call.emit(AddFusion(), allowed, call.const(call.real("atol", 1e-8), np.float32))
    near = call.emit(LogicalAnd(), call.emit(LessEqual(), distance, allowed), call.emit(IsFinite(), b))
    near = call.emit(LogicalOr(), call.emit(Equal(), a, b), near)
    if not call.boolean("equal_nan"):
        return near
    return call.emit(LogicalOr(), near, call.emit(LogicalAnd(), call.emit(IsNaN(), a), call.emit(IsNaN(), b)))
