"""Casts around operators become nodes on stored integers; rules leave these alone; types at the boundary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import Concat
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, QuantType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import ROUND_HALF_TO_EVEN
from mslite.converter.mindir.verifier import verify
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.element_types import set_boundary_types
from mslite.converter.passes.quantized_nodes import fuse_qdq_nodes
from mslite.converter.passes.rule import apply_rules
from mslite.converter.passes.rules import ACTIVATION_FUSIONS

HALF, TENTH = (
    (QuantParam(scale=scale, zeroPoint=point, roundType=ROUND_HALF_TO_EVEN),) for scale, point in ((0.5, 3), (0.1, -7))
)
Records = tuple[QuantParam, ...]


class Builder:
    """A graph with one float32 input."""

    def __init__(self, *shape: int) -> None:
        self.graph = Graph("main")
        self.x = Value("x", DataType.FLOAT32, shape)
        self.graph.inputs.append(self.x)

    def emit(
        self, op: Operator, inputs: Sequence[Value], shape: Sequence[int], dtype: DataType, quant: Records
    ) -> Value:
        value = Value(f"v{len(self.graph.nodes)}", dtype, tuple(shape), quant=quant)
        self.graph.nodes.append(Node(op, f"n{len(self.graph.nodes)}", tuple(inputs), (value,)))
        return value

    def real(self, op: Operator, *inputs: Value, shape: Sequence[int] | None = None) -> Value:
        return self.emit(op, inputs, inputs[0].shape or () if shape is None else shape, DataType.FLOAT32, ())

    def stored(self, x: Value, records: Records) -> Value:
        op = QuantDTypeCast(src_t=int(DataType.FLOAT32), dst_t=int(DataType.INT8))
        return self.emit(op, [x], x.shape or (), DataType.INT8, records)

    def read(self, x: Value) -> Value:
        op = QuantDTypeCast(src_t=int(DataType.INT8), dst_t=int(DataType.FLOAT32))
        return self.emit(op, [x], x.shape or (), DataType.FLOAT32, ())

    def cast(self, x: Value, records: Records) -> Value:
        """Float values that went through integers."""
        return self.read(self.stored(x, records))

    def formed(self, *outputs: Value) -> list[Node]:
        self.graph.outputs = list(outputs)
        module = Module([self.graph])
        fuse_qdq_nodes(module, Context(Settings(), Format.NHWC))
        verify(module)
        return self.graph.nodes


def names(nodes: Sequence[Node]) -> list[str]:
    return [node.op.name for node in nodes]


def test_an_operator_between_casts_computes_on_integers() -> None:
    build = Builder(2, 3)
    x = build.cast(build.x, HALF)
    y = build.cast(build.real(AddFusion(), x, constant("c", np.ones(3, np.float32))), TENTH)
    nodes = build.formed(y)
    assert names(nodes) == ["QuantDTypeCast", "AddFusion", "QuantDTypeCast"]
    add = nodes[1]
    assert add.quant_type is QuantType.QUANT_ALL
    assert (add.inputs[0].quant, add.output.quant, add.output.dtype) == (HALF, TENTH, DataType.INT8)


@pytest.mark.parametrize(("bias", "stored"), [([1.5, -0.25, 1e9], None), ([1.5, -0.25, 0.07], [3, -1, 1])])
def test_a_bias_in_real_numbers_becomes_one_of_sums(bias: list[float], stored: list[int] | None) -> None:
    """Its scale is that of the products, here 0.5 for x and 1, 0.5, 0.1 for the columns; too large a bias stays real."""
    build = Builder(2, 3)
    x = build.cast(build.x, HALF)
    weight = constant("w", np.ones((3, 3), np.int8))
    weight.quant = tuple(QuantParam(scale=scale, roundType=ROUND_HALF_TO_EVEN) for scale in (1.0, 0.5, 0.1))
    product = build.real(MatMulFusion(), x, weight, constant("b", np.array(bias, np.float32)), shape=(2, 3))
    nodes = build.formed(build.cast(product, TENTH))
    (node,) = (node for node in nodes if node.op.name == "MatMulFusion")
    assert node.quant_type is QuantType.QUANT_ALL
    third = node.inputs[2]
    if stored is None:
        assert third.dtype is DataType.FLOAT32
    else:
        assert third.array().tolist() == stored
        assert [record.scale for record in third.quant] == pytest.approx([0.5, 0.25, 0.05])


def test_casts_that_do_not_round_to_even_mean_real_numbers() -> None:
    """TensorFlow Lite has operators of its own on integers; what stands between casts is computed in floats."""
    half, tenth = (tuple(replace(record, roundType=1) for record in records) for records in (HALF, TENTH))
    build = Builder(2, 3)
    x = build.cast(build.x, half)
    y = build.cast(build.real(AddFusion(), x, constant("c", np.ones(3, np.float32))), tenth)
    nodes = build.formed(y)
    assert names(nodes) == [*["QuantDTypeCast"] * 2, "AddFusion", *["QuantDTypeCast"] * 2]
    assert all(node.quant_type is QuantType.QUANT_NONE for node in nodes)


def test_a_real_operand_keeps_the_operator_real() -> None:
    build = Builder(2, 3)
    y = build.cast(build.real(AddFusion(), build.cast(build.x, HALF), build.x), TENTH)
    assert "AddFusion" in names(build.formed(y))
    assert all(node.quant_type is QuantType.QUANT_NONE for node in build.graph.nodes)


def test_a_real_reader_keeps_the_operator_real() -> None:
    build = Builder(2, 3)
    total = build.real(AddFusion(), build.cast(build.x, HALF), build.cast(build.x, HALF))
    build.formed(build.cast(total, TENTH), total)
    assert all(node.quant_type is QuantType.QUANT_NONE for node in build.graph.nodes)


def test_integers_are_moved() -> None:
    """The casts go around movements in front of an operator and behind it."""
    build = Builder(2, 3)
    shape = constant("s", np.array([3, 2], np.int32))
    before = build.real(Reshape(), build.cast(build.x, HALF), shape, shape=(3, 2))
    total = build.real(AddFusion(), before, constant("c", np.ones(2, np.float32)))
    after = build.real(Transpose(), total, constant("p", np.array([1, 0], np.int32)), shape=(2, 3))
    nodes = build.formed(build.cast(after, TENTH))
    assert names(nodes) == ["QuantDTypeCast", "Reshape", "AddFusion", "Transpose", "QuantDTypeCast"]
    assert [node.quant_type for node in nodes[1:4]] == [QuantType.QUANT_NONE, QuantType.QUANT_ALL, QuantType.QUANT_NONE]
    assert [node.output.quant for node in nodes[1:4]] == [HALF, TENTH, TENTH]


@pytest.mark.parametrize(("second", "kind"), [(HALF, QuantType.QUANT_NONE), (TENTH, QuantType.QUANT_ALL)])
def test_joining_different_records_computes(second: Records, kind: QuantType) -> None:
    build = Builder(2, 3)
    parts = [build.cast(build.x, HALF), build.cast(build.x, second)]
    y = build.cast(build.real(Concat(axis=0), *parts, shape=(4, 3)), HALF)
    joined = next(node for node in build.formed(y) if node.op.name == "Concat")
    assert joined.quant_type is kind
    assert [value.dtype for value in joined.inputs] == [DataType.INT8, DataType.INT8]


def test_activations_join_products_with_quantized_weights_only() -> None:
    for kind, left in ((QuantType.QUANT_WEIGHT, 1), (QuantType.QUANT_ALL, 2)):
        build = Builder(2, 3)
        weight = constant("w", np.ones((3, 4), np.int8))
        weight.quant = HALF
        product = build.real(MatMulFusion(), build.x, weight, shape=(2, 4))
        build.graph.nodes[-1].quant_type = kind
        build.graph.outputs = [build.real(Activation(activation_type=ActivationType.RELU), product)]
        apply_rules(ACTIVATION_FUSIONS, Module([build.graph]), Context(Settings(), Format.NHWC))
        assert len(build.graph.nodes) == left
        assert build.graph.nodes[0].quant_type is kind


@pytest.mark.parametrize("wanted", [DataType.FLOAT32, DataType.INT8])
def test_unsigned_inputs_and_outputs_become(wanted: DataType) -> None:
    """Of uint8 models: float values, or the stored integers, whose zero point is 128 less."""
    unsigned = (QuantParam(scale=0.5, zeroPoint=131, dstDtype=int(DataType.UINT8)),)
    signed = (QuantParam(scale=0.5, zeroPoint=3, dstDtype=int(DataType.UINT8)),)
    build = Builder(2, 3)
    build.x.dtype, build.x.quant = DataType.UINT8, unsigned
    inward = QuantDTypeCast(src_t=int(DataType.UINT8), dst_t=int(DataType.INT8))
    inside = build.emit(inward, [build.x], (2, 3), DataType.INT8, signed)
    result = build.emit(Activation(activation_type=ActivationType.TANH), [inside], (2, 3), DataType.INT8, signed)
    build.graph.nodes[-1].quant_type = QuantType.QUANT_ALL
    outward = QuantDTypeCast(src_t=int(DataType.INT8), dst_t=int(DataType.UINT8))
    build.graph.outputs = [build.emit(outward, [result], (2, 3), DataType.UINT8, unsigned)]
    module = Module([build.graph])
    set_boundary_types(module, Context(Settings(input_type=wanted, output_type=wanted), Format.NHWC))
    verify(module)
    (x,), (y,) = module.main.inputs, module.main.outputs
    assert (x.name, x.dtype, y.dtype) == ("x", wanted, wanted)
    wanted_records = () if wanted is DataType.FLOAT32 else signed
    assert (x.quant, y.quant) == (wanted_records, wanted_records)
    casts = ["QuantDTypeCast"] if wanted is DataType.FLOAT32 else []
    assert names(module.main.nodes) == [*casts, "Activation", *casts]


@pytest.mark.parametrize("wanted", [DataType.INT8, DataType.UINT8])
def test_float_models_on_integers_take_and_give_them(wanted: DataType) -> None:
    """What begins with a rounding and ends with the float values of integers has the integers themselves at its boundary."""
    records = (QuantParam(scale=0.5, zeroPoint=3, dstDtype=int(DataType.INT8)),)
    build = Builder(2, 3)
    rounding = QuantDTypeCast(src_t=int(DataType.FLOAT32), dst_t=int(DataType.INT8))
    inside = build.emit(rounding, [build.x], (2, 3), DataType.INT8, records)
    result = build.emit(Activation(activation_type=ActivationType.TANH), [inside], (2, 3), DataType.INT8, records)
    build.graph.nodes[-1].quant_type = QuantType.QUANT_ALL
    outward = QuantDTypeCast(src_t=int(DataType.INT8), dst_t=int(DataType.FLOAT32))
    build.graph.outputs = [build.emit(outward, [result], (2, 3), DataType.FLOAT32, ())]
    name = build.graph.outputs[0].name
    module = Module([build.graph])
    set_boundary_types(module, Context(Settings(input_type=wanted, output_type=wanted), Format.NHWC))
    verify(module)
    (x,), (y,) = module.main.inputs, module.main.outputs
    assert (x.name, x.dtype, y.name, y.dtype) == ("x", wanted, name, wanted)
    assert x.quant[0].zeroPoint == y.quant[0].zeroPoint == (3 if wanted is DataType.INT8 else 131)
    casts = [] if wanted is DataType.INT8 else ["QuantDTypeCast"]
    assert names(module.main.nodes) == [*casts, "Activation", *casts]


def test_an_input_that_is_rounded_and_read_stays_real() -> None:
    records = (QuantParam(scale=0.5, zeroPoint=3, dstDtype=int(DataType.INT8)),)
    build = Builder(2, 3)
    rounding = QuantDTypeCast(src_t=int(DataType.FLOAT32), dst_t=int(DataType.INT8))
    rounded = build.emit(rounding, [build.x], (2, 3), DataType.INT8, records)
    other = build.emit(Activation(activation_type=ActivationType.TANH), [build.x], (2, 3), DataType.FLOAT32, ())
    build.graph.outputs = [rounded, other]
    set_boundary_types(Module([build.graph]), Context(Settings(input_type=DataType.INT8), Format.NHWC))
    assert (build.x.dtype, build.x.quant) == (DataType.INT8, ())
    assert names(build.graph.nodes) == ["Cast", "QuantDTypeCast", "Activation"]
