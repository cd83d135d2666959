"""`python tflite_models.py FOLDER`: writes `<model>.tflite` beside each ONNX file, for LiteRT, with onnx2tf.

Runs in a virtual environment with onnx2tf and TensorFlow, so it imports nothing of ours. What onnx2tf cannot convert is
named, and LiteRT is then reported as not run on it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

_SAMPLES = "calibration_image_sample_data_20x128x128x3_float32.npy"
"""The pictures that onnx2tf would otherwise download; float conversion does not look at their contents."""


def convert(model: Path) -> str:
    """Writes the float32 TFLite file beside `model`. Returns "", or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = np.random.default_rng(0).random((20, 128, 128, 3), dtype=np.float32)
        np.save(Path(folder) / _SAMPLES, pictures)
        program = Path(sys.executable).parent / "onnx2tf"
        command = [str(program), "-i", str(model.resolve()), "-o", "out", "-n", "-v", "error"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        made = Path(folder) / "out" / f"{model.stem}_float32.tflite"
        if done.returncode != 0 or not made.is_file():
            lines = (done.stdout + done.stderr).strip().splitlines()
            return lines[-1] if lines else f"onnx2tf ended with status {done.returncode}"
        shutil.move(made, model.with_suffix(".tflite"))
    return ""


def main() -> int:
    for model in sorted(Path(sys.argv[1]).glob("*.onnx")):
        if not model.with_suffix(".tflite").exists():
            problem = convert(model)
            print(f"{model.stem:28} {'.tflite written' if not problem else 'not converted by onnx2tf: ' + problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
