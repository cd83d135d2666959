"""What no kernel takes is refused when it is converted, by name; what some kernel takes in some size is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from mslite import Model, ModelType
from mslite.converter.cli import main
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.passes import kernel_check
from mslite.converter.passes.kernel_check import nodes_without_kernels
from tests.converter.onnx_models import save, small_network, weight


def product(*shapes: tuple[int, ...]) -> Module:
    """A product of an input, a constant and a bias."""
    x = Value("x", DataType.FLOAT32, shapes[0])
    constants = [constant(f"c{number}", np.ones(shape, np.float32)) for number, shape in enumerate(shapes[1:])]
    y = Value("y", DataType.FLOAT32, shapes[0][:-1])
    return Module([Graph("main", [x], [y], [Node(MatMulFusion(), "product", (x, *constants), (y,))])])


@pytest.mark.parametrize("rows", [3, -(1 << 40)])
def test_a_node_without_a_kernel_is_named(rows: int) -> None:
    """Products of a matrix and a vector have none with a bias, whatever the open sizes are."""
    (blocker,) = nodes_without_kernels(product((2, rows, 4), (4,), (3,)))
    size = rows if rows > 0 else "?"
    assert (blocker.node, blocker.operator) == ("product", "MatMulFusion")
    assert blocker.reason == (
        f"no kernel of the runtime takes MatMulFusion(float32[2,{size},4], float32[4], float32[3])"
    )
    assert nodes_without_kernels(product((2, rows, 4), (4, 5), (5,))) == []


def convert(folder: Path, *flags: str) -> int:
    return main([f"--modelFile={folder / 'net.onnx'}", f"--outputFile={folder / 'net'}", *flags])


def test_a_matrix_times_a_vector_plus_a_number(tmp_path: Path) -> None:
    """Found by random graphs of another generator: the sum became a bias, which no kernel takes there."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Add", ["m", "b"], ["y"])]
    path = save(tmp_path / "net.onnx", nodes, {"x": [2, 3, 4]}, {"y": [2, 3]}, [weight("w", 4), weight("b", 1)])
    assert convert(tmp_path) == 0
    x = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)
    model = Model()
    model.build_from_file(str(tmp_path / "net.ms"), ModelType.MINDIR_LITE)
    expected = onnxruntime.InferenceSession(str(path)).run(None, {"x": x})[0]
    assert np.allclose(model.predict([x])[0].get_data_to_numpy(), expected, atol=1e-6)


def test_a_conversion_asks_for_each_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = kernel_check._native.kernel_types

    def without_products(primitive: bytes, infos: Any, types: Any) -> Any:
        return None if len(infos[0].dims) == 2 else plain(primitive, infos, types)

    monkeypatch.setattr(kernel_check._native, "kernel_types", without_products)
    small_network(tmp_path / "net.onnx")
    assert convert(tmp_path) == 3
    err = capsys.readouterr().err
    assert "1 node prevents the conversion" in err
    assert "no kernel of the runtime takes MatMulFusion(float32[1,4], float32[3,4], float32[3])" in err
    assert not (tmp_path / "net.ms").exists()
    assert convert(tmp_path, "--targetVersion=1.3") == 0
