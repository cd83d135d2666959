"""Gradients of training graphs against central differences in float64, and MindSpore's form of training graphs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Array, Module, Node, Value, constant
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops import (
    Operator,
    activation,
    arithmetic,
    assembly,
    comparison,
    indexing,
    normalization,
    pooling,
    rearrange,
    reduction,
    unary,
)
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, PaddingMode, PadMode, ReduceMode
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.training import Assign
from mslite.converter.mindir.reference import REFERENCES
from mslite.converter.training import (
    Loss,
    Optimizer,
    TrainSettings,
    is_training,
    training_graph,
    with_variables_for_constants,
)
from tests.converter.gradient_check import (
    STEP,
    Net,
    differences,
    gradients,
    numbers,
    own_numbers,
    run,
    run_file,
)

__all__ = ["own_numbers"]


def _softmax(z: Array) -> Array:
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def _sigmoid(z: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-z)))


def _erf(z: Array) -> Array:
    return np.asarray(np.vectorize(math.erf)(z))


_A, _V = numbers(4, 6), numbers(6, low=0.5, high=2)
_PAIR, _HALF = numbers(2, 5, 6), np.asarray([0.5], np.float32)
_BORDER = np.asarray([[1, 2], [3, 0]], np.int32)
_Function = Callable[[Array], Array]


def _activated(kind: ActivationType, alpha: float = 0.0) -> Operator:
    return activation.Activation(activation_type=kind, alpha=alpha)


_RULES: dict[str, tuple[Callable[[Net], Net], _Function]] = {
    "relu": (lambda n: n.add(_activated(ActivationType.RELU)), lambda z: np.maximum(z, 0)),
    "relu6": (lambda n: n.add(_activated(ActivationType.RELU6)), lambda z: np.clip(z, 0, 6)),
    "leaky": (lambda n: n.add(activation.LeakyRelu(negative_slope=0.2)), lambda z: np.where(z > 0, z, 0.2 * z)),
    "elu": (lambda n: n.add(activation.Elu(alpha=0.7)), lambda z: np.where(z > 0, z, 0.7 * np.expm1(np.minimum(z, 0)))),
    "sigmoid": (lambda n: n.add(_activated(ActivationType.SIGMOID)), _sigmoid),
    "tanh": (lambda n: n.add(_activated(ActivationType.TANH)), np.tanh),
    "swish": (lambda n: n.add(_activated(ActivationType.SWISH)), lambda z: z * _sigmoid(z)),
    "hswish": (lambda n: n.add(_activated(ActivationType.HSWISH)), lambda z: z * np.clip(z + 3, 0, 6) / 6),
    "softplus": (lambda n: n.add(_activated(ActivationType.SOFTPLUS)), lambda z: np.logaddexp(0, z)),
    "softmax": (lambda n: n.add(activation.Softmax(axis=(-1,))), _softmax),
    "exp": (lambda n: n.add(unary.ExpFusion(scale=0.3)), lambda z: np.exp(0.3 * z)),
    "square": (lambda n: n.add(unary.Square()), np.square),
    "sqrt": (lambda n: n.add(unary.Square()).add(arithmetic.AddFusion(), _V[:1]).add(unary.Sqrt()), lambda z: np.sqrt(z**2 + _V[0])),
    "log": (lambda n: n.add(unary.ExpFusion()).add(arithmetic.AddFusion(), _V[:1]).add(unary.Log()), lambda z: np.log(np.exp(z) + _V[0])),
    "add": (lambda n: n.add(arithmetic.AddFusion(), _A), lambda z: z + _A),
    "add-self": (lambda n: n.add(arithmetic.AddFusion(), twice=True), lambda z: 2 * z),
    "subtract": (lambda n: n.add(arithmetic.SubFusion(), _A, first=True), lambda z: _A - z),
    "multiply": (lambda n: n.add(arithmetic.MulFusion(), _A), lambda z: z * _A),
    "multiply-self": (lambda n: n.add(arithmetic.MulFusion(), twice=True), np.square),
    "divide": (lambda n: n.add(arithmetic.DivFusion(), _A + 3), lambda z: z / (_A + 3)),
    "divide-by-number": (lambda n: n.add(arithmetic.DivFusion(), np.float32(1.7)), lambda z: z / np.float32(1.7)),
    "divide-first": (lambda n: n.add(unary.ExpFusion()).add(arithmetic.DivFusion(), _A, first=True), lambda z: _A / np.exp(z)),
    "maximum": (lambda n: n.add(arithmetic.Maximum(), _A), lambda z: np.maximum(z, _A)),
    "fused": (lambda n: n.add(arithmetic.AddFusion(activation_type=ActivationType.RELU), _A), lambda z: np.maximum(z + _A, 0)),
    "mean": (lambda n: n.add(reduction.ReduceFusion(mode=ReduceMode.ReduceMean, keep_dims=True), np.asarray([1], np.int32)),
             lambda z: z.mean(axis=1, keepdims=True)),
    "sum": (lambda n: n.add(reduction.ReduceFusion(mode=ReduceMode.ReduceSum), np.asarray([0], np.int32)), lambda z: z.sum(axis=0)),
    "largest": (lambda n: n.add(reduction.ReduceFusion(mode=ReduceMode.ReduceMax), np.asarray([1], np.int32)), lambda z: z.max(axis=1)),
    "smallest": (lambda n: n.add(reduction.ReduceFusion(mode=ReduceMode.ReduceMin, keep_dims=True), np.asarray([0], np.int32)),
                 lambda z: z.min(axis=0, keepdims=True)),
    "erf": (lambda n: n.add(unary.Erf()), _erf),
    "log-softmax": (lambda n: n.add(activation.LogSoftmax(axis=-1)), lambda z: np.log(_softmax(z))),
    "squared-difference": (lambda n: n.add(arithmetic.SquaredDifference(), _A), lambda z: (z - _A) ** 2),
    "squared-difference-repeated": (lambda n: n.add(arithmetic.SquaredDifference(), _A[:1]), lambda z: (z - _A[:1]) ** 2),
    "slice": (lambda n: n.add(assembly.SliceFusion(axes=(0, 1)), np.asarray([1, 2], np.int32), np.asarray([2, 3], np.int32)),
              lambda z: z[1:3, 2:5]),
    "strided-slice": (lambda n: n.add(assembly.StridedSlice(), *(np.asarray(part, np.int32) for part in ([0, 5], [4, 0], [3, -2]))),
                      lambda z: z[0:4:3, 5:0:-2]),
    "strided-slice-by-axes": (
        lambda n: n.add(assembly.StridedSlice(), *(np.asarray(part, np.int64) for part in ([-3], [2**62], [1], [2]))),
        lambda z: z[:, -3::2]),
    "gather": (lambda n: n.add(indexing.Gather(), np.asarray([[3, 0], [-1, 3]], np.int32), np.asarray([1], np.int32)),
               lambda z: z[:, [[3, 0], [-1, 3]]]),
    "gather-tuples": (lambda n: n.add(indexing.GatherNd(), np.asarray([[3, 0], [-1, 2], [3, 0]], np.int32)), lambda z: z[[3, -1, 3], [0, 2, 0]]),
    "gather-rows": (lambda n: n.add(indexing.GatherNd(), np.asarray([[3], [0], [3]], np.int32)), lambda z: z[[3, 0, 3]]),
    "gather-one": (lambda n: n.add(indexing.Gather(), np.asarray(2, np.int32), np.asarray([0], np.int32)), lambda z: z[2]),
    "stack": (lambda n: n.add(assembly.Stack(axis=-1), twice=True), lambda z: np.stack([z, z], axis=-1)),
    "transpose": (lambda n: n.add(rearrange.Transpose(), np.asarray([1, 0], np.int32)), lambda z: z.T),
    "reshape": (lambda n: n.add(rearrange.Reshape(), np.asarray([3, 8], np.int32)), lambda z: z.reshape(3, 8)),
    "broadcast": (lambda n: n.add(rearrange.Reshape(), np.asarray([4, 1, 6], np.int32))
                  .add(assembly.BroadcastTo(shape=(2, 4, 3, 6)), np.asarray([2, 4, 3, 6], np.int32)),
                  lambda z: np.broadcast_to(z[:, None], (2, 4, 3, 6))),
    "tile": (lambda n: n.add(assembly.TileFusion(), np.asarray([2, 3], np.int32)), lambda z: np.tile(z, (2, 3))),
    "tile-of-many": (lambda n: n.add(rearrange.Reshape(), np.asarray([2, 2, 1, 3, 2], np.int32))
                     .add(assembly.TileFusion(), np.asarray([1, 1, 2, 1, 1], np.int32)),
                     lambda z: np.tile(z.reshape(2, 2, 1, 3, 2), (1, 1, 2, 1, 1))),
    "concat": (lambda n: n.add(assembly.Concat(axis=1), twice=True), lambda z: np.concatenate([z, z], axis=1)),
    "power": (lambda n: n.add(unary.Square()).add(arithmetic.PowFusion(scale=0.5, shift=1), np.asarray([1.5], np.float32)),
              lambda z: (0.5 * z**2 + 1) ** 1.5),
    "hard-tanh": (lambda n: n.add(activation.Activation(activation_type=ActivationType.HARD_TANH, min_val=-0.4, max_val=0.9)),
                  lambda z: np.clip(z, -0.4, 0.9)),
    "selu": (lambda n: n.add(_activated(ActivationType.SELU)),
             lambda z: 1.0507009873554805 * np.where(z > 0, z, 1.6732632423543772 * np.expm1(np.minimum(z, 0)))),
    "thresholded": (lambda n: n.add(_activated(ActivationType.THRESHOLDRELU, 0.3)), lambda z: np.where(z > 0.3, z, 0)),
    "selu-by-numbers": (lambda n: n.add(activation.Selu(alpha=0.7, gamma=1.3)),
                        lambda z: 1.3 * np.where(z > 0, z, 0.7 * np.expm1(np.minimum(z, 0)))),
    "celu": (lambda n: n.add(activation.Celu(alpha=0.6)), lambda z: np.where(z > 0, z, 0.6 * np.expm1(np.minimum(z, 0) / 0.6))),
    "mish": (lambda n: n.add(activation.Mish()), lambda z: z * np.tanh(np.logaddexp(0, z))),
    "hard-sigmoid": (lambda n: n.add(activation.HardSigmoid(alpha=0.6, beta=0.4)), lambda z: np.clip(0.6 * z + 0.4, 0, 1)),
    "shrink": (lambda n: n.add(activation.Shrink(bias=0.1, threshold=0.4)),
               lambda z: np.where(z < -0.4, z + 0.1, np.where(z > 0.4, z - 0.1, 0))),
    "tangent": (lambda n: n.add(unary.Sin()).add(unary.Tan()), lambda z: np.tan(np.sin(z))),
    "arc-sine": (lambda n: n.add(unary.Sin()).add(arithmetic.MulFusion(), _HALF).add(unary.Asin()), lambda z: np.arcsin(0.5 * np.sin(z))),
    "arc-cosine": (lambda n: n.add(unary.Sin()).add(arithmetic.MulFusion(), _HALF).add(unary.Acos()), lambda z: np.arccos(0.5 * np.sin(z))),
    "arc-tangent": (lambda n: n.add(unary.Atan()), np.arctan),
    "hyperbolic-sine": (lambda n: n.add(unary.Sinh()), np.sinh),
    "hyperbolic-cosine": (lambda n: n.add(unary.Cosh()), np.cosh),
    "area-sine": (lambda n: n.add(unary.Asinh()), np.arcsinh),
    "area-cosine": (lambda n: n.add(unary.ExpFusion()).add(arithmetic.AddFusion(), 2 * _HALF).add(unary.Acosh()),
                    lambda z: np.arccosh(np.exp(z) + 1)),
    "area-tangent": (lambda n: n.add(unary.Sin()).add(arithmetic.MulFusion(), _HALF).add(unary.Atanh()),
                     lambda z: np.arctanh(0.5 * np.sin(z))),
    "length": (lambda n: n.add(reduction.ReduceFusion(mode=ReduceMode.ReduceL2), np.asarray([1], np.int32)),
               lambda z: np.sqrt((z**2).sum(axis=1))),
    "sum-of-squares": (lambda n: n.add(reduction.ReduceFusion(mode=ReduceMode.ReduceSumSquare, keep_dims=True), np.asarray([0], np.int32)),
                       lambda z: (z**2).sum(axis=0, keepdims=True)),
    "sum-of-sizes": (lambda n: n.add(reduction.ReduceFusion(mode=ReduceMode.ReduceASum), np.asarray([1], np.int32)),
                     lambda z: np.abs(z).sum(axis=1)),
    "log-of-sum": (lambda n: n.add(reduction.ReduceLogSumExp(), np.asarray([1], np.int32)), lambda z: np.log(np.exp(z).sum(axis=1))),
    "border-reflected": (lambda n: n.add(assembly.PadFusion(padding_mode=PaddingMode.REFLECT), _BORDER),
                         lambda z: np.pad(z, _BORDER, "reflect")),
    "border-symmetric": (lambda n: n.add(assembly.PadFusion(padding_mode=PaddingMode.SYMMETRIC), _BORDER),
                         lambda z: np.pad(z, _BORDER, "symmetric")),
    "border-of-edges": (lambda n: n.add(assembly.PadExtend(mode="edge"), _BORDER), lambda z: np.pad(z, _BORDER, "edge")),
    "repeated-matrix": (lambda n: n.add(rearrange.Reshape(), np.asarray([2, 4, 3], np.int32)).add(MatMulFusion(transpose_a=True), _A),
                        lambda z: z.reshape(2, 4, 3).transpose(0, 2, 1) @ _A),
    "repeated-in-front": (lambda n: n.add(rearrange.Reshape(), np.asarray([1, 4, 6], np.int32)).add(MatMulFusion(transpose_b=True), _PAIR),
                          lambda z: z @ _PAIR.transpose(0, 2, 1)),
    "clip": (lambda n: n.add(unary.Clip(min=-0.4, max=0.9)), lambda z: np.clip(z, -0.4, 0.9)),
    "clip-below": (lambda n: n.add(unary.Clip(min=-0.4, max=np.inf)), lambda z: np.maximum(z, -0.4)),
    "clip-above": (lambda n: n.add(unary.Clip(min=-np.inf, max=0.4)), lambda z: np.minimum(z, 0.4)),
    "clip-by-operands": (lambda n: n.add(unary.Clip(), np.float32(-0.4), np.float32(0.9)), lambda z: np.clip(z, -0.4, 0.9)),
    "sine": (lambda n: n.add(unary.Sin()), np.sin),
    "cosine": (lambda n: n.add(unary.Cos()), np.cos),
    "reciprocal": (lambda n: n.add(unary.ExpFusion()).add(unary.Reciprocal()), lambda z: np.exp(-z)),
    "log-of-more": (lambda n: n.add(unary.Square()).add(unary.Log1p()), lambda z: np.log1p(z**2)),
    "running-sum": (lambda n: n.add(reduction.CumSum(), np.asarray([1], np.int32)), lambda z: z.cumsum(axis=1)),
    "running-sum-before": (lambda n: n.add(reduction.CumSum(exclusive=True, reverse=True), np.asarray([0], np.int32)),
                           lambda z: z[::-1].cumsum(axis=0)[::-1] - z),
    "reversed": (lambda n: n.add(rearrange.ReverseV2(axis=(1,))), lambda z: z[:, ::-1] * 1),
    "unit-length": (lambda n: n.add(normalization.L2NormalizeFusion(axis=(-1,), epsilon=1e-6)),
                    lambda z: z / np.sqrt((z**2).sum(axis=-1, keepdims=True))),
    "unit-length-of-short": (lambda n: n.add(normalization.L2NormalizeFusion(axis=(0,), epsilon=1e4)), lambda z: z / 100),
    "pad": (lambda n: n.add(assembly.PadFusion(), np.asarray([[0, 1], [2, 0]], np.int32)), lambda z: np.pad(z, [(0, 1), (2, 0)])),
}  # fmt: skip


@pytest.mark.nonconforming("every operator by itself, also what later versions have dropped")
@pytest.mark.parametrize("name", _RULES)
def test_rule(name: str, tmp_path: Path) -> None:
    """A product, then the operator: the gradient of the product's weight, and of its bias, goes through the operator."""
    extend, function = _RULES[name]
    x, weight, bias = numbers(4, 5), numbers(5, 6), numbers(6)
    net = extend(Net(x.shape).add(MatMulFusion(), weight, bias))
    shape = function(x @ weight + bias).shape
    target = numbers(*shape)
    found = gradients(net, x, target, tmp_path / "train.ms")
    assert list(found)[:2] == ["MatMulFusion_0/c0", "MatMulFusion_0/c1"]
    expected = {
        "MatMulFusion_0/c0": differences(lambda w: function(x @ w + bias), weight, target),
        "MatMulFusion_0/c1": differences(lambda b: function(x @ weight + b), bias, target),
    }
    for parameter, values in expected.items():
        assert np.abs(found[parameter] - values).max() <= 2e-5 * max(1.0, np.abs(values).max())


