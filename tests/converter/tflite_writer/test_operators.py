"""Each operator that is written: LiteRT computes our bits; what it cannot compute is refused with the reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from mslite.converter.ethosu.partitions import Part
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Node, Value, constant
from mslite.converter.mindir.ops import (
    Operator,
    activation,
    arithmetic,
    assembly,
    convolution,
    matmul,
    pooling,
    quantization,
    rearrange,
    reduction,
    resize,
    unary,
)
from mslite.converter.mindir.ops.enums import (
    ActivationType,
    CoordinateTransformMode,
    DataType,
    Format,
    NearestMode,
    PaddingMode,
    PadMode,
    QuantType,
    ReduceMode,
    ResizeMethod,
)
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import ROUND_HALF_TO_EVEN
from mslite.converter.parsers.tflite.model import load
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_node
from mslite.converter.tflite_writer import refusal, write_tflite
from mslite.converter.tflite_writer.registry import WRITERS

from .compare import assert_written_alike

_X = QuantParam(scale=0.25, zeroPoint=-7)
_Y = QuantParam(scale=0.375, zeroPoint=11)
_SMALL = QuantParam(scale=1 / 256, zeroPoint=-128)


def _weights(*shape: int, channels: int | None = None, seed: int = 3) -> Value:
    """Constant weights, with a scale per channel where `channels` is given."""
    data = np.random.default_rng(seed).integers(-127, 128, shape).astype(np.int8)
    value = constant(f"weight{seed}", data)
    count = 1 if channels is None else channels
    value.quant = tuple(QuantParam(scale=float(np.float32(0.01 * (index + 1)))) for index in range(count))
    return value


def _bias(weight: Value, count: int) -> Value:
    data = np.arange(-3, count - 3, dtype=np.int32) * 100
    value = constant("bias", data)
    value.quant = tuple(QuantParam(scale=_X.scale * record.scale) for record in weight.quant)
    return value


def _ints(*numbers: int, shape: Sequence[int] | None = None) -> Value:
    array = np.array(numbers, np.int32)
    return constant(f"ints{'_'.join(map(str, numbers))}", array if shape is None else array.reshape(shape))


@dataclass
class Case:
    """A node: its operator, the shapes of its activations, its constants behind them, and its result's record."""

    name: str
    op: Operator
    shapes: Sequence[Sequence[int]]
    constants: Sequence[Value] = ()
    result: QuantParam = field(default_factory=lambda: _X)
    records: Sequence[QuantParam] = (_X, _X, _X)
    outputs: int = 1


def _node(case: Case) -> Node:
    inputs = [
        Value(f"x{index}", DataType.INT8, tuple(shape), format=Format.NHWC, quant=(record,))
        for index, (shape, record) in enumerate(zip(case.shapes, case.records, strict=False))
    ]
    outputs = [Value(f"y{index}", DataType.INT8, quant=(case.result,)) for index in range(case.outputs)]
    node = Node(case.op, "node", (*inputs, *case.constants), tuple(outputs), QuantType.QUANT_ALL)
    infer_node(node, Context(layout=Format.NHWC))
    for value in outputs:
        value.dtype = DataType.INT8
    return node


def _conv(**attributes: object) -> convolution.Conv2DFusion:
    base = convolution.Conv2DFusion(
        format=Format.NHWC, kernel_size=(3, 3), stride=(1, 1), dilation=(1, 1), pad_mode=PadMode.SAME,
        pad_list=(0, 0, 0, 0), mode=1, group=1, in_channel=3, out_channel=4,
    )  # fmt: skip
    return dataclasses.replace(base, **attributes)  # type: ignore[arg-type]


def _pool(kind: type[pooling.AvgPoolFusion] | type[pooling.MaxPoolFusion], **attributes: object) -> Operator:
    given = {"kernel_size": (3, 3), "strides": (2, 2), "pad": (0,) * 4, "pad_mode": PadMode.SAME, "format": Format.NHWC}
    return kind(**(given | attributes))  # type: ignore[arg-type]


