"""OpenCL and OpenVINO for one model: the device that the context names first chooses first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from tests.delegate.engines import OPENCL

from . import runs

pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install openvino)")
pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(not runs.PROGRAM.is_file(), reason=f"{runs.PROGRAM} was not built"),
]

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
    both (float[1, 6, 8] x, float[1, 24, 8] w, float[1, 24, 6] r) => (float[6, 1, 1, 6] y, float[1, 6, 8] d)
    <float[1, 24, 8] fw = {%s}, float[1, 24, 6] fr = {%s}> {
        a = Relu(x)  t = Transpose<perm = [1, 0, 2]>(a)  y = LSTM<hidden_size = 6>(t, fw, fr)
        p = Mul(w, w)  q = ReduceSum<keepdims = 0>(p)  s = ReduceSum<keepdims = 0>(r)  u = Add(q, s)  d = Add(a, u)
    }"""
"""Only OpenVINO has LSTM; both have the rest."""


def missing_opencl() -> str:
    """Asked in a process of its own: PoCL's compiler and those of TensorFlow and PyTorch crash in one."""
    code = "from tests.delegate import engines, models; print(models.missing(engines.OPENCL))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if reason := missing_opencl():
        pytest.skip(reason)
    place = tmp_path_factory.mktemp("two_engines")
    rng = np.random.default_rng(1)
    numbers = [", ".join(f"{value:.4f}" for value in rng.uniform(-1, 1, count)) for count in (24 * 8, 24 * 6)]
    onnx.save(onnx.parser.parse_model(TEXT % tuple(numbers)), place / "model.onnx")
    convert(Options(place / "model.onnx", place / "model"))
    for number, shape in enumerate([(1, 6, 8), (1, 24, 8), (1, 24, 6)]):
        np.save(place / f"input_{number}.npy", rng.uniform(-1, 1, shape).astype(np.float32))
    return place


def outcome(folder: Path, gpu: str) -> tuple[dict[str, str], list[runs.Array]]:
    """Where each node ran, and the outputs."""
    with OPENCL.chosen():
        (result,) = runs.run([folder], "--as-device", f"--gpu={gpu}", "--strict")
    assert not result.error, result.error
    lines = (folder / "engines.txt").read_text().splitlines()
    return {node: engine for engine, node in (line.split("\t") for line in lines)}, result.outputs


def test_the_first_device_chooses_first(folder: Path) -> None:
    on_cpu = mslite.Model()
    on_cpu.build_from_file(folder / "model.ms", mslite.ModelType.MINDIR_LITE)
    inputs = [np.load(folder / f"input_{number}.npy") for number in range(len(on_cpu.get_inputs()))]
    wanted = [tensor.get_data_to_numpy() for tensor in on_cpu.predict(inputs)]
    opencl_first, outputs = outcome(folder, "first")
    for got, right in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)
    assert set(opencl_first.values()) == {"OpenCL", "OpenVINO"}
    assert opencl_first["y"] == "OpenVINO", "what the first one leaves goes to the next"
    openvino_first, outputs = outcome(folder, "second")
    for got, right in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)
    assert set(openvino_first.values()) == {"OpenVINO"}
