"""The library of the group `vision`, built from the sources as a user does it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mslite.converter import cli as converter
from tests.cropper.subjects import ROOT, cosine
from tests.runtime.test_library_size import builds

_LIBRARY = "lite_runtime/libmindspore-lite.so"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vision")
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DMSLITE_OPERATORS=vision"]
    configure.append(f"-DPython3_EXECUTABLE={sys.executable}")
    for command in (configure, ["cmake", "--build", str(folder), "-j2"]):
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CCACHE_BASEDIR": str(ROOT)})
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def benchmark(build: Path, model: Path) -> subprocess.CompletedProcess[str]:
    command = [str(build / "benchmark" / "benchmark"), f"--modelFile={model}", "--loopCount=1", "--warmUpLoopCount=1"]
    return subprocess.run(command, capture_output=True, text=True)


def test_it_is_smaller_and_runs_networks(build: Path, tmp_path: Path) -> None:
    digits = ROOT / "examples" / "digits" / "digits.onnx"
    assert (
        converter.main([f"--modelFile={digits}", "--inputShape=image:1,1,8,8", f"--outputFile={tmp_path / 'd'}"]) == 0
    )
    done = benchmark(build, tmp_path / "d.ms")
    assert done.returncode == 0, done.stdout + done.stderr
    for whole in builds()[:1]:
        assert (build / _LIBRARY).stat().st_size < 0.9 * (whole / _LIBRARY).stat().st_size


def test_what_it_lacks_is_named(build: Path, tmp_path: Path) -> None:
    done = benchmark(build, cosine(tmp_path / "cosine.ms"))
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "built with -DMSLITE_OPERATORS=vision" in said
    assert "(Cos): it has no kernel for Cos" in said