@pytest.mark.nonconforming("every operator by itself, also what later versions have dropped")
@pytest.mark.parametrize(
    "step", [unary.Sign(), _activated(ActivationType.SIGN), unary.Floor(), unary.Ceil(), unary.Round()]
)
def test_steps_pass_nothing_on(step: Operator, tmp_path: Path) -> None:
    """z times its sign, or its whole part: the gradient comes by the other factor alone."""
    x, weight = numbers(4, 5), numbers(5, 6)
    net = Net(x.shape).add(MatMulFusion(), weight)
    product = net.latest
    stepped = net.add(step).latest
    net.latest = Value("scaled", DataType.FLOAT32, None, format=Format.NHWC)
    net.graph.nodes.append(Node(arithmetic.MulFusion(), "scaled", (product, stepped), (net.latest,)))
    function = {"Floor": np.floor, "Ceil": np.ceil, "Round": np.round}.get(step.name, np.sign)
    target = numbers(4, 6)
    found = gradients(net, x, target, tmp_path / "train.ms")
    expected = differences(lambda w: (x @ w) * function(x @ weight), weight, target)
    assert np.abs(found["MatMulFusion_0/c0"] - expected).max() <= 2e-5 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("wide", [False, True])
def test_choices(wide: bool, tmp_path: Path) -> None:
    """Between two products, or one and a row that repeats; the condition repeats, too."""
    x, weight, other = numbers(4, 5), numbers(5, 6), numbers(*((4, 6) if wide else (6,)))
    condition = np.asarray([[True], [False], [True], [False]])
    net = Net(x.shape).add(MatMulFusion(), weight)
    product = net.latest
    first, second = constant("condition", condition, Format.NHWC), constant("other", other, Format.NHWC)
    sums = Value("sum", DataType.FLOAT32, None, format=Format.NHWC)
    net.graph.nodes.append(Node(arithmetic.MulFusion(), "sum", (product, product), (sums,)))
    net.latest = Value("chosen", DataType.FLOAT32, None, format=Format.NHWC)
    last = product if wide else second
    net.graph.nodes.append(Node(comparison.Where(), "chosen", (first, sums, last), (net.latest,)))
    target = numbers(4, 6)
    found = gradients(net, x, target, tmp_path / "train.ms")

    def forward(w: Array) -> Array:
        z = x @ w
        return np.where(condition, z**2, z if wide else other)

    expected = differences(forward, weight, target)
    assert np.abs(found["MatMulFusion_0/c0"] - expected).max() <= 2e-5 * max(1.0, np.abs(expected).max())


