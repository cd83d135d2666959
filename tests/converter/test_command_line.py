"""converter_lite: syntax, values, exit status, and what it prints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper

import mslite
from mslite.converter.cli import main
from mslite.converter.flag_values import parse_shapes
from mslite.converter.flags import FLAGS
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.parsers.mindir.messages import ModelProto
from tests.converter.onnx_models import save, small_network


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return small_network(tmp_path / "net.onnx")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    text = capsys.readouterr()
    return status, text.out, text.err


def convert(capsys: pytest.CaptureFixture[str], model: Path, *flags: str) -> tuple[int, str, str]:
    return run(capsys, f"--modelFile={model}", f"--outputFile={model.with_suffix('')}", *flags)


def test_success_writes_the_file_and_says_so(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = convert(capsys, model, "--fmk=ONNX")
    assert status == 0
    assert out.splitlines()[-1] == "CONVERT RESULT SUCCESS:0"
    module = load(model.with_suffix(".ms"))
    assert [node.op.name for node in module.main.nodes] == ["Conv2DFusion", "AvgPoolFusion", "Reshape", "MatMulFusion"]
    assert module.main.inputs[0].shape == (1, 6, 5, 2)
    assert module.main.inputs[0].format is Format.NHWC
    assert "transposes  0" in out


@pytest.mark.parametrize(
    ("width", "flags", "kept"),
    [(4, (), False), (3, (), True), (3, ("--inputDataFormat=NHWC",), False), (4, ("--inputDataFormat=NCHW",), True)],
)
def test_the_layout_of_images(
    width: int, flags: tuple[str, ...], kept: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An input 3 wide stays as it is where nobody asks for a layout; the summary says which one each has."""
    source = save(
        tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], {"x": [1, 5, 8, width]}, {"y": [None] * 4}
    )
    status, out, _ = convert(capsys, source, *flags)
    assert status == 0
    (value,) = load(tmp_path / "m.ms").main.inputs
    shape, layout = ((1, 5, 8, width), Format.NCHW) if kept else ((1, 8, width, 5), Format.NHWC)
    assert (value.shape, value.format) == (shape, layout)
    assert f"input       'x': {list(shape)}, {layout.name}" in out
    assert ("because it is 3 wide" in out) == (kept and not flags)


def test_the_suffix_is_added_once(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = model.parent / "given.ms"
    assert run(capsys, f"--modelFile={model}", f"--outputFile={target}")[0] == 0
    assert target.is_file()
    assert not Path(f"{target}.ms").exists()


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("modelFile=x", "Failed: flag modelFile=x is not valid. Did you mean --modelFile?"),
        ("-modelFile=x", "Failed: flag -modelFile=x is not valid. Did you mean --modelFile?"),
        ("model.onnx", "Failed: flag model.onnx is not valid. Flags are --name=value"),
        ("--modelfile=x", "modelfile is not a valid flag. Did you mean --modelFile?"),
        ("--configFiel=x", "configFiel is not a valid flag. Did you mean --configFile?"),
        ("--fmk", "No value provided for non-boolean type: fmk"),
        ("--fmk=", "No value provided for non-boolean type: fmk"),
    ],
)
def test_wrong_syntax(argument: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, argument)
    assert status == 2
    assert message in err
    assert "converter_lite --help shows the flags" in err
    assert out.strip() == "Flags PreInit failed. Ret: -600"


@pytest.mark.parametrize("framework", ["TFLITE", "TF", "MINDIR"])
def test_a_wrong_fmk_is_named(framework: str, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, f"--fmk={framework}", f"--modelFile={model}", f"--outputFile={model.parent / 'out'}")
    assert status == 1
    assert "The file looks like ONNX: use --fmk=ONNX" in err


def test_a_repeated_flag(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "--fp16=on", "--fp16=on")
    assert status == 2
    assert "Failed: already parsed flag: fp16" in err


