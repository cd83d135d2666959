"""Kernels of gradients against central differences, in float64, of what they are gradients of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from mslite import _native
from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.ops import Operator, training
from mslite.converter.mindir.ops.enums import ActivationType, Reduction, ResizeMethod
from tests.converter.gradient_check import numbers, own_numbers

from .calls import difference, results

__all__ = ["own_numbers"]

_STEP = 1e-5
Forward = Callable[..., Array]


def differences(forward: Forward, operands: Sequence[Array], dy: Array) -> list[Array]:
    """The gradient of sum(dy * forward(operands)) for each operand."""
    wide = [operand.astype(np.float64) for operand in operands]
    found = []
    for operand in wide:
        gradient = np.zeros_like(operand)
        for place in np.ndindex(operand.shape):
            kept, ends = operand[place], []
            for sign in (1, -1):
                operand[place] = kept + sign * _STEP
                ends.append(float(np.sum(dy.astype(np.float64) * forward(*wide))))
            operand[place] = kept
            gradient[place] = (ends[0] - ends[1]) / (2 * _STEP)
        found.append(gradient.astype(np.float32))
    return found


def agree(op: Operator, inputs: Sequence[Array], wanted: Sequence[Array], constants: Sequence[int] = ()) -> None:
    for name, got in results(op, inputs, constants, len(wanted)):
        for own, other in zip(got, wanted, strict=True):
            assert difference(own, other.reshape(own.shape), 1e-5) == "", name


def _normalized(x: Array, mean: Array, variance: Array, epsilon: float) -> Array:
    return np.asarray((x - mean) / np.sqrt(variance + epsilon))


def test_batch_normalization_by_statistics_of_the_batch() -> None:
    x, dy, scale, offset = numbers(3, 4, 2, 5), numbers(3, 4, 2, 5), numbers(5), numbers(5)

    def forward(x: Array, scale: Array, offset: Array) -> Array:
        return _normalized(x, x.mean(axis=(0, 1, 2)), x.var(axis=(0, 1, 2)), 1e-3) * scale + offset

    op = training.BatchNormTraining(epsilon=1e-3)
    running = (numbers(5), numbers(5, low=0.5))
    for name, (y, *_) in results(op, [x, scale, offset, *running], (), 5):
        assert difference(y, forward(x, scale, offset).astype(np.float32), 1e-6) == "", name
    mean, variance = (of(axis=(0, 1, 2)) for of in (x.mean, x.var))
    agree(
        training.BatchNormGrad(epsilon=1e-3, is_training=True),
        [dy, x, scale, mean, variance],
        differences(forward, [x, scale, offset], dy),
    )


def test_batch_normalization_by_constant_statistics() -> None:
    x, dy, scale, offset = numbers(3, 4, 2, 5), numbers(3, 4, 2, 5), numbers(5), numbers(5)
    mean, variance = numbers(5), numbers(5, low=0.5)

    def forward(x: Array, scale: Array, offset: Array) -> Array:
        return _normalized(x, mean.astype(np.float64), variance.astype(np.float64), 1e-3) * scale + offset

    op = training.BatchNormGrad(epsilon=1e-3, is_training=False)
    agree(op, [dy, x, scale, mean, variance], differences(forward, [x, scale, offset], dy))


@pytest.mark.parametrize("spread", [1e-3, 1.0])
def test_batch_normalization_far_from_zero(spread: float) -> None:
    """Where the mean is large next to the deviation, rounding it would show in every element."""
    x = (1000 + spread * numbers(200, 3)).astype(np.float32)
    one, zero = np.ones(3, np.float32), np.zeros(3, np.float32)
    wide = x.astype(np.float64)
    wanted = _normalized(wide, wide.mean(axis=0), wide.var(axis=0), 1e-9).astype(np.float32)
    for name, (y, *_) in results(training.BatchNormTraining(epsilon=1e-9), [x, one, zero, zero, one], (), 5):
        assert difference(y, wanted, 3e-7) == "", name


@pytest.mark.parametrize(("rows", "channels"), [(2, 70), (40, 3), (40, 24), (3000, 16), (1500, 67), (700, 200)])
def test_batch_normalization_of_many_rows_and_channels(rows: int, channels: int) -> None:
    """More than one part, vectors that hang over the last channel, and rows that do not fill a run."""
    x, dy, scale, offset = numbers(rows, channels), numbers(rows, channels), numbers(channels), numbers(channels)
    old_mean, old_variance = numbers(channels), numbers(channels, low=0.5)
    wide, wide_dy = x.astype(np.float64), dy.astype(np.float64)
    mean, variance = wide.mean(axis=0), wide.var(axis=0)
    root = np.sqrt(variance + 1e-3)
    plain = (wide - mean) / root
    kept = 0.9 * old_mean + 0.1 * mean, 0.9 * old_variance + 0.1 * variance * rows / max(rows - 1, 1)
    wanted = [plain * scale + offset, *kept, mean, variance]
    op = training.BatchNormTraining(epsilon=1e-3, momentum=0.1)
    agree(op, [x, scale, offset, old_mean, old_variance], [array.astype(np.float32) for array in wanted])
    dscale = (wide_dy * plain).sum(axis=0)
    dx = scale / root * (wide_dy - wide_dy.mean(axis=0) - plain * dscale / rows)
    wanted = [dx, dscale, wide_dy.sum(axis=0)]
    statistics = mean.astype(np.float32), variance.astype(np.float32)
    op_grad = training.BatchNormGrad(epsilon=1e-3, is_training=True)
    agree(op_grad, [dy, x, scale, *statistics], [array.astype(np.float32) for array in wanted])
    agree(training.BiasAddGrad(), [dy], [wide_dy.sum(axis=0).astype(np.float32)])


@pytest.mark.parametrize(("rows", "channels"), [(100, 3), (7, 5), (16, 1), (1000, 15)])
def test_biases_of_few_channels(rows: int, channels: int) -> None:
    dy = numbers(rows, channels)
    agree(training.BiasAddGrad(), [dy], [dy.astype(np.float64).sum(axis=0).astype(np.float32)])


@pytest.mark.parametrize("epsilon", [0.0, 1e-2])
def test_layer_normalization(epsilon: float) -> None:
    """The operator has no epsilon: the forward pass's is added to the variance that it is given."""
    x, dy, gamma, beta = numbers(4, 3, 5), numbers(4, 3, 5), numbers(3, 5), numbers(3, 5)

    def forward(x: Array, gamma: Array, beta: Array) -> Array:
        mean, variance = x.mean(axis=(1, 2), keepdims=True), x.var(axis=(1, 2), keepdims=True)
        return _normalized(x, mean, variance, epsilon) * gamma + beta

    wide = x.astype(np.float64)
    variance = (wide.var(axis=(1, 2), keepdims=True) + epsilon).astype(np.float32)
    mean = wide.mean(axis=(1, 2), keepdims=True).astype(np.float32)
    op = training.LayerNormGrad(begin_norm_axis=1, begin_params_axis=1)
    agree(op, [x, dy, variance, mean, gamma], differences(forward, [x, gamma, beta], dy))


