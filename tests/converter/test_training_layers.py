"""Layers with weights of their own, and pooling: every gradient against central differences in float64."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Array, Value
from mslite.converter.mindir.ops import Operator, activation, normalization, pooling, recurrent
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import (
    ActivationType,
    CoordinateTransformMode,
    DataType,
    Format,
    PadMode,
    ResizeMethod,
    RoundMode,
)
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.mindir.ops.resize import Resize
from mslite.converter.mindir.reference import REFERENCES
from mslite.converter.training import Loss, TrainSettings, training_graph
from tests.converter.gradient_check import Net, differences, gradients, numbers, own_numbers

__all__ = ["own_numbers"]

Forward = Callable[[Array, list[Array]], Array]
"""Of x and the layer's constants."""


def _check(
    net: Net, x: Array, weights: dict[str, Array], forward: Callable[[dict[str, Array]], Array], file: Path
) -> None:
    """`weights`: what is trained, by name; the graph trains these, and nothing else."""
    wide = {name: value.astype(np.float64) for name, value in weights.items()}
    target = numbers(*forward(wide).shape)
    found = gradients(net, x, target, file)
    assert set(found) == set(weights)
    for name, value in weights.items():
        expected = differences(lambda w, name=name: forward({**wide, name: w}), value, target)  # type: ignore[misc]
        assert found[name].shape == value.shape
        assert np.abs(found[name] - expected).max() <= 3e-5 * max(1.0, np.abs(expected).max()), name


def _normal(x: Array, axes: tuple[int, ...], epsilon: float, centered: bool = True) -> Array:
    middle = x - x.mean(axes, keepdims=True) if centered else x
    return np.asarray(middle / np.sqrt((middle**2).mean(axes, keepdims=True) + epsilon))


def _groups(x: Array, w: list[Array]) -> Array:
    shape = (1, -1) + (1,) * (x.ndim - 2)
    parts = _normal(x.reshape(x.shape[0], 2, -1), (2,), 1e-3).reshape(x.shape)
    return np.asarray(parts * w[0].reshape(shape) + w[1].reshape(shape))


def _prelu(x: Array, w: list[Array]) -> Array:
    return np.where(x > 0, x, w[0] * x)


_NEAR = np.tri(6, k=1) * np.tri(6, k=1).T
"""Channels and their neighbors."""

_LAYERS: dict[str, tuple[Operator, list[tuple[int, ...]], Forward]] = {
    "layer": (
        normalization.LayerNormFusion(begin_norm_axis=-1, begin_params_axis=-1, elementwise_affine=True, epsilon=1e-3),
        [(6,), (6,)],
        lambda x, w: _normal(x, (3,), 1e-3) * w[0] + w[1],
    ),
    "layer-of-images": (
        normalization.LayerNormFusion(begin_norm_axis=1, begin_params_axis=1, elementwise_affine=True, epsilon=1e-3),
        [(3, 4, 6), (3, 4, 6)],
        lambda x, w: _normal(x, (1, 2, 3), 1e-3) * w[0] + w[1],
    ),
    "layer-plain": (
        normalization.LayerNormFusion(begin_norm_axis=2, begin_params_axis=2, epsilon=1e-3),
        [],
        lambda x, w: _normal(x, (2, 3), 1e-3),
    ),
    "root-mean-square": (
        normalization.RmsNorm(axis=-1, epsilon=1e-3),
        [(6,)],
        lambda x, w: _normal(x, (3,), 1e-3, centered=False) * w[0],
    ),
    "instance": (
        normalization.ChannelsLastInstanceNorm(epsilon=1e-3),
        [(6,), (6,)],
        lambda x, w: _normal(x, (1, 2), 1e-3) * w[0] + w[1],
    ),
    "local-response": (
        normalization.LRN(depth_radius=1, bias=2.0, alpha=0.3, beta=0.75),
        [],
        lambda x, w: x / (2 + 0.3 * (x**2 @ _NEAR)) ** 0.75,
    ),
    "leaky": (activation.PReLUFusion(), [(6,)], _prelu),
    "leaky-shared": (activation.PReLUFusion(channel_shared=True), [(1,)], _prelu),
}


@pytest.mark.parametrize("name", _LAYERS)
def test_layer(name: str, tmp_path: Path) -> None:
    """Behind a convolution, so that the gradient goes through the layer, too."""
    op, shapes, function = _LAYERS[name]
    x, first = numbers(2, 3, 4, 5), numbers(6, 1, 1, 5)
    own = [numbers(*shape, low=0.3, high=1.5) for shape in shapes]
    net = Net(x.shape).add(Conv2DFusion(format=Format.NHWC, kernel_size=(1, 1), group=1), first).add(op, *own)
    weights = {"Conv2DFusion_0/c0": first} | {f"{op.name}_1/c{i}": value for i, value in enumerate(own)}

    def forward(w: dict[str, Array]) -> Array:
        made, *rest = w.values()
        return function(x.astype(np.float64) @ made[:, 0, 0].T, rest)

    _check(net, x, weights, forward, tmp_path / "train.ms")


