"""Programs whose output is read by one that stops early, or goes where there is no room, or nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mslite.converter import cli
from tests.converter.onnx_models import small_network

BUILD = Path(__file__).parents[2] / os.environ.get("MSLITE_BUILD", "build")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(BUILD.absolute() / "python")}
START = "import sys; from mslite.programs import {0}; sys.exit({0}())"
PROGRAMS = {
    "help": [sys.executable, "-c", START.format("converter_lite"), "--help"],
    "converter_lite": [
        sys.executable,
        "-c",
        START.format("converter_lite"),
        "--modelFile=net.onnx",
        "--outputFile=new",
    ],
    "check": [sys.executable, "-c", START.format("converter_lite"), "--modelFile=net.onnx", "--check", "--json"],
    "mslite-show": [sys.executable, "-c", START.format("mslite_show"), "net.ms", "--data"],
    "mslite-codegen": [sys.executable, "-c", START.format("mslite_codegen"), "net.ms", "--output=project"],
    "benchmark": [str(BUILD / "benchmark" / "benchmark"), "--modelFile=net.ms", "--loopCount=1", "--jsonFile=new.json"],
}
SOME = [pytest.param(name, marks=[pytest.mark.slow] * (name == "mslite-codegen")) for name in PROGRAMS]
WRITTEN = {"converter_lite": "new.ms", "mslite-codegen": "project/report.json", "benchmark": "new.json"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    path = small_network(folder / "net.onnx")
    assert cli.main([f"--modelFile={path}", f"--outputFile={folder / 'net'}"]) == 0
    return folder


def run(program: str, folder: Path, redirection: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f'"$@" {redirection}', "bash", *PROGRAMS[program]],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_room(program: str, models: Path) -> None:
    result = run(program, models, ">/dev/full")
    assert result.returncode == 1
    assert "standard output cannot be written: No space left on device" in result.stderr
    assert "Traceback" not in result.stderr
    if program != "benchmark":
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("program", [program for program in SOME if program.values != ("benchmark",)])
def test_a_reader_that_stops(program: str, models: Path) -> None:
    with subprocess.Popen(
        PROGRAMS[program], cwd=models, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(timeout=120) == 1
    assert said == b""


@pytest.mark.parametrize("program", SOME)
def test_no_standard_files(program: str, models: Path) -> None:
    result = run(program, models, "<&- >&- 2>&-")
    assert result.returncode == 0
    if program in WRITTEN:  # and nothing of what would have been printed
        text = (models / WRITTEN[program]).read_bytes()
        assert b"CONVERT RESULT" not in text
        assert b"ModelPath" not in text
        assert b"written:" not in text


def test_names_that_are_no_text(models: Path) -> None:
    name = os.fsdecode(b"n\xff")
    (models / f"{name}.onnx").write_bytes((models / "net.onnx").read_bytes())
    arguments = ["--fmk=ONNX", f"--modelFile={name}.onnx", f"--outputFile={name}"]
    report = ["--check", f"--checkReport={name}.html"]
    for more in ([], report):
        result = subprocess.run(
            [*PROGRAMS["help"][:3], *arguments, *more], cwd=models, env=ENVIRONMENT, capture_output=True, timeout=120,
            check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        assert b"n\\udcff" in result.stdout
    assert (models / f"{name}.ms").is_file()
    assert "n\\udcff.onnx" in (models / f"{name}.html").read_text()
