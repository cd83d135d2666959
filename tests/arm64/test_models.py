"""Whole models on 64-bit ARM: the cross-built `benchmark` under QEMU gives what the host's runtime gives, in
float32 and, less exactly, with products in float16."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mslite

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT.parent / "shared" / "models"
BUILD = os.environ.get("MSLITE_ARM64_BUILD")
SOURCES = {
    "digits": ROOT / "examples/digits/digits.onnx",
    "squeezenet": MODELS / "torch_cnn/squeezenet1_1_op11/model.onnx",
    "mobilenet_v2": MODELS / "torch_cnn/mobilenet_v2_w035_op13/model.onnx",
    "vit": MODELS / "torch_transformer/vit_tiny_slim_op17/model.onnx",
    "ultraface": MODELS / "ultraface/rfb_320_tflite/model.tflite",
}

pytestmark = [
    pytest.mark.skipif(not BUILD, reason="MSLITE_ARM64_BUILD names no cross build"),
    pytest.mark.skipif(shutil.which("qemu-aarch64") is None, reason="qemu-aarch64 is not installed"),
]


def expected_text(name: str, array: np.ndarray) -> str:
    """An output in the form that --benchmarkDataFile takes."""
    head = " ".join(map(str, (name, array.ndim, *array.shape)))
    return f"{head}\n{' '.join(repr(float(value)) for value in array.ravel())}\n"


def run(name: str, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Runs a model under QEMU; the expected outputs are those of the host."""
    source = SOURCES[name]
    if not source.exists():
        pytest.skip(f"{source} is absent")
    file = folder / "model.ms"
    converter = mslite.Converter()
    converter.convert(
        mslite.FmkType.ONNX if source.suffix == ".onnx" else mslite.FmkType.TFLITE, str(source), str(file)
    )
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE)
    inputs = model.get_inputs()
    shapes = [[2 if size < 0 else size for size in tensor.shape] for tensor in inputs]
    model.resize(inputs, shapes)
    rng = np.random.default_rng(5)
    files = []
    inputs = model.get_inputs()
    for i, tensor in enumerate(inputs):
        array = rng.standard_normal(tensor.shape).astype(np.float32)
        tensor.set_data_from_numpy(array)
        files.append(folder / f"input_{i}.bin")
        array.tofile(files[-1])
    outputs = model.predict(inputs)
    expected = folder / "expected.txt"
    expected.write_text("".join(expected_text(output.name, output.get_data_to_numpy()) for output in outputs))
    return subprocess.run(
        [
            "qemu-aarch64", "-cpu", "max", "-L", "/usr/aarch64-linux-gnu",
            str(ROOT / str(BUILD) / "benchmark" / "benchmark"),
            f"--modelFile={file}", f"--inDataFile={','.join(map(str, files))}", f"--benchmarkDataFile={expected}",
            f"--inputShapes={':'.join(','.join(map(str, shape)) for shape in shapes)}", *flags,
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_model_on_arm64(name: str, tmp_path: Path) -> None:
    result = run(name, tmp_path, "--accuracyThreshold=0.1", "--cosineDistanceThreshold=0.99999")
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    assert "Run Benchmark model.ms Success." in result.stdout


@pytest.mark.parametrize("name", ["squeezenet", "vit"])
def test_products_in_float16(name: str, tmp_path: Path) -> None:
    close = ["--accuracyThreshold=5", "--cosineDistanceThreshold=0.999"]
    result = run(name, tmp_path, "--enableFp16=true", *close)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    # Not what float32 gives: float16 was at work.
    exact = run(name, tmp_path, "--enableFp16=true", "--accuracyThreshold=0.001")
    assert exact.returncode == 1, exact.stdout[-2000:] + exact.stderr[-2000:]
