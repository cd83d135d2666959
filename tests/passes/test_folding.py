"""Constant folding, shape chains, dead code, identities, common sub-expressions."""

from __future__ import annotations

import numpy as np
import pytest

from mslite.converter.mindir.graph import SYMBOL_LIMIT, Module, constant
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion
from mslite.converter.mindir.ops.assembly import BroadcastTo, Concat, PadFusion, StridedSlice
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape, Transpose
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.ops.unary import Cast, Neg
from mslite.converter.mindir.verifier import verify
from mslite.converter.passes.cleanup import merge_common, remove_dead_code, remove_identities
from mslite.converter.passes.context import Context
from mslite.converter.passes.folding import SIZE_LIMIT, fold_constants
from mslite.converter.passes.inference import infer_shapes
from tests.passes.builder import Builder, assert_close, integers, numbers, operators, run

N = SYMBOL_LIMIT - 3


def fold(module: Module) -> Module:
    context = Context()
    context.next_symbol = SYMBOL_LIMIT - 100
    infer_shapes(module, context)
    fold_constants(module, context)
    verify(module)
    return module


def test_a_constant_branch_becomes_a_constant() -> None:
    b = Builder()
    scale = b.call(MulFusion(), constant("a", numbers(3)), constant("b", numbers(3, seed=1)))
    build = b.module(b.call(AddFusion(), b.input(2, 3), b.call(Neg(), scale)))
    want = run(build)
    module = fold(build)
    assert operators(module) == ["AddFusion"]
    assert_close(run(module), want, 0)


def test_a_shape_chain_needs_no_data() -> None:
    """x.reshape(n, -1): Shape → Gather → Concat → Reshape, with the batch unknown and the rest known."""
    b = Builder()
    x = b.input(N, 3, 4)
    rows = b.call(Gather(), b.call(Shape(), x), integers(1), np.int32(0))
    target = b.call(Concat(axis=0), rows, integers(-1))
    module = fold(b.module(b.call(Reshape(), x, target)))
    assert operators(module) == ["Reshape"]
    assert module.main.nodes[0].inputs[1].array().tolist() == [3, -1]


def test_quantized_constants_are_moved_but_never_computed_on() -> None:
    """scale * (q - zero point) is what they mean: the sum of two is not the sum of their integers."""
    record = (QuantParam(scale=0.5, zeroPoint=3),)
    b = Builder()
    left, right = (constant(name, np.array([[7, -2, 9]], np.int16)) for name in "ab")
    left.quant = right.quant = record
    total = b.call(AddFusion(), left, right)
    column = constant("c", np.array([[1, 2, 3]], np.int16))
    moved = b.call(Transpose(), column, integers(1, 0))
    total.quant = moved.quant = column.quant = record
    x = b.input(1, 3, dtype=np.int16)
    rows = b.call(Concat(axis=0), total, x)
    columns = b.call(Concat(axis=1), moved, b.call(Transpose(), x, integers(1, 0)))
    module = fold(b.module(rows, columns))
    assert operators(module) == ["AddFusion", "Concat", "Transpose", "Concat"]
    folded = module.main.nodes[3].inputs[0]
    assert folded.array().tolist() == [[1], [2], [3]]
    assert folded.quant == record


def test_an_unknown_size_is_not_folded() -> None:
    b = Builder()
    x = b.input(N, 3, 4)
    rows = b.call(Gather(), b.call(Shape(), x), integers(0), np.int32(0))
    module = fold(b.module(b.call(Reshape(), x, b.call(Concat(axis=0), rows, integers(-1)))))
    assert operators(module) == ["Shape", "Gather", "Concat", "Reshape"]


def test_a_fold_never_blows_up_the_file() -> None:
    b = Builder()
    side = SIZE_LIMIT // 4
    spread = b.call(BroadcastTo(), constant("one", numbers(1)), integers(8, side))
    module = fold(b.module(b.call(AddFusion(), b.input(8, side), spread)))
    assert operators(module) == ["BroadcastTo", "AddFusion"]


def test_a_large_constant_may_be_replaced_by_one_of_its_size() -> None:
    b = Builder()
    weights = constant("weights", numbers(300, 200))
    module = fold(b.module(b.call(AddFusion(), b.input(200, 300), b.call(Transpose(), weights, integers(1, 0)))))
    assert operators(module) == ["AddFusion"]


