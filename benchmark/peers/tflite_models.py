"""`python tflite_models.py FOLDER [INT8_FOLDER]`: writes `<model>.tflite` beside each ONNX file, for LiteRT, with onnx2tf.

With a second folder, those networks that have an ONNX file in it are quantised from the first folder's, into the second.

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
import onnx

_SAMPLES = "calibration_image_sample_data_20x128x128x3_float32.npy"
"""The pictures that onnx2tf would otherwise download; float conversion does not look at their contents."""


def convert(model: Path, target: Path, is_int8: bool) -> str:
    """Writes the TFLite file `target`. Returns "", or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = np.random.default_rng(0).random((20, 128, 128, 3), dtype=np.float32)
        np.save(Path(folder) / _SAMPLES, pictures)
        program = Path(sys.executable).parent / "onnx2tf"
        command = [str(program), "-i", str(model.resolve()), "-o", "out", "-n", "-v", "error"]
        made = Path(folder) / "out" / f"{model.stem}_{'integer_quant' if is_int8 else 'float32'}.tflite"
        if is_int8:
            command += ["-oiqt", "-cind", _input_name(model), _calibration(Path(folder), model), "[0.0]", "[1.0]"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0 or not made.is_file():
            lines = (done.stdout + done.stderr).strip().splitlines()
            return lines[-1] if lines else f"onnx2tf ended with status {done.returncode}"
        shutil.move(made, target)
    return ""


def _input_name(model: Path) -> str:
    return str(onnx.load(model, load_external_data=False).graph.input[0].name)


def _calibration(folder: Path, model: Path) -> str:
    """Random pictures, channels last: such files are for speed, not for accuracy."""
    dims = onnx.load(model, load_external_data=False).graph.input[0].type.tensor_type.shape.dim
    _, channels, height, width = (dim.dim_value for dim in dims)
    path = folder / "samples.npy"
    np.save(path, np.random.default_rng(1).standard_normal((4, height, width, channels), dtype=np.float32))
    return str(path)


def main() -> int:
    """`FOLDER`: all networks in float32; `FOLDER INT8_FOLDER`: those that the second holds, in int8, into that."""
    floats = Path(sys.argv[1])
    int8 = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    for model in sorted(floats.glob("*.onnx")):
        target = (int8 or floats) / f"{model.stem}.tflite"
        if target.exists() or (int8 is not None and not (int8 / model.name).exists()):
            continue
        problem = convert(model, target, int8 is not None)
        print(f"{model.stem:28} {'.tflite written' if not problem else 'not converted by onnx2tf: ' + problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