def test_groups(tmp_path: Path) -> None:
    """Channels are dimension 1; a product of matrices stands before it."""
    x, first, own = numbers(2, 4, 3), numbers(3, 5), [numbers(4, low=0.3), numbers(4)]
    net = Net(x.shape).add(MatMulFusion(), first)
    net.add(normalization.GroupNormFusion(num_groups=2, epsilon=1e-3), *own)
    weights = dict(
        zip(["MatMulFusion_0/c0", "GroupNormFusion_1/c0", "GroupNormFusion_1/c1"], [first, *own], strict=True)
    )
    _check(net, x, weights, lambda w: _groups(x @ next(iter(w.values())), [*w.values()][1:]), tmp_path / "train.ms")


def test_channels_first(tmp_path: Path) -> None:
    """Rows are dimension 1 of what a product of matrices makes."""
    x, first, own = numbers(2, 4, 3), numbers(3, 5), [numbers(4, low=0.3), numbers(4)]
    net = Net(x.shape).add(MatMulFusion(), first).add(normalization.InstanceNorm(epsilon=1e-3), *own)
    weights = dict(zip(["MatMulFusion_0/c0", "InstanceNorm_1/c0", "InstanceNorm_1/c1"], [first, *own], strict=True))

    def forward(w: dict[str, Array]) -> Array:
        made, gamma, beta = w.values()
        return _normal(x @ made, (2,), 1e-3) * gamma[:, None] + beta[:, None]

    _check(net, x, weights, forward, tmp_path / "train.ms")


def test_between_transposes(tmp_path: Path) -> None:
    """As files hold it: the training graph has no Transposes, either."""
    x, first, own = numbers(2, 3, 4, 5), numbers(6, 1, 1, 5), [numbers(6, low=0.3), numbers(6)]

    def net() -> Net:
        made = Net(x.shape).add(Conv2DFusion(format=Format.NHWC, kernel_size=(1, 1), group=1), first)
        made.add(Transpose(), np.array([0, 3, 1, 2], np.int32)).add(normalization.InstanceNorm(epsilon=1e-3), *own)
        return made.add(Transpose(), np.array([0, 2, 3, 1], np.int32))

    weights = dict(zip(["Conv2DFusion_0/c0", "InstanceNorm_2/c0", "InstanceNorm_2/c1"], [first, *own], strict=True))

    def forward(w: dict[str, Array]) -> Array:
        made, gamma, beta = w.values()
        return _normal(x.astype(np.float64) @ made[:, 0, 0].T, (1, 2), 1e-3) * gamma + beta

    _check(net(), x, weights, forward, tmp_path / "train.ms")
    made = training_graph(net().module(), TrainSettings(Loss.SQUARED)).module.main
    assert not any(isinstance(node.op, Transpose) for node in made.nodes)


@pytest.mark.parametrize(("behind", "trained"), [(True, True), (False, False)])
def test_batch_normalization_keeps_its_statistics(behind: bool, trained: bool, tmp_path: Path) -> None:
    """Scale and offset are trained, behind an activation, too, but not where only data come in; mean and variance never."""
    x, first = numbers(3, 4), numbers(4, 6)
    size = 6 if behind else 4
    scale, offset, mean = numbers(size, low=0.5), numbers(size), numbers(size)
    variance = numbers(size, low=0.5, high=2)
    relu = activation.Activation(activation_type=ActivationType.RELU)
    layer = normalization.FusedBatchNorm(epsilon=1e-3)
    net = Net(x.shape)
    if behind:
        net.add(MatMulFusion(), first).add(relu)
    net.add(layer, scale, offset, mean, variance)
    if not behind:
        net.add(MatMulFusion(), first).add(relu)

    def normal(z: Array, w: dict[str, Array]) -> Array:
        used = w.get("FusedBatchNorm_2/c0", scale), w.get("FusedBatchNorm_2/c1", offset)
        return np.asarray((z - mean) / np.sqrt(variance + 1e-3) * used[0] + used[1])

    def forward(w: dict[str, Array]) -> Array:
        if behind:
            return normal(np.maximum(x @ w["MatMulFusion_0/c0"], 0), w)
        return np.maximum(normal(x, w) @ w["MatMulFusion_1/c0"], 0)

    weights = {f"MatMulFusion_{int(not behind)}/c0": first}
    if trained:
        weights |= {"FusedBatchNorm_2/c0": scale, "FusedBatchNorm_2/c1": offset}
    _check(net, x, weights, forward, tmp_path / "train.ms")


