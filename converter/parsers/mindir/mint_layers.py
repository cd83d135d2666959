"""Layers of `mindspore.mint`: convolution, pooling and normalization with PyTorch's arguments. MindSpore 2.10 exports
them on any machine, but runs them only on Ascend."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import normalization
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import PadMode, RoundMode
from mslite.converter.mindir.ops.pooling import AvgPoolExtended
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape, Squeeze
from mslite.converter.mindir.ops.unary import Sqrt

from . import mint_volumes
from .call import Call
from .entries import Entry
from .generic import convert_same_operator, with_unsupported_results
from .layout import in_layout
from .registry import primitive
from .weights import as_channel_last

_MODES = {0: "pad", 1: "same", 2: "valid"}


def _pair(call: Call, name: str, default: int, dimensions: int, least: int = 0) -> tuple[int, int]:
    """Returns (height, width) of an attribute; for 1-D layers, the height is `least`. Raises Blocked."""
    given = call.integers(name) or (default,)
    given = given * dimensions if len(given) == 1 else given
    if len(given) != dimensions or any(not least <= number < 1 << 31 for number in given):
        raise call.block(f"{list(given)} must have {dimensions} sizes", attribute=name)
    return (given[0], given[1]) if dimensions == 2 else (least, given[0])


def _image(call: Call, x: Value, dimensions: int) -> tuple[Value, list[int]]:
    """Returns the operand as [N, C, H, W], and the dimensions that were inserted. Raises Blocked."""
    shape = call.shape(x)
    if shape is None or not 0 <= len(shape) - dimensions - 1 <= 1:
        raise call.block(f"the rank of '{x.name}' is unknown, or not {dimensions + 1} or {dimensions + 2}")
    new = [0] * (len(shape) == dimensions + 1) + [2] * (dimensions == 1)
    for axis in new:
        x = call.emit(ExpandDims(), x, call.ints(axis))
    return x, new


def _taken_out(call: Call, image: Value, new: list[int]) -> Value:
    return call.emit(Squeeze(axis=tuple(new)), image) if new else image


def _weight(call: Call, dimensions: int) -> tuple[Value, tuple[int, ...]]:
    """Returns the weight with height and width, and its shape. Raises Blocked."""
    weight = call.input(1)
    shape = call.require_shape(weight, "a convolution")
    if len(shape) != dimensions + 2:
        raise call.block(f"the weight has {len(shape)} dimensions instead of {dimensions + 2}")
    if dimensions == 2:
        return weight, shape
    shape = (*shape[:2], 1, shape[2])
    if weight.data is not None:
        return call.scope.derived(weight, "image", weight.data.reshape(shape)), shape
    return call.emit(ExpandDims(), weight, call.ints(2)), shape


@primitive(
    *("Conv1DExt", "Conv2DExt", "Conv1DPadding", "Conv2DPadding"),
    operators="Conv2DFusion ExpandDims Squeeze",
    arguments="input weight bias stride padding dilation groups",
)
def convolution(call: Call) -> Value:
    return _convolution(call, 1 if "1D" in call.operator else 2)


@primitive(
    *("Convolution", "ConvolutionStr"),
    operators="Conv2DFusion Conv2dTransposeFusion AddFusion ExpandDims Squeeze",
    arguments="input weight bias stride padding dilation transposed output_padding groups",
)
def any_convolution(call: Call) -> Entry:
    """Converts a convolution of 1 to 3 dimensions, by the rank of the weight; also transposed ones of 1 or 2."""
    dimensions = len(call.require_shape(call.input(1), "a convolution")) - 2
    if dimensions == 3 and not call.boolean("transposed"):
        return mint_volumes.convolution(call)
    if dimensions not in (1, 2):
        raise call.block(
            f"a transposed convolution of {dimensions} dimensions is unsupported", "Use nn.Conv3dTranspose"
        )
    return _transposed(call) if call.boolean("transposed") else _convolution(call, dimensions)


def _convolution(call: Call, dimensions: int) -> Value:
    """Converts a convolution. Weights are [out, in / groups, kernel ...]; `padding` is the same at both ends, or
    "same", "valid"."""
    image, new = _image(call, call.input(0), dimensions)
    weight, (out, depth, *kernel) = _weight(call, dimensions)
    groups = call.integer("groups", 1)
    if groups < 1 or out % groups:
        raise call.block(f"{groups} groups do not divide {out} channels", attribute="groups")
    dilation = _pair(call, "dilation", 1, dimensions, 1)
    op = Conv2DFusion(
        mode=1,
        in_channel=depth * groups,
        out_channel=out,
        kernel_size=(kernel[0], kernel[1]),
        stride=_pair(call, "stride", 1, dimensions, 1),
        dilation=dilation,
        pad_mode=PadMode.PAD,
        pad_list=_borders(call, kernel, dilation, dimensions),
        group=groups,
    )
    return _convolved(call, op, image, weight, new)


def _convolved(
    call: Call, op: Conv2DFusion | Conv2dTransposeFusion, image: Value, weight: Value, new: list[int]
) -> Value:
    bias = call.optional(2)
    operands = [image, as_channel_last(call, weight), *([] if bias is None else [bias])]
    return _taken_out(call, in_layout(call, op, operands, 1)[0], new)


def _borders(call: Call, kernel: list[int], dilation: tuple[int, int], dimensions: int) -> tuple[int, int, int, int]:
    """Returns the padding [top, bottom, left, right]; for "same", an odd one is added at the end."""
    if not call.operator.endswith(("Padding", "Str")):
        height, width = _pair(call, "padding", 0, dimensions)
        return height, height, width, width
    mode = call.attribute("padding")
    mode = _MODES.get(mode, "") if isinstance(mode, int) else mode
    if not isinstance(mode, str) or mode not in ("same", "valid"):
        raise call.block(f"{mode!r} is neither 'same' nor 'valid'", attribute="padding")
    height, width = ((size - 1) * step if mode == "same" else 0 for size, step in zip(kernel, dilation, strict=True))
    return height // 2, height - height // 2, width // 2, width - width // 2


@primitive(
    "ConvTranspose2D",
    operators="Conv2dTransposeFusion ExpandDims Squeeze",
    arguments="input weight bias stride padding output_padding groups dilation",
)
def transposed_convolution(call: Call) -> Value:
    return _transposed(call)


def _transposed(call: Call) -> Value:
    """Converts a transposed convolution. Weights are [in, out / groups, height, width]."""
    image, new = _image(call, call.input(0), 2)
    weight, (channels, depth, *kernel) = _weight(call, 2)
    groups = call.integer("groups", 1)
    if groups < 1 or channels % groups:
        raise call.block(f"{groups} groups do not divide {channels} channels", attribute="groups")
    height, width = _pair(call, "padding", 0, 2)
    op = Conv2dTransposeFusion(
        mode=1,
        in_channel=channels,
        out_channel=depth * groups,
        kernel_size=(kernel[0], kernel[1]),
        stride=_pair(call, "stride", 1, 2, 1),
        dilation=_pair(call, "dilation", 1, 2, 1),
        pad_mode=PadMode.PAD,
        pad_list=(height, height, width, width),
        output_paddings=_pair(call, "output_padding", 0, 2),
        group=groups,
    )
    return _convolved(call, op, image, weight, new)


@primitive(
    *("AvgPool1D", "AvgPool2D"),
    operators="AvgPoolExtended ExpandDims Squeeze",
    arguments="input kernel_size stride padding ceil_mode count_include_pad divisor_override",
)
def average_pool(call: Call) -> Value:
    dimensions = 1 if call.operator == "AvgPool1D" else 2
    if call.attribute("divisor_override") is not None:
        raise call.block("a divisor is unsupported", "Multiply the result instead", "divisor_override")
    image, new = _image(call, call.input(0), dimensions)
    height, width = _pair(call, "padding", 0, dimensions)
    kernel = _pair(call, "kernel_size", 1, dimensions, 1)
    op = AvgPoolExtended(
        kernel_size=kernel,
        strides=_pair(call, "stride", 1, dimensions, 1) if call.integers("stride") else kernel,
        dilation=(1, 1),
        pad=(height, height, width, width),
        pad_mode=PadMode.PAD,
        round_mode=RoundMode.CEIL if call.boolean("ceil_mode") else RoundMode.FLOOR,
        count_include_pad=call.boolean("count_include_pad", True),
    )
    return _taken_out(call, in_layout(call, op, [image], 1)[0], new)


# ---- normalizations ----


def _scale_and_shift(call: Call, first: int, sizes: tuple[int, ...]) -> list[Value]:
    """Returns operands `first` and `first + 1`, scale and bias; if None, ones and zeros of shape `sizes`."""
    given = ((call.optional(first), 1), (call.optional(first + 1), 0))
    return [call.const(np.full(sizes, number, np.float32)) if value is None else value for value, number in given]


@primitive(
    "BatchNormExt",
    operators="FusedBatchNorm SubFusion DivFusion MulFusion AddFusion Sqrt Reshape",
    arguments="input weight bias running_mean running_var training momentum epsilon",
)
def batch_norm(call: Call) -> Entry:
    """Converts batch normalization for inference: (x - mean) / sqrt(variance + epsilon) * weight + bias."""
    if call.boolean("training"):
        remedy = "Export the model for inference, with net.set_train(False)"
        raise call.block("batch statistics are unsupported at inference", remedy, "training")
    x, mean, variance = call.input(0), call.input(3), call.input(4)
    (channels,) = call.require_shape(mean, "BatchNormExt")
    weight, bias = _scale_and_shift(call, 1, (channels,))
    epsilon, shape = call.real("epsilon", 1e-5), call.shape(x)
    if shape is None or len(shape) < 2:
        raise call.block(f"the number of dimensions of '{x.name}' is unknown", "Export with fixed shapes")
    if len(shape) == 4:
        op = normalization.FusedBatchNorm(epsilon=epsilon, momentum=call.real("momentum", 0.1), mode=0)
        return with_unsupported_results(call, in_layout(call, op, [x, weight, bias, mean, variance], 1))
    behind = call.ints((channels, *(1,) * (len(shape) - 2)))
    mean, variance, weight, bias = (call.emit(Reshape(), value, behind) for value in (mean, variance, weight, bias))
    deviation = call.emit(Sqrt(), call.emit(AddFusion(), variance, call.like(epsilon, variance)))
    scaled = call.emit(MulFusion(), call.emit(SubFusion(), x, mean), call.emit(DivFusion(), weight, deviation))
    return with_unsupported_results(call, [call.emit(AddFusion(), scaled, bias)])


@primitive("LayerNormExt", operators="LayerNormFusion", arguments="input normalized_shape weight bias eps")
def layer_norm(call: Call) -> Entry:
    sizes = call.integers("normalized_shape") or ()
    if not sizes:
        raise call.block("the normalized shape is unknown", attribute="normalized_shape")
    weight, bias = _scale_and_shift(call, 2, sizes)
    op = normalization.LayerNormFusion(
        begin_norm_axis=-len(sizes),
        begin_params_axis=-len(sizes),
        epsilon=call.real("eps", 1e-5),
        elementwise_affine=True,
    )
    return with_unsupported_results(call, [call.emit(op, call.input(0), weight, bias)])


@primitive("RmsNorm", operators="RmsNorm", arguments="x gamma")
def rms_norm(call: Call) -> Entry:
    """Converts RmsNorm: x / sqrt(mean(x^2) + epsilon) * gamma, over the dimensions of gamma. With an `axis`, it is
    mslite's operator of the same name."""
    if call.has("axis"):
        return convert_same_operator(call, normalization.RmsNorm)
    sizes = call.require_shape(call.input(1), "RmsNorm")
    op = normalization.RmsNorm(axis=-len(sizes), epsilon=call.real("epsilon", 1e-6))
    return with_unsupported_results(call, [call.emit(op, call.input(0), call.input(1))])