_BLOCKS: dict[str, tuple[Operator, tuple[int, ...]]] = {
    "space-to-batch": (rearrange.SpaceToBatchND(block_shape=(2, 3), paddings=((1, 1), (0, 2))), (2, 4, 4, 4)),
    "batch-to-space": (rearrange.BatchToSpace(block_size=(2, 2), crops=((1, 0), (0, 1))), (4, 3, 2, 4)),
    "space-to-depth": (rearrange.SpaceToDepth(block_size=2, format=Format.NHWC), (2, 4, 6, 4)),
    "depth-to-space": (rearrange.DepthToSpace(block_size=2, format=Format.NHWC, mode="DCR"), (2, 3, 2, 4)),
    "depth-to-space-behind": (rearrange.DepthToSpace(block_size=2, format=Format.NHWC, mode="CRD"), (2, 3, 2, 8)),
}


@pytest.mark.nonconforming("every operator by itself, also what later versions have dropped")
@pytest.mark.parametrize("name", _BLOCKS)
def test_blocks(name: str, tmp_path: Path) -> None:
    """Movements of pixels, behind a convolution: the gradient is that of the numbers that they move."""
    op, shape = _BLOCKS[name]
    x, weight = numbers(*shape[:3], 3), numbers(shape[3], 1, 1, 3)
    net = Net(x.shape).add(Conv2DFusion(format=Format.NHWC, kernel_size=(1, 1), group=1), weight).add(op)
    places = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
    moved = REFERENCES[op.name](op, [places])[0].astype(int)  # 0: what is added at edges

    def forward(w: Array) -> Array:
        made = np.append(0, (x.astype(np.float64) @ w[:, 0, 0].T).reshape(-1))
        return np.asarray(made[moved])

    target = numbers(*moved.shape)
    (found,) = gradients(net, x, target, tmp_path / "train.ms").values()
    expected = differences(forward, weight, target)
    assert np.abs(found - expected).max() <= 2e-5 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("unread", [None, 1])