def test_no_argument_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys)[0] == 2
    status, out, _ = run(capsys, "--help")
    assert status == 0
    assert all(f" --{name}=" in out for name in FLAGS)
    assert "examples:" in out


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--fp16=yes", "INPUT ILLEGAL: fp16 must be on|off"),
        ("--fmk=KERAS", "INPUT ILLEGAL: fmk must be ONNX|TFLITE"),
        ("--inputDataFormat=HWC", "INPUT ILLEGAL: inputDataFormat must be NHWC|NCHW"),
        ("--inputDataType=DOUBLE", "INPUT INVALID: inputDataType must be FLOAT|"),
        ("--outputDataType=INT64", "INPUT INVALID: outputDataType must be FLOAT|"),
        ("--inputShape=image", "must be name:1,2,3"),
        ("--inputShape=image:1,-2,3,4", "dimensions must be 0 to"),
        ("--optimize=fast", "INPUT ILLEGAL: optimize must be"),
        ("--saveType=PB", "INPUT ILLEGAL: saveType must be"),
    ],
)
def test_wrong_values(model: Path, flag: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = convert(capsys, model, flag)
    assert status == 2
    assert message in err
    assert "failed." in err
    assert out.strip() == "Flags Init failed. Ret: -600"
    assert not model.with_suffix(".ms").exists()


@pytest.mark.parametrize(
    "flag",
    [
        "--fmk=OM", "--optimize=gpu_oriented", "--optimize=ascend_oriented:910b",
        "--optimizeTransformer=true", "--device=GPU",
    ],
)  # fmt: skip
def test_what_is_not_built_is_refused_by_name(model: Path, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = convert(capsys, model, flag)
    assert status == 3
    assert flag.partition("=")[0] in err
    assert out.startswith("Convert failed. Ret: ")


def test_mindir_is_written_in_the_sources_layout(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(capsys, model, "--saveType=MINDIR")[0] == 0
    file = model.with_suffix(".mindir")
    assert file.stat().st_mode & 0o777 == 0o400
    assert not model.with_suffix(".ms").exists()
    proto = ModelProto.FromString(file.read_bytes())
    assert list(proto.graph.input[0].tensor[0].dims) == [1, 2, 6, 5]
    again = file.with_name("again")
    assert run(capsys, f"--modelFile={file}", f"--outputFile={again}")[0] == 0
    assert load(again.with_suffix(".ms")).main.inputs[0].shape == (1, 6, 5, 2)


def test_a_mindir_result_is_not_run(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--infer=true", "--verify"):
        status, _, err = convert(capsys, model, "--saveType=MINDIR", flag)
        assert status == 2
        assert "infer and verify run the result" in err


def test_input_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(capsys, tmp_path / "absent.onnx")[0] == 1
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x00\x01\x02 not a model")
    status, out, err = convert(capsys, broken)
    assert status == 1
    assert "not an ONNX model" in err
    assert "Convert failed" in out
    unknown = tmp_path / "model.bin"
    unknown.write_bytes(b"whatever this is")
    assert "--fmk=" in convert(capsys, unknown)[2]


def test_an_output_that_cannot_be_written(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, f"--modelFile={model}", f"--outputFile={model.parent}/absent/net")
    assert status == 1
    assert "cannot be written" in err


def test_all_blocking_nodes_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="first", domain="example"),
        helper.make_node("Twist", ["a"], ["y"], name="second", domain="example"),
    ]
    model = save(tmp_path / "bad.onnx", nodes, {"x": [2]}, {"y": [2]})
    status, _, err = convert(capsys, model)
    assert status == 3
    assert "'first'" in err
    assert "'second'" in err


def test_shapes_are_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = small_network(tmp_path / "net.onnx", batch="n")
    assert convert(capsys, model)[0] == 0
    assert not load(model.with_suffix(".ms")).main.inputs[0].is_static
    assert convert(capsys, model, "--inputShape=image:3,2,6,5")[0] == 0
    assert load(model.with_suffix(".ms")).main.inputs[0].shape == (3, 6, 5, 2)
    status, _, err = convert(capsys, model, "--inputShape=picture:3,2,6,5")
    assert status == 1
    assert "image" in err


def test_the_last_colon_separates_name_and_sizes() -> None:
    assert parse_shapes("a:0:1,2;b:3") == {"a:0": (1, 2), "b": (3,)}


def test_formats_and_types_of_the_boundary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2])]
    model = save(tmp_path / "pool.onnx", nodes, {"x": [1, 2, 4, 6]}, {"y": [1, 2, 3, 5]})
    flags = ("--inputDataFormat=NCHW", "--outputDataFormat=NHWC", "--inputDataType=UINT8", "--outputDataType=FLOAT16")
    assert convert(capsys, model, *flags)[0] == 0
    graph = load(model.with_suffix(".ms")).main
    assert (graph.inputs[0].shape, graph.inputs[0].dtype) == ((1, 2, 4, 6), DataType.UINT8)
    assert (graph.outputs[0].shape, graph.outputs[0].dtype) == ((1, 3, 5, 2), DataType.FLOAT16)
    assert graph.outputs[0].name == "y"


