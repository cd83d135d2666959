"""References of the convolutions."""

from __future__ import annotations

import numpy as np

from ..ops import convolution as ops
from ..ops.enums import ActivationType, PadMode
from ._declare import Array, Inputs, case, fixed_seed, integers, normal, reference
from .matmul import fused_activation, integer_result


def resolved_pads(op: ops.Conv2DFusion, size: tuple[int, int], kernel: tuple[int, int]) -> list[tuple[int, int]]:
    """Returns the padding (before, after) of height and width. SAME gives ceil(size / stride) windows, with an odd
    element after."""
    if op.pad_mode == PadMode.VALID:
        return [(0, 0), (0, 0)]
    if op.pad_mode == PadMode.PAD:
        top, bottom, left, right = op.pad_list or (0, 0, 0, 0)
        return [(top, bottom), (left, right)]
    stride, dilation = op.stride or (1, 1), op.dilation or (1, 1)
    pads = []
    for i in range(2):
        span = (kernel[i] - 1) * dilation[i] + 1
        total = max(0, (-(-size[i] // stride[i]) - 1) * stride[i] + span - size[i])
        pads.append((total // 2, total - total // 2))
    return pads


def padded(x: Array, pads: list[tuple[int, int]]) -> Array:
    """Returns x with zero padding of height and width; negative padding crops."""
    x = np.pad(x, [(0, 0), *((max(0, before), max(0, after)) for before, after in pads), (0, 0)])
    (top, bottom), (left, right) = ((max(0, -before), max(0, -after)) for before, after in pads)
    return x[:, top : x.shape[1] - bottom, left : x.shape[2] - right]


def windows(x: Array, kernel: tuple[int, int], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Array:
    """Returns all windows of the padded x, [batch, oh, ow, kh, kw, channels]."""
    span = [(kernel[i] - 1) * dilation[i] + 1 for i in range(2)]
    view = np.lib.stride_tricks.sliding_window_view(x, span, axis=(1, 2))
    view = view[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    return np.moveaxis(view, 3, 5)


@reference("Conv2DFusion", "Conv2DAddFusion")
def convolution(op: ops.Conv2DFusion, inputs: Inputs) -> list[Array]:
    """y[b, i, j, o] = sum over window and channels of x * weight[o], plus bias and residual, then the activation."""
    x, weight = (np.asarray(array, np.float64) for array in inputs[:2])
    kernel = (weight.shape[1], weight.shape[2])
    pads = resolved_pads(op, (x.shape[1], x.shape[2]), kernel)
    view = windows(padded(x, pads), kernel, op.stride or (1, 1), op.dilation or (1, 1))
    group = op.group or 1
    parts = [
        np.einsum("bijhwc,ohwc->bijo", x_part, weight_part, optimize=True)
        for x_part, weight_part in zip(np.split(view, group, axis=5), np.split(weight, group), strict=True)
    ]
    y = np.concatenate(parts, axis=3)
    for extra in inputs[2:]:
        y = y if extra is None else y + extra
    return [fused_activation(op.activation_type, y).astype(np.float32)]


@reference("ConvInteger")
def integer_convolution(op: ops.ConvInteger, inputs: Inputs) -> list[Array]:
    """The convolution of x - x_zero and weight - weight_zero, with sums that wrap in 32 bits; [times the scale, plus
    the bias].

    Padding is 0 after subtracting the zero point."""
    x, weight, x_zero, weight_zero = (np.asarray(array, np.int64) for array in inputs[:4])
    x, weight = x - x_zero.reshape(-1, 1, 1, 1), weight - weight_zero.reshape(-1, 1, 1, 1)
    plain = ops.Conv2DFusion(stride=op.stride, dilation=op.dilation, pad_mode=op.pad_mode, pad_list=op.pad_list)
    kernel = (weight.shape[1], weight.shape[2])
    pads = resolved_pads(plain, (x.shape[1], x.shape[2]), kernel)
    view = windows(padded(x, pads), kernel, op.stride or (1, 1), op.dilation or (1, 1))
    parts = [
        np.einsum("bijhwc,ohwc->bijo", x_part, weight_part)
        for x_part, weight_part in zip(np.split(view, op.group, axis=5), np.split(weight, op.group), strict=True)
    ]
    scale, bias, row_scale = [*inputs[4:], None, None, None][:3]
    if row_scale is not None:
        row_scale = row_scale.reshape(-1, 1, 1, 1)
    apart = scale is not None and scale.size > 1
    return [integer_result(np.concatenate(parts, axis=3), scale, bias, row_scale, apart)]


@reference("AdderFusion")
def adder(op: ops.AdderFusion, inputs: Inputs) -> list[Array]:
    """y = -sum |x - weight| + bias; padding zeros are included."""
    x, weight = (np.asarray(array, np.float64) for array in inputs[:2])
    plain = ops.Conv2DFusion(stride=op.stride, dilation=op.dilation, pad_mode=op.pad_mode, pad_list=op.pad_list)
    kernel = (weight.shape[1], weight.shape[2])
    pads = resolved_pads(plain, (x.shape[1], x.shape[2]), kernel)
    view = windows(padded(x, pads), kernel, op.stride or (1, 1), op.dilation or (1, 1))
    y = -np.abs(view[:, :, :, None] - weight).sum(axis=(4, 5, 6))
    if len(inputs) > 2:
        y = y + inputs[2]
    return [fused_activation(op.activation_type, y).astype(np.float32)]


@reference("Conv2dTransposeFusion")
def transposed_convolution(op: ops.Conv2dTransposeFusion, inputs: Inputs) -> list[Array]:
    """Each input element adds x * weight[in] to a window of the output; the padding is cropped."""
    x, weight = (np.asarray(array, np.float64) for array in inputs[:2])
    stride, dilation, extra = op.stride or (1, 1), op.dilation or (1, 1), op.output_paddings or (0, 0)
    group = op.group or 1
    kernel = weight.shape[1:3]
    full = [(x.shape[1 + i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1 for i in range(2)]
    out = weight.shape[3] * group
    y = np.zeros((x.shape[0], full[0] + extra[0], full[1] + extra[1], out))
    weights = np.split(weight, group)
    for h in range(kernel[0]):
        for w in range(kernel[1]):
            spread = [part @ weights[i][:, h, w] for i, part in enumerate(np.split(x, group, axis=3))]
            rows = slice(h * dilation[0], h * dilation[0] + (x.shape[1] - 1) * stride[0] + 1, stride[0])
            columns = slice(w * dilation[1], w * dilation[1] + (x.shape[2] - 1) * stride[1] + 1, stride[1])
            y[:, rows, columns] += np.concatenate(spread, axis=3)
    if op.pad_mode == PadMode.PAD:
        top, bottom, left, right = op.pad_list or (0, 0, 0, 0)
    elif op.pad_mode == PadMode.SAME:
        total = [max(0, full[i] - x.shape[1 + i] * stride[i]) for i in range(2)]
        top, left = total[0] // 2, total[1] // 2
        bottom, right = total[0] - top, total[1] - left
        missing = [max(0, x.shape[1 + i] * stride[i] - full[i]) for i in range(2)]
        y = np.pad(y, [(0, 0), (0, missing[0]), (0, missing[1]), (0, 0)])
    else:
        top = bottom = left = right = 0
    y = y[:, top : y.shape[1] - bottom, left : y.shape[2] - right]
    if len(inputs) > 2:
        y = y + inputs[2]
    return [fused_activation(op.activation_type, y).astype(np.float32)]


def _convolution_case(
    label: str,
    image: tuple[int, int, int, int],
    out: int,
    kernel: tuple[int, int],
    *,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] | None = None,
    mode: PadMode = PadMode.PAD,
    group: int = 1,
    activation: ActivationType = ActivationType.NO_ACTIVATION,
    bias: bool = True,
    tolerance: float = 1e-5,
    constant: bool = True,
) -> None:
    op = ops.Conv2DFusion(
        kernel_size=kernel,
        stride=stride,
        dilation=dilation,
        pad_mode=mode,
        pad_list=pads,
        group=group,
        in_channel=image[3],
        out_channel=out,
        activation_type=activation,
    )
    weight = normal(out, *kernel, image[3] // group)
    weight /= np.float32(np.sqrt(weight[0].size))  # outputs with standard deviation 1, as in trained networks
    inputs = [normal(*image), weight] + ([normal(out)] if bias else [])
    case(label, op, inputs, range(1, len(inputs)) if constant else (), tolerance)


_R, _R6, _HS = ActivationType.RELU, ActivationType.RELU6, ActivationType.HSWISH
_SWISH, _TANH = ActivationType.SWISH, ActivationType.TANH
_convolution_case("1x1", (1, 7, 9, 16), 24, (1, 1), activation=_R)
_convolution_case("1x1-prime", (2, 5, 7, 13), 11, (1, 1), bias=False)
_convolution_case("1x1-stride", (1, 9, 9, 8), 12, (1, 1), stride=(2, 2))
_convolution_case("1x1-wide", (1, 14, 14, 96), 136, (1, 1), activation=_R6)
_convolution_case("1x1-deep", (1, 3, 3, 1100), 40, (1, 1))
_convolution_case("3x3", (1, 8, 10, 8), 16, (3, 3), pads=(1, 1, 1, 1), activation=_R)
_convolution_case("3x3-prime", (2, 11, 13, 7), 19, (3, 3), pads=(1, 1, 1, 1))
_convolution_case("3x3-winograd", (1, 20, 22, 32), 48, (3, 3), pads=(1, 1, 1, 1), activation=_R6, tolerance=4e-5)
_convolution_case("3x3-valid", (2, 17, 15, 24), 33, (3, 3), mode=PadMode.VALID, tolerance=4e-5)
_convolution_case("3x3-small-image", (1, 7, 7, 130), 140, (3, 3), pads=(1, 1, 1, 1), tolerance=4e-5)
_convolution_case("3x3-first", (1, 19, 23, 3), 32, (3, 3), stride=(2, 2), mode=PadMode.SAME, activation=_HS)
_convolution_case("7x7-first", (1, 31, 29, 3), 16, (7, 7), stride=(2, 2), pads=(3, 3, 3, 3), activation=_R)
_convolution_case("5x5-uneven", (1, 12, 9, 6), 10, (5, 4), stride=(1, 2), pads=(2, 1, 0, 3))
_convolution_case("dilated", (1, 15, 14, 9), 12, (3, 3), dilation=(2, 3), pads=(2, 2, 3, 3))
_convolution_case("same-even", (1, 8, 8, 5), 6, (4, 4), stride=(2, 2), mode=PadMode.SAME)
_convolution_case("1d", (1, 1, 40, 12), 20, (1, 5), stride=(1, 2), pads=(0, 0, 2, 2))
_convolution_case("groups", (1, 9, 8, 24), 36, (3, 3), pads=(1, 1, 1, 1), group=3, activation=_R)
_convolution_case("many-groups", (1, 6, 7, 32), 64, (3, 3), pads=(1, 1, 1, 1), group=16)
_convolution_case("groups-1x1", (2, 5, 6, 40), 60, (1, 1), group=4)
_convolution_case("multiplier", (1, 9, 9, 6), 18, (3, 3), pads=(1, 1, 1, 1), group=6)
_convolution_case("depthwise", (1, 13, 15, 40), 40, (3, 3), pads=(1, 1, 1, 1), group=40, activation=_R6)
_convolution_case("depthwise-prime", (2, 11, 7, 37), 37, (3, 3), pads=(1, 1, 1, 1), group=37)
_convolution_case("depthwise-stride", (1, 14, 15, 24), 24, (3, 3), stride=(2, 2), mode=PadMode.SAME, group=24)
_convolution_case("depthwise-5x5", (1, 14, 14, 17), 17, (5, 5), pads=(2, 2, 2, 2), group=17, activation=_HS)
_convolution_case("depthwise-5x5-stride", (1, 14, 13, 8), 8, (5, 5), stride=(2, 2), pads=(2, 2, 2, 2), group=8)
_convolution_case("depthwise-dilated", (1, 16, 17, 12), 12, (3, 3), dilation=(2, 2), pads=(2, 2, 2, 2), group=12)
_convolution_case("depthwise-large", (1, 9, 9, 10), 10, (9, 3), pads=(4, 4, 1, 1), group=10, bias=False)
_convolution_case("depthwise-padding", (1, 2, 3, 5), 5, (3, 3), pads=(3, 3, 3, 3), group=5)
_convolution_case("depthwise-whole-image", (1, 57, 56, 6), 6, (57, 56), group=6, mode=PadMode.VALID)
_convolution_case("empty-batch", (0, 5, 5, 4), 6, (3, 3), pads=(1, 1, 1, 1))
_convolution_case("1x1-swish", (1, 7, 6, 10), 21, (1, 1), activation=_SWISH)
_convolution_case("3x3-tanh", (1, 16, 15, 32), 35, (3, 3), pads=(1, 1, 1, 1), activation=_TANH, tolerance=4e-5)
_convolution_case("depthwise-swish", (1, 9, 9, 22), 22, (3, 3), pads=(1, 1, 1, 1), group=22, activation=_SWISH)
_convolution_case("cropped", (1, 9, 9, 4), 6, (3, 3), pads=(-1, 2, -2, 1))

for _label, _image, _out, _kernel, _tolerance in (
    ("1x1", (1, 6, 7, 20), 18, 1, 1e-5),
    ("3x3", (2, 9, 9, 16), 16, 3, 4e-5),
    ("3x3-small-image", (1, 7, 7, 64), 50, 3, 4e-5),
):
    case(
        f"residual-{_label}",
        ops.Conv2DAddFusion(pad_list=(_kernel // 2,) * 4, activation_type=ActivationType.RELU),
        [normal(*_image), normal(_out, _kernel, _kernel, _image[3]) / 9, normal(_out), normal(*_image[:3], _out)],
        (1, 2),
        _tolerance,
    )

case(
    "same",
    ops.AdderFusion(pad_mode=PadMode.SAME, stride=(2, 2), activation_type=ActivationType.RELU),
    [normal(1, 7, 8, 5), normal(6, 3, 3, 5), normal(6)],
    (1, 2),
)

for _label, _transposed, _image, _weight in (
    ("stride", ops.Conv2dTransposeFusion(stride=(2, 2), pad_list=(1, 1, 1, 1)), (1, 5, 6, 8), (8, 4, 4, 12)),
    ("same", ops.Conv2dTransposeFusion(stride=(2, 2), pad_mode=PadMode.SAME), (2, 5, 4, 7), (7, 3, 3, 5)),
    ("same-small", ops.Conv2dTransposeFusion(stride=(3, 3), pad_mode=PadMode.SAME), (1, 4, 4, 3), (3, 2, 2, 5)),
    ("valid", ops.Conv2dTransposeFusion(stride=(2, 1), pad_mode=PadMode.VALID), (1, 5, 4, 7), (7, 3, 2, 5)),
    ("blocks", ops.Conv2dTransposeFusion(stride=(2, 2)), (1, 6, 5, 16), (16, 2, 2, 10)),
    (
        "extra",
        ops.Conv2dTransposeFusion(stride=(2, 3), pad_list=(1, 0, 1, 2), output_paddings=(1, 2)),
        (1, 4, 5, 6),
        (6, 3, 5, 4),
    ),
    ("dilated", ops.Conv2dTransposeFusion(dilation=(2, 2), pad_list=(1, 1, 1, 1)), (1, 6, 6, 4), (4, 3, 3, 6)),
    (
        "groups",
        ops.Conv2dTransposeFusion(stride=(2, 2), group=3, activation_type=ActivationType.RELU),
        (1, 4, 4, 6),
        (6, 3, 3, 5),
    ),
    ("depthwise", ops.Conv2dTransposeFusion(stride=(2, 2), group=9, pad_list=(1, 1, 1, 1)), (1, 5, 5, 9), (9, 4, 4, 1)),
):
    _channels = _weight[3] * (_transposed.group or 1)
    case(_label, _transposed, [normal(*_image), normal(*_weight), normal(_channels)], (1, 2))


def _integer_case(
    label: str,
    image: tuple[int, int, int, int],
    out: int,
    kernel: tuple[int, int],
    op: ops.ConvInteger,
    *,
    kinds: tuple[type, type] = (np.uint8, np.int8),
    points: int = 1,
    real: int = 0,
    images: int = 1,
) -> None:
    shapes = (image, (out, *kernel, image[3] // op.group), (images,) if images > 1 else (), (points,))
    operands = []
    for shape, kind in zip(shapes, (*kinds, *kinds), strict=True):
        limits = np.iinfo(kind)
        operands.append(integers(int(limits.min), int(limits.max) + 1, *shape, dtype=kind))
    scale = np.abs(normal(1 if "one-scale" in label else out))
    operands += [scale, normal(out), np.abs(normal(images))][:real]
    for name, constants in (("", ()), ("-weights", (1, 3))):
        case(f"{label}{name}", op, operands, constants, tolerance=0)


_INT = ops.ConvInteger
_S, _U = np.int8, np.uint8
_integer_case("plain", (2, 7, 8, 6), 5, (3, 3), _INT(pad_list=(1, 1, 1, 1)))
_integer_case("signed", (1, 7, 8, 6), 20, (3, 2), _INT(stride=(2, 2)), kinds=(_S, _S), points=20, real=2)
_integer_case(
    "unsigned", (1, 9, 8, 5), 7, (3, 3), _INT(dilation=(2, 1), pad_list=(2, 0, 1, 3)), kinds=(_U, _U), points=7
)
_integer_case("one-by-one", (2, 5, 5, 40), 33, (1, 1), _INT(), kinds=(_S, _U), points=33, real=1)
_integer_case("groups", (1, 6, 6, 8), 12, (3, 3), _INT(pad_mode=PadMode.SAME, group=4), points=12, real=2)
_integer_case("depthwise", (1, 6, 6, 8), 8, (3, 3), _INT(pad_list=(1, 1, 1, 1), group=8), kinds=(_U, _U))
_integer_case("images", (3, 7, 8, 6), 9, (3, 3), _INT(pad_list=(1, 1, 1, 1)), kinds=(_S, _S), real=3, images=3)
_integer_case("image-one-scale", (2, 5, 5, 9), 7, (3, 2), _INT(pad_list=(0, 1, 1, 0)), kinds=(_S, _S), real=3)
_integer_case("images-groups", (2, 6, 6, 8), 12, (3, 3), _INT(pad_mode=PadMode.SAME, group=4), real=3, images=2)
_integer_case("large", (1, 14, 14, 64), 70, (3, 3), _INT(pad_list=(1, 1, 1, 1)), kinds=(_U, _U), points=70, real=2)

# Weights that are not constant, as in training.
with fixed_seed(20261125):
    _convolution_case("variable-1x1", (2, 6, 7, 20), 70, (1, 1), constant=False, activation=_R)
    _convolution_case("variable-3x3", (2, 9, 8, 12), 19, (3, 3), pads=(1, 1, 1, 1), constant=False)
    _convolution_case("variable-deep", (1, 5, 5, 200), 90, (3, 3), pads=(1, 0, 1, 0), constant=False, bias=False)
    _convolution_case(
        "variable-uneven", (1, 12, 9, 6), 10, (5, 4), stride=(1, 2), dilation=(2, 1), pads=(2, 1, 0, 3), constant=False
    )
    _convolution_case("variable-groups", (1, 9, 8, 24), 36, (3, 3), mode=PadMode.SAME, group=3, constant=False)
    _convolution_case("variable-depthwise", (2, 11, 7, 37), 37, (3, 3), pads=(1, 1, 1, 1), group=37, constant=False)
    _convolution_case(
        "variable-depthwise-wide", (1, 9, 9, 700), 700, (3, 3), stride=(2, 2), group=700, activation=_R6, constant=False
    )
    for _channels in (24, 35):
        _convolution_case(
            f"variable-winograd-{_channels}", (1, 24, 26, _channels), 45, (3, 3), pads=(1, 1, 1, 1), constant=False,
            tolerance=4e-5,
        )  # fmt: skip
    _convolution_case("variable-empty-batch", (0, 5, 5, 4), 6, (3, 3), pads=(1, 1, 1, 1), constant=False)
    for _label, _constants in (("residual-variable", ()), ("residual-variable-weight", (2,))):
        case(
            _label,
            ops.Conv2DAddFusion(pad_list=(1, 1, 1, 1), activation_type=ActivationType.RELU),
            [normal(2, 9, 9, 16), normal(18, 3, 3, 16) / 9, normal(18), normal(2, 9, 9, 18)],
            _constants,
        )

with fixed_seed(20261128):  # windows entirely in the padding
    _convolution_case("outside-columns", (1, 5, 4, 12), 19, (3, 3), stride=(1, 16), pads=(1, 1, 7, 1))
    _convolution_case("outside-rows", (2, 4, 5, 12), 19, (3, 3), stride=(16, 1), pads=(7, 1, 1, 1), activation=_R)
    _convolution_case("depthwise-outside", (1, 5, 4, 12), 12, (3, 3), stride=(1, 16), pads=(1, 1, 7, 1), group=12)
