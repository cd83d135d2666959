"""Compares a network in mslite and onnxruntime: time per image, and equality of the predictions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import mslite

Array = npt.NDArray[np.float32]
Run = Callable[[Array], Array]
ROUNDS, IMAGES = 100, 20


@dataclass(frozen=True)
class Comparison:
    """The median time of one image in milliseconds, including the copies of arrays, and the difference of the outputs."""

    mslite_ms: float
    onnxruntime_ms: float
    same_answers: int
    images: int
    largest_difference: float


def images_of_28(images: Array) -> Array:
    """Scales digits [N, 1, 8, 8] by 3 and pads them by 2 pixels: [N, 1, 28, 28]."""
    return np.pad(images.repeat(3, axis=2).repeat(3, axis=3), ((0, 0), (0, 0), (2, 2), (2, 2)))


def compare(onnx_file: Path, model_file: Path, images: Array) -> Comparison:
    """Runs images [N, 1, height, width] one by one. The two runtimes alternate, on one thread each, so that a slow moment of the
    machine hits both. Raises ImportError without onnxruntime.
    """
    theirs, mine = _onnxruntime(onnx_file), _mslite(model_file)
    answers = [(mine(image[None]), theirs(image[None])) for image in images]
    times: dict[Run, list[float]] = {mine: [], theirs: []}
    for round_number in range(ROUNDS):
        chosen = [images[(round_number * IMAGES + i) % len(images)][None] for i in range(IMAGES)]
        for run in (mine, theirs) if round_number % 2 else (theirs, mine):
            start = time.perf_counter()
            for image in chosen:
                run(image)
            times[run].append((time.perf_counter() - start) * 1000 / IMAGES)
    return Comparison(
        float(np.median(times[mine])),
        float(np.median(times[theirs])),
        sum(int(a.argmax() == b.argmax()) for a, b in answers),
        len(images),
        max(float(np.abs(a - b).max()) for a, b in answers),
    )


def _mslite(model_file: Path) -> Run:
    context = mslite.Context()
    context.cpu.thread_num = 1
    model = mslite.Model()
    model.build_from_file(str(model_file), mslite.ModelType.MINDIR_LITE, context)
    (tensor,) = inputs = model.get_inputs()

    def run(image: Array) -> Array:
        tensor.set_data_from_numpy(image.transpose(0, 2, 3, 1))  # the input of the .ms file is NHWC
        result: Array = model.predict(inputs)[0].get_data_to_numpy()
        return result

    return run


def _onnxruntime(onnx_file: Path) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(onnx_file), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name

    def run(image: Array) -> Array:
        result: Array = session.run(None, {name: image})[0]
        return result

    return run
