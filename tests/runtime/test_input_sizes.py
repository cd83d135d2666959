"""Sizes that a model was converted for are held: another size is refused where the runtime takes it, with both shapes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import mslite
from mslite import onnx_backend
from mslite.converter.cli import main
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, Value
from mslite.converter.mindir.input_sizes import FIXED, FREE, packed, unpacked
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.options import Options, SaveType
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline
from tests.converter.onnx_models import save
from tests.parsers.tflite.tflite_build import Graph as TfliteGraph
from tests.parsers.tflite.tflite_build import Operator, Tensor, build

BENCHMARK = Path(os.environ.get("MSLITE_BUILD", Path(__file__).parents[2] / "build")) / "benchmark" / "benchmark"

MEAN = [
    helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
    helper.make_node("Size", ["x"], ["n"]),
    helper.make_node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
    helper.make_node("Div", ["s", "f"], ["y"]),
]


def mean(folder: Path, shape: Sequence[int | str], **options: object) -> Path:
    """The mean of x, whose number of elements becomes a constant where it is known."""
    source = save(folder / "mean.onnx", MEAN, {"x": shape}, {"y": []})
    (file,) = convert(Options(source, folder / "mean", **options)).files  # type: ignore[arg-type]
    return file


def built(file: Path) -> mslite.Model:
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE)
    return model


def result(model: mslite.Model, *arrays: np.ndarray) -> np.ndarray:
    return np.array(model.predict(list(arrays))[0].get_data_to_numpy())


def runner(file: Path, config: Mapping[str, Mapping[str, str]] | None = None) -> mslite.ModelParallelRunner:
    context = mslite.Context()
    context.parallel.workers_num = 2
    if config is not None:
        context.parallel.config_info = {name: dict(keys) for name, keys in config.items()}
    parallel = mslite.ModelParallelRunner()
    parallel.build_from_file(str(file), context)
    return parallel


TAKERS: dict[str, Callable[[Path, np.ndarray], object]] = {
    "predict": lambda file, x: built(file).predict([x]),
    "resize": lambda file, x: (lambda model: model.resize(model.get_inputs(), [list(x.shape)]))(built(file)),
    "runner": lambda file, x: runner(file).predict([x]),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("shape", [(1, 10), (2, 5), (5, 1), (1, 5, 1, 2)])
def test_another_size_is_refused_with_both_shapes(taker: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    file = mean(tmp_path, [1, 5])
    with pytest.raises((RuntimeError, ValueError)) as caught:
        TAKERS[taker](file, np.ones(shape, np.float32))
    text = str(caught.value)
    assert "'x'" in text
    assert "[1, 5]" in text
    assert str(list(shape)) in text
    assert "--inputShape" in text


def test_a_fixed_size_of_0_is_held(tmp_path: Path) -> None:
    source = save(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], {"x": [2, 0]}, {"y": [2, 0]})
    model = built(convert(Options(source, tmp_path / "m")).files[0])
    assert result(model, np.ones((2, 0), np.float32)).shape == (2, 0)
    with pytest.raises(RuntimeError, match=r"\[2, 3\].*\[2, 0\]"):
        model.predict([np.ones((2, 3), np.float32)])


def test_a_model_that_refused_goes_on(tmp_path: Path) -> None:
    model = built(mean(tmp_path, [1, 5]))
    x = np.arange(5, dtype=np.float32)[None]
    for _ in range(2):
        assert result(model, x) == 2
        with pytest.raises(RuntimeError, match="converted for"):
            model.predict([np.ones((1, 10), np.float32)])
        with pytest.raises((RuntimeError, ValueError), match="converted for"):
            model.resize(model.get_inputs(), [[1, 10]])
        assert model.get_inputs()[0].shape == [1, 5]


def test_the_backend_of_onnx(tmp_path: Path) -> None:
    mean(tmp_path, [1, 5])
    prepared = onnx_backend.prepare(onnx.load(tmp_path / "mean.onnx"))
    assert prepared.run([np.ones((1, 5), np.float32)])[0] == 1
    with pytest.raises((RuntimeError, ValueError), match=r"'x' has the shape \[1, 10\].*\[1, 5\]"):
        prepared.run([np.ones((1, 10), np.float32)])


def test_benchmark(tmp_path: Path) -> None:
    command = [BENCHMARK, f"--modelFile={mean(tmp_path, [1, 5])}", "--loopCount=1", "--warmUpLoopCount=0"]
    done = subprocess.run([*command, "--inputShapes=1,10"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "[1, 10]" in done.stdout + done.stderr
    assert subprocess.run([*command, "--inputShapes=1,5"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("flag", ["1,-1", "-1,-1"])
def test_a_size_is_opened_by_the_flag(flag: str, tmp_path: Path) -> None:
    source = save(tmp_path / "mean.onnx", MEAN, {"x": [1, 5]}, {"y": []})
    assert main([f"--modelFile={source}", f"--outputFile={tmp_path / 'm'}", f"--inputShape=x:{flag}"]) == 0
    model = built(tmp_path / "m.ms")
    assert result(model, np.ones((1, 10), np.float32)) == 1
    assert result(model, np.ones((1, 5), np.float32)) == 1
    if flag == "1,-1":
        with pytest.raises(RuntimeError, match=r"converted for \[1, \?\]"):
            model.predict([np.ones((2, 5), np.float32)])


def test_open_sizes_stay_open_beside_fixed_ones(tmp_path: Path) -> None:
    model = built(mean(tmp_path, ["n", 5]))
    for rows in (1, 3, 2):
        assert result(model, np.ones((rows, 5), np.float32)) == 1
    with pytest.raises(RuntimeError, match=r"\[2, 6\].*\[\?, 5\]"):
        model.predict([np.ones((2, 6), np.float32)])


def sums(folder: Path, a: Sequence[int | str], b: Sequence[int | str]) -> Path:
    source = save(
        folder / "sum.onnx", [helper.make_node("Add", ["a", "b"], ["y"])], {"a": a, "b": b}, {"y": [None, None]}
    )  # type: ignore[list-item]
    return convert(Options(source, folder / "sum")).files[0]


def test_inputs_that_share_a_size(tmp_path: Path) -> None:
    model = built(sums(tmp_path, ["n", "k"], ["n", 4]))
    assert result(model, np.ones((2, 4), np.float32), np.ones((2, 4), np.float32)).shape == (2, 4)
    assert result(model, np.ones((3, 1), np.float32), np.ones((3, 4), np.float32)).shape == (3, 4)
    refused = [np.ones((1, 4), np.float32), np.ones((2, 4), np.float32)]
    with pytest.raises(RuntimeError, match=r"'b' has the shape \[2, 4\] and input 'a' has the shape \[1, 4\]"):
        model.predict(refused)
    with pytest.raises((RuntimeError, ValueError), match="dimension 0 of"):
        model.resize(model.get_inputs(), [[1, 4], [2, 4]])


def test_one_input_with_a_size_twice(tmp_path: Path) -> None:
    source = save(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], {"x": ["n", "n"]}, {"y": ["n", "n"]})
    model = built(convert(Options(source, tmp_path / "m")).files[0])
    assert result(model, np.ones((3, 3), np.float32)).shape == (3, 3)
    with pytest.raises(RuntimeError, match=r"'x' has the shape \[3, 2\], but its dimensions 0 and 1 must be equal"):
        model.predict([np.ones((3, 2), np.float32)])


def test_sizes_without_a_name_are_each_their_own(tmp_path: Path) -> None:
    model = built(sums(tmp_path, [None, None], [None, None]))  # type: ignore[list-item]
    assert result(model, np.ones((1, 4), np.float32), np.ones((3, 1), np.float32)).shape == (3, 4)


@pytest.mark.parametrize("name", ["?", "-1", "None", "unknown", "*"])
def test_names_that_name_nothing_are_no_shared_sizes(name: str, tmp_path: Path) -> None:
    """As detectors have them, whose images may be of any height and width."""
    source = save(
        tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], {"x": [1, name, name]}, {"y": [1, name, name]}
    )
    model = built(convert(Options(source, tmp_path / "m")).files[0])
    assert result(model, np.ones((1, 2, 3), np.float32)).shape == (1, 2, 3)


def test_a_size_that_is_given_holds_for_all_inputs_that_share_it(tmp_path: Path) -> None:
    source = sums(tmp_path, ["n", 4], ["n", 4]).with_suffix(".onnx")
    model = built(convert(Options(source, tmp_path / "fixed", input_shapes={"a": (3, 4)})).files[0])
    assert [tensor.shape for tensor in model.get_inputs()] == [[3, 4], [3, 4]]
    with pytest.raises(RuntimeError, match=r"'b' has the shape \[1, 4\].*\[3, 4\]"):
        model.predict([np.ones((3, 4), np.float32), np.ones((1, 4), np.float32)])


def test_a_size_that_is_given_for_a_file_holds_for_all_inputs_that_share_it(tmp_path: Path) -> None:
    file = sums(tmp_path, ["n", 4], ["n", 4])
    model = built(convert(Options(file, tmp_path / "fixed", input_shapes={"a": (3, 4)})).files[0])
    assert [tensor.shape for tensor in model.get_inputs()] == [[3, 4], [3, 4]]
    with pytest.raises(ConversionError, match="gives 4 for a dimension that is 3 elsewhere"):
        convert(Options(file, tmp_path / "two", input_shapes={"a": (3, 4), "b": (4, 4)}))


def test_converting_the_result_again(tmp_path: Path) -> None:
    """A `.ms` file says what it was made for, and the next one does, too."""
    file = mean(tmp_path, [1, 5])
    again = convert(Options(file, tmp_path / "again")).files[0]
    with pytest.raises(RuntimeError, match=r"\[1, 10\].*\[1, 5\]"):
        built(again).predict([np.ones((1, 10), np.float32)])
    with pytest.raises(ConversionError, match="--inputShape: dimension 1 of input 'x' is fixed to 5 in the file"):
        convert(Options(file, tmp_path / "other", input_shapes={"x": (1, 10)}))
    shared = convert(Options(sums(tmp_path, ["n", 4], ["n", 4]), tmp_path / "shared")).files[0]
    with pytest.raises(RuntimeError, match="must be equal"):
        built(shared).predict([np.ones((1, 4), np.float32), np.ones((2, 4), np.float32)])


def through_mindir(folder: Path, source: Path, **options: object) -> mslite.Model:
    """The model that is made of a `.mindir` file, which is made of the source."""
    (middle,) = convert(Options(source, folder / "middle", save_type=SaveType.MINDIR)).files
    return built(convert(Options(middle, folder / "last", **options)).files[0])  # type: ignore[arg-type]


def test_fixed_sizes_are_held_behind_a_mindir_file(tmp_path: Path) -> None:
    source = save(tmp_path / "m.onnx", MEAN, {"x": [1, 5]}, {"y": []})
    model = through_mindir(tmp_path, source)
    assert result(model, np.ones((1, 5), np.float32)) == 1
    with pytest.raises(RuntimeError, match=r"\[1, 10\].*\[1, 5\]"):
        model.predict([np.ones((1, 10), np.float32)])
    with pytest.raises(ConversionError, match="constants of the file depend on it"):
        through_mindir(tmp_path, source, input_shapes={"x": (1, 10)})


def test_shared_sizes_are_held_behind_a_mindir_file(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["a"], ["c"]), helper.make_node("Relu", ["b"], ["d"])]
    source = save(tmp_path / "m.onnx", nodes, {"a": ["n", 5], "b": ["n", 3]}, {"c": ["n", 5], "d": ["n", 3]})
    model = through_mindir(tmp_path, source)
    assert result(model, np.ones((2, 5), np.float32), np.ones((2, 3), np.float32)).shape == (2, 5)
    with pytest.raises(RuntimeError, match="must be equal"):
        model.predict([np.ones((2, 5), np.float32), np.ones((4, 3), np.float32)])


def test_images_are_compared_in_the_layout_of_the_file(tmp_path: Path) -> None:
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2])
    source = save(tmp_path / "m.onnx", [node], {"x": [1, 2, "h", 8]}, {"y": [None] * 4})  # type: ignore[list-item]
    model = built(convert(Options(source, tmp_path / "m")).files[0])
    assert result(model, np.ones((1, 5, 8, 2), np.float32)).shape == (1, 2, 4, 7)
    with pytest.raises(RuntimeError, match=r"\[1, 5, 9, 2\].*\[1, \?, 8, 2\]"):
        model.predict([np.ones((1, 5, 9, 2), np.float32)])
    with pytest.raises(RuntimeError, match="looks like NCHW"):
        model.predict([np.ones((1, 2, 5, 8), np.float32)])


def tflite_mean(shape: tuple[int, ...], with_shape: bool) -> bytes:
    """RELU of x, and with SHAPE its sizes, too."""
    tensors = [Tensor("x", shape), Tensor("y", shape), Tensor("n", (len(shape),), "int32")]
    operators = [Operator("RELU", [0], [1])]
    if with_shape:
        operators.append(Operator("SHAPE", [0], [2], {0: ("byte", 2)}, "ShapeOptions"))
        tensors.append(Tensor("m", (len(shape),), "int32"))
        operators.append(Operator("NEG", [2], [3], {}, "NegOptions"))
    return build(TfliteGraph(tensors, [0], [1, 3] if with_shape else [1], operators))


@pytest.mark.parametrize("with_shape", [False, True])
def test_tflite_is_resized_unless_its_sizes_became_constants(with_shape: bool, tmp_path: Path) -> None:
    """LiteRT resizes fixed inputs, too."""
    (tmp_path / "m.tflite").write_bytes(tflite_mean((2, 3), with_shape))
    model = built(convert(Options(tmp_path / "m.tflite", tmp_path / "m")).files[0])
    x = np.ones((4, 3), np.float32)
    if with_shape:
        with pytest.raises(RuntimeError, match=r"\[4, 3\].*\[2, 3\]"):
            model.predict([x])
        opened = Options(tmp_path / "m.tflite", tmp_path / "open", input_shapes={"x": (-1, 3)})
        _, sizes = built(convert(opened).files[0]).predict([x])
        assert sizes.get_data_to_numpy().tolist() == [-4, -3]
    else:
        assert result(model, x).shape == (4, 3)


def test_files_without_a_record_keep_what_they_did(tmp_path: Path) -> None:
    """As MindSpore Lite writes them: every size may change."""
    file = mean(tmp_path, [1, 5])
    module = module_io.load(file)
    for value in module.main.inputs:
        assert value.size_marks == (FIXED, FIXED)
        value.size_marks = ()
    module_io.save(module, tmp_path / "plain.ms")
    meta = module_io.to_meta(module)
    assert all(tensor.refCount == tensor.offset == 0 for tensor in meta.allTensors or ())
    assert result(built(tmp_path / "plain.ms"), np.ones((1, 10), np.float32)) == 2


def test_requests_are_not_batched_where_the_batch_is_fixed(tmp_path: Path) -> None:
    parallel = runner(mean(tmp_path, [1, 5]), {"dynamic_batching": {"max_batch_size": "4"}})
    (y,) = parallel.predict([np.ones((1, 5), np.float32)])
    assert y.get_data_to_numpy() == 1


@pytest.mark.parametrize("marks", [(), (FIXED,), (FREE, 1, 2, FIXED), (FIXED,) * 8, (3, 0, 14, 15, 1, 2, 0, 15)])
def test_marks_survive_the_file(marks: tuple[int, ...]) -> None:
    assert unpacked(packed(marks), len(marks)) == marks
    assert -(1 << 31) <= packed(marks) < 1 << 31


def test_more_shared_sizes_than_a_file_can_say_are_noted() -> None:
    shapes = [tuple(SYMBOL_LIMIT - 1 - (group + k) % 16 for k in range(8)) for group in range(4)]
    inputs = [Value(f"x{number}", DataType.FLOAT32, shape) for number, shape in enumerate(shapes)]
    context = run_pipeline(Module([Graph("main", inputs, list(inputs))]), Settings())
    assert any("dynamic dimensions are shared" in note for note in context.notes) == (
        len({s for shape in shapes for s in shape}) > 14
    )