def test_dropout() -> None:
    """The share that stays, its independence of neighbors, and a gradient through the same mask."""
    x, dy, seed = numbers(100_000), numbers(100_000), np.asarray([7, 0], np.int32)
    masks = []
    for _ in range(2):
        ((_, (y, mask, seed)),) = results(training.Dropout(keep_prob=0.75), [x, seed], (), 3)
        assert set(np.unique(mask)) == {0, 1}
        assert abs(mask.mean() - 0.75) < 0.005
        assert abs(np.corrcoef(mask[1:], mask[:-1])[0, 1]) < 0.015
        assert difference(y, (x * mask / 0.75).astype(np.float32), 1e-6) == ""
        agree(training.DropoutGrad(keep_prob=0.75), [dy, mask], [(dy * mask / 0.75).astype(np.float32)])
        masks.append(mask)
    assert seed.tolist() == [7, 2]
    assert abs(np.corrcoef(*masks)[0, 1]) < 0.015, "the next step drops the same elements"


@pytest.mark.parametrize("keep_prob", [0.0, -0.5, 1.5, float("nan")])
def test_dropout_of_no_share_is_refused(keep_prob: float) -> None:
    x, seed = numbers(5), np.asarray([1, 1], np.int32)
    for op, inputs, count in (
        (training.Dropout(keep_prob=keep_prob), [x, seed], 3),
        (training.DropoutGrad(keep_prob=keep_prob), [x, x], 1),
    ):
        with pytest.raises(_native.OperatorError, match="attribute"):
            list(results(op, inputs, (), count))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", Reduction)
