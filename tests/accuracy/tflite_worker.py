"""`python tflite_worker.py JOB.npz`: TFLite's post-training quantization, in an environment with TensorFlow and onnx2tf.

This script does not import mslite. The job has the source model and the calibration samples in the source's layout. The results
`float.tflite` and `int8.tflite` (with float inputs and outputs) are written to the job's folder.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np


def from_onnx(model: Path, folder: Path) -> Path:
    """Returns the float TFLite file that onnx2tf writes. onnx2tf gets a copy, because it overwrites its source."""
    model = Path(shutil.copy(model, folder / f"source_{model.name}"))
    pictures = np.random.default_rng(0).random((20, 128, 128, 3), dtype=np.float32)
    np.save(
        folder / "calibration_image_sample_data_20x128x128x3_float32.npy", pictures
    )  # otherwise onnx2tf downloads them
    program = Path(sys.executable).parent / "onnx2tf"
    command = [str(program), "-i", str(model), "-o", "made", "-n", "-b", "1", "-v", "error"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    made = folder / "made" / f"{model.stem}_float32.tflite"
    if done.returncode != 0 or not made.is_file():
        lines = (done.stdout + done.stderr).strip().splitlines()
        lines = [line for line in lines if "error" in line.lower()] or lines
        raise RuntimeError("onnx2tf: " + (lines[-1][:200] if lines else f"status {done.returncode}"))
    return made


def from_graph(model: Path) -> bytes:
    """Returns the float TFLite model that TensorFlow's converter writes for a frozen graph."""
    import tensorflow as tf

    graph = tf.compat.v1.GraphDef.FromString(model.read_bytes())
    inputs = [node.name for node in graph.node if node.op == "Placeholder"]
    read = {name.split(":")[0].lstrip("^") for node in graph.node for name in node.input}
    outputs = [node.name for node in graph.node if node.name not in read and node.op not in ("Const", "NoOp")]
    shapes = {}
    for node in graph.node:
        if node.op == "Placeholder":
            sizes = [dim.size for dim in node.attr["shape"].shape.dim]
            shapes[node.name] = [size if size > 0 else 1 for size in sizes]
    converter = tf.compat.v1.lite.TFLiteConverter.from_frozen_graph(str(model), inputs, outputs, input_shapes=shapes)
    return converter.convert()  # type: ignore[no-any-return]


def main() -> None:
    job = np.load(sys.argv[1])
    folder, model, kind = Path(sys.argv[1]).parent.resolve(), Path(str(job["model"])), str(job["kind"])
    if kind == "onnx":
        content = from_onnx(model, folder).read_bytes()
    else:
        content = model.read_bytes() if kind == "tflite" else from_graph(model)
    (folder / "float.tflite").write_bytes(content)

    from tensorflow.lite.python.interpreter import Interpreter
    from tensorflow.lite.python.optimize.calibrator import Calibrator

    details = Interpreter(model_content=content).get_input_details()
    order = input_order(
        [tuple(detail["shape"]) for detail in details], [job[f"input{i}"].shape[1:] for i in range(len(details))]
    )
    count = len(job["input0"])

    def samples():  # type: ignore[no-untyped-def]
        for index in range(count):
            yield [
                fitted(job[f"input{place}"][index], detail["shape"])
                for place, detail in zip(order, details, strict=True)
            ]

    import tensorflow as tf

    quantized = Calibrator(content).calibrate_and_quantize(
        samples, tf.float32, tf.float32, allow_float=True, activations_type=tf.int8, bias_type=tf.int32
    )
    (folder / "int8.tflite").write_bytes(quantized)


def input_order(wanted: list, given: list) -> list[int]:  # type: ignore[type-arg]
    """Returns for each input of the model the index of the sample's array: in order, unless only another order has matching sizes."""
    sizes = [int(np.prod(shape)) for shape in given]
    if all(int(np.prod(shape)) == size for shape, size in zip(wanted, sizes, strict=False)):
        return list(range(len(wanted)))
    return [sizes.index(int(np.prod(shape))) for shape in wanted]


def fitted(array: np.ndarray, shape: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Returns a sample in the layout of the TFLite model: NCHW is transposed to NHWC if only that matches."""
    if array.shape == tuple(shape):
        return array
    if array.ndim == 4 and tuple(array.transpose(0, 2, 3, 1).shape) == tuple(shape):
        return np.ascontiguousarray(array.transpose(0, 2, 3, 1))
    if array.ndim == 3 and tuple(array.transpose(0, 2, 1).shape) == tuple(shape):
        return np.ascontiguousarray(array.transpose(0, 2, 1))
    return array.reshape(shape)


if __name__ == "__main__":
    main()
