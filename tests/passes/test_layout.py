"""The global layout pass: few transposes, the same numbers, the promised boundary."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mslite.converter.mindir.graph import SYMBOL_LIMIT, Module, Value
from mslite.converter.mindir.ops.activation import Activation, PReLUFusion, Softmax
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import Concat, PadFusion, Split, StridedSlice
from mslite.converter.mindir.ops.convolution import Conv2DFusion
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, PaddingMode, PadMode, ReduceMode
from mslite.converter.mindir.ops.pooling import MaxPoolFusion
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Squeeze, Transpose, Unsqueeze
from mslite.converter.mindir.ops.reduction import ArgMaxFusion, ReduceFusion
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.verifier import verify
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.layout import unify_layout
from mslite.converter.passes.layout.mincut import FlowNetwork
from mslite.converter.passes.layout.permutation import complete_layout, propagate_through_reshape
from mslite.converter.verify.interpreter import run_graph
from tests.passes.builder import Builder, assert_close, integers, numbers, operators

NCHW = Settings(source_layout=Format.NCHW)
N = SYMBOL_LIMIT - 5


class Source(Builder):
    """Builds graphs in NCHW, as the ONNX parser delivers them: shapes are given, not inferred."""

    def conv(self, x: Value, in_channels: int, out_channels: int) -> Value:
        assert x.shape is not None
        op = Conv2DFusion(
            kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.PAD, pad_list=(1, 1, 1, 1), group=1,
            in_channel=in_channels, out_channel=out_channels,
        )  # fmt: skip
        shape = (x.shape[0], out_channels, *x.shape[2:])
        return self.typed(op, shape, x, numbers(out_channels, 3, 3, in_channels))

    def typed(self, op: object, shape: tuple[int, ...], *operands: object) -> Value:
        """A node whose output shape is known beforehand."""
        from mslite.converter.mindir.graph import Node, constant

        self._count += 1
        name = f"n{self._count}"
        inputs = tuple(
            item if isinstance(item, Value) else constant(f"{name}_c{i}", np.asarray(item))
            for i, item in enumerate(operands)
        )
        value = Value(f"{name}_0", inputs[0].dtype, shape)
        self.graph.nodes.append(Node(op, name, inputs, (value,)))  # type: ignore[arg-type]
        return value


def residual_network(b: Source) -> Module:
    """Convolutions, per-channel constants, pooling, concatenation, slices, pads, splits: all follow the layout."""
    x = b.input(1, 3, 8, 6)
    y = b.conv(x, 3, 4)
    y = b.call(MulFusion(), y, numbers(4, 1, 1))
    y = b.call(Activation(activation_type=ActivationType.RELU), y)
    y = b.call(AddFusion(), y, b.conv(y, 4, 4))
    y = b.call(Concat(axis=1), y, y)
    first, second = b.calls(Split(axis=1, output_num=2, size_splits=(4, 4)), y, outputs=2)
    y = b.call(AddFusion(), first, second)
    y = b.call(StridedSlice(), y, integers(1), integers(8), integers(2), integers(2))
    paddings = integers(0, 0, 0, 0, 1, 0, 0, 2).reshape(4, 2)
    y = b.call(PadFusion(padding_mode=PaddingMode.CONSTANT), y, paddings, np.float32(0))
    y = b.typed(PReLUFusion(), (1, 4, 5, 8), y, numbers(4))
    y = b.call(Softmax(axis=(1,)), y)
    return b.module(b.call(ReduceFusion(mode=ReduceMode.ReduceMean), y, integers(2, 3)))


def squeezed_head(b: Source) -> Module:
    """Global mean, squeeze, and a flatten behind it."""
    y = b.conv(b.input(1, 3, 8, 6), 3, 4)
    y = b.call(ReduceFusion(mode=ReduceMode.ReduceMax, keep_dims=True), y, integers(2, 3))
    return b.module(b.call(Squeeze(axis=(2, 3)), y))


def patch_embedding(b: Source) -> Module:
    """[n, c, h, w] → [n, h * w, c], as vision transformers do."""
    y = b.call(Reshape(), b.conv(b.input(1, 3, 8, 6), 3, 4), integers(1, 4, 48))
    return b.module(b.call(Transpose(), y, integers(0, 2, 1)))


def explicit_nhwc(b: Source) -> Module:
    """The model's own transpose to NHWC."""
    y = b.conv(b.input(1, 3, 8, 6), 3, 4)
    return b.module(b.call(Softmax(axis=(3,)), b.call(Transpose(), y, integers(0, 2, 3, 1))))