def test_binary_cross_entropy(reduction: Reduction, weighted: bool) -> None:
    p, t = numbers(4, 3, low=0.1, high=0.9), numbers(4, 3, low=0, high=1)
    more = [numbers(4, 3, low=0.5)] if weighted else []

    def forward(p: Array) -> Array:
        losses = -(t * np.log(p) + (1 - t) * np.log(1 - p)) * (more[0] if weighted else 1)
        return losses if reduction is Reduction.NONE else reduced(losses, reduction)

    ((_, (loss,)),) = results(training.BinaryCrossEntropy(reduction=reduction), [p, t, *more], (), 1)
    dloss = numbers(*loss.shape, low=0.5)
    assert difference(loss, np.asarray(forward(p), np.float32).reshape(loss.shape), 1e-6) == ""
    agree(
        training.BinaryCrossEntropyGrad(reduction=reduction),
        [p, t, dloss, *more],
        differences(forward, [p], dloss),
    )


def reduced(losses: Array, reduction: Reduction) -> Array:
    return np.asarray(losses.mean() if reduction is Reduction.MEAN else losses.sum())


@pytest.mark.parametrize("reduction", Reduction)
def test_negative_log_likelihood(reduction: Reduction) -> None:
    logarithms, weights = numbers(6, 4, low=-2.5, high=-0.1), numbers(4, low=0.5)
    labels = np.asarray([3, 0, 0, 2, 1, 3], np.int32)

    def forward(logarithms: Array) -> Array:
        losses = -weights[labels] * logarithms[np.arange(6), labels]
        if reduction is Reduction.NONE:
            return losses
        return np.asarray(losses.sum() / (weights[labels].sum() if reduction is Reduction.MEAN else 1))

    ((_, (loss, total)),) = results(training.NLLLoss(reduction=reduction), [logarithms, labels, weights], (), 2)
    dloss = numbers(*loss.shape, low=0.5)
    assert difference(loss, np.asarray(forward(logarithms), np.float32), 1e-6) == ""
    agree(
        training.NLLLossGrad(reduction=reduction),
        [logarithms, dloss, labels, weights, total],
        differences(forward, [logarithms], dloss),
    )


def test_labels_beyond_the_classes_are_named() -> None:
    logarithms, labels, weights = numbers(2, 3), np.asarray([0, 3], np.int32), numbers(3)
    one = np.asarray(1, np.float32)
    for op, inputs, count in (
        (training.NLLLoss(), [logarithms, labels, weights], 2),
        (training.NLLLossGrad(), [logarithms, one, labels, weights, one], 1),
    ):
        with pytest.raises(_native.OperatorError, match="3"):
            list(results(op, inputs, (), count))


@pytest.mark.parametrize(
    ("activation", "forward"),
    [
        (ActivationType.SELU, lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x)),
        (ActivationType.HARD_TANH, lambda x: np.clip(x, -1, 1)),
        (ActivationType.THRESHOLDRELU, lambda x: np.where(x > 0.5, x, 0)),
        (ActivationType.SIGN, np.sign),
    ],
)
def test_activations(activation: ActivationType, forward: Forward) -> None:
    x, dy = numbers(5, 7), numbers(5, 7)
    agree(training.ActivationGrad(activation_type=activation, alpha=0.5), [dy, x], differences(forward, [x], dy))


