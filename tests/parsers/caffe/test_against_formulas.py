"""Layers against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from . import formulas
from .helper import Array, agree, check_layer, compute, network, positive, random, run_layer

IMAGE = (2, 6, 9, 11)
X = random(*IMAGE)


@pytest.mark.parametrize(
    ("kind", "parameters", "x", "wanted"),
    [
        ("Dropout", "dropout_param { dropout_ratio: 0.75 scale_train: false }", X, X / 4),
        ("Clip", "clip_param { min: -0.5 max: 1 }", X, X.clip(-0.5, 1)),
        ("Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }", X, 2 ** (0.5 * X + 1)),
        ("HardSwish", "", X, X * (X + 3).clip(0, 6) / 6),
        ("Log", "", positive(*IMAGE), np.log(positive(*IMAGE))),
        ("Log", "log_param { base: 10 scale: 2 shift: 3 }", positive(*IMAGE), np.log10(2 * positive(*IMAGE) + 3)),
        ("Mish", "", X, X * np.tanh(np.log1p(np.exp(X)))),
        ("Power", "power_param { power: -0.5 scale: 2 shift: 1 }", positive(*IMAGE), (2 * positive(*IMAGE) + 1) ** -0.5),
        ("ReLU6", "relu_param { negative_slope: 0.1 }", 5 * X, np.minimum(np.where(X > 0, 5 * X, 0.5 * X), 6)),
        ("Swish", "", X, X * formulas.sigmoid(X)),
        ("Swish", "swish_param { beta: 1.5 }", X, X * formulas.sigmoid(1.5 * X)),
        ("Threshold", "threshold_param { threshold: 0.2 }", X, np.greater(X, 0.2).astype(np.float32)),
        ("Tile", "tile_param { axis: 2 tiles: 3 }", X, np.tile(X, (1, 1, 3, 1))),
        ("Upsample", "upsample_param { scale: 2 }", X, X.repeat(2, 2).repeat(2, 3)),
        ("Upsample", "upsample_param { scale_h: 3 scale_w: 1 }", X, X.repeat(3, 2)),
        ("Upsample", "upsample_param { upsample_h: 18 upsample_w: 33 }", X, X.repeat(2, 2).repeat(3, 3)),
        ("Reduction", "reduction_param { axis: 2 }", X, X.sum((2, 3))),
        ("Reduction", "reduction_param { operation: ASUM axis: -1 coeff: 0.5 }", X, np.abs(X).sum(3) / 2),
        ("Reduction", "reduction_param { operation: SUMSQ axis: 1 coeff: -1 }", X, -(X**2).sum((1, 2, 3))),
        ("Reduction", "reduction_param { operation: MEAN axis: 3 }", X, X.mean(3)),
        ("Reorg", "reorg_param { stride: 2 }", random(2, 8, 6, 10), formulas.reorg(random(2, 8, 6, 10), 2, False)),
        ("Reorg", "reorg_param { stride: 2 reverse: true }", random(2, 8, 3, 5), formulas.reorg(random(2, 8, 3, 5), 2, True)),
        ("Interp", "interp_param { zoom_factor: 2 pad_beg: -1 pad_end: -2 }", X,
         formulas.interpolation(X[:, :, 1:-2, 1:-2], 11, 15)),
        ("Interp", "interp_param { shrink_factor: 2 }", X, formulas.interpolation(X, 5, 6)),
        ("ArgMax", "argmax_param { axis: 1 }", X, X.argmax(1)[:, None]),
        ("ArgMax", "", X, X.reshape(2, -1).argmax(1)[:, None, None]),
        ("ArgMax", "argmax_param { axis: -1 top_k: 3 out_max_val: true }", X, -np.sort(-X, 3)[..., :3]),
        ("ArgMax", "argmax_param { axis: 2 top_k: 2 }", X, np.argsort(-X, 2, kind="stable")[:, :, :2]),
        ("ArgMax", "argmax_param { top_k: 2 out_max_val: true }", X,
         np.stack([np.argsort(-X.reshape(2, -1), 1)[:, :2], -np.sort(-X.reshape(2, -1), 1)[:, :2]], 1)),
        ("SoftmaxWithLoss", "", random(3, 5), np.exp(random(3, 5)) / np.exp(random(3, 5)).sum(1, keepdims=True)),
        ("SigmoidCrossEntropyLoss", "", X, formulas.sigmoid(X)),
        ("BatchNorm", "batch_norm_param { use_global_stats: false eps: 0.1 }", X,
         (X - X.mean((0, 2, 3), keepdims=True)) / np.sqrt(X.var((0, 2, 3), keepdims=True) + 0.1)),
    ],
)  # fmt: skip
def test_function(kind: str, parameters: str, x: Array, wanted: Array, tmp_path: Path) -> None:
    check_layer(tmp_path, np.asarray(wanted), kind, [x], parameters)


def test_more_parts_than_a_kernel_takes(tmp_path: Path) -> None:
    x = random(2, 150)
    tops = " ".join(f'top: "{index}"' for index in range(150))
    bottoms = " ".join(f'bottom: "{149 - index}"' for index in range(150))
    layers = f'layer {{ name: "cut" type: "Slice" bottom: "x" {tops} }}\n'
    layers += f'layer {{ name: "y" type: "Concat" {bottoms} top: "y" }}'
    agree(compute(tmp_path, network(layers, {"x": x}), {}, {"x": x})["y"], x[:, ::-1])


def test_slices_of_equal_size(tmp_path: Path) -> None:
    for got, wanted in zip(run_layer(tmp_path, "Slice", [X], tops=3), np.split(X, 3, 1), strict=True):
        agree(got, wanted)


def test_normalizations_with_all_parameters(tmp_path: Path) -> None:
    deviation = X.std((2, 3), keepdims=True) + 0.1
    check_layer(tmp_path, (X - X.mean((2, 3), keepdims=True)) / deviation, "MVN", [X], "mvn_param { eps: 0.1 }")
    squares = np.pad(X * X, ((0, 0), (1, 1), (0, 0), (0, 0)))
    sums = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
    text = "lrn_param { local_size: 3 alpha: 0.9 beta: 0.6 k: 2 }"
    check_layer(tmp_path, X * (2 + 0.3 * sums) ** -0.6, "LRN", [X], text)


def test_lrn_within_channels(tmp_path: Path) -> None:
    means = formulas.pooling(X * X, 3, 1, 1, average=True, ceiling=False)
    text = "lrn_param { local_size: 3 alpha: 0.7 beta: 0.6 norm_region: WITHIN_CHANNEL k: 9 }"
    check_layer(tmp_path, X * (1 + 0.7 * means) ** -0.6, "LRN", [X], text)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize(
    ("kernel", "stride", "pad", "extra"),
    [(3, 2, 0, ""), (3, 2, 1, ""), (3, 2, 1, "round_mode: FLOOR"), (2, 3, 0, "ceil_mode: false"), (10, 1, 0, ""),
     (4, 3, 2, "")],
)  # fmt: skip
def test_pooling(kernel: int, stride: int, pad: int, extra: str, average: bool, tmp_path: Path) -> None:
    wanted = formulas.pooling(X, kernel, stride, pad, average, not extra)
    text = f"kernel_size: {kernel} stride: {stride} pad: {pad} pool: {'AVE' if average else 'MAX'} {extra}"
    if kernel > 9:
        text = text.replace("stride: 1", "stride: 2")
        wanted = formulas.pooling(X, kernel, 2, pad, average, True)
    check_layer(tmp_path, wanted, "Pooling", [X], f"pooling_param {{ {text} }}")


@pytest.mark.parametrize("shape", [(4, 3, 8), (4, 3, 7, 9), (2, 3, 5, 6, 7)], ids=["1-D", "2-D", "3-D"])
@pytest.mark.parametrize(
    ("stride", "pad", "dilation"), [(1, 0, 1), (2, 1, 1), (1, 2, 2)], ids=["plain", "strided", "dilated"]
)
def test_convolution_of_any_rank(shape: tuple[int, ...], stride: int, pad: int, dilation: int, tmp_path: Path) -> None:
    x, weight, bias = random(*shape), random(4, 3, *([3] * (len(shape) - 2)), seed=1), random(4, seed=2)
    wanted = formulas.convolution(x, weight, stride, pad, dilation) + bias.reshape(-1, *([1] * (len(shape) - 2)))
    text = f"num_output: 4 kernel_size: 3 stride: {stride} pad: {pad} dilation: {dilation}"
    check_layer(tmp_path, wanted, "Convolution", [x], f"convolution_param {{ {text} }}", [weight, bias])


@pytest.mark.parametrize("kind", ["ConvolutionDepthwise", "DepthwiseConvolution", "DepthwiseConv"])
def test_depthwise_convolution(kind: str, tmp_path: Path) -> None:
    weight = random(6, 1, 3, 3, seed=1)
    wanted = formulas.convolution(X, weight, 1, 1, group=6)
    text = "convolution_param { num_output: 6 kernel_size: 3 pad: 1 bias_term: false }"
    check_layer(tmp_path, wanted, kind, [X], text, [weight])


def test_layers_with_several_bottoms_share_their_weights(tmp_path: Path) -> None:
    weight, other = random(4, 6, 3, 3, seed=1), random(1, 6, 5, 5, seed=2)
    text = "convolution_param { num_output: 4 kernel_size: 3 bias_term: false }"
    first, second = run_layer(tmp_path, "Convolution", [X, other], text, [weight], tops=2)
    agree(first, formulas.convolution(X, weight))
    agree(second, formulas.convolution(other, weight))


@pytest.mark.parametrize("shape", [(2, 4, 7), (2, 4, 5, 6), (2, 4, 3, 4, 5)], ids=["1-D", "2-D", "3-D"])
@pytest.mark.parametrize(
    ("stride", "pad", "dilation", "group"),
    [(1, 0, 1, 1), (2, 1, 1, 1), (1, 1, 2, 1), (3, 0, 2, 2)],
    ids=["plain", "strided", "dilated", "grouped"],
)
def test_deconvolution_of_any_rank(
    shape: tuple[int, ...], stride: int, pad: int, dilation: int, group: int, tmp_path: Path
) -> None:
    spatial = len(shape) - 2
    x, weight, bias = random(*shape), random(4, 6 // group, *([3] * spatial), seed=1), random(6, seed=2)
    wanted = formulas.transposed_convolution(x, weight, stride, pad, dilation, group)
    wanted += bias.reshape(-1, *([1] * spatial))
    text = f"num_output: 6 kernel_size: 3 stride: {stride} pad: {pad} dilation: {dilation} group: {group}"
    check_layer(tmp_path, wanted, "Deconvolution", [x], f"convolution_param {{ {text} }}", [weight, bias])


def test_im2col(tmp_path: Path) -> None:
    units = np.tile(np.eye(6), (6, 1)).reshape(36, 1, 2, 3).astype(np.float32)
    wanted = formulas.convolution(X, units, 2, 1, group=6)
    text = "convolution_param { kernel_h: 2 kernel_w: 3 stride: 2 pad: 1 }"
    check_layer(tmp_path, wanted, "Im2col", [X], text)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("axis", [1, 2, -1])
def test_inner_product(axis: int, transpose: bool, tmp_path: Path) -> None:
    features = int(np.prod(IMAGE[axis:]))
    weight, bias = random(5, features, seed=1), random(5, seed=2)
    wanted = X.reshape(*IMAGE[:axis], features) @ weight.T + bias
    text = f"inner_product_param {{ num_output: 5 axis: {axis} transpose: {str(transpose).lower()} }}"
    check_layer(tmp_path, wanted, "InnerProduct", [X], text, [weight.T if transpose else weight, bias])


def test_embed_and_batch_reindex(tmp_path: Path) -> None:
    table, bias = random(10, 4, seed=1), random(4, seed=2)
    index = np.array([[3, 0, 9], [1, 1, 5]], np.float32)
    text = "embed_param { input_dim: 10 num_output: 4 }"
    check_layer(tmp_path, table[index.astype(int)] + bias, "Embed", [index], text, [table, bias])
    order = np.array([1, 0, 0, 1], np.float32)
    check_layer(tmp_path, X[order.astype(int)], "BatchReindex", [X, order])


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 2, -1])
def test_scale_and_bias_over_several_axes(axis: int, count: int, tmp_path: Path) -> None:
    covered = IMAGE[axis:] if count < 0 else IMAGE[axis : axis + count]
    factors, offsets = random(*covered, seed=1), random(*covered, seed=2)
    spread = (*covered, *([1] * (4 - axis - len(covered))))
    text = f"axis: {axis} num_axes: {count}"
    scaled = X * factors.reshape(spread) + offsets.reshape(spread)
    check_layer(tmp_path, scaled, "Scale", [X], f"scale_param {{ {text} bias_term: true }}", [factors, offsets])
    check_layer(tmp_path, X + offsets.reshape(spread), "Bias", [X], f"bias_param {{ {text} }}", [offsets])


def test_scale_bias_and_axpy_with_computed_operands(tmp_path: Path) -> None:
    factors, image = random(2, 6, seed=1), random(*IMAGE, seed=2)
    spread = factors[:, :, None, None]
    check_layer(tmp_path, X * spread, "Scale", [X, factors], "scale_param { axis: 0 }")
    check_layer(tmp_path, X + spread, "Bias", [X, factors], "bias_param { axis: 0 }")
    check_layer(tmp_path, X * spread + image, "Axpy", [spread, X, image])


def test_bn_of_forks(tmp_path: Path) -> None:
    slope, bias, mean, variance = random(6, seed=1), random(6, seed=2), random(6, seed=3), positive(6, seed=4)
    slope4, bias4, mean4, variance4 = (array.reshape(-1, 1, 1) for array in (slope, bias, mean, variance))
    wanted = (X - mean4) / np.sqrt(variance4 + 0.01) * slope4 + bias4
    check_layer(tmp_path, wanted, "BN", [X], "bn_param { eps: 0.01 }", [slope, bias, mean, variance])
    check_layer(tmp_path, X * slope4 + bias4, "BN", [X], "bn_param { bn_mode: INFERENCE }", [slope, bias])


def test_batch_norm_of_a_matrix_with_a_factor_of_zero(tmp_path: Path) -> None:
    x = random(3, 5)
    blobs = [random(5, seed=1), positive(5, seed=2), np.zeros(1, np.float32)]
    check_layer(tmp_path, x / np.sqrt(np.float64(1e-5)), "BatchNorm", [x], blobs=blobs)


@pytest.mark.parametrize("average", [True, False])
def test_spatial_pyramid(average: bool, tmp_path: Path) -> None:
    x = random(2, 3, 10, 10)
    levels = []
    for bins in (1, 2, 4):
        kernel = -(-10 // bins)
        pad = (kernel * bins - 10 + 1) // 2
        levels.append(formulas.pooling(x, kernel, kernel, pad, average, True).reshape(2, -1))
    text = f"spp_param {{ pyramid_height: 3 pool: {'AVE' if average else 'MAX'} }}"
    check_layer(tmp_path, np.concatenate(levels, 1), "SPP", [x], text)


def test_interpolation_to_the_size_of_another_blob(tmp_path: Path) -> None:
    check_layer(tmp_path, formulas.interpolation(X, 4, 20), "Interp", [X, random(1, 2, 4, 20)])


def test_constant_blobs(tmp_path: Path) -> None:
    weight = random(2, 6, 1, 1)
    layers = """
layer { name: "weight" type: "Parameter" top: "w" parameter_param { shape { dim: 2 dim: 6 dim: 1 dim: 1 } } }
layer { name: "ones" type: "DummyData" top: "d"
  dummy_data_param { data_filler { value: 1.5 } shape { dim: 2 dim: 6 dim: 1 dim: 1 } } }
layer { name: "sum" type: "Eltwise" bottom: "w" bottom: "d" bottom: "x" top: "y" }
"""
    x = random(2, 6, 1, 1, seed=1)
    got = compute(tmp_path, network(layers, {"x": x}), {"weight": [weight]}, {"x": x})
    agree(got["y"], weight + 1.5 + x)
