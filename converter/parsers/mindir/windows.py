"""Max pooling with indices, unpooling, im2col, col2im, deformable offsets."""

from __future__ import annotations

from math import prod

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.arithmetic import FloorMod
from mslite.converter.mindir.ops.assembly import Concat, PadFusion, Split, Stack, StridedSlice
from mslite.converter.mindir.ops.creation import Fill
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import ScatterElements
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.windows import Col2Im, DeformConv, MaxPoolWithIndices

from .call import Call
from .entries import Entry, Sequence, UnsupportedResult
from .generic import convert_same_operator
from .registry import primitive


def _two(numbers: tuple[int, ...] | None) -> tuple[int, ...]:
    """Returns (height, width) of one number, of two, or of [1, 1, height, width]."""
    found = numbers or (1,)
    return found * 2 if len(found) == 1 else found[-2:]


@primitive(
    *("MaxPoolWithArgmaxV2", "MaxPoolWithIndices", "MaxPoolWithMask"),
    operators="MaxPoolWithIndices Cast",
    arguments="x kernel_size strides pads dilation ceil_mode argmax_type",
)
def max_pool_with_places(call: Call) -> Entry:
    """Converts max pooling with indices in one channel, [height, width]; mslite's operator returns indices in the whole
    tensor. MindSpore also exports pooling without indices in this form."""
    x = call.input(0)
    height, width = (call.shape(x) or ())[2:] or (-1, -1)
    kernel = _two(call.integers("kernel_size"))
    pads = _two(call.integers("pads") or (0,))
    op = MaxPoolWithIndices(
        kernel_size=kernel, strides=_two(call.integers("strides") or kernel), dilations=_two(call.integers("dilation")),
        pads=(*pads, *pads), ceil_mode=call.boolean("ceil_mode"),
    )  # fmt: skip
    result, places = (call.value(each) for each in call.emit_many(op, [x], 2).items)
    if min(height, width) < 0:
        return Sequence(
            (result, UnsupportedResult(f"the indices of a max pool need the sizes of '{x.name}', which are not fixed"))
        )
    places = call.emit(FloorMod(), places, call.const(height * width, "int64"))
    wanted = DataType.INT32 if call.integer("argmax_type", 4) == 3 else DataType.INT64
    return Sequence((result, call.cast(places, wanted)))


@primitive("MaxUnpool2D", "MaxUnpool3D", operators="Fill ScatterElements Reshape", arguments="x argmax")
@primitive(
    "MaxUnpool2DExt",
    operators="Fill ScatterElements Reshape",
    arguments="x argmax kernel_size stride padding output_size",
)
def max_unpool(call: Call) -> Value:
    """Converts MaxUnpool: scatters elements by their indices into zeros, for each channel."""
    x, places = call.input(0), call.input(1)
    shape, wanted = call.require_shape(x, "an unpooling"), call.declared_shape
    if wanted is None or min(wanted) < 1:
        raise call.block("the size of its result is not fixed", "Set output_shape")
    spatial = 3 if "3D" in call.operator else 2
    rows = prod(shape[:-spatial])
    empty = call.emit(Fill(), call.like(0, x), call.ints((rows, prod(wanted[-spatial:]))))
    flat = call.ints((rows, prod(shape[-spatial:])))
    there, values = (call.emit(Reshape(), each, flat) for each in (places, x))
    return call.emit(Reshape(), call.emit(ScatterElements(axis=1), empty, there, values), call.ints(wanted))


@primitive("Col2Im", operators="Col2Im Reshape", arguments="x output_size kernel_size dilation padding stride")
@primitive("Col2ImExt", operators="Col2Im Reshape", arguments="x output_size kernel_size dilation padding stride")
def columns_to_images(call: Call) -> Value:
    """Converts Col2Im of [batch, channels, block, blocks] or [batch, channels * block, blocks]."""
    if call.scope.session.written_by_mslite:
        return call.value(convert_same_operator(call, OPERATORS["Col2Im"]))
    x = call.input(0)
    kernel = _two(call.integers("kernel_size"))
    if call.rank(x) == 4:
        shape = call.require_shape(x, "Col2Im")
        x = call.emit(Reshape(), x, call.ints((shape[0], shape[1] * shape[2], shape[3])))
    pads = _two(call.integers("padding") or (0,))
    op = Col2Im(
        dilations=_two(call.integers("dilation")), pads=(*pads, *pads), strides=_two(call.integers("stride")),
    )  # fmt: skip
    return call.emit(op, x, call.index_list(1), call.ints(kernel))