def arg_max(b: Source) -> Module:
    return b.module(b.call(ArgMaxFusion(axis=1, keep_dims=False), b.conv(b.input(1, 3, 8, 6), 3, 4)))


def channel_shuffle(b: Source) -> Module:
    y = b.call(Reshape(), b.conv(b.input(1, 3, 8, 6), 3, 4), integers(1, 2, 2, 8, 6))
    y = b.call(Reshape(), b.call(Transpose(), y, integers(0, 2, 1, 3, 4)), integers(1, 4, 8, 6))
    y = b.conv(y, 4, 2)
    return b.module(b.call(ReduceFusion(mode=ReduceMode.ReduceMean), y, integers(2, 3)))


def run(module: Module, nhwc: bool) -> list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    x = numbers(1, 3, 8, 6, seed=7)
    name = module.main.inputs[0].name
    contents = run_graph(module.main, {name: np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if nhwc else x})
    return [contents[value] for value in module.main.outputs]


def unify(module: Module, settings: Settings = NCHW) -> Module:
    context = Context(settings, settings.source_layout)
    context.next_symbol = SYMBOL_LIMIT - 100
    unify_layout(module, context)
    infer_shapes(module, context)
    verify(module)
    return module


@pytest.mark.parametrize(
    ("build", "transposes"),
    [
        (residual_network, 0),
        (squeezed_head, 0),
        (patch_embedding, 0),
        (explicit_nhwc, 0),
        (arg_max, 0),
        (channel_shuffle, 1),
    ],
)
def test_transposes_that_remain(build: Callable[[Source], Module], transposes: int) -> None:
    from mslite.converter.passes.cleanup import remove_identities

    module = unify(build(Source()))
    remove_identities(module, Context())
    assert operators(module).count("Transpose") == transposes


@pytest.mark.parametrize(
    "build", [residual_network, squeezed_head, patch_embedding, explicit_nhwc, arg_max, channel_shuffle]
)
def test_both_input_layouts_give_the_same_numbers(build: Callable[[Source], Module]) -> None:
    """With NCHW inputs every operand is converted by explicit transposes, with NHWC inputs by the pass alone."""
    kept = Settings(source_layout=Format.NCHW, input_format=Format.NCHW)
    assert_close(run(unify(build(Source())), True), run(unify(build(Source()), kept), False), 1e-6)


def test_numbers_against_numpy() -> None:
    """A channel-wise softmax and reduction around a pooling, computed by hand in NCHW."""
    b = Source()
    x = b.input(1, 3, 8, 6)
    pool = MaxPoolFusion(kernel_size=(2, 2), strides=(2, 2), pad=(0, 0, 0, 0))
    y = b.call(Softmax(axis=(1,)), b.typed(pool, (1, 3, 4, 3), x))
    module = unify(b.module(b.call(MulFusion(), y, numbers(3, 1, 1))))
    data = numbers(1, 3, 8, 6, seed=7).astype(np.float64)
    pooled = data.reshape(1, 3, 4, 2, 3, 2).max(axis=(3, 5))
    exponentials = np.exp(pooled)
    want = exponentials / exponentials.sum(axis=1, keepdims=True) * numbers(3, 1, 1)
    assert_close(run(module, True), [want.astype(np.float32)], 1e-5)


