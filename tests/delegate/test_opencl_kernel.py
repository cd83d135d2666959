"""The example of a Custom node's OpenCL kernel: the right numbers on the device, and no link from the library to OpenCL."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from mslite.converter.convert import convert
from mslite.converter.options import Options

from .engines import OPENCL
from .models import missing

ROOT = Path(__file__).parents[2]
BUILD = (ROOT / os.environ.get("MSLITE_BUILD", "build")).resolve()
EXAMPLE = ROOT / "examples/custom_op"
PLUGIN = BUILD / "examples/opencl_kernel/maxout_opencl.so"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plugins = (EXAMPLE / "converter/maxout_plugin.py",)
    target = tmp_path_factory.mktemp("opencl_kernel") / "maxout"
    return convert(Options(EXAMPLE / "converter/maxout.onnx", target, plugins=plugins)).files[0]


def benchmark(model: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    files = {
        "pluginPath": PLUGIN,
        "inDataFile": EXAMPLE / "converter/maxout_input.bin",
        "benchmarkDataFile": EXAMPLE / "converter/maxout_expected.txt",
    }
    return subprocess.run(
        [BUILD / "benchmark/benchmark", f"--modelFile={model}", *(f"--{name}={path}" for name, path in files.items()), *flags],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.skipif(not PLUGIN.exists(), reason=f"{PLUGIN} is not built")
def test_the_example_computes_on_the_device(model: Path) -> None:
    if reason := missing(OPENCL):
        pytest.skip(reason)
    with OPENCL.chosen(MSLITE_DELEGATE_COSTS="off"):
        done = benchmark(model, "--device=GPU")
        assert done.returncode == 0, done.stderr
        assert "Mean bias of all nodes/tensors: 0%" in done.stdout
        done = benchmark(model)
        assert done.returncode != 0
        assert "which cannot run: the context prefers no GPU to the CPU" in done.stderr


def test_the_library_does_not_link_to_opencl() -> None:
    said = subprocess.run(
        ["readelf", "-d", BUILD / "lite_runtime/libmindspore-lite.so"], capture_output=True, text=True, check=True
    ).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
    assert any(name.startswith("libc.") for name in needed)
    assert not any("OpenCL" in name for name in needed)