_W = _weights(4, 3, 3, 3, channels=4)
_DEPTH = _weights(6, 3, 3, 1, channels=6)
_FULL = _weights(5, 12)
_ROWS = _weights(12, 5, channels=5)
_UP = _weights(3, 2, 2, 4, channels=4)
_IMAGE = (1, 7, 9, 3)
_SIGMOID, _TANH = ActivationType.SIGMOID, ActivationType.TANH
_ALIGNED, _HALF = CoordinateTransformMode.ALIGN_CORNERS, CoordinateTransformMode.HALF_PIXEL


def _function(kind: ActivationType, **attributes: float) -> activation.Activation:
    return activation.Activation(activation_type=kind, **attributes)  # type: ignore[arg-type]


def _transposed(**attributes: object) -> convolution.Conv2dTransposeFusion:
    base = convolution.Conv2dTransposeFusion(
        format=Format.NHWC, kernel_size=(2, 2), stride=(2, 2), dilation=(1, 1), pad_mode=PadMode.PAD,
        pad_list=(0, 0, 0, 0), mode=1, group=1, in_channel=3, out_channel=4, output_paddings=(0, 0),
    )  # fmt: skip
    return dataclasses.replace(base, **attributes)  # type: ignore[arg-type]


def _resize(method: ResizeMethod, mode: CoordinateTransformMode) -> resize.Resize:
    rounding = NearestMode.FLOOR if mode is CoordinateTransformMode.ASYMMETRIC else NearestMode.ROUND_HALF_UP
    return resize.Resize(
        format=Format.NHWC, method=method, new_height=14, new_width=18, coordinate_transform_mode=mode,
        nearest_mode=rounding if method is ResizeMethod.NEAREST else NearestMode.NORMAL,
    )  # fmt: skip


