"""`--targetVersion`: what is written, what is refused, and what is said of the versions without the flag."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import mslite
from mslite.converter.cli import main
from mslite.converter.compatibility import Version
from mslite.converter.compatibility.check import refusal
from mslite.converter.mindir.graph import Module, Node, Value, constant, data_type_of
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ops.assembly import Unstack
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType
from mslite.converter.mindir.reference import CASES
from tests.converter.onnx_models import save, small_network, weight
from tests.parsers.tflite.tflite_build import Graph, Operator, Tensor, build

VERSIONS = ("1.3", "1.5", "2.0", "2.7")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    text = capsys.readouterr()
    return status, text.out, text.err


def convert(capsys: pytest.CaptureFixture[str], model: Path, *flags: str) -> tuple[Module, str]:
    status, out, err = run(capsys, f"--modelFile={model}", f"--outputFile={model.with_suffix('')}", *flags)
    assert status == 0, err
    return load(model.with_suffix(".ms")), out


def names(module: Module) -> list[str]:
    return [node.op.name for node in module.main.nodes]


def products(path: Path) -> Path:
    """Two matrices times one, which 1.x computes for the first matrix alone, and a logarithm that it has."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Sigmoid", ["p"], ["y"])]
    return save(path, nodes, {"x": [2, 3, 4]}, {"y": [2, 3, 5]}, [weight("w", 4, 5)])


def determinant(path: Path) -> Path:
    return save(path, [helper.make_node("Det", ["x"], ["y"], name="det")], {"x": [3, 3]}, {"y": []})


@pytest.mark.parametrize("version", VERSIONS)
def test_the_file_names_the_version_that_it_is_made_for(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = small_network(tmp_path / "net.onnx")
    convert(capsys, model, f"--targetVersion={version}")
    assert read_ms(tmp_path / "net.ms").version == f"MindSpore Lite {version}.0"


def test_a_converted_file_names_the_format_and_not_its_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = small_network(tmp_path / "net.onnx")
    convert(capsys, model, "--targetVersion=1.3")
    again = f"--outputFile={tmp_path / 'again'}"
    assert run(capsys, "--fmk=MSLITE", f"--modelFile={tmp_path / 'net.ms'}", again)[0] == 0
    assert read_ms(tmp_path / "again.ms").version == "MindSpore Lite 2.7.0"


def test_the_summary_says_which_versions_run_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = convert(capsys, small_network(tmp_path / "net.onnx"))
    assert "runs in     mslite, MindSpore Lite 1.3, 1.5, 2.0, 2.7" in out
    assert "custom " not in out


def test_the_summary_names_what_is_in_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = convert(capsys, products(tmp_path / "net.onnx"))
    assert "runs in     mslite, MindSpore Lite 2.0, 2.7" in out
    (line,) = (line for line in out.splitlines() if line.startswith("not in"))
    assert line.startswith("not in      MindSpore Lite 1.3, 1.5: it multiplies only the first matrix")
    assert "MatMulFusion 'p'" in line


def test_the_summary_names_custom_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = convert(capsys, determinant(tmp_path / "net.onnx"))
    assert "runs in     mslite\n" in out
    assert "custom      1 node: mslite.Determinant 'det'" in out


def test_a_node_that_cannot_be_written_otherwise_is_a_blocker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = determinant(tmp_path / "net.onnx")
    status, out, err = run(capsys, f"--modelFile={model}", f"--outputFile={tmp_path / 'net'}", "--targetVersion=1.3")
    assert status == 3
    assert "MindSpore Lite 1.3 cannot run the model" in err
    assert "mslite.Determinant 'det': MindSpore Lite 1.3 does not have this Custom operator of mslite. Leave" in err
    assert out.splitlines()[-1] == "Convert failed. Ret: Fail to support."
    assert not (tmp_path / "net.ms").exists()


@pytest.mark.parametrize("value", ["1.4", "2", "newest"])
def test_an_unknown_version_is_wrong_usage(value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = small_network(tmp_path / "net.onnx")
    status, _, err = run(capsys, f"--modelFile={model}", f"--outputFile={tmp_path / 'net'}", f"--targetVersion={value}")
    assert status == 2
    assert "targetVersion must be 1.3|1.5|2.0|2.7" in err


def test_a_mindir_file_has_no_target_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = small_network(tmp_path / "net.onnx")
    flags = (f"--outputFile={tmp_path / 'net'}", "--saveType=MINDIR", "--targetVersion=1.3")
    status, _, err = run(capsys, f"--modelFile={model}", *flags)
    assert status == 2
    assert "targetVersion applies to .ms files" in err


def outputs(path: Path, *arrays: np.ndarray) -> list[np.ndarray]:
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    return [tensor.get_data_to_numpy() for tensor in model.predict(list(arrays))]


@pytest.mark.parametrize("version", ["1.3", "1.5"])
def test_rows_of_several_matrices_are_multiplied_as_one(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = products(tmp_path / "net.onnx")
    plain, _ = convert(capsys, model)
    assert names(plain) == ["MatMulFusion", "Activation"]
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    before = outputs(tmp_path / "net.ms", x)
    lowered, _ = convert(capsys, model, f"--targetVersion={version}")
    assert names(lowered) == ["FullConnection", "Activation"]
    np.testing.assert_allclose(outputs(tmp_path / "net.ms", x)[0], before[0], rtol=1e-6)


def test_int64_becomes_int32_as_in_the_original(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3), "table")
    nodes = [helper.make_node("Gather", ["table", "ids"], ["y"])]
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        [table],
    )
    model = tmp_path / "net.onnx"
    model.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    )
    kept, _ = convert(capsys, model)
    assert kept.main.inputs[0].dtype is DataType.INT64
    narrow, _ = convert(capsys, model, "--targetVersion=1.3")
    assert narrow.main.inputs[0].dtype is DataType.INT32