@pytest.mark.parametrize(
    ("stride", "mode", "pads", "extra", "group"),
    [
        ((2, 2), PadMode.PAD, (1, 1, 1, 1), (1, 1), 1),
        ((1, 2), PadMode.PAD, (0, 1, 2, 0), (0, 0), 1),
        ((2, 2), PadMode.SAME, None, None, 1),
        ((3, 2), PadMode.VALID, None, None, 2),
    ],
)
def test_transposed_convolution(
    stride: tuple[int, int],
    mode: PadMode,
    pads: tuple[int, int, int, int] | None,
    extra: tuple[int, int] | None,
    group: int,
    tmp_path: Path,
) -> None:
    x, first = numbers(2, 4, 5, 3), numbers(4, 1, 1, 3)
    weight, bias = numbers(4, 3, 3, 6 // group), numbers(6)
    op = Conv2dTransposeFusion(
        format=Format.NHWC, kernel_size=(3, 3), stride=stride, pad_mode=mode, pad_list=pads, output_paddings=extra,
        group=group, in_channel=4, out_channel=6,
    )  # fmt: skip
    net = Net(x.shape).add(Conv2DFusion(format=Format.NHWC, kernel_size=(1, 1), group=1), first).add(op, weight, bias)

    def forward(w: dict[str, Array]) -> Array:
        one, two, three = w.values()
        z = x.astype(np.float64) @ one[:, 0, 0].T
        high, wide = ((size - 1) * step + 3 for size, step in zip(z.shape[1:3], stride, strict=True))
        room = np.zeros((2, high + 2, wide + 2, 6))
        for h in range(3):
            for v in range(3):
                rows = slice(h, h + (z.shape[1] - 1) * stride[0] + 1, stride[0])
                columns = slice(v, v + (z.shape[2] - 1) * stride[1] + 1, stride[1])
                parts = zip(np.split(z, group, axis=3), np.split(two[:, h, v], group), strict=True)
                room[:, rows, columns] += np.concatenate([part @ own for part, own in parts], axis=3)
        top, bottom, left, right = pads or (0, 0, 0, 0)
        below, behind = extra or (0, 0)
        if mode is PadMode.SAME:
            cut = [max(0, 3 - step) for step in stride]
            (top, left), (bottom, right) = [n // 2 for n in cut], [n - n // 2 for n in cut]
        return np.asarray(room[:, top : high - bottom + below, left : wide - right + behind] + three)

    names = ["Conv2DFusion_0/c0", "Conv2dTransposeFusion_1/c0", "Conv2dTransposeFusion_1/c1"]
    _check(net, x, dict(zip(names, [first, weight, bias], strict=True)), forward, tmp_path / "train.ms")


_POOLS = {
    "pads": {"pad": (1, 1, 1, 1), "strides": (2, 2)},
    "uneven": {"pad": (0, 2, 1, 0), "strides": (1, 2)},
    "ceil": {"strides": (2, 3), "round_mode": RoundMode.CEIL},
    "pads-ceil": {"pad": (1, 0, 1, 1), "strides": (2, 2), "round_mode": RoundMode.CEIL},
    "leftover": {"strides": (3, 3)},
}


@pytest.mark.parametrize("kind", ["average", "counting", "maximum"])
@pytest.mark.parametrize("name", _POOLS)
def test_pooling_with_pads(name: str, kind: str, tmp_path: Path) -> None:
    shared = dict(_POOLS[name])
    pads = shared.setdefault("pad", (0, 0, 0, 0))
    strides = shared["strides"]
    ceil = "round_mode" in shared
    x, first = numbers(2, 7, 8, 3), numbers(4, 1, 1, 3)
    kinds = {
        "average": pooling.AvgPoolFusion,
        "counting": lambda **given: pooling.AvgPoolExtended(count_include_pad=True, **given),
        "maximum": pooling.MaxPoolFusion,
    }
    op = kinds[kind](kernel_size=(3, 2), pad_mode=PadMode.PAD, format=Format.NHWC, **shared)
    net = Net(x.shape).add(Conv2DFusion(format=Format.NHWC, kernel_size=(1, 1), group=1), first).add(op)

    def places(axis: int) -> list[tuple[int, int, int]]:
        """Of each window: where it begins and ends in x, and how many of its taps count."""
        size, kernel, step = x.shape[1 + axis], (3, 2)[axis], strides[axis]  # type: ignore[index]
        before, after = pads[2 * axis], pads[2 * axis + 1]  # type: ignore[index]
        room = size + before + after - kernel
        count = (-(-room // step) if ceil else room // step) + 1
        if ceil and (count - 1) * step >= size + before:
            count -= 1
        found = []
        for at in range(count):
            begin = at * step - before
            inside = max(begin, 0), min(begin + kernel, size)
            counted = min(begin + kernel, size + after) - begin if kind == "counting" else inside[1] - inside[0]
            found.append((*inside, counted))
        return found

    def forward(w: dict[str, Array]) -> Array:
        (one,) = w.values()
        z = x.astype(np.float64) @ one[:, 0, 0].T
        result = np.zeros((2, len(places(0)), len(places(1)), 4))
        for i, (top, bottom, high) in enumerate(places(0)):
            for j, (left, right, wide) in enumerate(places(1)):
                window = z[:, top:bottom, left:right]
                result[:, i, j] = window.max((1, 2)) if kind == "maximum" else window.sum((1, 2)) / (high * wide)
        return result

    _check(net, x, {"Conv2DFusion_0/c0": first}, forward, tmp_path / "train.ms")


def _with_recurrence(net: Net) -> Net:
    """A layer that rounds its state, which has no form step by step."""
    net.add(recurrent.RNNSequence(direction="forward", rounding=1), numbers(1, 5, 4), numbers(1, 5, 5))
    node = net.graph.nodes[-1]
    node.outputs = (*node.outputs, Value(f"{node.name}/hidden", DataType.FLOAT32, None, format=Format.NHWC))
    return net


def test_recurrent_weights_are_refused_or_frozen() -> None:
    def net() -> Net:
        return _with_recurrence(Net((3, 2, 4))).add(MatMulFusion(), numbers(5, 2))

    names = ("RNNSequence_0/c0", "RNNSequence_0/c1")
    with pytest.raises(ConversionError) as caught:
        training_graph(net().module(), TrainSettings(Loss.SQUARED))
    assert f"training of its weights is not supported. Train the rest, frozen={','.join(names)}" in str(caught.value)
    made = training_graph(net().module(), TrainSettings(Loss.SQUARED, frozen=frozenset(names)))
    assert made.parameters == ("MatMulFusion_1/c0",)


def test_gradients_through_recurrent_layers_are_refused() -> None:
    net = _with_recurrence(Net((3, 2, 4)).add(MatMulFusion(), numbers(4, 4)))
    frozen = frozenset({"RNNSequence_1/c0", "RNNSequence_1/c1"})
    with pytest.raises(ConversionError, match="RNNSequence 'RNNSequence_1': its gradient is not supported"):
        training_graph(net.module(), TrainSettings(Loss.SQUARED, frozen=frozen))


@pytest.mark.parametrize(
    ("method", "coordinates"),
    [
        (ResizeMethod.LINEAR, CoordinateTransformMode.ASYMMETRIC),
        (ResizeMethod.LINEAR, CoordinateTransformMode.ALIGN_CORNERS),
        (ResizeMethod.LINEAR, CoordinateTransformMode.HALF_PIXEL),
        (ResizeMethod.NEAREST, CoordinateTransformMode.ASYMMETRIC),
        (ResizeMethod.NEAREST, CoordinateTransformMode.HALF_PIXEL),
        (ResizeMethod.CUBIC, CoordinateTransformMode.HALF_PIXEL),
    ],
)
@pytest.mark.parametrize("size", [(7, 5), (2, 6)])
def test_resizing(
    method: ResizeMethod, coordinates: CoordinateTransformMode, size: tuple[int, int], tmp_path: Path
) -> None:
    """Behind a convolution: by MindSpore's operator, or by the two matrices that resizing is."""
    x, weight = numbers(2, 3, 4, 2), numbers(3, 1, 1, 2)
    op = Resize(
        format=Format.NHWC,
        method=method,
        new_height=size[0],
        new_width=size[1],
        coordinate_transform_mode=coordinates,
        cubic_coeff=-0.75,
    )
    units = np.eye(12, dtype=np.float32).reshape(12, 3, 4, 1)
    matrix = np.asarray(REFERENCES["Resize"](op, [units])[0], np.float64)[..., 0]
    assert matrix.shape == (12, *size)
    net = Net(x.shape).add(Conv2DFusion(format=Format.NHWC, kernel_size=(1, 1), in_channel=2, out_channel=3), weight)
    net.add(op)

    def forward(w: Array) -> Array:
        pixels = np.einsum("bhwc,oc->bhwo", x, w.reshape(3, 2)).reshape(2, 12, 3)
        return np.einsum("bpo,phw->bhwo", pixels, matrix)

    _check(net, x, {"Conv2DFusion_0/c0": weight}, lambda w: forward(w["Conv2DFusion_0/c0"]), tmp_path / "train.ms")
