"""What `converter_lite --check` says about engines: with and without their devices, in the words of `benchmark`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import onnx
import onnx.parser
import pytest

from mslite.check import check_model, json_text, write_check_page
from mslite.check.results import BackendFacts, CheckResult
from mslite.check.text import OPEN_INPUTS, engine_lines, print_check_result
from mslite.converter.convert import convert
from mslite.converter.options import Options
from tests.delegate.engines import OPENCL
from tests.delegate.models import missing

ROOT = Path(__file__).parents[2]
PROGRAM = (ROOT / os.environ.get("MSLITE_BUILD", "build") / "benchmark/benchmark").resolve()

WEIGHTS = ", ".join(str((7 * index) % 11 - 5) for index in range(64 * 64))
SUMMED = f"""<ir_version: 8, opset_import: ["" : 17]>
    summed (float[4, 64] x) => (float[4, 64] v)
    <float[64, 64] w = {{{WEIGHTS}}}, int64 axis = {{1}}> {{
        a = MatMul(x, w)  b = Relu(a)  c = CumSum(b, axis)  e = MatMul(c, w)  f = Add(e, a)  g = CumSum(f, axis)
        v = Add(c, g)
    }}"""
"""Two nodes that OpenCL does not have, between others that it has."""


def source(folder: Path, text: str = SUMMED) -> Path:
    path = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def examined(path: Path) -> CheckResult:
    return check_model(Options(path, path.with_suffix("")))


def engine_of(found: CheckResult, name: str) -> BackendFacts:
    engines = [engine for engine in found.engines if engine.name.startswith(name)]
    if not engines:
        pytest.skip(f"this build has no {name} engine")
    return engines[0]


def test_without_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MSLITE_OPENCL_DEVICE", "there is none of this name")
    monkeypatch.setenv("MSLITE_DELEGATE_COSTS", "off")
    found = examined(source(tmp_path))
    engine = engine_of(found, "OpenCL")
    assert engine.name == "OpenCL"
    assert engine.missing.startswith("OpenCL: no ")
    assert engine.parts == 3
    assert {node.op for node in engine.nodes if node.part < 0} == {"CumSum"}
    assert engine.share > 0.9
    print_check_result(found)
    text = capsys.readouterr().out
    assert "On OpenCL: " in text
    assert "  not on this machine: OpenCL: no " in text
    assert text.count("OpenCL: no OpenCL kernel for the operator") == 1, "once for both nodes"
    assert OPEN_INPUTS not in text
    left = [line.strip() for line in text.splitlines()]
    names = [node.node for node in engine.nodes if node.part < 0]
    assert len(names) == 2
    assert all(name in left for name in names)
    placed = {node.name: dict(node.kernels)["OpenCL"] for node in found.nodes}
    assert [placed[name] for name in names] == ["no OpenCL kernel for the operator"] * 2
    assert sorted({text for name, text in placed.items() if name not in names}) == ["part 0", "part 1", "part 2"]


def test_an_open_batch_is_one_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For targets and engines alike, as `benchmark` takes it; the CPU's memory is that of one run."""
    monkeypatch.setenv("MSLITE_DELEGATE_COSTS", "off")
    text = SUMMED.replace("float[4, 64] x", "float[n, 64] x").replace("float[4, 64] v", "float[n, 64] v")
    found = examined(source(tmp_path, text))
    assert found.batches == ("x",)
    assert engine_of(found, "OpenCL").taken
    cpu = next(target for target in found.targets if target.name == "CPU")
    assert cpu.ram is not None
    assert 4 * 64 <= cpu.ram < 8192
    assert cpu.flash is not None
    assert 4 * 64 * 64 < cpu.flash < 8 * 64 * 64
    print_check_result(found)
    said = capsys.readouterr().out
    assert "The dynamic batch of 'x' is taken as 1; --inputShape sets another" in said
    assert OPEN_INPUTS not in said
    write_check_page(tmp_path / "page.html", found)
    assert "taken as 1" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_open_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the batch."""
    text = """<ir_version: 8, opset_import: ["" : 17]>
        open (float[4, n] x) => (float[4, n] v) { v = Relu(x) }"""
    found = examined(source(tmp_path, text))
    engine = engine_of(found, "OpenCL")
    assert not engine.taken
    assert found.batches == ()
    print_check_result(found)
    assert OPEN_INPUTS in capsys.readouterr().out


def test_json_and_page(tmp_path: Path) -> None:
    found = examined(source(tmp_path))
    engine = engine_of(found, "OpenCL")
    (said,) = (one for one in json.loads(json_text(found))["engines"] if one["name"] == engine.name)
    assert said["missing"] == engine.missing
    assert [node["reason"] for node in said["nodes"]] == [node.reason for node in engine.nodes]
    write_check_page(tmp_path / "page.html", found)
    page = (tmp_path / "page.html").read_text()
    assert "<h2>Backends</h2>" in page
    assert f"{len(engine.taken)} of {len(engine.nodes)}" in page
    assert page.count('<td class="text">no OpenCL kernel for the operator</td>') == 2


def test_the_words_are_those_of_benchmark(tmp_path: Path) -> None:
    if reason := missing(OPENCL):
        pytest.skip(reason)
    path = source(tmp_path)
    model = convert(Options(path, tmp_path / "converted")).files[0]
    with OPENCL.chosen():
        done = subprocess.run(
            [PROGRAM, f"--modelFile={model}", "--device=GPU", "--loopCount=1", "--warmUpLoopCount=0"],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        engine = engine_of(examined(path), "OpenCL")
    lines = [line for line in engine_lines(engine) if not line.startswith("    ")]
    assert engine.missing == ""
    assert len(lines) > 1
    assert [line for line in done.stdout.splitlines() if line.startswith(("On OpenCL", "  "))] == lines


def test_what_cannot_be_converted_has_no_engines(tmp_path: Path) -> None:
    path = source(tmp_path)
    model = onnx.load(path)
    model.graph.node[1].op_type = "Foo"
    onnx.save(model, path)
    found = examined(path)
    assert not found.converts
    assert found.engines == ()