def test_outputs_stay_the_work_of_a_node() -> None:
    b = Builder()
    module = fold(b.module(b.call(Neg(), constant("a", numbers(3))), b.call(Neg(), b.input(3))))
    assert operators(module) == ["Neg", "Neg"]


def test_dead_code() -> None:
    b = Builder()
    x = b.input(3)
    unused = b.call(Neg(), x)
    b.call(Neg(), unused)
    module = b.module(b.call(Activation(activation_type=ActivationType.TANH), x))
    remove_dead_code(module, Context())
    assert operators(module) == ["Activation"]
    assert [user.op.name for user in x.users] == ["Activation"]


def test_identities() -> None:
    b = Builder()
    x = b.input(2, 3, 4)
    y = b.call(Cast(), x, integers(int(DataType.FLOAT32)))
    y = b.call(Reshape(), y, integers(2, 3, 4))
    y = b.call(Transpose(), y, integers(0, 1, 2))
    y = b.call(StridedSlice(), y, integers(0, 0, 0), integers(2, 3, 4), integers(0, 1, 2), integers(1, 1, 1))
    module = b.module(b.call(Neg(), b.call(Concat(axis=0), y)))
    remove_identities(module, Context())
    assert operators(module) == ["Neg"]


@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, -1, 0, 0)])
def test_a_border_is_nothing_only_where_it_is_zero(pads: tuple[int, ...]) -> None:
    """One that is cut off at the other end keeps the shape."""
    b = Builder()
    y = b.call(PadFusion(), b.input(2, 3), np.array(pads, np.int32).reshape(2, 2))
    module = b.module(b.call(Neg(), y))
    remove_identities(module, Context())
    assert operators(module) == (["PadFusion", "Neg"] if any(pads) else ["Neg"])


def test_a_reversing_slice_is_no_identity() -> None:
    b = Builder()
    y = b.call(StridedSlice(), b.input(4), integers(-1), integers(-5), integers(0), integers(-1))
    module = b.module(b.call(Neg(), y))
    remove_identities(module, Context())
    assert operators(module) == ["StridedSlice", "Neg"]


def test_an_identity_that_is_the_output_passes_its_name_on() -> None:
    b = Builder()
    y = b.call(Reshape(), b.call(Neg(), b.input(2, 3)), integers(2, 3))
    name = y.name
    module = b.module(y)
    remove_identities(module, Context())
    assert operators(module) == ["Neg"]
    assert [value.name for value in module.main.outputs] == [name]


def test_an_identity_between_input_and_output_stays() -> None:
    b = Builder()
    module = b.module(b.call(Reshape(), b.input(2, 3), integers(2, 3)))
    remove_identities(module, Context())
    assert operators(module) == ["Reshape"]


def test_equal_calls_are_made_once() -> None:
    b = Builder()
    x = b.input(2, 3)
    left, right = b.call(Neg(), b.call(AddFusion(), x, numbers(3))), b.call(Neg(), b.call(AddFusion(), x, numbers(3)))
    other = b.call(Neg(), b.call(AddFusion(), x, numbers(3, seed=1)))
    build = b.module(b.call(AddFusion(), b.call(MulFusion(), left, right), other))
    want = run(build)
    merge_common(build, Context())
    assert operators(build) == ["AddFusion", "Neg", "AddFusion", "Neg", "MulFusion", "AddFusion"]
    assert_close(run(build), want, 0)


@pytest.mark.parametrize("where", ["operand", "result", "node"])
@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_quantized_values_are_named_when_they_are_not_computed_on(where: str, dtype: type[np.generic]) -> None:
    b = Builder()
    y = b.call(AddFusion(), np.array([3], dtype), np.array([4], dtype))
    module = b.module(b.call(Concat(axis=0), y, b.input(1, dtype=dtype)))
    node = module.main.nodes[0]
    if where == "node":
        node.quant_type = 1
    else:
        (node.inputs[0] if where == "operand" else node.output).quant = (QuantParam(scale=0.5, zeroPoint=2),)
    context = Context()
    fold_constants(module, context)
    assert operators(module) == ["AddFusion", "Concat"]
    (note,) = context.notes
    named = {"operand": "'n1_c0' are quantized", "result": "'n1_0' are quantized", "node": "it computes with quantized"}
    assert note.startswith("AddFusion 'n1' has constant inputs but is not folded")
    assert named[where] in note
