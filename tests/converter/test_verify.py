"""--verify finds a layer that was changed, and agrees with one that was not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.options import Options
from mslite.converter.verify.report import difference, verify_conversion
from tests.converter.onnx_models import quantised_network, small_network

pytest.importorskip("onnxruntime")


def damage(file: Path, operator: str) -> None:
    """Changes one weight of the first `operator` in a `.ms` file; all, where they are integers."""
    module = load(file)
    node = next(node for node in module.main.nodes if node.op.name == operator)
    changed = node.inputs[1].array().copy()
    if changed.dtype.kind == "f":
        changed.reshape(-1)[0] += 1
    else:
        changed[:] = 127
    node.inputs[1].data = changed
    file.unlink()
    save(module, file)


@pytest.mark.parametrize("operator", ["Conv2DFusion", "MatMulFusion"])
def test_the_first_diverging_layer_is_named(tmp_path: Path, operator: str) -> None:
    options = Options(small_network(tmp_path / "net.onnx"), tmp_path / "net")
    report = convert(options)
    lines: list[str] = []
    assert verify_conversion(options, report, "random", lines.append)
    damage(report.files[0], operator)
    assert not verify_conversion(options, report, "random", lines.append)
    assert "the first layer that differs is " + operator in lines[-1]


def test_quantised_layers_are_compared_by_what_they_stand_for(tmp_path: Path) -> None:
    """The source stores uint8, the result int8; the layers of both are the same to within some steps."""
    options = Options(quantised_network(tmp_path / "net.onnx"), tmp_path / "net")
    report = convert(options)
    assert QuantType.QUANT_ALL in [node.quant_type for node in load(report.files[0]).main.nodes]
    lines: list[str] = []
    assert verify_conversion(options, report, "random", lines.append)
    damage(report.files[0], "Conv2DFusion")
    assert not verify_conversion(options, report, "random", lines.append)
    assert "the first layer that differs is" in lines[-1]
    assert "w1_relu" in lines[-1]


def test_given_inputs(tmp_path: Path) -> None:
    options = Options(small_network(tmp_path / "net.onnx"), tmp_path / "net")
    report = convert(options)
    np.save(tmp_path / "x.npy", np.ones((1, 2, 6, 5), np.float32))
    np.save(tmp_path / "wrong.npy", np.ones((1, 2, 6, 5), np.float64))
    assert verify_conversion(options, report, str(tmp_path / "x.npy"), lambda line: None)
    with pytest.raises(ConversionError, match="holds float64"):
        verify_conversion(options, report, str(tmp_path / "wrong.npy"))
    with pytest.raises(ConversionError, match="2 files were given"):
        verify_conversion(options, report, "a.npy,b.npy")


def test_differences_are_scaled_and_shapes_count() -> None:
    want = np.array([1000.0, 0.0], np.float32)
    assert not difference("a", want + np.float32(0.1), want, 2e-4).is_too_large
    assert difference("a", want + np.float32(1.0), want, 2e-4).is_too_large
    assert difference("a", want.reshape(2, 1), want, 2e-4).is_too_large
    assert difference("a", np.array([np.nan, 0], np.float32), want, 2e-4).is_too_large
    assert difference("a", np.array([1, 2], np.int32), np.array([1, 3], np.int32), 2e-4).is_too_large
