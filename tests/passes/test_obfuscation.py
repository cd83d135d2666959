"""Products that MindSpore's obfuscation adds wait for `obf_ratio`: no rule fuses them with what is around them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mslite
from mslite.converter import cli
from mslite.converter.mindir.module_io import load
from mslite.converter.passes.rule import OBFUSCATION


def network(path: Path, name: str) -> Path:
    """relu(conv(x) * 1) of [1, 2, 4, 4]."""
    rng = np.random.default_rng(3)
    constants = [
        numpy_helper.from_array(rng.normal(size=(3, 2, 3, 3)).astype(np.float32), "weight"),
        numpy_helper.from_array(np.ones((1,), np.float32), "one"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "weight"], ["a"], name="conv"),
        helper.make_node("Mul", ["a", "one"], ["b"], name=name),
        helper.make_node("Relu", ["b"], ["y"], name="relu"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 2, 2])],
        constants,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def operators(path: Path) -> list[str]:
    return [node.op.name for node in load(path).main.nodes]


def result(path: Path, ratio: str = "") -> np.ndarray:
    model = mslite.Model()
    settings = {"build_session": {"obf_ratio": ratio}} if ratio else None
    model.build_from_file(path, mslite.ModelType.MINDIR_LITE, config_dict=settings)
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(np.linspace(-1, 1, 32, dtype=np.float32).reshape(inputs[0].shape))
    return model.predict(inputs)[0].get_data_to_numpy()


def test_the_node_stays_and_takes_the_ratio(tmp_path: Path) -> None:
    for name, stem in (("Default/obf_op-obf_mul-2", "obfuscated"), ("Default/mul-2", "plain")):
        source = network(tmp_path / f"{stem}.onnx", name)
        assert cli.main([f"--modelFile={source}", f"--outputFile={tmp_path / stem}"]) == 0
    plain, obfuscated = tmp_path / "plain.ms", tmp_path / "obfuscated.ms"
    assert "Activation" not in operators(plain)  # it was put into the product
    assert "Activation" in operators(obfuscated)
    assert any(OBFUSCATION in node.name for node in load(obfuscated).main.nodes)
    np.testing.assert_allclose(result(obfuscated), result(plain), rtol=1e-6)
    np.testing.assert_allclose(result(obfuscated, "2.5"), 2.5 * result(plain), rtol=1e-6)
    np.testing.assert_array_equal(result(obfuscated, "1"), result(obfuscated))
    np.testing.assert_array_equal(result(plain, "2.5"), result(plain))
    with pytest.raises(RuntimeError, match="obf_ratio of \\[build_session\\] is 'x'"):
        result(obfuscated, "x")
