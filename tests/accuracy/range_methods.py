"""Compares the methods of range estimation model by model: the table of docs/developers/quantization.md.

    python -m tests.accuracy.range_methods [model ...]

The columns are the SQNR of the worst output on held-out samples compared with the float model, the share of unchanged predictions for
classifiers, and the CPU time of the conversion divided by that with MAX_MIN.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from mslite.converter.convert import convert
from mslite.quantizer.settings import ActivationMethod, quantizer_settings

from . import open_models, ours, tasks
from .tasks import Array, Task

METHODS = [ActivationMethod.MAX_MIN, ActivationMethod.PERCENTILE, ActivationMethod.MSE, ActivationMethod.AUTO]
MODELS = [
    *tasks.TRAINED_TASKS, "arm_kws_pb/cnn_s", "arm_kws_pb/ds_cnn_s", "caffe/mobilenetv2_yolov3_nano", "caffe/mtcnn_det1_pnet",
    "caffe/rfb_320", "caffe/yoloface_50k", "mlperf_tiny/vww_96_float", "mnist/mnist_8_cntk", "small_apps/espcn_nn_resize",
    "st_models/mobilenet_v2_035_128", "st_models/yamnet_256", "tf_pb/arm_mnet_128",
    "tflite_support/mobilenet_v1_025_224_float", "ultraface/rfb_320_onnx",
]  # fmt: skip


def measured(
    task: Task, method: ActivationMethod, folder: Path, expected: list[list[Array]]
) -> tuple[float, float, float]:
    """SQNR in dB, share of unchanged predictions, CPU time in seconds."""
    sections = {
        "common_quant_param": {"quant_type": "FULL_QUANT"},
        "full_quant_param": {"activation_quant_method": method.value},
    }
    options = dataclasses.replace(
        ours.options(task, folder / "quantized"), quantizer=quantizer_settings(sections), calibration=task.calibration
    )
    start = time.process_time()
    file = convert(options).files[0]
    seconds = time.process_time() - start
    got = ours.run(file, task)
    same = np.mean([mine[0].argmax() == wanted[0].argmax() for mine, wanted in zip(got, expected, strict=True)])
    return min(_sqnr(got, expected, place) for place in range(len(expected[0]))), float(same), seconds


def _sqnr(got: list[list[Array]], expected: list[list[Array]], place: int) -> float:
    mine, wanted = (np.concatenate([one[place].ravel() for one in all_]).astype(np.float64) for all_ in (got, expected))
    return float(10 * np.log10((wanted**2).sum() / max(((mine - wanted) ** 2).sum(), 1e-30)))


def main() -> None:
    print("| model |" + "".join(f" {method.value} |" for method in METHODS))
    print("|---|" + "---:|" * len(METHODS))
    for name in sys.argv[1:] or MODELS:
        task = tasks.TRAINED_TASKS[name]() if name in tasks.TRAINED_TASKS else open_models.open_task(name)
        with tempfile.TemporaryDirectory() as folder:
            expected = ours.run(convert(ours.options(task, Path(folder) / "float")).files[0], task)
            found = [measured(task, method, Path(folder), expected) for method in METHODS]
        cells = [
            f" {sqnr:.1f} dB{f', {100 * same:.1f} %' if task.classifies else ''}, x {seconds / found[0][2]:.1f} |"
            for sqnr, same, seconds in found
        ]
        print(f"| {name} |" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
