"""The runtime builds what was converted before the file gets its name."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from onnx import helper

from mslite.converter import build_check
from mslite.converter.convert import convert
from mslite.converter.encryption import Encryption
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import save as save_module
from mslite.converter.options import Options, SaveType
from tests.converter.onnx_models import save, small_network
from tests.converter.plugin_files import convert as convert_with
from tests.converter.plugin_files import write_plugin

convert_module = import_module("mslite.converter.convert")

BREAK = """
import numpy as np
from mslite.converter.registry import *
from mslite.converter.mindir.ops.tables import QuantParam

@scheduled_pass(PassPosition.END, "Break")
def break_records(module):
    for node in module.main.nodes:
        if node.op.name in ("MatMulFusion", "FullConnection"):
            weight = node.inputs[1]
            weight.data, weight.dtype = np.ones(weight.shape, np.int8), DataType.INT8
            weight.quant = (QuantParam(scale=1.0, zeroPoint=1000, numBits=8),)
            node.quant_type = 4
"""
"""Gives weights a zero point that no runtime takes."""


def test_a_file_that_the_runtime_refuses_is_not_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = small_network(tmp_path / "net.onnx")
    target = tmp_path / "net.ms"
    target.write_bytes(b"what was there before")
    assert convert_with(model, write_plugin(tmp_path, BREAK)) == 3
    said = capfd.readouterr().err
    assert "the runtime cannot build the result; it was not written" in said
    assert "zero point 1000" in said
    assert ".part" not in said
    assert target.read_bytes() == b"what was there before"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("least", [1, 8])
def test_open_sizes_are_the_smallest_that_the_operators_take(
    least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window of 5 x 5 takes no image of 1 x 1."""
    tried: list[int] = []
    check = build_check._native.check_build

    def watched(path: Path, size: int) -> tuple[str, bool]:
        tried.append(size)
        return check(path, size)

    monkeypatch.setattr(build_check._native, "check_build", watched)
    shape = ["n", 3, "h", "w"]
    nodes = [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[5, 5])] if least > 1 else []
    nodes = nodes or [helper.make_node("Relu", ["x"], ["y"])]
    model = save(tmp_path / "net.onnx", nodes, {"x": shape}, {"y": [None] * 4})
    report = convert(Options(model, tmp_path / "net"))
    assert tried[-1] == least
    assert not report.notes


def test_what_is_not_checked_is_said(tmp_path: Path) -> None:
    model = small_network(tmp_path / "net.onnx")
    report = convert(Options(model, tmp_path / "net", encryption=Encryption(encrypt_key=bytes(16))))
    assert any("not checked: it is encrypted" in note for note in report.notes)


def test_weights_in_a_file_of_their_own_are_not_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convert_module, "save", partial(save_module, side_file_limit=1))
    report = convert(Options(small_network(tmp_path / "net.onnx"), tmp_path / "net"))
    assert any(f"in a separate file, {report.files[0].name}" in note for note in report.notes)


def test_mindir_files_are_not_checked(tmp_path: Path) -> None:
    model = small_network(tmp_path / "net.onnx")
    report = convert(Options(model, tmp_path / "net", save_type=SaveType.MINDIR))
    assert any("it is a .mindir file" in note for note in report.notes)


def test_constants_that_take_too_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_check, "try_spend", lambda size: False)
    report = convert(Options(small_network(tmp_path / "net.onnx"), tmp_path / "net"))
    assert any("--memoryLimit" in note for note in report.notes)


def test_a_machine_with_too_little_memory_is_not_the_converters_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_check._native, "check_build", lambda path, size: ("no memory", False))
    report = convert(Options(small_network(tmp_path / "net.onnx"), tmp_path / "net"))
    assert any("not known: no memory" in note for note in report.notes)
    assert report.files[0].exists()


def test_a_damaged_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the reason, the message names the model and the result."""
    monkeypatch.setattr(build_check._native, "check_build", lambda path, size: (f"file '{path}': no", True))
    with pytest.raises(ConversionError, match=r"net\.onnx: the runtime cannot build.*\n.*net\.ms': no"):
        convert(Options(small_network(tmp_path / "net.onnx"), tmp_path / "net"))
    assert not (tmp_path / "net.ms").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
