"""What a file says for the sake of MindSpore Lite's readers, read back field by field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from mslite.converter.mindir.flatbuffer import Source, Table
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.module_io import to_meta, to_module
from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ms_writer import ms_bytes
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.assembly import Split
from mslite.converter.mindir.ops.control_flow import Call, PartialFusion
from mslite.converter.mindir.ops.convolution import Conv2DFusion, Conv2dTransposeFusion
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.pooling import AvgPoolFusion, MaxPoolFusion
from mslite.converter.mindir.ops.tables import MetaGraph, QuantParam, Tensor
from mslite.converter.mindir.ops.training import ApplyMomentum
from mslite.converter.mindir.ops.unary import Abs

_TENSORS, _RECORDS = 7, 7
"""Slots of MetaGraph.allTensors and Tensor.quantParams."""


def module_of(nodes: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value]) -> Module:
    return Module([Graph("main_graph", list(inputs), list(outputs), list(nodes))])


def one_node(
    op: Operator, inputs: Sequence[Value], shape: tuple[int, ...], dtype: DataType = DataType.FLOAT32
) -> Module:
    y = Value("y", dtype, shape)
    return module_of([Node(op, "node", tuple(inputs), (y,))], [v for v in inputs if not v.is_constant], [y])


def written(module: Module) -> MetaGraph:
    """The tables as they stand in the file."""
    return read_ms(ms_bytes(to_meta(module)))


def tensor(meta: MetaGraph, name: str) -> Tensor:
    (found,) = (each for each in meta.allTensors or () if each.name == name)
    return found


def operator_of(meta: MetaGraph) -> Operator:
    (node,) = meta.nodes or ()
    assert node.primitive is not None
    return node.primitive


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4), (1, 2, 3, 4, 5)])
def test_graph_inputs_that_are_no_images_say_nhwc(shape: tuple[int, ...]) -> None:
    x = Value("x", DataType.FLOAT32, shape, format=Format.NCHW)
    assert tensor(written(one_node(Abs(), [x], shape)), "x").format is Format.NHWC


def test_an_image_keeps_the_layout_that_it_has() -> None:
    x = Value("x", DataType.FLOAT32, (1, 2, 3, 4), format=Format.NCHW)
    assert tensor(written(one_node(Abs(), [x], (1, 2, 3, 4))), "x").format is Format.NCHW


@pytest.mark.parametrize("kind", [AvgPoolFusion, MaxPoolFusion])
@pytest.mark.parametrize(("shape", "window"), [((1, 5, 7, 4), (5, 7)), ((1, -(1 << 41), 7, 4), (1, 1))])
def test_a_global_pool_has_window_strides_and_padding(
    kind: type[AvgPoolFusion | MaxPoolFusion], shape: tuple[int, ...], window: tuple[int, int]
) -> None:
    x = Value("x", DataType.FLOAT32, shape, format=Format.NHWC)
    op = operator_of(written(one_node(kind(format=Format.NHWC, global_=True), [x], (1, 1, 1, 4))))
    assert isinstance(op, AvgPoolFusion | MaxPoolFusion)
    assert (op.global_, op.kernel_size, op.strides, op.pad) == (True, window, (1, 1), (0, 0, 0, 0))


@pytest.mark.parametrize("kind", [Conv2DFusion, Conv2dTransposeFusion])
def test_a_convolution_states_its_numbers_and_the_layout_of_its_weights(
    kind: type[Conv2DFusion | Conv2dTransposeFusion],
) -> None:
    x = Value("x", DataType.FLOAT32, (1, 4, 4, 2), format=Format.NHWC)
    weight = constant("w", np.ones((2, 3, 1, 2), np.float32))
    assert weight.format is Format.NCHW  # what a rule that makes new weights says
    meta = written(one_node(kind(format=Format.NHWC), [x, weight], (1, 4, 4, 2)))
    op = operator_of(meta)
    assert isinstance(op, Conv2DFusion | Conv2dTransposeFusion)
    assert tensor(meta, "w").format is Format.NHWC
    assert (op.kernel_size, op.stride, op.dilation, op.pad_list, op.group) == ((3, 1), (1, 1), (1, 1), (0, 0, 0, 0), 1)
    if isinstance(op, Conv2dTransposeFusion):
        assert op.output_paddings == (0, 0)


def test_weights_of_old_files_keep_their_layout() -> None:
    x = Value("x", DataType.FLOAT32, (1, 4, 4, 2), format=Format.NHWC)
    weight = constant("w", np.ones((2, 3, 3, 2), np.float32), Format.KHWC)
    assert tensor(written(one_node(Conv2DFusion(), [x, weight], (1, 2, 2, 2))), "w").format is Format.KHWC


def records_of(buffer: bytes) -> list[Table]:
    tensors = Source(memoryview(buffer)).root().tables(_TENSORS) or []
    return [record for each in tensors for record in each.tables(_RECORDS) or ()]


@pytest.mark.parametrize("dtype", [DataType.INT8, DataType.UINT8, DataType.INT16, DataType.INT32])
def test_records_of_integers_are_valid_and_their_scale_is_stored(dtype: DataType) -> None:
    """A reader of 1.3 takes a scale that is left out for 0, and passes over records that are not marked."""
    x, y = (Value(name, dtype, (3,), quant=(QuantParam(scale=1.0, zeroPoint=4),)) for name in "xy")
    buffer = ms_bytes(to_meta(module_of([Node(Abs(), "abs", (x,), (y,))], [x], [y])))
    assert [record.scalar(0, "double", 0.0) for record in records_of(buffer)] == [1.0, 1.0]
    assert all(record.inited for each in read_ms(buffer).allTensors or () for record in each.quantParams or ())


def test_a_record_of_real_numbers_stays_a_placeholder() -> None:
    x = Value("x", DataType.FLOAT32, (3,), quant=(QuantParam(),))
    records = tensor(written(one_node(Abs(), [x], (3,))), "x").quantParams or []
    assert [record.inited for record in records] == [False]


def shared_bias(kind: Operator, second: Operator) -> MetaGraph:
    x = Value("x", DataType.FLOAT32, (2, 3))
    h, y = (Value(name, DataType.FLOAT32, (2, 3)) for name in "hy")
    weight, bias = constant("w", np.eye(3, dtype=np.float32)), constant("b", np.ones(3, np.float32))
    first = Node(kind, "first", (x, weight, bias), (h,))
    rest = (h, weight, bias) if isinstance(second, MatMulFusion) else (h, bias)
    return written(module_of([first, Node(second, "second", rest, (y,))], [x], [y]))


def test_what_packing_frees_is_not_shared_with_other_operators() -> None:
    meta = shared_bias(MatMulFusion(), AddFusion())
    first, second = ((node.inputIndex or ())[-1] for node in meta.nodes or ())
    assert first != second
    names = [(meta.allTensors or [])[index].name for index in (first, second)]
    assert names == ["b_packed", "b"]
    assert [bytes(tensor(meta, name or "").data or b"") for name in names] == [np.ones(3, np.float32).tobytes()] * 2
    assert set((meta.subGraph or [])[0].tensorIndices or ()) == set(range(len(meta.allTensors or ())))


def test_operators_that_pack_share_their_constants() -> None:
    meta = shared_bias(MatMulFusion(), MatMulFusion())
    first, second = (node.inputIndex for node in meta.nodes or ())
    assert (first or ())[1:] == (second or ())[1:]


def test_weights_that_are_trained_stay_one() -> None:
    x, y = (Value(name, DataType.FLOAT32, (3, 3)) for name in "xy")
    weight = constant("w", np.eye(3, dtype=np.float32))
    numbers = [constant(name, np.ones(3, np.float32)) for name in ("accumulator", "rate", "gradient", "momentum")]
    step = Node(ApplyMomentum(), "step", (weight, *numbers), (Value("done", DataType.FLOAT32, (1,)),))
    meta = written(module_of([Node(MatMulFusion(), "product", (x, weight), (y,)), step], [x], [y]))
    product, update = meta.nodes or ()
    assert (product.inputIndex or ())[1] == (update.inputIndex or ())[0]


def test_closures_have_an_element_type() -> None:
    """MindSpore Lite 1.3 chooses the kernel of Call by it, and 2.7 refuses a type of 0."""
    x, y, inside, result = (Value(name, DataType.FLOAT32, (3,)) for name in ("x", "y", "inside", "result"))
    closure = Value("closure", DataType.UNKNOWN, ())
    partial = Node(PartialFusion(sub_graph_index=1), "partial", (x,), (closure,))
    main = Graph("main_graph", [x], [y], [partial, Node(Call(is_tail_call=True), "call", (closure,), (y,))])
    body = Graph("body", [inside], [result], [Node(Abs(), "abs", (inside,), (result,))])
    assert tensor(written(Module([main, body])), "closure").dataType == DataType.FLOAT32


def test_a_constant_that_an_attribute_repeats_is_passed_over() -> None:
    """TensorFlow Lite's Split has the axis in front; files of the original's converter have kept it behind the tensor."""
    x = Value("x", DataType.FLOAT32, (4,))
    parts = tuple(Value(f"part{index}", DataType.FLOAT32, (2,)) for index in range(2))
    op = Split(output_num=2, axis=0)
    meta = to_meta(module_of([Node(op, "split", (x, constant("axis", np.zeros(1, np.int32))), parts)], [x], parts))
    assert len((meta.nodes or [])[0].inputIndex or ()) == 2
    (node,) = to_module(read_ms(ms_bytes(meta))).main.nodes
    assert [value.name for value in node.inputs] == ["x"]
