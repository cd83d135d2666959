"""Hostile GraphDefs: each gets one clear error or a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mslite.converter.parsers.tf.protos import GraphDef
from tests.parsers.tf import archive

from .corpus import check_conversions, conversions, variants
from .limits import SUCCESS, problem_of
from .mutate_tf import mutate

VARIANTS = 400
HUGE = (1 << 63) - 1


def test_converter_survives_hostile_graphs(tmp_path: Path) -> None:
    good = [archive.read(name).content for name in archive.names()]
    spread = [good[number * 7 % len(good)] for number in range(VARIANTS)]  # neighbors are alike
    codes = check_conversions(variants(spread, VARIANTS, mutate, tmp_path, ".pb"))
    assert codes[SUCCESS] < VARIANTS * 2 // 3, "too few files were refused"


def _graph(*nodes: tuple[str, str, list[str]]) -> Any:
    graph = GraphDef()
    for name, operator, inputs in nodes:
        graph.node.add(name=name, op=operator, input=inputs)
    return graph


def _attribute(graph: Any, node: int, name: str) -> Any:
    return graph.node[node].attr.add(key=name).value


def _constant(graph: Any, name: str, dims: list[int], dtype: int = 3, values: list[int] | None = None) -> None:
    node = graph.node.add(name=name, op="Const")
    tensor = node.attr.add(key="value").value.tensor
    tensor.dtype = dtype
    for dim in dims:
        tensor.tensor_shape.dim.add(size=dim)
    if dtype == 9:
        tensor.int64_val.extend(values or [])
    else:
        tensor.int_val.extend(values or [])


def _input(graph: Any, *dims: int) -> Any:
    graph.node.add(name="x", op="Placeholder")
    _attribute(graph, len(graph.node) - 1, "dtype").type = 1
    shape = _attribute(graph, len(graph.node) - 1, "shape").shape
    for dim in dims:
        shape.dim.add(size=dim)
    return graph


def _doubling() -> Any:
    """Each node doubles the tensor: 2^60 elements after sixty."""
    graph = GraphDef()
    _constant(graph, "v0", [1024], 1)
    _constant(graph, "axis", [])
    for step in range(60):
        graph.node.add(name=f"v{step + 1}", op="ConcatV2", input=[f"v{step}", f"v{step}", "axis"])
    return graph


def _endless_function() -> Any:
    graph = _input(GraphDef(), 2)
    graph.node.add(name="y", op="f", input=["x"])
    function = graph.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="a", type=1)
    function.signature.output_arg.add(name="r", type=1)
    function.node_def.add(name="n", op="f", input=["a"])
    function.ret.add(key="r", value="n:r:0")
    return graph


def _functions_that_double() -> Any:
    """Each function calls the next one twice: 2^40 nodes when all are written out."""
    graph = _input(GraphDef(), 2)
    graph.node.add(name="y", op="f0", input=["x"])
    for level in range(25):
        function = graph.library.function.add()
        function.signature.name = f"f{level}"
        function.signature.input_arg.add(name="a", type=1)
        function.signature.output_arg.add(name="r", type=1)
        following = f"f{level + 1}" if level < 24 else "Relu"
        function.node_def.add(name="m", op=following, input=["a"])
        function.node_def.add(name="n", op=following, input=["m:r:0" if level < 24 else "m:activations:0"])
        function.ret.add(key="r", value="n:r:0" if level < 24 else "n:activations:0")
    return graph


def _one(operator: str, *constants: list[int], dims: tuple[int, ...] = (2, 3)) -> Any:
    graph = _input(GraphDef(), *dims)
    names = []
    for number, values in enumerate(constants):
        names.append(f"c{number}")
        _constant(graph, names[-1], [len(values)], 9, values)
    graph.node.add(name="y", op=operator, input=["x", *names])
    return graph


def _filled(*dims: int) -> Any:
    graph = _graph(("y", "Fill", ["c", "v"]))
    _constant(graph, "c", [len(dims)], 9, list(dims))
    _constant(graph, "v", [])
    return graph


def _long_chain() -> Any:
    """More nodes in a row than Python's stack has frames."""
    graph = _input(GraphDef(), 2)
    for step in range(5000):
        graph.node.add(name=f"n{step}", op="Identity", input=["x" if step == 0 else f"n{step - 1}"])
    graph.node.add(name="y", op="Relu", input=["n4999"])
    return graph


MODELS: dict[str, Callable[[], Any]] = {
    "input_2_40": lambda: _one("Relu", dims=(1 << 40,)),
    "input_product": lambda: _one("Relu", dims=((1 << 31) - 1,) * 3),
    "input_negative": lambda: _one("Relu", dims=(-7,)),
    "input_rank_40": lambda: _one("Relu", dims=(1,) * 40),
    "constant_2_40": lambda: (graph := _graph(("y", "Relu", ["c"])), _constant(graph, "c", [1 << 20, 1 << 20], 1))[0],
    "constant_too_long": lambda: (graph := _graph(("y", "Abs", ["c"])), _constant(graph, "c", [1], 3, [1, 2]))[0],
    "cycle": lambda: _graph(("a", "Relu", ["b"]), ("b", "Relu", ["a"]), ("y", "Relu", ["a"])),
    "reads_itself": lambda: _graph(("a", "Relu", ["a"])),
    "no_input": lambda: _graph(("a", "Relu", ["missing"])),
    "twice": lambda: _graph(("a", "NoOp", []), ("a", "NoOp", [])),
    "only_effects": lambda: _graph(("a", "NoOp", []), ("b", "NoOp", ["^a"])),
    "reshape_overflow": lambda: _one("Reshape", [1 << 40, 1 << 40, -1]),
    "fill_2_60": lambda: _filled(1 << 30, 1 << 30),
    "broadcast_2_60": lambda: _one("BroadcastTo", [1 << 30, 1 << 30, 2, 3]),
    "tile_2_60": lambda: _one("Tile", [1 << 30, 1 << 30]),
    "pad_huge": lambda: _one("Pad", [HUGE, HUGE, HUGE, HUGE]),
    "transpose_twice": lambda: _one("Transpose", [0, 0]),
    "reduce_outside": lambda: _one("Sum", [HUGE]),
    "gather_axis": lambda: _one("GatherV2", [0], [HUGE]),
    "slice_outside": lambda: _one("Slice", [HUGE, 0], [1, 1]),
    "split_v_sizes": lambda: _one("SplitV", [HUGE, HUGE], [0]),
    "one_operand": lambda: _graph(("x", "MatMul", [])),
    "doubling": _doubling,
    "endless_function": _endless_function,
    "functions_that_double": _functions_that_double,
    "long_chain": _long_chain,
}
POSSIBLE = frozenset(["long_chain"])


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("hostile")
    files = []
    for name, build in MODELS.items():
        files.append(folder / f"{name}.pb")
        files[-1].write_bytes(build().SerializeToString())
    return {path.stem: result for path, result in conversions(files)}


@pytest.mark.parametrize("name", MODELS)
def test_one_clear_error(name: str, results: dict[str, dict[str, Any]]) -> None:
    result = results[name]
    assert problem_of(result) is None, f"{problem_of(result)}: {result['text']}"
    assert (result["code"] == SUCCESS) == (name in POSSIBLE), result["text"]
