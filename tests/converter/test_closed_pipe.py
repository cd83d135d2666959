"""Programs whose output is read by one that stops early."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.converter.onnx_models import small_network

PROGRAMS = {
    "mslite.converter.cli": ["--fmk=ONNX", "--modelFile={model}", "--check", "--json"],
    "mslite.converter.mindir.show": ["{ms}"],
}


@pytest.mark.parametrize("module", PROGRAMS)
def test_a_reader_that_stops(module: str, tmp_path: Path) -> None:
    model = small_network(tmp_path / "net.onnx")
    ms = tmp_path / "net.ms"
    if module.endswith("show"):
        convert = [sys.executable, "-m", "mslite.converter.cli", "--fmk=ONNX", f"--modelFile={model}"]
        subprocess.run([*convert, f"--outputFile={ms.with_suffix('')}"], check=True, capture_output=True, timeout=120)
    arguments = [text.format(model=model, ms=ms) for text in PROGRAMS[module]]
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        said = program.stderr.read()
        assert program.wait(timeout=120) == 1
    assert said == b""