@pytest.mark.parametrize("operator", ["Split", "Unstack"])
def test_results_of_which_some_are_read(operator: str, unread: int | None, tmp_path: Path) -> None:
    """A product in three parts, of which the last, and the middle one or not, are added up."""
    x, weight, target = numbers(4, 5), numbers(5, 3), numbers(4, 1)
    net = Net(x.shape).add(MatMulFusion(), weight)
    op = assembly.Split(output_num=3, axis=1) if operator == "Split" else assembly.Unstack(axis=1)
    parts = tuple(Value(f"part_{i}", DataType.FLOAT32, None, format=Format.NHWC) for i in range(3))
    net.graph.nodes.append(Node(op, "parts", (net.latest,), parts))
    read = [part for i, part in enumerate(parts) if i != unread]
    net.latest = Value("sum", DataType.FLOAT32, None, format=Format.NHWC)
    net.graph.nodes.append(Node(arithmetic.AddN(), "sum", tuple(read), (net.latest,)))
    if operator == "Unstack":
        target = target[:, 0]
    (found,) = gradients(net, x, target, tmp_path / "train.ms").values()

    def forward(w: Array) -> Array:
        columns = [column for i, column in enumerate((x @ w).T) if i != unread]
        return np.asarray(sum(columns)).reshape(target.shape)

    assert np.abs(found - differences(forward, weight, target)).max() <= 2e-5


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_a_table_of_embeddings(kind: type, tmp_path: Path) -> None:
    """Rows that are taken twice get both gradients, others none."""
    table, ids, target = numbers(7, 3), np.asarray([[2, 5, 2], [0, 2, 6]], kind), numbers(2, 3, 3)
    given = Value("ids", DataType.INT32 if kind is np.int32 else DataType.INT64, (2, 3), format=Format.NHWC)
    net = Net((2, 3))
    net.graph.inputs = [given]
    rows = [constant("table", table, Format.NHWC), given, constant("axis", np.asarray([0], np.int32), Format.NHWC)]
    net.latest = Value("rows", DataType.FLOAT32, None, format=Format.NHWC)
    net.graph.nodes.append(Node(indexing.Gather(), "rows", tuple(rows), (net.latest,)))
    found = gradients(net, ids, target, tmp_path / "train.ms")
    expected = differences(lambda t: t[ids], table, target)
    assert not expected[[1, 3, 4]].any()
    assert np.abs(found["table"] - expected).max() <= 2e-5