def test_boundary_layouts() -> None:
    module = unify(explicit_nhwc(Source()))
    assert module.main.inputs[0].shape == (1, 8, 6, 3)
    assert module.main.inputs[0].format is Format.NHWC
    assert module.main.outputs[0].shape == (1, 8, 6, 4)
    b = Source()
    plain = unify(b.module(b.conv(b.input(1, 3, 8, 6), 3, 4)))
    assert plain.main.outputs[0].shape == (1, 4, 8, 6)
    assert operators(plain) == ["Conv2DFusion", "Transpose"]
    b = Source()
    wanted = Settings(source_layout=Format.NCHW, output_format=Format.NHWC)
    flipped = unify(b.module(b.conv(b.input(1, 3, 8, 6), 3, 4)), wanted)
    assert flipped.main.outputs[0].shape == (1, 8, 6, 4)
    assert operators(flipped) == ["Conv2DFusion"]


def test_a_single_input_that_ends_in_three_channels_stays() -> None:
    b = Source()
    module = unify(b.module(b.call(Transpose(), b.input(1, 8, 6, 3), integers(0, 3, 1, 2))))
    assert module.main.inputs[0].shape == (1, 8, 6, 3)


def test_unknown_sizes_follow() -> None:
    b = Source()
    x = b.input(N, 3, N - 1, N - 2)
    y = b.call(Activation(activation_type=ActivationType.TANH), b.conv(x, 3, 4))
    module = unify(b.module(b.call(ReduceFusion(mode=ReduceMode.ReduceMean), y, integers(2, 3))))
    assert module.main.inputs[0].shape == (N, N - 1, N - 2, 3)
    assert operators(module) == ["Conv2DFusion", "Activation", "ReduceFusion"]


def test_the_shape_of_a_flipped_tensor_is_put_in_order() -> None:
    b = Source()
    y = b.conv(b.input(N, 3, N - 1, 6), 3, 4)
    module = unify(b.module(b.call(Shape(), y), b.call(ReduceFusion(mode=ReduceMode.ReduceMean), y, integers(2, 3))))
    x = numbers(2, 8, 6, 3)
    contents = run_graph(module.main, {module.main.inputs[0].name: x})
    assert contents[module.main.outputs[0]].tolist() == [2, 4, 8, 6]
    assert "Transpose" not in operators(module)


def test_nhwc_sources_change_at_the_boundary_only() -> None:
    b = Builder()
    x = b.input(1, 8, 6, 3)
    module = b.module(b.call(Activation(activation_type=ActivationType.RELU), x))
    for value in module.main.values():
        value.format = Format.NHWC
    unify(module, Settings(source_layout=Format.NHWC, input_format=Format.NCHW, output_format=Format.NCHW))
    assert module.main.inputs[0].shape == (1, 3, 8, 6)
    assert module.main.outputs[0].shape == (1, 3, 8, 6)
    assert operators(module) == ["Transpose", "Activation", "Transpose"]
    assert module.main.inputs[0].dtype is DataType.FLOAT32


@pytest.mark.parametrize(
    ("before", "perm", "after", "order"),
    [
        ((1, 4, 8, 6), (0, 2, 3, 1), (1, 2, 2, 8, 6), [3, 4, 1, 2]),
        ((2, 4, 8, 6), (0, 2, 3, 1), (2, 4, 48), [0, 2, 1]),
        ((2, 4, 1, 1), (0, 2, 3, 1), (2, 4), [0, 1]),
        ((2, 4, 8, 6), (0, 2, 3, 1), (2, 192), None),
        ((N, 4, 8, 6), (0, 2, 3, 1), (N, 4, 48), [0, 2, 1]),
        ((N, 4, 8, 6), (0, 2, 3, 1), (4, N, 48), None),
    ],
)
def test_layouts_through_reshapes(
    before: tuple[int, ...], perm: tuple[int, ...], after: tuple[int, ...], order: list[int] | None
) -> None:
    assert propagate_through_reshape(before, perm, after) == order
    if order is not None and all(size > 0 for size in before):
        data = np.arange(np.prod(before)).reshape(before)
        stored = data.transpose(perm)
        layout = complete_layout(order, after)
        sizes = tuple(after[axis] for axis in layout)
        np.testing.assert_array_equal(stored.reshape(sizes), data.reshape(after).transpose(layout))