@pytest.mark.parametrize("group", [1, 2])
def test_weights_of_transposed_convolutions(group: int) -> None:
    """Weights are [inputs, height, width, outputs of a group]; stride 2, one row and column of padding around."""
    x, weight, dy = numbers(2, 3, 4, 4), numbers(4, 3, 3, 2), numbers(2, 5, 7, 2 * group)

    def forward(weight: Array) -> Array:
        y = np.zeros((2, 7, 9, 2 * group))
        for i, j, channel in np.ndindex(3, 4, 4):
            outputs = slice(channel * group // 4 * 2, channel * group // 4 * 2 + 2)
            y[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3, outputs] += (
                x[:, i, j, channel, None, None, None] * weight[channel]
            )
        return y[:, 1:-1, 1:-1]

    op = training.DeConv2DGradFilter(kernel_size=(3, 3), stride=(2, 2), pad_list=(1, 1, 1, 1), group=group)
    agree(op, [dy, x, np.asarray(weight.shape, np.int32)], differences(forward, [weight], dy), (2,))


def _resized(x: Array, height: int, width: int, method: ResizeMethod, align_corners: bool) -> Array:
    """Pixel by pixel, from the corners' or the asymmetric coordinates."""

    def sources(size: int, out: int) -> list[list[tuple[int, float]]]:
        step = (size - 1) / max(out - 1, 1) if align_corners else size / out
        found = []
        for place in (at * step for at in range(out)):
            low = int(place)
            if method is ResizeMethod.NEAREST:
                found.append([(min(int(place + 0.5) if align_corners else low, size - 1), 1.0)])
            else:
                found.append([(low, 1 - (place - low)), (min(low + 1, size - 1), place - low)])
        return found

    y = np.zeros((len(x), height, width, x.shape[3]))
    for i, rows in enumerate(sources(x.shape[1], height)):
        for j, columns in enumerate(sources(x.shape[2], width)):
            for row, of_row in rows:
                for column, of_column in columns:
                    y[:, i, j] += of_row * of_column * x[:, row, column]
    return y


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("method", [ResizeMethod.LINEAR, ResizeMethod.NEAREST])
@pytest.mark.parametrize("size", [(7, 5), (2, 3), (1, 4)])
def test_resizing(method: ResizeMethod, align_corners: bool, size: tuple[int, int]) -> None:
    x, dy = numbers(2, 4, 3, 2), numbers(2, *size, 2)
    wanted = differences(lambda x: _resized(x, *size, method, align_corners), [x], dy)
    op = training.ResizeGrad(method=method, align_corners=align_corners)
    agree(op, [dy, x], wanted)
    agree(op, [dy, np.asarray([4, 3], np.int32)], wanted, (1,))


@pytest.mark.parametrize("shape", [(3, 4, 3, 2), (2, 4, 3, 3)])
def test_an_image_of_another_batch_or_depth_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(_native.OperatorError, match="shape"):
        list(results(training.ResizeGrad(method=ResizeMethod.LINEAR), [numbers(2, 7, 5, 2), numbers(*shape)], (), 1))


def test_slices_with_strides() -> None:
    x, dy = numbers(4, 5, 3, 2), numbers(2, 1, 3)
    wanted = differences(lambda x: x[3:0:-2, None, 4, :, 1], [x], dy)
    op = training.StridedSliceGrad(new_axis_mask=2, shrink_axis_mask=20, begin_mask=8, end_mask=8)
    begin, end, strides = [3, 0, 4, 0, 1], [0, 0, 5, 0, 2], [-2, 1, 1, 1, 1]
    bounds = [np.asarray(entries, np.int32) for entries in (x.shape, begin, end, strides)]
    agree(op, [dy, *bounds], wanted, (1, 2, 3, 4))


def test_a_slice_of_another_size_is_refused() -> None:
    one = np.asarray([1], np.int32)
    with pytest.raises(_native.OperatorError, match="shape"):
        list(results(training.StridedSliceGrad(), [numbers(3), 4 * one, one, 3 * one, one], (1, 2, 3, 4), 1))
