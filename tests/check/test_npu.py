"""`--check` with an NPU: what it computes, what not and why, vela's estimates, and generated C that calls it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from mslite.check import CheckResult, check_model, json_text, print_check_result, write_check_page
from mslite.converter.ethosu import npu_settings, placement
from mslite.converter.options import Options
from tests.codegen.ethosu.stand_in import compile_file, no_compiler
from tests.codegen.networks import keywords


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CheckResult:
    """Of a network whose average the compiler refuses."""
    monkeypatch.setattr(placement, "vela_version", lambda settings: "5.2.0")
    monkeypatch.setattr(placement, "compile_file", partial(compile_file, refused=("average",)))
    (tmp_path / "net.tflite").write_bytes(keywords())
    return check_model(Options(tmp_path / "net.tflite", tmp_path / "net", npu=npu_settings("ethos-u55", {})))


def test_nodes_say_where_they_run(found: CheckResult) -> None:
    assert found.placement is not None
    kernels = {node.operator: dict(node.kernels).get("ethos-u55-128", "") for node in found.nodes}
    assert kernels["AvgPoolFusion"] == "not on the NPU: it is not built"
    assert kernels["Conv2DFusion"].startswith("on the NPU, in ethos-u55-128/part")
    assert len(found.placement.parts) == 2


def test_generated_c_with_the_npu_is_a_target(found: CheckResult) -> None:
    by_name = {target.name: target for target in found.targets}
    own = by_name["cortex-m55 + ethos-u55-128"]
    assert own.runs
    assert own.ram is not None
    assert by_name["CPU"].runs  # of the same model without the NPU
    assert "cortex-m4 + ethos-u55-128" not in by_name


def test_text(found: CheckResult) -> None:
    console = Console(record=True, width=160)
    print_check_result(found, console)
    text = console.export_text()
    assert "ethos-u55-128: 8 of 9 nodes (vela 5.2.0, Ethos_U55_High_End_Embedded, Shared_Sram)" in text
    assert "1 234" in text
    assert "on the CPU: it is not built (1 node)" in text


def test_json(found: CheckResult) -> None:
    told = json.loads(json_text(found))["placement"]
    assert [part["cycles"] for part in told["parts"]] == [1234, 1234]
    assert told["left"][0][1:] == ["AvgPoolFusion", "it is not built"]


def test_page(found: CheckResult, tmp_path: Path) -> None:
    write_check_page(tmp_path / "page.html", found)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h2>On ethos-u55-128</h2>" in page
    assert "Nodes on the CPU" in page
    assert "it is not built" in page


def test_without_the_compiler_the_rest_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_compiler(monkeypatch)
    (tmp_path / "net.tflite").write_bytes(keywords())
    found = check_model(Options(tmp_path / "net.tflite", tmp_path / "net", npu=npu_settings("ethos-u55", {})))
    assert found.converts
    assert found.placement is None
    assert "pip install '.[ethosu]'" in found.npu_problem
    console = Console(record=True, width=200)
    print_check_result(found, console)
    assert "pip install '.[ethosu]'" in console.export_text()
    write_check_page(tmp_path / "page.html", found)
    assert ".[ethosu]" in (tmp_path / "page.html").read_text(encoding="utf-8")
