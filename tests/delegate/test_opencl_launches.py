"""Which launches nodes become together, and that these compute what the CPU does: epilogues, attention, Winograd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options

from .counts import parts_of
from .engines import OPENCL, OPENCL_HALF, OPENCL_HALF_IMAGES, OPENCL_IMAGES, Engine
from .models import missing

Shape = tuple[int, ...]
RNG = np.random.default_rng(7)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def opencl(cache: Path) -> Iterator[None]:
    if reason := missing(OPENCL):
        pytest.skip(reason)
    with OPENCL.chosen(MSLITE_DELEGATE_COSTS="off", MSLITE_OPENCL_CACHE=str(cache)):
        yield


def numbers(*shape: int) -> np.ndarray:
    return (RNG.standard_normal(shape) / np.sqrt(max(np.prod(shape[1:]), 1))).astype(np.float32)


def node(op: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), output.split(), name=output.split()[0], **attributes)


def converted(
    folder: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, Shape],
    outputs: Sequence[str],
    constants: dict[str, np.ndarray],
) -> Path:
    """The .ms file of an ONNX graph of these nodes."""
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return convert(Options(path, folder / "model")).files[0]


def check(path: Path, folder: Path, tolerance: float = 1e-5, engine: Engine = OPENCL) -> dict[str, int]:
    """Compares with the CPU; how many launches of each kernel there are."""
    with engine.chosen():
        on_engine = engine.built(path)
    on_cpu = mslite.Model()
    on_cpu.build_from_file(path, mslite.ModelType.MINDIR_LITE)
    assert all(map(engine.has, on_engine.placements()))
    inputs = [RNG.standard_normal(tensor.shape).astype(np.float32) for tensor in on_engine.get_inputs()]
    for got, wanted in zip(on_engine.predict(inputs), on_cpu.predict(inputs), strict=True):
        reference = wanted.get_data_to_numpy()
        np.testing.assert_allclose(got.get_data_to_numpy(), reference, atol=tolerance * np.abs(reference).max(), rtol=0)
    launches: Counter[str] = Counter()
    for part in parts_of(path, folder):
        launches.update({name.split(".")[1]: kernel["launches"] for name, kernel in part["kernels"].items()})
    return dict(launches)


ENGINES = pytest.mark.parametrize(
    ("engine", "tolerance"),
    [(OPENCL, 1e-5), (OPENCL_HALF, 5e-3), (OPENCL_IMAGES, 1e-5), (OPENCL_HALF_IMAGES, 5e-3)],
    ids=lambda value: value.label if isinstance(value, Engine) else "",
)


@ENGINES
@pytest.mark.parametrize("channels", [8, 6])
def test_an_epilogue(tmp_path: Path, engine: Engine, tolerance: float, channels: int) -> None:
    """A residual, a factor per channel, one number and an activation follow a convolution: one launch does it all."""
    path = converted(
        tmp_path,
        [
            node("Conv", "x w", "c"),
            node("Mul", "c factor", "m"),
            node("Add", "r m", "a"),
            node("Sub", "one a", "s"),
            node("LeakyRelu", "s", "y", alpha=0.25),
        ],
        {"x": (1, channels, 7, 5), "r": (1, channels, 7, 5)},
        ["y"],
        {
            "w": numbers(channels, channels, 1, 1),
            "factor": numbers(channels, 1, 1),
            "one": np.array([0.5], np.float32),
        },
    )
    launches = check(path, tmp_path, tolerance, engine)
    launches.pop("copy", None)  # images change their layout
    assert launches == {"conv2d": 1}


def test_two_products_meet(tmp_path: Path) -> None:
    """One of two takes the sum; the other one is its operand."""
    path = converted(
        tmp_path,
        [node("MatMul", "x u", "a"), node("MatMul", "x v", "b"), node("Add", "a b", "c"), node("Tanh", "c", "y")],
        {"x": (5, 7)},
        ["y"],
        {"u": numbers(7, 9), "v": numbers(7, 9)},
    )
    assert check(path, tmp_path) == {"matmul": 2}


def test_what_is_read_elsewhere_stays(tmp_path: Path) -> None:
    """A result that is an output, or read twice, is stored."""
    path = converted(
        tmp_path,
        [
            node("MatMul", "x u", "a"),
            node("Sigmoid", "a", "b"),
            node("MatMul", "x v", "c"),
            node("Exp", "c", "d"),
            node("Mul", "d c", "y"),
        ],
        {"x": (4, 8)},
        ["a", "b", "y"],
        {"u": numbers(8, 8), "v": numbers(8, 8)},
    )
    launches = check(path, tmp_path)
    assert launches["matmul"] == 2
    assert launches["elementwise_fours"] == 2, (
        "the sigmoid, and the product with the exponential in it or in front of it"
    )


def test_broadcasts_that_do_not_repeat_are_launches(tmp_path: Path) -> None:
    path = converted(
        tmp_path,
        [node("MatMul", "x u", "a"), node("Mul", "a column", "y")],
        {"x": (4, 8)},
        ["y"],
        {"u": numbers(8, 8), "column": numbers(4, 1)},
    )
    assert check(path, tmp_path) == {"matmul": 1, "elementwise": 1}


@ENGINES
@pytest.mark.parametrize(("tokens", "masked", "transposed"), [(9, True, True), (12, False, True), (70, True, False)])
def test_attention(
    tmp_path: Path, engine: Engine, tolerance: float, tokens: int, masked: bool, transposed: bool
) -> None:
    """softmax(q k * factor + mask) v of several heads is one launch."""
    heads, depth = 3, 8
    key = (heads, tokens, depth) if transposed else (heads, depth, tokens)
    nodes = [node("Transpose", "k", "kt", perm=[0, 2, 1])] if transposed else []
    nodes += [node("MatMul", "q kt" if transposed else "q k", "qk"), node("Mul", "qk factor", "scores")]
    nodes += [node("Add", "scores mask", "sum")] if masked else []
    nodes += [node("Softmax", "sum" if masked else "scores", "shares", axis=-1), node("MatMul", "shares v", "y")]
    inputs = {"q": (heads, tokens, depth), "k": key, "v": (heads, tokens, depth)}
    if masked:
        inputs["mask"] = (1, 1, tokens)
    path = converted(tmp_path, nodes, inputs, ["y"], {"factor": np.array(depth**-0.5, np.float32)})
    launches = check(path, tmp_path, tolerance, engine)
    assert launches.pop("attention") == 1
    assert launches.pop("copy", 0) <= 1, "the keys may be transposed"
    assert not launches


def test_attention_over_more_than_fits(tmp_path: Path) -> None:
    """Scores that local memory does not hold are stored."""
    tokens = 400_000
    path = converted(
        tmp_path,
        [node("MatMul", "q k", "s"), node("Softmax", "s", "p", axis=-1), node("MatMul", "p v", "y")],
        {"q": (1, 4), "k": (4, tokens), "v": (tokens, 4)},
        ["y"],
        {},
    )
    assert check(path, tmp_path, 1e-4) == {"matmul": 2, "softmax": 1}


@pytest.mark.parametrize(("channels", "size", "residual"), [(64, (58, 55), False), (128, (30, 29), True)])
def test_winograd(tmp_path: Path, channels: int, size: tuple[int, int], residual: bool) -> None:
    """A convolution that has enough to do; sizes that are no whole tiles, with padding at two sides."""
    shape = (1, channels, *size)
    nodes = [node("Conv", "x w b", "c", pads=[1, 1, 1, 1])]
    nodes += [node("Add", "c r", "a"), node("Relu", "a", "y")] if residual else [node("Relu", "c", "y")]
    inputs = {"x": shape, "r": shape} if residual else {"x": shape}
    path = converted(tmp_path, nodes, inputs, ["y"], {"w": numbers(channels, channels, 3, 3), "b": numbers(channels)})
    launches = check(path, tmp_path, 2e-5)
    launches.pop("copy", None)
    assert launches == {"winograd_in": 1, "matmul": 1, "winograd_out": 1}
    (counts,) = parts_of(path, tmp_path)
    assert counts["flops"] < 0.5 * counts["least_flops"]


@pytest.mark.parametrize("count", [2, 5, 40])
def test_joining_and_cutting(tmp_path: Path, count: int) -> None:
    """Up to 32 tensors by one launch, of sizes that are multiples of four and others."""
    widths = [4 + i % 3 for i in range(count)]
    names = [f"p{i}" for i in range(count)]
    path = converted(
        tmp_path,
        [
            node("Split", "x widths", " ".join(names), axis=1),
            node("Concat", " ".join(reversed(names)), "y", axis=1),
        ],
        {"x": (3, sum(widths), 2)},
        ["y"],
        {"widths": np.array(widths, np.int64)},
    )
    launches = check(path, tmp_path, 0)
    assert launches == {"cut": -(-count // 32), "join": -(-count // 32)}