_PADS = _ints(0, 0, 1, 2, 2, 1, 0, 0, shape=(4, 2))
CASES = [
    Case("same", _conv(), [_IMAGE], [_W, _bias(_W, 4)], _Y),
    Case("no-bias", _conv(activation_type=ActivationType.RELU6), [_IMAGE], [_W], _Y),
    Case("valid", _conv(pad_mode=PadMode.VALID, stride=(2, 1)), [_IMAGE], [_W, _bias(_W, 4)], _Y),
    Case("dilated", _conv(dilation=(2, 2)), [_IMAGE], [_W, _bias(_W, 4)], _Y),
    Case("same-as-pads", _conv(pad_mode=PadMode.PAD, pad_list=(1, 1, 1, 1)), [_IMAGE], [_W], _Y),
    Case("own-pads", _conv(pad_mode=PadMode.PAD, pad_list=(2, 0, 1, 3)), [_IMAGE], [_W, _bias(_W, 4)], _Y),
    Case(
        "torch-pads", _conv(pad_mode=PadMode.PAD, pad_list=(1, 1, 1, 1), stride=(2, 2)), [(1, 8, 8, 3)],
        [_W, _bias(_W, 4)], _Y,
    ),
    Case("depthwise", _conv(group=3, out_channel=6), [_IMAGE], [_DEPTH, _bias(_DEPTH, 6)], _Y),
    Case("transposed", _transposed(), [_IMAGE], [_UP, _bias(_UP, 4)], _Y),
    Case(
        "transposed-same", _transposed(kernel_size=(3, 3), pad_list=(0, 1, 0, 1)), [_IMAGE],
        [_weights(3, 3, 3, 4, channels=4)], _Y,
    ),
    Case("fully", matmul.FullConnection(has_bias=True, use_axis=True, axis=1), [(3, 12)], [_FULL, _bias(_FULL, 5)], _Y),
    Case("fully-kept", matmul.FullConnection(use_axis=True, axis=2), [(2, 3, 12)], [_FULL], _Y),
    Case("fully-joined", matmul.FullConnection(use_axis=True, axis=1), [(2, 3, 4)], [_FULL], _Y),
    Case("product", matmul.MatMulFusion(), [(2, 3, 12), (2, 12, 5)], [], _Y),
    Case("product-turned", matmul.MatMulFusion(transpose_b=True), [(3, 12), (5, 12)], [], _Y),
    Case("product-of-constant", matmul.MatMulFusion(), [(2, 3, 12)], [_ROWS, _bias(_ROWS, 5)], _Y),
    Case(
        "product-of-rows", matmul.MatMulFusion(transpose_b=True, activation_type=ActivationType.RELU), [(4, 12)],
        [_weights(5, 12, channels=5)], _Y,
    ),
    Case("add", arithmetic.AddFusion(activation_type=ActivationType.RELU6), [_IMAGE, (1, 1, 1, 3)], [], _Y, (_X, _SMALL)),
    Case("sub", arithmetic.SubFusion(), [_IMAGE, _IMAGE], [], _Y, (_X, _Y)),
    Case("mul", arithmetic.MulFusion(), [_IMAGE, _IMAGE], [], _Y, (_X, _Y)),
    Case("mul-constant", arithmetic.MulFusion(), [_IMAGE], [_weights(3, seed=5)], _Y),
    Case("largest", arithmetic.Maximum(), [_IMAGE, (1, 1, 1, 3)]),
    Case("smallest", arithmetic.Minimum(), [_IMAGE, _IMAGE]),
    Case("difference", arithmetic.SquaredDifference(), [_IMAGE, _IMAGE], [], QuantParam(scale=4.0, zeroPoint=-128)),
    *(Case(kind.name, _function(kind), [_IMAGE], [], _Y) for kind in (ActivationType.RELU, ActivationType.RELU6)),
    Case("sigmoid", _function(_SIGMOID), [_IMAGE], [], _SMALL),
    Case("tanh", _function(_TANH), [_IMAGE], [], QuantParam(scale=1 / 128)),
    Case("hswish", _function(ActivationType.HSWISH), [_IMAGE], [], _Y),
    Case("leaky", _function(ActivationType.LEAKY_RELU, alpha=0.1), [_IMAGE], [], _Y),
    Case("gelu", _function(ActivationType.GELU, approximate=True), [_IMAGE], [], _Y),
    Case("elu", _function(ActivationType.ELU, alpha=1.0), [_IMAGE], [], _Y),
    Case("clip", unary.Clip(min=-1.0, max=1.0), [_IMAGE], [], QuantParam(scale=1 / 64, zeroPoint=3)),
    Case("softmax", activation.Softmax(axis=(-1,)), [(2, 9)], [], _SMALL),
    Case("prelu", activation.PReLUFusion(), [_IMAGE], [_weights(3, seed=6)], _Y),
    Case("rsqrt", unary.Rsqrt(), [_IMAGE], [], _Y, (QuantParam(scale=0.25, zeroPoint=-128),)),
    Case("exp", unary.ExpFusion(), [_IMAGE], [], QuantParam(scale=0.5, zeroPoint=-128), (QuantParam(scale=1 / 64),)),
    Case("log", unary.Log(), [_IMAGE], [], QuantParam(scale=1 / 32, zeroPoint=-20), (QuantParam(scale=0.25, zeroPoint=-128),)),
    Case("abs", unary.Abs(), [_IMAGE], [], _Y),
    Case("mean-window", _pool(pooling.AvgPoolFusion), [_IMAGE]),
    Case("mean-image", _pool(pooling.AvgPoolFusion, global_=True), [_IMAGE]),
    Case("largest-window", _pool(pooling.MaxPoolFusion, pad_mode=PadMode.VALID), [_IMAGE]),
    Case("largest-padded", _pool(pooling.MaxPoolFusion, pad_mode=PadMode.PAD, pad=(1, 1, 1, 1)), [(1, 8, 8, 3)]),
    Case("concat", assembly.Concat(axis=-1), [_IMAGE, (1, 7, 9, 2)]),
    Case("stack", assembly.Stack(axis=1), [(3, 4), (3, 4)]),
    Case("unstack", assembly.Unstack(axis=1), [(3, 2, 4)], outputs=2),
    Case("halves", assembly.Split(output_num=3, size_splits=(3, 3, 3), axis=2), [_IMAGE], outputs=3),
    Case("pieces", assembly.Split(output_num=2, size_splits=(2, 5), axis=1), [_IMAGE], outputs=2),
    Case("pad", assembly.PadFusion(), [_IMAGE], [_PADS]),
    Case("mirror", assembly.PadFusion(padding_mode=PaddingMode.REFLECT), [_IMAGE], [_PADS]),
    Case("slice", assembly.SliceFusion(axes=(1, 2)), [_IMAGE], [_ints(2, 1), _ints(3, 4)]),
    Case("strided", assembly.StridedSlice(), [_IMAGE], [_ints(0, 1, 0, 0), _ints(1, 7, 9, 3), _ints(1, 2, 3, 1)]),
    Case("strided-axes", assembly.StridedSlice(), [_IMAGE], [_ints(1), _ints(2**31 - 1), _ints(-2), _ints(2)]),
    Case("reshape", rearrange.Reshape(), [_IMAGE], [_ints(9, -1)]),
    Case("flatten", rearrange.Flatten(axis=1), [_IMAGE]),
    Case("squeeze", rearrange.Squeeze(axis=(0,)), [_IMAGE]),
    Case("unsqueeze", rearrange.Unsqueeze(axis=(1,)), [(4, 3)]),
    Case("expand", rearrange.ExpandDims(), [(4, 3)], [_ints(1)]),
    Case("reverse", rearrange.ReverseV2(axis=(2,)), [_IMAGE]),
    Case("tile", assembly.TileFusion(), [_IMAGE], [_ints(1, 2, 1, 3)]),
    Case("transpose", rearrange.Transpose(), [_IMAGE], [_ints(0, 3, 1, 2)]),
    *(
        Case(mode.name, reduction.ReduceFusion(keep_dims=keep, mode=mode, coeff=1.0), [_IMAGE], [_ints(1, 2)], result)
        for mode, keep, result in (
            (ReduceMode.ReduceMean, True, _Y), (ReduceMode.ReduceMax, False, _X), (ReduceMode.ReduceMin, True, _X),
        )
    ),
    *(
        Case(f"{method.name}-{mode.name}", _resize(method, mode), [_IMAGE])
        for method in (ResizeMethod.LINEAR, ResizeMethod.NEAREST)
        for mode in (CoordinateTransformMode.ASYMMETRIC, _ALIGNED, _HALF)
    ),
    Case("requantize", quantization.QuantDTypeCast(src_t=32, dst_t=32), [_IMAGE], [], _Y),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_litert_computes_our_bits(case: Case) -> None:
    node = _node(case)
    assert refusal(node) == ""
    own_kernel = (
        "BUILTIN_WITHOUT_DEFAULT_DELEGATES" if case.name == "elu" else "BUILTIN_REF"
    )  # which has none of 8 bits
    assert_written_alike(Part((node,), node.inputs[: len(case.shapes)], node.outputs), resolver=own_kernel)


def test_every_operator_has_a_case() -> None:
    assert {case.op.name for case in CASES} == set(WRITERS)


def _refused(case: Case, **changes: object) -> str:
    return refusal(_node(dataclasses.replace(case, **changes)))  # type: ignore[arg-type]


_BY_NAME = {case.name: case for case in CASES}
_EVEN = dataclasses.replace(_X, roundType=ROUND_HALF_TO_EVEN)


@pytest.mark.parametrize(
    ("case", "changes", "reason"),
    [
        ("same", {"records": (_EVEN,)}, "rounds half to even (ONNX)"),
        ("same", {"op": _conv(activation_type=ActivationType.HSWISH)}, "cannot fuse HSWISH"),
        ("same", {"shapes": [(1, SYMBOL_LIMIT, SYMBOL_LIMIT, 3)]}, "--inputShape"),
        ("add", {"records": (dataclasses.replace(_X, scale=0.1), _X)}, "positive float32"),
        ("add", {"records": (dataclasses.replace(_X, dstDtype=int(DataType.UINT8)), _X)}, "others uint8"),
        ("concat", {"records": (_X, _Y)}, "different scales"),
        ("softmax", {"result": _Y}, "requires the scale"),
        ("softmax", {"op": activation.Softmax(axis=(0,))}, "not along the last dimension"),
        ("clip", {"op": unary.Clip(min=-3.0, max=2.0)}, "no Clip with its limits"),
        ("pad", {"op": assembly.PadFusion(constant_value=1.0)}, "padding value is not zero"),
        (
            "mean-window",
            {"op": _pool(pooling.AvgPoolFusion, pad_mode=PadMode.PAD, pad=(0, 2, 1, 1))},
            "does not support its padding",
        ),
        (
            "ReduceMean",
            {"op": reduction.ReduceFusion(mode=ReduceMode.ReduceSum, coeff=1.0)},
            "ReduceSum has no equivalent",
        ),
        ("exp", {"op": unary.ExpFusion(base=2.0)}, "exponential with base e"),
        ("abs", {"op": unary.Ceil()}, "int8 Ceil has no equivalent"),
    ],
)
def test_what_is_refused(case: str, changes: dict[str, object], reason: str) -> None:
    assert reason in _refused(_BY_NAME[case], **changes)


def _cast(source: Value, target: Value) -> Node:
    return Node(
        quantization.QuantDTypeCast(src_t=int(source.dtype), dst_t=int(target.dtype)), "cast", (source,), (target,)
    )


def test_casts_between_signed_and_unsigned_bytes() -> None:
    """Those that compute are written; one that only stores unsigned bytes as signed ones is none."""
    unsigned = int(DataType.UINT8)
    bytes_of_source = QuantParam(scale=0.25, zeroPoint=121, dstDtype=unsigned)

    def value(dtype: DataType, record: QuantParam) -> Value:
        return Value(dtype.name.lower(), dtype, _IMAGE, format=Format.NHWC, quant=(record,))

    into = _cast(value(DataType.UINT8, bytes_of_source), value(DataType.INT8, _Y))
    out_of = _cast(value(DataType.INT8, _Y), value(DataType.UINT8, bytes_of_source))
    for node in (into, out_of):
        assert refusal(node) == ""
        assert_written_alike(Part((node,), node.inputs, node.outputs))
    stored = dataclasses.replace(_X, dstDtype=unsigned)
    assert "only changes the storage type" in refusal(_cast(into.inputs[0], value(DataType.INT8, stored)))


def test_weights_with_a_zero_point_are_refused() -> None:
    weight = _weights(4, 3, 3, 3)
    weight.quant = (QuantParam(scale=0.5, zeroPoint=1),)
    assert "weights have a zero point" in _refused(_BY_NAME["same"], constants=[weight])


def test_a_refused_node_cannot_be_written() -> None:
    node = _node(dataclasses.replace(_BY_NAME["softmax"], result=_Y))
    with pytest.raises(ValueError, match="node 'node': TensorFlow Lite requires the scale"):
        write_tflite([node], node.inputs, node.outputs)


def test_the_file_is_read_by_our_parser_and_always_the_same(tmp_path: Path) -> None:
    node = _node(_BY_NAME["own-pads"])
    first, second = (write_tflite([node], node.inputs[:1], node.outputs).data for _ in range(2))
    assert first == second
    path = tmp_path / "one.tflite"
    path.write_bytes(first)
    model = load(path)
    assert [one.name for one in model.graphs[0].operators] == ["PAD", "CONV_2D"]
    weights: npt.NDArray[np.generic] | None = next(
        tensor.array() for tensor in model.graphs[0].tensors if tensor.name == _W.name
    )
    np.testing.assert_array_equal(weights, _W.data)