def test_float16_inputs_are_what_the_runtime_makes_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save(
        tmp_path / "net.onnx",
        [helper.make_node("Relu", ["x"], ["y"])],
        {"x": [2, 3]},
        {"y": [2, 3]},
        kind=TensorProto.FLOAT16,
    )
    kept, _ = convert(capsys, model)
    assert {value.dtype for value in (*kept.main.inputs, *kept.main.outputs)} == {DataType.FLOAT16}
    wide, out = convert(capsys, model, "--targetVersion=1.3")
    assert {value.dtype for value in (*wide.main.inputs, *wide.main.outputs)} == {DataType.FLOAT32}
    assert "with float32 inputs and outputs" in out


@pytest.mark.parametrize(("version", "kept"), [("1.3", DataType.FLOAT16), ("1.5", DataType.FLOAT32)])
def test_float16_constants_stay_float32_for_the_version_that_misreads_them(
    version: str, kept: DataType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, out = convert(capsys, small_network(tmp_path / "net.onnx"), "--fp16=on", f"--targetVersion={version}")
    constants = {value.dtype for value in module.main.values() if value.data is not None}
    assert constants & {DataType.FLOAT16, DataType.FLOAT32} == {kept}
    assert ("1.5 misreads float16" in out) == (version == "1.5")


@pytest.mark.parametrize(("axis", "batch", "is_refused"), [(1, -1, True), (1, 2, False), (0, -1, False)])
def test_unstack_needs_the_rank_when_the_model_is_prepared(axis: int, batch: int, is_refused: bool) -> None:
    """1.x looks at the axis before the shape is known, and ends there."""
    x = Value("x", DataType.FLOAT32, (batch, 3))
    node = Node(Unstack(axis=axis), "unstack", (x,), (Value("y", DataType.FLOAT32, None),))
    assert (refusal(node, Version.V1_3) is not None) == is_refused


def test_integers_without_a_right_kernel_compute_between_casts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1.3's logistic function of int8 wraps around at the end of the range."""
    tensors = [
        Tensor("x", (1, 4), "int8", quant=(0.05, 3)),
        Tensor("y", (1, 4), "int8", quant=(1 / 256, -128)),
    ]
    model = tmp_path / "net.tflite"
    model.write_bytes(build(Graph(tensors, [0], [1], [Operator("LOGISTIC", [0], [1])])))
    plain, _ = convert(capsys, model)
    assert names(plain) == ["Activation"]
    assert plain.main.nodes[0].quant_type is QuantType.QUANT_ALL
    x = np.array([[-128, 0, 3, 127]], np.int8)
    before = outputs(tmp_path / "net.ms", x)[0]
    lowered, out = convert(capsys, model, "--targetVersion=1.3")
    assert names(lowered) == ["QuantDTypeCast", "Activation", "QuantDTypeCast"]
    assert "1 quantized operators have no kernel" in out
    assert np.array_equal(outputs(tmp_path / "net.ms", x)[0], before)


def test_check_has_a_row_for_each_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = products(tmp_path / "net.onnx")
    status, out, _ = run(capsys, f"--modelFile={model}", "--check", "--json")
    assert status == 0
    rows = {target["name"]: target for target in json.loads(out)["targets"]}
    assert [rows[f"MindSpore Lite {version}"]["runs"] for version in VERSIONS] == [False, False, True, True]
    (blocker,) = rows["MindSpore Lite 1.3"]["blockers"]
    assert blocker["node"] == "p"
    assert "--targetVersion=1.3" in blocker["remedy"]


def test_float16_results_are_bits_for_2_x(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    model = save(tmp_path / "net.onnx", nodes, {"x": [2, 3]}, {"y": [2, 3]}, kind=TensorProto.FLOAT16)
    _, out = convert(capsys, model)
    assert "runs in     mslite, MindSpore Lite 1.3, 1.5\n" in out
    assert "not in      MindSpore Lite 2.0, 2.7: it misinterprets the bits of float16 inputs and outputs" in out
    wide, out = convert(capsys, model, "--targetVersion=2.0")
    assert {value.dtype for value in (*wide.main.inputs, *wide.main.outputs)} == {DataType.FLOAT32}
    assert "runs in     mslite, MindSpore Lite 1.3, 1.5, 2.0, 2.7\n" in out


def test_2_0_looks_for_maxima_below_zero_as_minima(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save(
        tmp_path / "net.onnx", [helper.make_node("ReduceMax", ["x"], ["y"], axes=[1])], {"x": [2, 3]}, {"y": [2, 1]}
    )
    _, out = convert(capsys, model)
    assert "not in      MindSpore Lite 2.0: it returns a wrong maximum if all elements are negative" in out
    lowered, _ = convert(capsys, model, "--targetVersion=2.0")
    assert names(lowered) == ["MulFusion", "ReduceFusion", "MulFusion"]
    x = np.array([[-3, -1, -2], [4, -5, 6]], np.float32)
    assert outputs(tmp_path / "net.ms", x)[0].tolist() == [[-1], [6]]


def test_2_0_refuses_loops_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Relu", ["state"], ["next"])], "body",
        [helper.make_tensor_value_info(name, kind, shape)
         for name, kind, shape in (("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("state", TensorProto.FLOAT, [2, 3]))],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("next", TensorProto.FLOAT, [2, 3])],
    )  # fmt: skip
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["count"], to=TensorProto.INT64),
        helper.make_node("Loop", ["count", "", "x"], ["y"], body=body),
    ]
    model = save(tmp_path / "net.onnx", nodes, {"x": [2, 3]}, {"y": [2, 3]})
    status, _, err = run(capsys, f"--modelFile={model}", f"--outputFile={tmp_path / 'net'}", "--targetVersion=2.0")
    assert status == 3
    assert "MindSpore Lite 2.0 does not return from some loops" in err


def test_2_0_gets_no_layout_from_constants(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where sizes are open, it takes the layout of a constant operand for that of a result."""
    nodes = [
        helper.make_node("Mul", ["x", "s"], ["p"]),
        helper.make_node("Conv", ["p", "w"], ["y"], kernel_shape=[1, 1]),
    ]
    model = save(
        tmp_path / "net.onnx",
        nodes,
        {"x": [1, 3, "h", 4]},
        {"y": [1, 5, "h", 4]},
        [weight("s", 3, 1, 1), weight("w", 5, 3, 1, 1)],
    )
    module, _ = convert(capsys, model, "--targetVersion=2.0")
    (product,) = (node for node in module.main.nodes if node.op.name == "MulFusion")
    assert product.inputs[1].format is Format.NHWC


def test_an_input_in_nchw_is_refused_by_1_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = small_network(tmp_path / "net.onnx")
    flags = (f"--outputFile={tmp_path / 'net'}", "--inputDataFormat=NCHW")
    status, _, err = run(capsys, f"--modelFile={model}", *flags, "--targetVersion=1.3")
    assert status == 3
    assert "graph input 'image': MindSpore Lite 1.3 refuses inputs in NCHW" in err
    assert run(capsys, f"--modelFile={model}", *flags, "--targetVersion=1.5")[0] == 0
    assert load(tmp_path / "net.ms").main.inputs[0].format is Format.NCHW


@pytest.mark.parametrize("shape", [None, (), (0,), (3,), (2, 0, 5)], ids=str)
def test_every_condition_takes_operands_of_any_rank(shape: tuple[int, ...] | None) -> None:
    """Sizes, ranks and contents that a condition reads need not be there."""
    for case in CASES:
        for constants in ((), case.constants, range(1, len(case.inputs))):
            inputs = [
                constant(f"c{index}", array) if index in constants else Value(f"x{index}", data_type_of(array), shape)
                for index, array in enumerate(case.inputs)
                if array is not None
            ]
            outputs = tuple(Value(f"y{index}", DataType.FLOAT32, shape) for index in range(3))
            node = Node(case.op, case.name, tuple(inputs), outputs)
            for version in Version:
                refusal(node, version)
