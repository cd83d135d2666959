"""A training model of mslite, with its weights as NumPy arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import mslite

Array = npt.NDArray[Any]


def read_data(file: str | Path) -> tuple[Array, Array]:
    """Returns images and labels of a file."""
    with np.load(file) as data:
        return data["images"], data["labels"]


class Learner:
    """A training `.ms` model for images with labels. Images at the end that do not fill a batch are not used."""

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
        """Returns the accuracy: the share of images with the highest score for their label."""
        self._model.set_train_mode(False)
        right = []
        for rows in self._batches(np.arange(len(images))):
            (scores,) = self._model.predict([images[rows], labels[rows]])
            right.append(scores.get_data_to_numpy().argmax(axis=1) == labels[rows])
        return float(np.mean(right))

    def export(self, file: str | Path) -> None:
        """Writes the `.ms` file for inference."""
        self._model.export_model(file)

    def _step(self, images: Array, labels: Array) -> float:
        (loss,) = self._model.run_step([images, labels])
        return float(loss.get_data_to_numpy().item())

    def _batches(self, order: Array) -> list[Array]:
        return [order[i : i + self._batch] for i in range(0, len(order) - self._batch + 1, self._batch)]
