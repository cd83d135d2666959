"""References of gradients, losses and optimizers. Gradients of windows are summed element by element of the window."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..ops import convolution as convolution_ops
from ..ops import training as ops
from ..ops.enums import ActivationType, PadMode
from ._declare import Array, Inputs, case, fixed_seed, float32, int32, integers, normal, reference
from .convolution import resolved_pads

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _wide(inputs: Inputs) -> list[Array]:
    return [np.asarray(array, np.float64) for array in inputs if array is not None]


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _fast_gelu_slope(x: Array) -> Array:
    t = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return np.asarray(0.5 * (1 + t) + 0.5 * x * (1 - t**2) * math.sqrt(2 / math.pi) * (1 + 0.134145 * x**2))


_SLOPES: dict[ActivationType, Callable[[Array, float], Array]] = {
    ActivationType.NO_ACTIVATION: lambda s, alpha: np.ones_like(s),
    ActivationType.LINEAR: lambda s, alpha: np.ones_like(s),
    ActivationType.RELU: lambda s, alpha: np.where(s > 0, 1.0, 0),
    ActivationType.RELU6: lambda s, alpha: np.where((s > 0) & (s < 6), 1.0, 0),
    ActivationType.RELU1: lambda s, alpha: np.where((s > -1) & (s < 1), 1.0, 0),
    ActivationType.LEAKY_RELU: lambda s, alpha: np.where(s > 0, 1.0, alpha),
    ActivationType.SIGMOID: lambda y, alpha: y * (1 - y),
    ActivationType.TANH: lambda y, alpha: 1 - y**2,
    ActivationType.ELU: lambda y, alpha: np.where(y > 0, 1.0, y + alpha),
    ActivationType.SELU: lambda x, alpha: (
        1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.exp(np.minimum(x, 0)), 1)
    ),
    ActivationType.HARD_TANH: lambda x, alpha: np.where((x > -1) & (x < 1), 1.0, 0),
    ActivationType.THRESHOLDRELU: lambda x, alpha: np.where(x > alpha, 1.0, 0),
    ActivationType.SIGN: lambda x, alpha: np.zeros_like(x),
    ActivationType.ABS: lambda x, alpha: np.sign(x),
    ActivationType.SOFTSIGN: lambda x, alpha: 1 / (1 + np.abs(x)) ** 2,
    ActivationType.SOFTPLUS: lambda x, alpha: _sigmoid(x),
    ActivationType.HSWISH: lambda x, alpha: np.where(x <= -3, 0.0, np.where(x >= 3, 1, x / 3 + 0.5)),
    ActivationType.HSIGMOID: lambda x, alpha: np.where((x > -3) & (x < 3), 1 / 6, 0),
    ActivationType.SWISH: lambda x, alpha: _sigmoid(x) * (1 + x * (1 - _sigmoid(x))),
    ActivationType.GELU: lambda x, alpha: (
        0.5 * (1 + _erf(x / math.sqrt(2))) + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    ),
    ActivationType.FAST_GELU: lambda x, alpha: _fast_gelu_slope(x),
}


@reference("ActivationGrad")
def activation_gradient(op: ops.ActivationGrad, inputs: Inputs) -> list[Array]:
    """dy f', with f' computed from y for SIGMOID, TANH and ELU, else from x."""
    dy, at = _wide(inputs)
    if op.activation_type in (ActivationType.SIGMOID, ActivationType.TANH):  # y is the first input
        dy, at = at, dy
    return [(dy * _SLOPES[op.activation_type](at, op.alpha)).astype(np.float32)]


@reference("GateMask")
def gate_mask(op: ops.GateMask, inputs: Inputs) -> list[Array]:
    """One bit per element; the first is the lowest bit of the first byte."""
    x = np.asarray(inputs[0]).reshape(-1)
    return [np.packbits((x > np.float32(op.low)) & (x < np.float32(op.high)), bitorder="little")]


@reference("GateGrad")
def gate_gradient(op: ops.GateGrad, inputs: Inputs) -> list[Array]:
    """dy where the bit is set, else 0."""
    dy, mask = (np.asarray(array) for array in inputs)
    bits = np.unpackbits(mask, count=dy.size, bitorder="little").reshape(dy.shape)
    return [np.where(bits, dy, np.float32(0))]


@reference("AbsGrad", "LogGrad", "NegGrad", "RsqrtGrad", "SqrtGrad", "PowerGrad")
def function_gradient(op: ops.PowerGrad, inputs: Inputs) -> list[Array]:
    """dy f', with f' computed from y for Rsqrt and Sqrt, else from x."""
    dy, *rest = _wide(inputs)
    if op.name in ("AbsGrad", "SqrtGrad", "RsqrtGrad"):  # x or y is the first input
        dy, rest = rest[0], [dy]
    slopes: dict[str, Callable[[], Array]] = {
        "AbsGrad": lambda: np.sign(rest[0]),
        "LogGrad": lambda: 1 / rest[0],
        "NegGrad": lambda: -np.ones_like(dy),
        "RsqrtGrad": lambda: -0.5 * rest[0] ** 3,
        "SqrtGrad": lambda: 0.5 / rest[0],
        "PowerGrad": lambda: op.power * op.scale * (op.scale * rest[0] + op.shift) ** (op.power - 1),
    }
    return [(dy * slopes[op.name]()).astype(np.float32)]


def _summed_to(gradient: Array, like: Array) -> Array:
    """Sums over broadcast dimensions."""
    extra = gradient.ndim - like.ndim
    summed = gradient.sum(axis=tuple(range(extra)))
    ones = tuple(axis for axis, size in enumerate(like.shape) if size == 1)
    return np.asarray(summed.sum(axis=ones, keepdims=True), np.float32).reshape(like.shape)


@reference("AddGrad", "SubGrad", "MulGrad", "DivGrad", "MaximumGrad", "MinimumGrad")
def binary_gradient(op: ops.AddGrad, inputs: Inputs) -> list[Array]:
    """dy times the derivative for each input, summed over broadcast dimensions; of equal inputs the second is the
    extremum."""
    extremum = op.name in ("MaximumGrad", "MinimumGrad")
    first, second, third = _wide(inputs)
    dy, a, b = (third, first, second) if extremum else (first, second, third)
    factors: dict[str, Callable[[], tuple[Array, Array]]] = {
        "AddGrad": lambda: (np.ones_like(a), np.ones_like(b)),
        "SubGrad": lambda: (np.ones_like(a), -np.ones_like(b)),
        "MulGrad": lambda: (b, a),
        "DivGrad": lambda: (1 / b, -a / b**2),
        "MaximumGrad": lambda: ((a > b).astype(np.float64), (a <= b).astype(np.float64)),
        "MinimumGrad": lambda: ((a < b).astype(np.float64), (a >= b).astype(np.float64)),
    }
    of_a, of_b = factors[op.name]()
    return [_summed_to(dy * of_a, a), _summed_to(dy * of_b, b)]


@reference("BiasAddGrad")
def bias_gradient(op: ops.BiasAddGrad, inputs: Inputs) -> list[Array]:
    """The sum over all dimensions except the last."""
    (dy,) = _wide(inputs)
    return [dy.sum(axis=tuple(range(dy.ndim - 1))).astype(np.float32)]


def _taps(
    op: ops.Conv2DBackpropInputFusion | ops.Conv2DBackpropFilterFusion | ops.DeConv2DGradFilter,
    image: tuple[int, ...],
    kernel: tuple[int, int],
    windows: tuple[int, ...],
) -> tuple[list[tuple[int, int]], list[tuple[int, int, slice, slice]]]:
    """Returns the padding, and for each element of the window the rows and columns of the padded image that it
    reads."""
    stride, dilation = op.stride or (1, 1), op.dilation or (1, 1)
    plain = convolution_ops.Conv2DFusion(stride=stride, dilation=dilation, pad_mode=op.pad_mode, pad_list=op.pad_list)
    pads = resolved_pads(plain, (image[1], image[2]), kernel)
    taps = []
    for h in range(kernel[0]):
        for w in range(kernel[1]):
            rows = slice(h * dilation[0], h * dilation[0] + (windows[1] - 1) * stride[0] + 1, stride[0])
            columns = slice(w * dilation[1], w * dilation[1] + (windows[2] - 1) * stride[1] + 1, stride[1])
            taps.append((h, w, rows, columns))
    return pads, taps


def _room(image: tuple[int, ...], pads: list[tuple[int, int]]) -> tuple[int, ...]:
    return (image[0], image[1] + sum(pads[0]), image[2] + sum(pads[1]), image[3])


def _inside(image: tuple[int, ...], pads: list[tuple[int, int]], sign: int) -> tuple[slice, ...]:
    """Returns the overlap of image and padded image, as slices of the image (sign -1) or the padded image (sign 1)."""
    sizes = image if sign < 0 else _room(image, pads)
    both = zip(sizes[1:3], pads, strict=True)
    return (slice(None), *(slice(max(0, sign * a), size - max(0, sign * b)) for size, (a, b) in both))


@reference("Conv2DBackpropInputFusion")
def convolution_input_gradient(op: ops.Conv2DBackpropInputFusion, inputs: Inputs) -> list[Array]:
    """Each element of dy adds dy * weight[out] to the window that it was computed from."""
    dy, weight, shape = _wide(inputs)
    image = tuple(int(size) for size in shape)
    pads, taps = _taps(op, image, (weight.shape[1], weight.shape[2]), dy.shape)
    room = np.zeros(_room(image, pads))
    group = op.group or 1
    for h, w, rows, columns in taps:
        parts = zip(np.split(dy, group, axis=3), np.split(weight[:, h, w], group), strict=True)
        room[:, rows, columns] += np.concatenate([part @ tap for part, tap in parts], axis=3)
    dx = np.zeros(image, np.float32)
    dx[_inside(image, pads, -1)] = room[_inside(image, pads, 1)]
    return [dx]


@reference("Conv2DBackpropFilterFusion", "DeConv2DGradFilter")
def convolution_filter_gradient(
    op: ops.Conv2DBackpropFilterFusion | ops.DeConv2DGradFilter, inputs: Inputs
) -> list[Array]:
    """Each weight is the sum of dy times the inputs that it was multiplied with. For a transposed convolution, x and
    dy are swapped."""
    dy, x, shape = _wide(inputs)
    if op.name == "DeConv2DGradFilter":
        dy, x = x, dy
    out, kernel_h, kernel_w, depth = (int(size) for size in shape)
    pads, taps = _taps(op, x.shape, (kernel_h, kernel_w), dy.shape)
    room = np.zeros(_room(x.shape, pads))
    room[_inside(x.shape, pads, 1)] = x[_inside(x.shape, pads, -1)]
    group = op.group or 1
    weight = np.zeros((out, kernel_h, kernel_w, depth))
    for h, w, rows, columns in taps:
        seen = room[:, rows, columns]
        parts = zip(np.split(dy, group, axis=3), np.split(seen, group, axis=3), strict=True)
        weight[:, h, w] = np.concatenate([np.einsum("bijo,bijc->oc", part, own) for part, own in parts])
    return [weight.astype(np.float32)]


@reference("AvgPoolGrad", "MaxPoolGrad")
def pooling_gradient(op: ops.AvgPoolGrad, inputs: Inputs) -> list[Array]:
    """An average is divided among the elements within the image; a maximum goes to the first largest element."""
    x, _, dy = _wide(inputs)
    kernel, stride = op.kernel_size or (1, 1), op.strides or (1, 1)
    plain = convolution_ops.Conv2DFusion(stride=stride, pad_mode=op.pad_mode)
    (top, _), (left, _) = resolved_pads(plain, (x.shape[1], x.shape[2]), (kernel[0], kernel[1]))
    dx = np.zeros_like(x)
    for i in range(dy.shape[1]):
        for j in range(dy.shape[2]):
            y0, x0 = i * stride[0] - top, j * stride[1] - left
            rows = slice(max(y0, 0), min(y0 + kernel[0], x.shape[1]))
            columns = slice(max(x0, 0), min(x0 + kernel[1], x.shape[2]))
            window = x[:, rows, columns]
            taps = window.shape[1] * window.shape[2]
            if op.name == "AvgPoolGrad":
                dx[:, rows, columns] += dy[:, i, j][:, None, None] / taps
            else:
                flat = window.reshape(len(x), taps, -1)
                chosen = np.arange(taps)[None, :, None] == flat.argmax(axis=1)[:, None]
                dx[:, rows, columns] += (chosen * dy[:, i, j][:, None]).reshape(window.shape)
    return [dx.astype(np.float32)]


def _log_softmax(x: Array) -> Array:
    shifted = x - x.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


@reference("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(op: ops.SoftmaxCrossEntropyWithLogits, inputs: Inputs) -> list[Array]:
    """-sum(labels log softmax(logits)) of each row, [rows, 1], and softmax(logits) - labels."""
    logits, labels = _wide(inputs)
    logarithms = _log_softmax(logits)
    loss = -(labels * logarithms).sum(axis=1, keepdims=True)
    return [loss.astype(np.float32), (np.exp(logarithms) - labels).astype(np.float32)]


@reference("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(op: ops.SparseSoftmaxCrossEntropyWithLogits, inputs: Inputs) -> list[Array]:
    """The mean of -log softmax(logits)[label] over the rows, or its gradient."""
    assert inputs[0] is not None
    assert inputs[1] is not None
    labels = inputs[1].reshape(-1)
    logarithms = _log_softmax(inputs[0].astype(np.float64))
    rows = np.arange(len(labels))
    if not op.is_grad:
        return [np.asarray([-logarithms[rows, labels].mean()], np.float32)]
    gradient = np.exp(logarithms)
    gradient[rows, labels] -= 1
    return [(gradient / len(labels)).astype(np.float32)]


@reference("SigmoidCrossEntropyWithLogits", "SigmoidCrossEntropyWithLogitsGrad")
def sigmoid_cross_entropy(op: ops.SigmoidCrossEntropyWithLogits, inputs: Inputs) -> list[Array]:
    """max(x, 0) - x t + log(1 + exp(-|x|)); its gradient is sigmoid(x) - t."""
    x, target, *dloss = _wide(inputs)
    if dloss:
        return [(dloss[0] * (_sigmoid(x) - target)).astype(np.float32)]
    return [(np.maximum(x, 0) - x * target + np.log1p(np.exp(-np.abs(x)))).astype(np.float32)]


@reference("SmoothL1Loss", "SmoothL1LossGrad")
def smooth_l1(op: ops.SmoothL1Loss, inputs: Inputs) -> list[Array]:
    """With d = |prediction - target|: d^2 / (2 beta) below beta, d - beta / 2 above."""
    prediction, target, *dloss = _wide(inputs)
    d = prediction - target
    near = np.abs(d) < op.beta
    beta = op.beta or 1.0
    if dloss:
        return [(dloss[0] * np.where(near, d / beta, np.sign(d))).astype(np.float32)]
    return [np.where(near, d**2 / (2 * beta), np.abs(d) - op.beta / 2).astype(np.float32)]


@reference("SparseDescent")
def sparse_descent(op: ops.SparseDescent, inputs: Inputs) -> list[Array]:
    """weight - learning_rate times the sum of the gradients of each row."""
    weight, rows, index, rate = (np.asarray(array) for array in inputs)
    total = np.zeros(weight.shape, np.float64)
    known = (index >= 0) & (index < len(weight))
    np.add.at(total, index[known], rows.reshape(-1, *weight.shape[1:])[known].astype(np.float64))
    return [(weight - total * rate.astype(np.float64).reshape(())).astype(np.float32)]


@reference("SGD")
def stochastic_descent(op: ops.SGD, inputs: Inputs) -> list[Array]:
    """With decay: a = momentum a + (1 - dampening) g, at first a = g; w -= rate a (nesterov: momentum a + g)."""
    weight, gradient, rate, accumulator, momentum, stat = _wide(inputs)
    gradient = gradient + op.weight_decay * weight
    if stat > 0:
        accumulator = gradient
    elif momentum > 0:
        accumulator = momentum * accumulator + (1 - op.dampening) * gradient
    step = gradient if momentum <= 0 else momentum * accumulator + gradient if op.nesterov else accumulator
    results = (weight - rate * step, accumulator, np.zeros_like(stat))
    return [result.astype(np.float32) for result in results]


@reference("ApplyMomentum")
def momentum_step(op: ops.ApplyMomentum, inputs: Inputs) -> list[Array]:
    """a = momentum a + scale g; w -= rate a (nesterov: momentum a + scale g)."""
    weight, accumulator, rate, gradient, momentum = _wide(inputs)
    gradient = gradient * (op.gradient_scale or 1.0)
    accumulator = momentum * accumulator + gradient
    step = momentum * accumulator + gradient if op.use_nesterov else accumulator
    return [(weight - rate * step).astype(np.float32), accumulator.astype(np.float32)]


@reference("Adam")
def adam(op: ops.Adam, inputs: Inputs) -> list[Array]:
    """m and v follow g and g^2; w -= rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon)."""
    weight, m, v, power1, power2, rate, beta1, beta2, epsilon, gradient = _wide(inputs)
    m = m + (1 - beta1) * (gradient - m)
    v = v + (1 - beta2) * (gradient**2 - v)
    direction = beta1 * m + (1 - beta1) * gradient if op.use_nesterov else m
    step = rate * np.sqrt(1 - power2) / (1 - power1) * direction / (np.sqrt(v) + epsilon)
    return [result.astype(np.float32) for result in (weight - step, m, v)]


@reference("AdamWeightDecay")
def adam_with_decay(op: ops.AdamWeightDecay, inputs: Inputs) -> list[Array]:
    """m and v follow g and g^2; w -= rate (m / (sqrt(v) + epsilon) + decay w)."""
    weight, m, v, rate, beta1, beta2, epsilon, decay, gradient = _wide(inputs)
    m = m + (1 - beta1) * (gradient - m)
    v = v + (1 - beta2) * (gradient**2 - v)
    step = rate * (m / (np.sqrt(v) + epsilon) + decay * weight)
    return [result.astype(np.float32) for result in (weight - step, m, v)]


_X = (normal(3001) * 3).astype(np.float32)
for _type in _SLOPES:
    case(_type.name.lower(), ops.ActivationGrad(activation_type=_type, alpha=0.3), [normal(3001), _X])
case("several-parts", ops.ActivationGrad(activation_type=ActivationType.RELU), [normal(3, 16411), normal(3, 16411)])
for _label, _shape in (("bytes", (2, 3, 4)), ("rest", (3, 7)), ("several-parts", (3, 16411))):
    case(_label, ops.GateMask(low=0.0, high=1.0), [normal(*_shape)])
    case(_label, ops.GateGrad(), [normal(*_shape), integers(0, 256, -(-math.prod(_shape) // 8), dtype=np.uint8)])
case("no-limit", ops.GateMask(low=0.0, high=math.inf), [normal(5, 5)])
case("any", ops.AbsGrad(), [normal(70), normal(70)])
case("any", ops.NegGrad(), [normal(70)])
for _op in (ops.LogGrad(), ops.PowerGrad(power=2.5, scale=0.7, shift=0.2)):
    case("positive", _op, [normal(70), np.abs(normal(70)) + np.float32(0.1)])
for _root in (ops.RsqrtGrad(), ops.SqrtGrad()):
    case("positive", _root, [np.abs(normal(70)) + np.float32(0.1), normal(70)])
for _binary in (ops.AddGrad(), ops.SubGrad(), ops.MulGrad(), ops.DivGrad(), ops.MaximumGrad(), ops.MinimumGrad()):
    for _label, _a, _b in (
        ("same", (3, 5, 7), (3, 5, 7)),
        ("row", (3, 5, 7), (7,)),
        ("both", (3, 1, 7), (5, 1)),
        ("scalar", (4, 3), ()),
    ):
        _pair = [normal(*_a), normal(*_b) + np.float32(3.5)]
        _dy = normal(*np.broadcast_shapes(_a, _b))
        _last = isinstance(_binary, ops.MaximumGrad | ops.MinimumGrad)
        case(_label, _binary, [*_pair, _dy] if _last else [_dy, *_pair])
case("image", ops.BiasAddGrad(), [normal(2, 5, 7, 19)])
case("wide", ops.BiasAddGrad(), [normal(9, 300)])


def _convolution_cases(
    label: str,
    image: tuple[int, int, int, int],
    out: int,
    kernel: tuple[int, int],
    windows: tuple[int, int],
    *,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] | None = None,
    mode: PadMode = PadMode.PAD,
    group: int = 1,
    tolerance: float = 1e-5,
) -> None:
    weight = normal(out, *kernel, image[3] // group)
    dy = normal(image[0], *windows, out)
    shared = {"kernel_size": kernel, "stride": stride, "dilation": dilation, "pad_list": pads}
    both = {"pad_mode": mode, "group": group, "in_channel": image[3], "out_channel": out}
    case(label, ops.Conv2DBackpropInputFusion(**shared, **both), [dy, weight, int32(image)], (2,),  # type: ignore[arg-type]
         tolerance=tolerance)  # fmt: skip
    case(label, ops.Conv2DBackpropFilterFusion(**shared, **both),  # type: ignore[arg-type]
         [dy, normal(*image), int32(weight.shape)], (2,))  # fmt: skip


_convolution_cases("1x1", (2, 5, 7, 6), 9, (1, 1), (5, 7))
_convolution_cases("3x3", (2, 7, 9, 4), 5, (3, 3), (7, 9), pads=(1, 1, 1, 1))
_convolution_cases("same-stride", (1, 8, 9, 3), 4, (3, 2), (4, 5), stride=(2, 2), mode=PadMode.SAME)
_convolution_cases("valid", (2, 9, 8, 1), 6, (5, 5), (5, 4), mode=PadMode.VALID)
_convolution_cases("uneven", (1, 8, 8, 2), 3, (3, 3), (3, 4), stride=(3, 2), dilation=(1, 2), pads=(0, 1, 2, 1))
_convolution_cases("group", (1, 6, 6, 8), 12, (3, 3), (6, 6), pads=(1, 1, 1, 1), group=4)
_convolution_cases("depthwise", (2, 6, 5, 7), 7, (3, 3), (3, 3), stride=(2, 2), mode=PadMode.SAME, group=7)
with fixed_seed(7):
    _convolution_cases("3x3-wide", (1, 24, 26, 24), 40, (3, 3), (24, 26), pads=(1, 1, 1, 1), tolerance=4e-5)
    _convolution_cases("3x3-valid", (2, 21, 20, 19), 21, (3, 3), (19, 18), mode=PadMode.VALID, tolerance=4e-5)
    _convolution_cases("1x1-wide", (1, 13, 17, 40), 51, (1, 1), (13, 17))
with fixed_seed(8):
    _convolution_cases("few-channels", (2, 14, 13, 3), 260, (3, 3), (12, 11), mode=PadMode.VALID)
for _pool in (ops.AvgPoolGrad, ops.MaxPoolGrad):
    for _label, _size, _kernel, _strides, _mode, _windows in (
        ("plain", (2, 6, 8, 3), (2, 2), (2, 2), PadMode.VALID, (3, 4)),
        ("overlap", (1, 7, 7, 5), (3, 3), (2, 2), PadMode.VALID, (3, 3)),
        ("same", (2, 5, 6, 4), (3, 2), (2, 1), PadMode.SAME, (3, 6)),
        ("global", (3, 4, 5, 6), (4, 5), (1, 1), PadMode.VALID, (1, 1)),
        ("wide", (1, 6, 4, 37), (2, 2), (2, 2), PadMode.VALID, (3, 2)),
        ("ties", (2, 6, 8, 3), (2, 2), (2, 2), PadMode.VALID, (3, 4)),
    ):
        _image, _result = normal(*_size), (_size[0], *_windows, _size[3])
        if _label == "ties":
            _image = np.maximum(np.round(_image), 0).astype(np.float32)
        case(_label, _pool(kernel_size=_kernel, strides=_strides, pad_mode=_mode),
             [_image, normal(*_result), normal(*_result)])  # fmt: skip
_logits = normal(9, 11) * 3
_labels = np.abs(normal(9, 11))
case("any", ops.SoftmaxCrossEntropyWithLogits(), [_logits, _labels / _labels.sum(axis=1, keepdims=True)])
case("loss", ops.SparseSoftmaxCrossEntropyWithLogits(), [_logits, integers(0, 11, 9)])
case("gradient", ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=True), [_logits, integers(0, 11, 9)])
case("any", ops.SigmoidCrossEntropyWithLogits(), [_logits, _labels])
case("all", ops.SigmoidCrossEntropyWithLogitsGrad(), [_logits, _labels, normal(9, 11)])
case("one", ops.SigmoidCrossEntropyWithLogitsGrad(), [_logits, _labels, normal(1)])
case("any", ops.SmoothL1Loss(beta=1.5), [_logits, _labels])
case("zero", ops.SmoothL1Loss(), [_logits, _labels])
case("all", ops.SmoothL1LossGrad(beta=1.5), [_logits, _labels, normal(9, 11)])
for _count in (77, 40000):
    _w, _g, _s = normal(_count), normal(_count), normal(_count)
    for _nesterov in (False, True):
        _name = f"{_count}{'-nesterov' if _nesterov else ''}"
        for _stat in (0, 1):
            case(f"{_name}-{_stat}", ops.SGD(nesterov=_nesterov, weight_decay=0.1, dampening=0 if _nesterov else 0.2),
                 [_w, _g, float32([0.05]), _s, float32([0.9]), float32([_stat])])  # fmt: skip
        case(_name, ops.ApplyMomentum(use_nesterov=_nesterov),
             [_w, _s, float32([0.05]), _g, float32([0.9])])  # fmt: skip
        case(_name, ops.Adam(use_nesterov=_nesterov),
             [_w, _s, np.abs(_s), float32([0.81]), float32([0.998]), float32([0.05]), float32([0.9]), float32([0.999]),
              float32([1e-8]), _g], tolerance=1e-4)  # fmt: skip
    case(f"{_count}", ops.AdamWeightDecay(),
         [_w, _s, np.abs(_s), float32([0.05]), float32([0.9]), float32([0.999]), float32([1e-6]), float32([0.01]), _g],
         tolerance=1e-4)  # fmt: skip
for _count, _shape in ((5, (9, 3)), (40, (6, 70)), (7, (4, 3, 5)), (3, (2, 16500))):
    case(f"{_count}-places", ops.SparseDescent(),
         [normal(*_shape), normal(_count, *_shape[1:]), integers(0, _shape[0], _count, dtype=np.int32), float32([0.1])])  # fmt: skip
case(
    "places-outside",
    ops.SparseDescent(),
    [normal(3, 4), normal(4, 4), np.asarray([-1, 1, 3, 1], np.int32), float32([0.5])],
)
case("plain", ops.SGD(), [normal(7), normal(7), float32([0.1]), normal(7), float32([0]), float32([0])])
with fixed_seed(43):
    for _label, _from, _kernel, _result, _attributes in (
        ("plain", (2, 4, 5, 3), (3, 3), (2, 6, 7, 4), {}),
        ("stride", (1, 4, 3, 5), (3, 2), (1, 9, 6, 2), {"stride": (2, 2)}),
        ("padding", (2, 5, 5, 2), (3, 3), (2, 9, 9, 3), {"stride": (2, 2), "pad_list": (1, 1, 1, 1)}),
        ("same", (1, 3, 4, 2), (3, 3), (1, 6, 8, 3), {"stride": (2, 2), "pad_mode": PadMode.SAME}),
        ("group", (1, 4, 4, 6), (2, 2), (1, 6, 5, 9), {"dilation": (2, 1), "group": 3}),
    ):
        _filter = ops.DeConv2DGradFilter(
            kernel_size=_kernel, in_channel=_from[3], out_channel=_result[3], **_attributes
        )
        _weight = (_from[3], *_kernel, _result[3] // (_filter.group or 1))
        case(_label, _filter, [normal(*_result), normal(*_from), int32(_weight)], (2,))
case("scaled", ops.ApplyMomentum(gradient_scale=0.5), [_w, _s, float32([0.05]), _g, float32([0.9])])
with fixed_seed(20261125):
    # Several tiles, panels, blocks of rows and pieces of the pixels; windows read in place and from a padded copy.
    _convolution_cases("wide", (1, 9, 10, 40), 70, (3, 3), (9, 10), pads=(1, 1, 1, 1))
    _convolution_cases("wider", (1, 5, 6, 33), 230, (3, 3), (3, 4), mode=PadMode.VALID)
    _convolution_cases("many-pixels", (3, 30, 29, 3), 7, (5, 5), (30, 29), pads=(2, 2, 2, 2))
    _convolution_cases("many-pixels-valid", (2, 40, 41, 5), 13, (2, 3), (39, 39), mode=PadMode.VALID)
    _convolution_cases("many-pixels-1x1", (2, 24, 25, 48), 20, (1, 1), (24, 25))
    _convolution_cases("1x1-stride", (2, 11, 9, 20), 24, (1, 1), (4, 5), stride=(3, 2))
    _convolution_cases("stride-wide", (2, 13, 14, 21), 36, (3, 3), (7, 7), stride=(2, 2), pads=(1, 1, 1, 1))
    _convolution_cases("dilated", (1, 15, 14, 18), 20, (3, 3), (15, 14), dilation=(2, 3), pads=(2, 2, 3, 3))
    _convolution_cases("cropped", (1, 9, 9, 4), 6, (3, 3), (8, 6), pads=(-1, 2, -2, 1))
    _convolution_cases("unread", (1, 11, 12, 6), 5, (2, 2), (2, 2), stride=(5, 6))
    _convolution_cases("groups-wide", (2, 12, 11, 36), 48, (3, 3), (6, 6), stride=(2, 2), mode=PadMode.SAME, group=3)
    _convolution_cases("multiplier", (1, 9, 9, 6), 18, (3, 3), (9, 9), pads=(1, 1, 1, 1), group=6)
    _convolution_cases("depthwise-wide", (1, 12, 11, 75), 75, (3, 3), (12, 11), pads=(1, 1, 1, 1), group=75)
    _convolution_cases(
        "depthwise-pixels", (2, 40, 41, 9), 9, (5, 5), (20, 21), stride=(2, 2), pads=(2, 2, 2, 2), group=9
    )
    _convolution_cases(
        "depthwise-dilated", (1, 14, 15, 20), 20, (3, 2), (10, 7), stride=(1, 2), dilation=(2, 1), group=20
    )
    _convolution_cases("empty-batch", (0, 5, 5, 4), 6, (3, 3), (5, 5), pads=(1, 1, 1, 1))