def test_channels_first_inputs(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file takes the layout of the ONNX model, computes the same, and keeps it when it is converted again."""
    image = np.random.default_rng(1).uniform(-1, 1, (1, 2, 6, 5)).astype(np.float32)
    assert convert(capsys, model)[0] == 0
    want = outputs_of(model.with_suffix(".ms"), image.transpose(0, 2, 3, 1))
    assert convert(capsys, model, "--fmk=ONNX", "--inputDataFormat=NCHW")[0] == 0
    again = model.with_name("again.ms")
    flags = (f"--modelFile={model.with_suffix('.ms')}", f"--outputFile={again}", "--inputDataFormat=NCHW")
    assert run(capsys, *flags)[0] == 0
    for file in (model.with_suffix(".ms"), again):
        image_value = load(file).main.inputs[0]
        assert (image_value.shape, image_value.format) == ((1, 2, 6, 5), Format.NCHW)
        np.testing.assert_allclose(outputs_of(file, image), want, rtol=0, atol=1e-6)


def outputs_of(file: Path, image: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The first output of a network with one input."""
    network = mslite.Model()
    network.build_from_file(str(file), mslite.ModelType.MINDIR_LITE)
    inputs = network.get_inputs()
    assert inputs[0].shape == list(image.shape)
    inputs[0].set_data_from_numpy(np.ascontiguousarray(image))
    result: npt.NDArray[np.float32] = network.predict(inputs)[0].get_data_to_numpy()
    return result


def test_float16_weights(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(capsys, model, "--fp16=on")[0] == 0
    graph = load(model.with_suffix(".ms")).main
    weights = [value for node in graph.nodes for value in node.inputs if value.data is not None]
    assert {value.dtype for value in weights} == {DataType.FLOAT16, DataType.INT32}
    assert graph.inputs[0].dtype is DataType.FLOAT32


def test_int64_as_int32(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save(tmp_path / "ids.onnx", [helper.make_node("Add", ["x", "x"], ["y"])], {"x": [3]}, {"y": [3]}, kind=7)
    assert convert(capsys, model)[0] == 0
    assert load(model.with_suffix(".ms")).main.inputs[0].dtype is DataType.INT64
    assert convert(capsys, model, "--int64=int32")[0] == 0
    graph = load(model.with_suffix(".ms")).main
    assert {graph.inputs[0].dtype, graph.outputs[0].dtype} == {DataType.INT32}


def test_without_fusion(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(capsys, model, "--optimize=none")[0] == 0
    names = [node.op.name for node in load(model.with_suffix(".ms")).main.nodes]
    assert "FusedBatchNorm" in names
    assert "Activation" in names


def test_a_result_converts_again_to_the_same_bytes(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(capsys, model)[0] == 0
    first = model.with_suffix(".ms").read_bytes()
    assert convert(capsys, model)[0] == 0
    assert model.with_suffix(".ms").read_bytes() == first
    again = model.parent / "again"
    assert run(capsys, f"--modelFile={model.with_suffix('.ms')}", f"--outputFile={again}")[0] == 0
    old, new = load(model.with_suffix(".ms")).main, load(again.with_suffix(".ms")).main
    assert [node.op for node in new.nodes] == [node.op for node in old.nodes]
    for mine, theirs in zip(new.values(), old.values(), strict=True):
        assert mine.data is None or np.array_equal(mine.data, theirs.array())


def test_verify_and_infer(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime")
    status, out, _ = convert(capsys, model, "--verify", "--infer=true")
    assert status == 0
    assert "verify      output 'scores' differs by" in out
