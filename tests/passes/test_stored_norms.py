"""Normalizations of images in written files: MindSpore Lite 1.3, 1.5 and 2.7 compute what the source means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper, parser, save_model

from mslite.codegen.lowering import lower_ms
from mslite.codegen.targets import TARGETS
from mslite.converter.convert import convert
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Array, Module, Value
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.enums import ActivationType, Format
from mslite.converter.mindir.ops.normalization import ChannelsLastInstanceNorm, InstanceNorm
from mslite.converter.mindir.ops.rearrange import Transpose
from mslite.converter.mindir.ops.tables import MetaGraph
from mslite.converter.options import Options
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline
from tests.parsers.onnx.helper import reference
from tests.passes.builder import Builder, assert_close, integers, numbers, operators, run
from tests.passes.cases_normalization import instance_norm, instance_norm_line
from tests.passes.norm_files import TO_FIRST, TO_LAST, original, predict

VERSIONS = [(1, 3), (1, 5), (2, 7)]
RELU = Activation(activation_type=ActivationType.RELU)


def onnx_model(graph: str, **constants: Array) -> ModelProto:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]>\nagraph {graph}')
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    return model


def written(model: ModelProto, folder: Path, **options: object) -> Path:
    save_model(model, folder / "model.onnx")
    asked = Options(
        folder / "model.onnx",
        folder / "model.ms",
    )
    return convert(replace(asked, **options)).files[0]  # type: ignore[arg-type]


def check(model: ModelProto, folder: Path, x: Array, versions: list[tuple[int, int]] = VERSIONS) -> MetaGraph:
    """Compares what the runtime and MindSpore Lite make of the file with onnxruntime."""
    path = written(model, folder)
    wanted = reference(model, {model.graph.input[0].name: x})
    given = x.transpose(TO_LAST) if x.ndim == 4 else x
    assert_close([predict(path, given)], wanted)
    meta = read_ms(path)
    for version in versions:
        assert_close([original(meta, given, version)], wanted)
    assert all(stated_nchw(meta))
    return meta


def stated_nchw(meta: MetaGraph) -> list[bool]:
    """Of every InstanceNorm, whether its operand and its result are said to be NCHW."""
    tensors = meta.allTensors or []
    return [
        all(tensors[index].format is Format.NCHW for index in ((node.inputIndex or ())[0], (node.outputIndex or ())[0]))
        for node in meta.nodes or ()
        if isinstance(node.primitive, InstanceNorm)
    ]


def form(meta: MetaGraph) -> list[str]:
    """The operators in order; a Transpose is the order in which it takes the dimensions."""
    names = []
    for node in meta.nodes or ():
        assert node.primitive is not None
        name = node.primitive.name
        if name == "Transpose":
            data = (meta.allTensors or [])[(node.inputIndex or ())[1]].data
            name = "".join(map(str, np.frombuffer(data or b"", np.int32)))
        names.append(name)
    return names


def parameters(channels: int) -> dict[str, Array]:
    return {"g": numbers(channels, seed=1), "b": numbers(channels, seed=2)}


CONVOLUTIONS = """(float[2,3,9,8] x) => (float[2,5,9,8] y) {
    c = Conv <pads = [1,1,1,1]> (x, v)  n = InstanceNormalization <epsilon = 0.001> (c, g, b)  r = Relu (n)
    y = Conv <pads = [1,1,1,1]> (r, w)
}"""


def test_between_convolutions(tmp_path: Path) -> None:
    """Transposes stand around the norm itself, and nowhere else but at the end."""
    weights = {"v": numbers(4, 3, 3, 3), "w": numbers(5, 4, 3, 3)}
    meta = check(onnx_model(CONVOLUTIONS, **weights, **parameters(4)), tmp_path, numbers(2, 3, 9, 8))
    assert form(meta) == ["Conv2DFusion", "0312", "InstanceNorm", "0231", "Activation", "Conv2DFusion", "0312"]
    node = (meta.nodes or [])[2]
    tensors = [(meta.allTensors or [])[index] for index in (*(node.inputIndex or ()), *(node.outputIndex or ()))]
    assert [tensor.dims for tensor in tensors] == [(2, 4, 9, 8), (4,), (4,), (2, 4, 9, 8)]
    assert node.primitive == InstanceNorm(epsilon=np.float32(0.001))


def test_where_nothing_asks_for_channels_last(tmp_path: Path) -> None:
    """As many pixels as channels: no size tells the layouts apart."""
    graph = "(float[1,8,8,8] x) => (float[1,8,8,8] y) { a = Add (x, x)  y = InstanceNormalization (a, g, b) }"
    meta = check(onnx_model(graph, **parameters(8)), tmp_path, numbers(1, 8, 8, 8))
    assert form(meta) == ["0312", "AddFusion", "InstanceNorm"]


def test_an_input_that_stays_nchw(tmp_path: Path) -> None:
    graph = "(float[1,4,6,5] x) => (float[1,4,6,5] y) { y = InstanceNormalization (x, g, b) }"
    model, x = onnx_model(graph, **parameters(4)), numbers(1, 4, 6, 5)
    meta = read_ms(written(model, tmp_path, input_format=Format.NCHW))
    assert form(meta) == ["InstanceNorm"]
    for version in VERSIONS:
        assert_close([original(meta, x, version)], reference(model, {"x": x}))


@pytest.mark.parametrize("shape", [(2, 6, 9), (2, 6, 6), (2, 6, 1), (2, 6, 3, 4, 5), (2, 6, 5, 4)], ids=str)
@pytest.mark.parametrize("is_open", [False, True])
def test_ranks(shape: tuple[int, ...], is_open: bool, tmp_path: Path) -> None:
    """MindSpore Lite up to 1.5 computes on four dimensions; it takes anything reshaped for what it was reshaped from."""
    sizes = ",".join(str(size) if axis == 1 or not is_open else f"s{axis}" for axis, size in enumerate(shape))
    graph = f"(float[{sizes}] x) => (float[{sizes}] y) {{ a = Abs (x)  y = InstanceNormalization (a, g, b) }}"
    meta = check(onnx_model(graph, **parameters(6)), tmp_path, numbers(*shape))
    assert form(meta).count("InstanceNorm") == 1


def test_behind_a_convolution_of_rows(tmp_path: Path) -> None:
    graph = (
        "(float[2,3,9] x) => (float[2,4,7] y) { c = Conv (x, w)  n = InstanceNormalization (c, g, b)  y = Relu (n) }"
    )
    meta = check(onnx_model(graph, w=numbers(4, 3, 3), **parameters(4)), tmp_path, numbers(2, 3, 9))
    assert form(meta).count("0312") == form(meta).count("0231") == 1


def test_groups_are_nchw_to_version_2(tmp_path: Path) -> None:
    """It refuses GroupNormFusion on what it takes for NHWC."""
    graph = """(float[2,6,9] x) => (float[2,6,9] y) {
        r = Reshape (x, rows)  n = InstanceNormalization (r, g, b)  y = Reshape (n, back)
    }"""
    sizes = {"rows": np.array([2, 3, -1]), "back": np.array([2, 6, 9])}
    meta = check(onnx_model(graph, **sizes, **parameters(3)), tmp_path, numbers(2, 6, 9), [(2, 7)])
    assert "GroupNormFusion" in form(meta)


def open_line() -> Module:
    """[batch, length, channels], both open."""
    b = Builder()
    x = b.input(SYMBOL_LIMIT - 1, SYMBOL_LIMIT - 2, 6)
    return b.module(b.call(ChannelsLastInstanceNorm(epsilon=1e-3), x, numbers(6), numbers(6, seed=1)))


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: instance_norm("torch"), (2, 5, 4, 6)),
        (lambda: instance_norm("keras"), (2, 5, 4, 6)),
        (instance_norm_line, (2, 9, 6)),
        (open_line, (3, 7, 6)),
    ],
)
def test_spelled_with_channels_last(make: Callable[[], Module], shape: tuple[int, ...], tmp_path: Path) -> None:
    """As TensorFlow and TensorFlow Lite write it."""
    module, x = make(), numbers(*shape, seed=1)
    for value in module.main.inputs:
        value.format = Format.NHWC
    with_sizes = make()
    with_sizes.main.inputs[0].shape = shape
    wanted = run(with_sizes)
    run_pipeline(module, Settings())
    path = save(module, tmp_path / "model.ms")[0]
    meta = read_ms(path)
    assert [name for name in form(meta) if name not in ("Reshape", "Shape")] == ["0312", "InstanceNorm", "0231"]
    assert_close([predict(path, x)], wanted)
    for version in VERSIONS:
        assert_close([original(meta, x, version)], wanted)


def _norm(build: Builder, x: Value, seed: int) -> Value:
    op = ChannelsLastInstanceNorm(epsilon=1e-3)
    return build.call(op, x, numbers(6, seed=seed), numbers(6, seed=seed + 1))


def test_transposes_cancel() -> None:
    """Between two norms, in front of the first, and where an output wants NCHW; the activation stays in NHWC."""
    b = Builder()
    x = b.call(Transpose(), b.input(2, 6, 5, 4), integers(*TO_LAST))
    y = _norm(b, _norm(b, x, 0), 2)
    module = b.module(
        b.call(Transpose(), b.call(RELU, y), integers(*TO_LAST)), b.call(Transpose(), y, integers(*TO_FIRST))
    )
    want = run(module)
    run_pipeline(module, Settings())
    assert operators(module) == ["InstanceNorm", "InstanceNorm", "Transpose", "Activation", "Transpose"]
    assert_close(run(module), want)


def test_the_runtime_has_no_transposes(tmp_path: Path) -> None:
    """Nor has generated C: both plan the same steps."""
    weights = {"v": numbers(4, 3, 3, 3), "w": numbers(5, 4, 3, 3)}
    path = written(onnx_model(CONVOLUTIONS, **weights, **parameters(4)), tmp_path, output_format=Format.NHWC)
    program = lower_ms(path, TARGETS["x86"], {})
    names = [step.operator for step in program.steps]
    assert names == ["Conv2DFusion", "ChannelsLastInstanceNorm", "Activation", "Conv2DFusion"]


def test_rows_are_copied_by_nobody(tmp_path: Path) -> None:
    """What only says that rows are NCHW moves no element."""
    graph = "(float[2,6,9] x) => (float[2,6,9] y) { a = Abs (x)  y = InstanceNormalization (a, g, b) }"
    path = written(onnx_model(graph, **parameters(6)), tmp_path)
    steps = lower_ms(path, TARGETS["x86"], {}).steps
    assert [step.operator for step in steps] == ["Abs", "InstanceNorm"]