@primitive("Im2Col", operators="PadFusion StridedSlice Reshape Concat", arguments="x")
@primitive(
    "Im2ColExt", operators="PadFusion StridedSlice Reshape Concat", arguments="x kernel_size dilation padding stride"
)
def images_to_columns(call: Call) -> Value:
    """Converts Im2Col to strided slices of the image, one for each position in a block. The result is
    [batch, channels, block, blocks] or [batch, channels * block, blocks]."""
    x = call.input(0)
    batch, channels, *sizes = call.require_shape(x, "a split into blocks")
    kernel = _two(call.integers("ksizes", "kernel_size"))
    step, spread = _two(call.integers("strides", "stride")), _two(call.integers("dilations", "dilation"))
    pads = _two(call.integers("pads", "padding") or (0,))
    counts = [
        (size + 2 * pad - (k - 1) * d - 1) // s + 1
        for size, pad, k, d, s in zip(sizes, pads, kernel, spread, step, strict=True)
    ]
    if min(counts) < 1 or prod(kernel) > _MAX_PLACES:
        raise call.block(
            f"blocks of {list(kernel)} are larger than the image {sizes}, or have more than {_MAX_PLACES} elements"
        )
    if any(pads):
        x = call.emit(PadFusion(), x, call.ints(((0, 0), (0, 0), *((pad, pad) for pad in pads))))
    parts = []
    for place in np.ndindex(kernel):
        begin = [at * d for at, d in zip(place, spread, strict=True)]
        end = [first + (count - 1) * s + 1 for first, count, s in zip(begin, counts, step, strict=True)]
        cut = call.emit(StridedSlice(), x, call.ints(begin), call.ints(end), call.ints((2, 3)), call.ints(step))
        parts.append(call.emit(Reshape(), cut, call.ints((batch, channels, 1, prod(counts)))))
    joined = parts[0] if len(parts) == 1 else call.emit(Concat(axis=2), *parts)
    shape = (batch, channels * prod(kernel), prod(counts))
    return joined if call.operator == "Im2Col" else call.emit(Reshape(), joined, call.ints(shape))


_MAX_PLACES = 1024


@primitive("DeformableOffsets", operators="DeformConv Split Stack Reshape Transpose", arguments="x offsets")
def deformed(call: Call) -> Value:
    """Converts DeformableOffsets: weighted samples [batch, channels, rows * kh, columns * kw] at moved positions,
    computed by a deformable convolution with a single 1 in each kernel. The second operand is column offsets, row
    offsets, weights."""
    x, offsets = call.input(0), call.input(1)
    if call.text("data_format", "NCHW") != "NCHW":
        raise call.block("its images are not NCHW", "Use NCHW", "data_format")
    channels = call.size(x, 1, "a sampling at offsets")
    batch, planes, rows, columns = call.require_shape(offsets, "a sampling at offsets")
    kernel, group = _two(call.integers("ksize")), call.integer("deformable_groups", 1)
    taps, pads = prod(kernel), call.integers("pads") or (0,) * 4
    if planes != 3 * group * taps or channels * taps > _MAX_PLACES:
        raise call.block(
            f"{planes} channels of offsets do not match a kernel of {taps} elements, or there are too many channels"
        )
    op = Split(output_num=3, size_splits=(group * taps,) * 3, axis=1)
    across, down, weights = (call.value(each) for each in call.emit_many(op, [offsets], 3).items)
    pairs = call.emit(
        Reshape(), call.emit(Stack(axis=2), down, across), call.ints((batch, 2 * group * taps, rows, columns))
    )
    single = np.tile(np.eye(taps).reshape(taps, 1, *kernel), (channels, 1, 1, 1))
    convolution = DeformConv(
        strides=_two(call.integers("strides")), pads=(pads[0], pads[2], pads[1], pads[3]),
        dilations=_two(call.integers("dilations")), group=channels, offset_group=group,
    )  # fmt: skip
    bias = call.const(np.zeros(channels * taps), np.float32)
    made = call.emit(convolution, x, call.const(single, np.float32), pairs, bias, weights)
    parts = call.emit(Reshape(), made, call.ints((batch, channels, *kernel, rows, columns)))
    turned = call.emit(Transpose(), parts, call.ints((0, 1, 4, 2, 5, 3)))
    return call.emit(Reshape(), turned, call.ints((batch, channels, rows * kernel[0], columns * kernel[1])))