@pytest.mark.parametrize("transposed", [(False, True), (True, False), (True, True)])
def test_transposed_products(transposed: tuple[bool, bool], tmp_path: Path) -> None:
    first, second = transposed
    x = numbers(5, 4) if first else numbers(4, 5)
    weight, target = (numbers(6, 5) if second else numbers(5, 6)), numbers(4, 6)
    net = Net(x.shape).add(MatMulFusion(transpose_a=first, transpose_b=second), weight)

    def forward(w: Array) -> Array:
        return np.asarray((x.T if first else x) @ (w.T if second else w))

    (found,) = gradients(net, x, target, tmp_path / "train.ms").values()
    assert np.abs(found - differences(forward, weight, target)).max() <= 2e-5


def _windows(x: Array, kernel: int, stride: int) -> Array:
    """[b, i, j, c, h, w]"""
    view = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(1, 2))
    return view[:, ::stride, ::stride]


@pytest.mark.parametrize(("group", "stride", "pad"), [(1, 1, 1), (1, 2, 0), (4, 2, 1), (2, 1, 0)])
def test_convolutions(group: int, stride: int, pad: int, tmp_path: Path) -> None:
    """Two convolutions, so that the gradient goes through the input of the second, and both kinds of pooling."""
    x, first, bias = numbers(2, 9, 9, 4), numbers(4, 3, 3, 4 // group), numbers(4)
    second = numbers(3, 1, 1, 4)
    op = Conv2DFusion(format=Format.NHWC, kernel_size=(3, 3), stride=(stride, stride), pad_list=(pad,) * 4, group=group)
    maximum = pooling.MaxPoolFusion(kernel_size=(2, 2), strides=(1, 1), pad_mode=PadMode.VALID, format=Format.NHWC)
    average = pooling.AvgPoolFusion(global_=True, format=Format.NHWC)
    net = Net(x.shape).add(op, first, bias).add(maximum)
    net.add(Conv2DFusion(format=Format.NHWC, kernel_size=(1, 1), group=1), second).add(average)

    def forward(w: Array, b: Array, v: Array) -> Array:
        room = np.pad(x.astype(np.float64), [(0, 0), (pad, pad), (pad, pad), (0, 0)])
        view = _windows(room, 3, stride)
        size = 4 // group
        parts = [
            np.einsum("bijchw,ohwc->bijo", view[:, :, :, g * size : (g + 1) * size], w[g * size : (g + 1) * size])
            for g in range(group)
        ]
        y = _windows(np.concatenate(parts, axis=3) + b, 2, 1).max(axis=(4, 5))
        return np.asarray(np.einsum("bijc,oc->bijo", y, v[:, 0, 0]).mean(axis=(1, 2), keepdims=True))

    target = numbers(2, 1, 1, 3)
    found = gradients(net, x, target, tmp_path / "train.ms")
    expected = [
        differences(lambda w: forward(w, bias, second), first, target),
        differences(lambda b: forward(first, b, second), bias, target),
        differences(lambda v: forward(first, bias, v), second, target),
    ]
    for ours, values in zip(found.values(), expected, strict=True):
        assert np.abs(ours - values).max() <= 2e-5 * max(1.0, np.abs(values).max())


@pytest.mark.parametrize("loss", Loss)
def test_losses(loss: Loss, tmp_path: Path) -> None:
    """Loss and gradient; cross entropies leave out the function that makes probabilities."""
    x, weight = numbers(4, 5), numbers(6, 5)
    net = Net(x.shape).add(FullConnection(), weight)
    if loss in (Loss.SOFTMAX, Loss.SPARSE_SOFTMAX):
        net.add(activation.Softmax(axis=(1,)))
    if loss is Loss.SIGMOID:
        net.add(_activated(ActivationType.SIGMOID))
    labels: Array = np.asarray([3, 0, 5, 1], np.int32)
    if loss is not Loss.SPARSE_SOFTMAX:
        labels = numbers(4, 6, low=0, high=1)
        if loss is Loss.SOFTMAX:
            labels /= labels.sum(axis=1, keepdims=True)

    def value(w: Array) -> float:
        z = x.astype(np.float64) @ w.T
        if loss is Loss.SPARSE_SOFTMAX:
            return float(-np.log(_softmax(z))[np.arange(4), labels].mean())
        if loss is Loss.SOFTMAX:
            return float(-(labels * np.log(_softmax(z))).sum(axis=1).mean())
        if loss is Loss.SIGMOID:
            return float((np.logaddexp(0, z) - labels * z).mean())
        d = np.abs(z - labels)
        if loss is Loss.ABSOLUTE:
            return float(d.mean())
        return float((d**2).mean() if loss is Loss.SQUARED else np.where(d < 1, d**2 / 2, d - 0.5).mean())

    made = training_graph(net.module(), TrainSettings(loss, Optimizer.SGD, learning_rate=1.0))
    graph = made.module.main
    (step,) = [node.output for node in graph.nodes if node.name.endswith("/step")]
    graph.outputs = [graph.outputs[0], step]
    ours, gradient = run(made.module, tmp_path / "train.ms", [x, labels])
    assert abs(float(ours[0]) - value(weight.astype(np.float64))) < 1e-6 * max(1.0, abs(float(ours[0])))
    for place in np.ndindex(weight.shape):
        moved = [weight.astype(np.float64), weight.astype(np.float64)]
        moved[0][place] += STEP
        moved[1][place] -= STEP
        assert abs(gradient[place] - (value(moved[0]) - value(moved[1])) / (2 * STEP)) < 2e-5


def _in_mindspore_form(module: Module) -> Module:
    """The graph as MindSpore exports it: constants that optimizers change, one result each, no variables."""
    graph = module.main
    for node in [node for node in graph.nodes if node.op.name == "AssignVariable"]:
        changed = node.inputs[0].producer
        assert changed is not None
        variable = node.op.variable  # type: ignore[attr-defined]
        node.set_inputs(())
        graph.nodes.remove(node)
        if changed.op.name == "MulFusion":  # a power of Adam's
            (read,) = [one for one in graph.nodes if getattr(one.op, "variable", None) == variable]
            result = Value(f"{variable}/assigned", DataType.FLOAT32, (1,))
            graph.nodes.append(Node(Assign(), f"{variable}/assign", (read.output, changed.output), (result,)))
        else:
            changed.outputs = changed.outputs[:1]
    for node in [node for node in graph.nodes if node.op.name == "ReadVariable"]:
        graph.replace_uses(node.output, node.inputs[0])
        graph.remove(node)
    graph.outputs = graph.outputs[:1]
    module.outputs = None
    return module


@pytest.mark.parametrize("optimizer", [Optimizer.MOMENTUM, Optimizer.ADAM])
def test_graphs_of_mindspore(optimizer: Optimizer, tmp_path: Path) -> None:
    """A file whose optimizers change constants in place trains as the graph with variables does."""
    x, labels = numbers(4, 8, 8, 1), np.asarray([1, 2, 0, 1], np.int32)

    def net() -> Module:
        chance = np.random.default_rng(5)
        made = Net(x.shape)
        op = Conv2DFusion(format=Format.NHWC, kernel_size=(3, 3), stride=(2, 2), pad_mode=PadMode.SAME, group=1)
        made.add(op, chance.standard_normal((3, 3, 3, 1)).astype(np.float32), np.zeros(3, np.float32))
        made.add(_activated(ActivationType.RELU)).add(rearrange.Flatten(axis=1))
        made.add(
            FullConnection(has_bias=True), chance.standard_normal((3, 48)).astype(np.float32), np.zeros(3, np.float32)
        )
        return made.module()

    settings = TrainSettings(Loss.SPARSE_SOFTMAX, optimizer, 0.02)
    wanted = training_graph(net(), settings)
    save(_in_mindspore_form(training_graph(net(), settings).module), tmp_path / "mindspore.ms")
    module = load(tmp_path / "mindspore.ms")
    assert is_training(module)
    assert not is_training(wanted.module)
    ours = with_variables_for_constants(module)
    assert ours.losses == 1
    assert set(ours.parameters) == set(wanted.parameters)
    losses = []
    for one in (wanted.module, ours.module):
        save(one, tmp_path / "train.ms")
        model = mslite.Model()
        model.build_from_file(str(tmp_path / "train.ms"), mslite.ModelType.MINDIR_LITE, mslite.Context())
        tensors = model.get_inputs()
        tensors[0].set_data_from_numpy(x)
        tensors[1].set_data_from_numpy(labels)
        losses.append([float(model.predict(tensors)[0].get_data_to_numpy()[0]) for _ in range(6)])
    assert losses[0] == losses[1]
    assert losses[0][-1] < 0.8 * losses[0][0]
    # A session that loads the file infers: no labels, no loss, no step.
    (logits,) = run(net(), tmp_path / "inference.ms", [x])
    for _ in range(2):
        (found,) = run_file(tmp_path / "mindspore.ms", [x])
        assert np.abs(found - logits).max() < 1e-6 * np.abs(logits).max()


def test_weights_that_no_gradient_reaches_are_refused() -> None:
    net = Net((4, 5)).add(MatMulFusion(), numbers(5, 6)).add(unary.Floor())
    with pytest.raises(ConversionError, match=r"net\.ms: nothing can be trained: no gradient reaches a weight"):
        training_graph(net.module(), TrainSettings(Loss.SQUARED), "net.ms")


def test_what_has_no_gradient_is_named_all_at_once() -> None:
    net = (
        Net((4, 5))
        .add(MatMulFusion(), numbers(5, 6))
        .add(normalization.LpNormalization(p=1))
        .add(normalization.LpNormalization(p=1))
    )
    with pytest.raises(ConversionError, match="2 node") as caught:
        training_graph(net.module(), TrainSettings(Loss.SQUARED), "net.ms")
    for name in ("LpNormalization 'LpNormalization_1'", "LpNormalization 'LpNormalization_2'"):
        assert f"{name}: its gradient is not supported" in str(caught.value)


def test_other_rows() -> None:
    net = Net((1, 4, 6)).add(rearrange.Reshape(), np.asarray([1, 24], np.int32)).add(MatMulFusion(), numbers(24, 6))
    made = training_graph(net.module(), TrainSettings(Loss.SQUARED, batch=7))
    assert made.module.main.outputs[1].shape == (7, 6)


MINDSPORE = Path(__file__).resolve().parents[3] / "shared" / "models" / "mindspore_ms"


@pytest.mark.nonconforming("weights that training changes are variables of mslite")
@pytest.mark.parametrize("name", ["conv_train_model", "lenet_train_lite"])
def test_files_of_mindspore(name: str, tmp_path: Path) -> None:
    """Training files that MindSpore's converter wrote: the gradient of the last bias by central differences, and a falling loss."""
    file = MINDSPORE / name / "model.ms"
    if not file.is_file():
        pytest.skip(f"{file} is not there")
    chance = np.random.default_rng(0)

    def losses(change: float, count: int) -> tuple[list[float], Array]:
        """With the last bias's first number changed: the losses of some steps, and its gradient at the first."""
        made = with_variables_for_constants(load(file))
        graph = made.module.main
        variable = next(one for one in made.parameters if one.endswith("bias"))
        (read,) = [
            node
            for node in graph.nodes
            if getattr(node.op, "variable", None) == variable and node.op.name == "ReadVariable"
        ]
        first = np.array(read.inputs[0].array(), np.float32)
        first.reshape(-1)[0] += change
        read.inputs[0].data = first
        (optimizer,) = [
            node for node in graph.nodes if node.inputs[0] is read.output and node.op.name in ("Adam", "ApplyMomentum")
        ]
        graph.outputs = [graph.outputs[0], optimizer.inputs[9 if optimizer.op.name == "Adam" else 3]]
        made.module.outputs = None
        save(made.module, tmp_path / "train.ms")
        model = mslite.Model()
        model.build_from_file(str(tmp_path / "train.ms"), mslite.ModelType.MINDIR_LITE, mslite.Context())
        tensors = model.get_inputs()
        tensors[0].set_data_from_numpy(data)
        tensors[1].set_data_from_numpy(labels)
        runs = [[np.array(one.get_data_to_numpy()) for one in model.predict(tensors)] for _ in range(count)]
        return [float(one[0].reshape(-1)[0]) for one in runs], runs[0][1].reshape(-1)

    graph = load(file).main
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE, mslite.Context())
    assert [one.name for one in model.get_inputs()] == [graph.inputs[0].name]
    assert [one.name for one in model.get_outputs()] == [
        with_variables_for_constants(load(file)).module.main.outputs[1].name
    ]
    data, labels = (chance.uniform(0, 1, value.shape).astype(np.float32) for value in graph.inputs)
    labels /= labels.sum(axis=1, keepdims=True)
    steps, gradient = losses(0, 12)
    assert steps[-1] < steps[0]
    slope = (losses(2e-2, 1)[0][0] - losses(-2e-2, 1)[0][0]) / 4e-2
    assert abs(gradient[0] - slope) < 1e-2 * abs(gradient[0])
