"""What a device has: the model that learns, and its share of the digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import mslite

Array = npt.NDArray[Any]

FOR_TRAINING, FOR_TEST = 1440, 352
"""Images; multiples of the batch."""


def _split() -> tuple[Array, Array, Array, Array]:
    images, labels = load_digits(return_X_y=True)
    return train_test_split(
        (images.reshape(-1, 8, 8, 1) / 16).astype(np.float32), labels.astype(np.int32),
        train_size=FOR_TRAINING, test_size=FOR_TEST, random_state=0, stratify=labels,
    )  # fmt: skip


def share_of(client: int, clients: int) -> tuple[Array, Array]:
    """The images and labels of one client. Sorted by label before they are shared out: each has digits that no other has."""
    images, _, labels, _ = _split()
    chosen = np.array_split(np.argsort(labels, kind="stable"), clients)[client]
    return images[chosen], labels[chosen]


def test_set() -> tuple[Array, Array]:
    """Images of all digits, which no client trains with."""
    _, images, _, labels = _split()
    return images, labels


class Learner:
    """A training `.ms` model with one input of images and one of labels."""

    def __init__(self, model_file: str | Path) -> None:
        self._model = mslite.Model()
        self._model.build_from_file(model_file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
        self._batch = self._model.get_inputs()[0].shape[0]

    @property
    def weights(self) -> dict[str, Array]:
        return {tensor.name: tensor.get_data_to_numpy() for tensor in self._model.get_feature_maps()}

    @weights.setter
    def weights(self, values: dict[str, Array]) -> None:
        tensors = self._model.get_feature_maps()
        for tensor in tensors:
            tensor.set_data_from_numpy(values[tensor.name])
        self._model.update_feature_maps(tensors)

    def train(self, images: Array, labels: Array, epochs: int) -> float:
        """Returns the mean loss of the last epoch."""
        self._model.set_train_mode(True)
        random = np.random.default_rng()
        losses: list[float] = []
        for _ in range(epochs):
            order = random.permutation(len(images))
            losses = [self._step(images[rows], labels[rows]) for rows in self._batches(order)]
        return float(np.mean(losses))

    def accuracy(self, images: Array, labels: Array) -> float:
        """The share of the images whose digit is found."""
        self._model.set_train_mode(False)
        right = 0
        for rows in self._batches(np.arange(len(images))):
            (scores,) = self._model.predict([images[rows], labels[rows]])
            right += int((scores.get_data_to_numpy().argmax(axis=1) == labels[rows]).sum())
        return right / len(images)

    def export(self, file: str) -> None:
        """Writes the `.ms` file for inference."""
        self._model.export_model(file)

    def _step(self, images: Array, labels: Array) -> float:
        (loss,) = self._model.run_step([images, labels])
        return float(loss.get_data_to_numpy().item())

    def _batches(self, order: Array) -> list[Array]:
        return [order[i : i + self._batch] for i in range(0, len(order) - self._batch + 1, self._batch)]
