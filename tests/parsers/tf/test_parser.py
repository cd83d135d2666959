"""Inputs, outputs, names, constants, and what is said of models that cannot be converted."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.convert import convert
from mslite.converter.detect import detect
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.options import FmkType, Options
from mslite.converter.parsers.tf.protos import TensorProto
from mslite.converter.parsers.tf.tensors import TensorError, read_tensor
from tests.parsers.tf import archive
from tests.parsers.tf.graphs import BOOL, FLOAT, HALF, INT32, INT64, STRING, Builder, parsed, results

# ---- constants ----


def _tensor(dtype: int, dims: list[int], **fields: Any) -> Any:
    tensor = TensorProto(dtype=dtype, **fields)
    for size in dims:
        tensor.tensor_shape.dim.add(size=size)
    return tensor


@pytest.mark.parametrize(
    ("tensor", "want"),
    [
        (_tensor(FLOAT, [2, 2], float_val=[1, 2, 3]), np.array([[1, 2], [3, 3]], np.float32)),
        (_tensor(FLOAT, [3], float_val=[1.5]), np.full(3, 1.5, np.float32)),
        (_tensor(INT32, [2]), np.zeros(2, np.int32)),
        (_tensor(INT64, [], int64_val=[-(1 << 40)]), np.array(-(1 << 40), np.int64)),
        (_tensor(BOOL, [3], bool_val=[True, False]), np.array([True, False, False])),
        (_tensor(HALF, [2], half_val=[0x3C00, 0xC000]), np.array([1, -2], np.float16)),
        (_tensor(4, [2], int_val=[255, 1]), np.array([255, 1], np.uint8)),
        (_tensor(8, [1], scomplex_val=[1, 2]), np.array([1 + 2j], np.complex64)),
        (_tensor(23, [1], uint64_val=[1 << 63]), np.array([1 << 63], np.uint64)),
        (_tensor(INT32, [2], tensor_content=np.array([7, 8], "<i4").tobytes()), np.array([7, 8], np.int32)),
        (_tensor(FLOAT, [0, 3]), np.zeros((0, 3), np.float32)),
    ],
    ids=lambda value: "",
)
def test_tensor_contents(tensor: Any, want: np.ndarray[Any, Any]) -> None:
    got = read_tensor(tensor)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    assert got.shape == want.shape


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (_tensor(FLOAT, [2], float_val=[1, 2, 3]), "has 3 elements"),
        (_tensor(FLOAT, [2], tensor_content=b"1234567"), "has 7 bytes"),
        (_tensor(STRING, [1], string_val=[b"a"]), "string are unsupported"),
        (_tensor(20, [1]), "resource is unsupported"),
        (_tensor(11, [1]), "qint8 is unsupported"),
        (_tensor(FLOAT, [-1]), "unknown shape"),
        (_tensor(FLOAT, [1 << 40]), "is not a valid dimension"),
        (_tensor(FLOAT, [1 << 30, 1 << 30]), "too large"),
        (_tensor(FLOAT, [1 << 30], float_val=[1]), "has only 1 elements"),
    ],
)
def test_wrong_tensors(tensor: Any, message: str) -> None:
    with pytest.raises(TensorError, match=message):
        read_tensor(tensor)


# ---- inputs ----


def test_unknown_sizes_stay_unknown_and_equal_names_are_not_needed() -> None:
    builder = Builder()
    builder.input("x", -1, 4)
    builder.node("y", "Relu", "x")
    (value,) = parsed(builder.content()).main.inputs
    assert value.name == "x"
    assert value.dtype is DataType.FLOAT32
    assert value.shape is not None
    assert value.shape[0] < 0
    assert value.shape[1] == 4


def test_input_shape_fixes_an_input(tmp_path: Path) -> None:
    builder = Builder()
    builder.input("x", -1, -1)
    builder.node("y", "Softmax", "x")
    x = np.ones((2, 5), np.float32)
    module = parsed(builder.content(), x=[2, 5])
    assert module.main.inputs[0].shape == (2, 5)
    (got,) = results(builder.content(), tmp_path, {"x": x}, input_shapes={"x": (2, 5)}).values()
    np.testing.assert_allclose(got, x / 5)


def test_input_shape_of_another_name_or_rank_is_refused() -> None:
    builder = Builder()
    builder.input("x", -1, 4)
    builder.node("y", "Relu", "x")
    with pytest.raises(ConversionError, match="names 'z', which is no input of the model; its inputs are 'x'"):
        parsed(builder.content(), z=[1, 4])
    with pytest.raises(ConversionError, match="has 3 dimensions, the input has 2"):
        parsed(builder.content(), x=[1, 4, 1])


def test_an_input_of_unknown_rank_needs_a_shape_unless_it_is_broadcast() -> None:
    builder = Builder()
    builder.input("x").attr[1].value.shape.unknown_rank = True
    builder.node("y", "Softmax", "x")
    with pytest.raises(ConversionError, match=r"Placeholder 'x'.*Set --inputShape=x"):
        parsed(builder.content())
    assert parsed(builder.content(), x=[3, 2]).main.inputs[0].shape == (3, 2)
    scalar = Builder()
    scalar.input("keep").attr[1].value.shape.unknown_rank = True
    scalar.input("x", 2)
    scalar.node("y", "Mul", "x", "keep")
    assert [value.shape for value in parsed(scalar.content()).main.inputs] == [(), (2,)]


def test_a_default_is_used_unless_the_input_is_asked_for(tmp_path: Path) -> None:
    builder = Builder()
    builder.input("x", 2)
    builder.constant("one", np.float32(3))
    default = builder.node("scale", "PlaceholderWithDefault", "one", dtype=(FLOAT,))
    default.attr.add(key="shape").value.shape.SetInParent()
    builder.node("y", "Mul", "x", "scale")
    x = np.array([1, 2], np.float32)
    (got,) = results(builder.content(), tmp_path, {"x": x}).values()
    np.testing.assert_array_equal(got, x * 3)
    assert [value.name for value in parsed(builder.content(), scale=[]).main.inputs] == ["x", "scale"]


# ---- outputs ----


def test_outputs_are_what_nobody_reads() -> None:
    builder = Builder()
    builder.input("x", 2, 6)
    builder.constant("axis", np.int32(1))
    builder.node("parts", "Split", "axis", "x", num_split=2)
    builder.node("a", "Relu", "x")
    builder.node("check", "Assert", "a")
    builder.node("init", "NoOp", "^parts", "^a")
    builder.constant("left", np.float32(1))
    builder.node("left/read", "Identity", "left")
    builder.node("Identity", "Identity", "a", "^init")
    outputs = parsed(builder.content()).main.outputs
    assert [value.name for value in outputs] == ["parts_o:0", "parts_o:1", "Identity"]


def test_what_no_output_needs_does_not_matter() -> None:
    builder = Builder()
    builder.input("x", 2)
    builder.node("odd", "NoSuchOperator", "x")
    builder.node("summary", "ScalarSummary", "odd")
    builder.node("y", "Relu", "x")
    assert [node.op.name for node in parsed(builder.content()).main.nodes] == ["Activation"]


def test_an_input_and_one_value_may_leave_under_several_names(tmp_path: Path) -> None:
    builder = Builder()
    builder.input("x", 2)
    builder.node("y", "Neg", "x")
    builder.node("same", "Identity", "x")
    builder.node("one", "Identity", "y")
    builder.node("two", "StopGradient", "y")
    x = np.array([1, -2], np.float32)
    got = results(builder.content(), tmp_path, {"x": x})
    assert sorted(got) == ["one", "same", "two"]
    np.testing.assert_array_equal(got["same"], x)
    np.testing.assert_array_equal(got["one"], -x)
    np.testing.assert_array_equal(got["two"], -x)


def test_nodes_keep_their_names() -> None:
    builder = Builder()
    builder.input("x", 2, 3)
    builder.constant("w", np.ones((3, 4), np.float32))
    builder.node("scope/product", "MatMul", "x", "w")
    builder.node("scope/y", "Relu", "scope/product")
    main = parsed(builder.content()).main
    assert [node.name for node in main.nodes] == ["scope/product", "scope/y"]
    assert [node.output.name for node in main.nodes] == ["scope/product", "scope/y"]
    assert main.nodes[0].inputs[1].name == "w"


# ---- what is refused ----


def refusal(builder: Builder, **shapes: list[int]) -> str:
    with pytest.raises(ConversionError) as caught:
        parsed(builder.content(), **shapes)
    return str(caught.value)


def test_all_blocking_nodes_are_told_at_once() -> None:
    builder = Builder()
    builder.input("x", 2)
    builder.node("v", "VarHandleOp")
    builder.node("v/read", "ReadVariableOp", "v")
    builder.node("a", "NoSuchOperator", "x")
    builder.node("b", "QuantizedConv2D", "x")
    builder.node("c", "Dilation2DBackpropInput", "x")
    builder.node("d", "Add", "a", "v/read")
    builder.node("e", "AddN", "b", "c", "d")
    text = refusal(builder)
    assert "4 nodes prevent the conversion" in text
    assert "VarHandleOp 'v': it is a variable, and its value is not in this file. Freeze the model" in text
    assert "NoSuchOperator 'a': the operator is unsupported" in text
    assert "QuantizedConv2D 'b': operators on TensorFlow's quantized types are unsupported" in text
    assert "Dilation2DBackpropInput 'c': the operator is unsupported" in text


def test_a_function_of_jax_is_refused_with_what_reads_it() -> None:
    """As jax2tf writes it."""
    builder = Builder()
    builder.input("x", 2)
    builder.node("call", "XlaCallModule", "x")
    text = refusal(builder)
    assert (
        "XlaCallModule 'call': StableHLO in a TensorFlow graph is unsupported. Export the JAX function to ONNX" in text
    )


def test_a_shape_error_names_the_node() -> None:
    builder = Builder()
    builder.input("x", 2, 3)
    builder.constant("w", np.ones((4, 4), np.float32))
    builder.node("product", "MatMul", "x", "w")
    builder.node("y", "Relu", "product")
    assert "MatMul 'product'" in refusal(builder)


def test_an_output_that_is_not_made_is_named() -> None:
    builder = Builder()
    builder.input("x", 1, 4, 4, 2)
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}
    builder.node("pool", "MaxPoolWithArgmax", "x", padding=b"SAME", **window)
    builder.node("y", "Identity", "pool:1")
    assert "reads output 1 of MaxPoolWithArgmax 'pool'" in refusal(builder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\x0a\xff\xff\xff\xff", "cut off or damaged"),
        (b"\x22\x02\x08\x01", "it has no nodes"),
        (b"\x0a\x05\x0a\x01\xff\x12\x00", "UTF-8"),
    ],
)
def test_other_files_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        parsed(content)


def test_detection(tmp_path: Path) -> None:
    for number, name in enumerate(("add_n", "while", "function_call")):
        file = tmp_path / f"{number}.pb"
        file.write_bytes(archive.read(name).content)
        assert detect(file) is FmkType.TF
    onnx = tmp_path / "model.pb"
    onnx.write_bytes(b"\x08\x07\x12\x04test")
    assert detect(onnx) is FmkType.ONNX
    assert detect(tmp_path) is FmkType.TF
    assert detect(tmp_path / "model.keras") is FmkType.TF


# ---- SavedModel and Keras ----


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is not None, reason="TensorFlow is installed")
def test_without_tensorflow_the_extra_is_named(tmp_path: Path) -> None:
    for name in ("model.keras", "model.h5"):
        (tmp_path / name).write_bytes(b"anything")
        with pytest.raises(ConversionError, match=r"pip install '\.\[tf\]'"):
            convert(Options(tmp_path / name, tmp_path / "out"))
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(ConversionError, match=r"pip install '\.\[tf\]'"):
        convert(Options(tmp_path, tmp_path / "out"))


def test_a_folder_that_is_no_saved_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="this folder is not a SavedModel"):
        convert(Options(tmp_path, tmp_path / "out"))
    with pytest.raises(ConversionError, match="it does not exist"):
        convert(Options(tmp_path / "missing.keras", tmp_path / "out"))


def test_numbered_inputs_and_outputs_stand_in_the_order_of_their_numbers() -> None:
    builder = Builder()
    for number in (10, 0, 2):
        builder.input(f"input_{number}", 2)
    for name, number in (("Identity_2", 2), ("Identity", 10), ("Identity_1", 0)):
        builder.node(f"neg_{number}", "Neg", f"input_{number}")
        builder.node(name, "Identity", f"neg_{number}")
    main = parsed(builder.content()).main
    assert [value.name for value in main.inputs] == ["input_0", "input_2", "input_10"]
    assert [value.name for value in main.outputs] == ["Identity", "Identity_1", "Identity_2"]


def test_an_input_that_no_output_needs_may_be_anything() -> None:
    builder = Builder()
    builder.input("file", dtype=STRING)
    builder.input("x", 2)
    builder.node("save", "SaveV2", "file", "x")
    builder.node("y", "Relu", "x")
    assert [value.name for value in parsed(builder.content()).main.inputs] == ["x"]


@pytest.mark.parametrize(
    ("operator", "message"),
    [("Identity", "the output 'y' is complex"), ("Cumsum", "'y'.*is unsupported for complex numbers")],
)
def test_complex_numbers_that_cannot_be(operator: str, message: str) -> None:
    builder = Builder()
    builder.input("a", 2, 3)
    builder.node("c", "Complex", "a", "a")
    builder.node("y", operator, "c")
    with pytest.raises(ConversionError, match=message):
        parsed(builder.content())


def test_windows_beyond_32_bits_are_refused() -> None:
    builder = Builder()
    builder.input("x", 1, 4, 4, 4, 1)
    builder.constant("w", np.ones((3, 1, 1, 1, 1), np.float32))
    wide = [1, 2**31 - 1, 1, 1, 1]
    builder.node("y", "Conv3D", "x", "w", strides=[1] * 5, dilations=wide, padding=b"SAME")
    with pytest.raises(ConversionError, match=r"'y'.*larger than"):
        parsed(builder.content())
