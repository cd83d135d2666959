"""TFLite's converter, run in a separate Python interpreter with TensorFlow; the result runs in LiteRT."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from .tasks import Array, Sample, Task
from .tflite_worker import fitted, input_order


def tensorflow_python() -> str:
    """Returns the interpreter with TensorFlow and onnx2tf: `MSLITE_TF_PYTHON`, else this one."""
    return os.environ.get("MSLITE_TF_PYTHON", sys.executable)


def quantize(task: Task, folder: Path) -> Path:
    """Returns the quantized TFLite file. Raises RuntimeError with the reason."""
    if task.kind == "caffe":
        raise RuntimeError("not a format of this tool: TFLite's converter reads no Caffe models")
    count = len(task.calibration[0])
    arrays = {f"input{i}": np.stack([sample[i] for sample in task.calibration]) for i in range(count)}
    np.savez(folder / "job.npz", model=str(task.model.resolve()), kind=task.kind, **arrays)
    command = [tensorflow_python(), str(Path(__file__).with_name("tflite_worker.py")), str(folder / "job.npz")]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "1", "PYTHONPATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise RuntimeError(lines[-1][:200])
    return folder / "int8.tflite"


def run(model: Path, samples: list[Sample]) -> list[list[Array]]:
    """Returns the outputs of every sample in the order of the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interpreter = Interpreter(str(model), num_threads=1)
    interpreter.allocate_tensors()
    details = interpreter.get_input_details()
    order = input_order([tuple(detail["shape"]) for detail in details], [array.shape for array in samples[0]])
    outputs = []
    for sample in samples:
        for place, detail in zip(order, details, strict=True):
            interpreter.set_tensor(detail["index"], fitted(sample[place], detail["shape"]))
        interpreter.invoke()
        outputs.append([interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()])
    return outputs
