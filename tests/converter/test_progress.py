"""The progress bar of `converter_lite`: it ends where it says it will, whatever steps a conversion has."""

from __future__ import annotations

import dataclasses
import io
import re
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from mslite.converter.convert import convert, stage_names
from mslite.converter.options import Options, SaveType
from mslite.converter.summary import stages
from mslite.quantizer.settings import quantizer_settings

WEIGHTS = {"common_quant_param": {"quant_type": "WEIGHT_QUANT", "bit_num": "8"}}
PLUGIN = """
from mslite.converter.registry import PassPosition, scheduled_pass

@scheduled_pass(PassPosition.BEGIN, "at_the_begin")
def begin(module):
    pass

@scheduled_pass(PassPosition.END, "at_the_end")
def end(module):
    pass
"""


@pytest.fixture
def options(tmp_path: Path) -> Options:
    weight = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in "xy")
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "dense")
    graph = helper.make_graph([node], "net", [x], [y], [numpy_helper.from_array(weight, "w")])
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return Options(path, tmp_path / "net")


@pytest.mark.parametrize("save_type", SaveType)
@pytest.mark.parametrize("has_fusions", [True, False])
@pytest.mark.parametrize("is_quantized", [True, False])
@pytest.mark.parametrize("has_plugin", [True, False])
def test_the_stages_are_those_that_run(
    has_plugin: bool, is_quantized: bool, has_fusions: bool, save_type: SaveType, options: Options, tmp_path: Path
) -> None:
    options = dataclasses.replace(options, save_type=save_type, fusion=has_fusions)
    if is_quantized:
        options = dataclasses.replace(options, quantizer=quantizer_settings(WEIGHTS))
    if has_plugin:
        (tmp_path / "plugin.py").write_text(PLUGIN)
        options = dataclasses.replace(options, plugins=(tmp_path / "plugin.py",))
    heard: list[str] = []
    convert(options, heard.append)
    assert heard == stage_names(options)
    assert ("quantize" in heard) == is_quantized


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_bar_ends_at_its_total(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    options = dataclasses.replace(options, quantizer=quantizer_settings(WEIGHTS))
    total = len(stage_names(options))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with stages(total) as (progress, samples):
        convert(options, progress, samples)
    counts = [(int(done), int(whole)) for done, whole in re.findall(r"(\d+)/(\d+)", terminal.getvalue())]
    assert counts[-1] == (total, total)
    assert all(done <= whole for done, whole in counts)