def test_minimum_cut() -> None:
    network = FlowNetwork()
    a, b = network.vertex(), network.vertex()
    for tail, head, capacity in ((0, a, 3), (0, b, 5), (a, b, 1), (a, 1, 4), (b, 1, 2)):
        network.edge(tail, head, capacity)
    assert network.source_side() == [True, False, False, True]


def test_one_dimensional_convolutions_of_unknown_batch_and_length_share_their_layout() -> None:
    """Squeeze and Unsqueeze around them cannot become a Reshape to known sizes."""
    b = Source()
    time = N - 1
    weights = [numbers(6, 1, 3, 4), numbers(6, 1, 3, 6, seed=1)]

    def conv(x: Value, weight: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Value:
        channels = weight.shape[3]
        image = b.typed(Unsqueeze(axis=(2,)), (N, channels, 1, time), x)
        op = Conv2DFusion(
            kernel_size=(1, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.PAD, pad_list=(0, 0, 1, 1), group=1,
            in_channel=channels, out_channel=6,
        )  # fmt: skip
        return b.typed(Squeeze(axis=(-2,)), (N, 6, time), b.typed(op, (N, 6, 1, time), image, weight))

    first = conv(b.input(N, 4, time), weights[0])
    gate = b.typed(Activation(activation_type=ActivationType.SIGMOID), (N, 6, time), first)
    second = conv(gate, weights[1])
    module = unify(b.module(b.typed(AddFusion(), (N, 6, time), first, second)))
    assert operators(module).count("Transpose") == 2
    x = numbers(2, 4, 7, seed=2)

    def convolved(x: np.ndarray[tuple[int, ...], np.dtype[np.float32]], index: int) -> object:
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1)))
        taps = np.stack([padded[:, :, k : k + x.shape[2]] for k in range(3)])
        return np.einsum("knct,okc->not", taps, weights[index][:, 0])

    start = np.asarray(convolved(x, 0))
    wanted = start + np.asarray(convolved(1 / (1 + np.exp(-start)), 1))
    contents = run_graph(module.main, {module.main.inputs[0].name: x})
    assert_close(contents[module.main.outputs[0]], wanted)


def test_a_squeezed_tensor_of_unknown_rank_stays() -> None:
    """As in a branch, whose arguments have no shape."""
    b = Source()
    x = b.input(1, 3, 8, 6)
    unknown = b.input(1)
    unknown.shape = None
    y = b.typed(Unsqueeze(axis=(0,)), (), unknown)
    y.shape = None
    module = b.module(b.conv(x, 3, 4), y)
    context = Context(NCHW, Format.NCHW)
    unify_layout(module, context)
    assert operators(module).count("Unsqueeze") == 1


def test_the_dimension_of_several_records_moves_along() -> None:
    """Between convolutions the channels are the last dimension; one record for all has no dimension."""
    for count, axis in ((4, 3), (1, 1)):
        b = Source()
        x = b.conv(b.input(1, 3, 8, 6), 3, 4)
        records = tuple(QuantParam(scale=0.1 + index) for index in range(count))
        types = int(DataType.FLOAT32), int(DataType.INT8)
        stored = b.typed(QuantDTypeCast(src_t=types[0], dst_t=types[1], axis=1), (1, 4, 8, 6), x)
        stored.dtype, stored.quant = DataType.INT8, records
        real = b.typed(QuantDTypeCast(src_t=types[1], dst_t=types[0], axis=1), (1, 4, 8, 6), stored)
        real.dtype = DataType.FLOAT32
        module = b.module(b.conv(real, 4, 2))
        unify_layout(module, Context(NCHW))
        casts = [node.op for node in module.main.nodes if isinstance(node.op, QuantDTypeCast)]
        assert [cast.axis for cast in casts] == [axis, axis]
