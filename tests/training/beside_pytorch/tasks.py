"""The training tasks: the handwritten digits of examples/digits, as images of any size, as tokens, as rows, and as masks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits" / "digits_test.npz"
_SIDE, _LEVELS = 8, 17
VOCABULARY, LENGTH = _LEVELS, _SIDE * _SIDE
_HELD_OUT = 80


@dataclass(frozen=True)
class Task:
    """Rows of inputs and targets; the last `_HELD_OUT` rows are not used for training. Images are [N, C, H, W]."""

    inputs: Array
    labels: Array

    def batches(self, steps: int, rows: int, seed: int = 1) -> list[tuple[Array, Array]]:
        """Yields batches, shuffled in each epoch; rows that do not fill a batch are dropped."""
        random, count = np.random.default_rng(seed), len(self.inputs) - _HELD_OUT
        order: list[Array] = []
        while sum(map(len, order)) < steps * rows:
            order.append(random.permutation(count)[: count // rows * rows])
        chosen = np.concatenate(order)[: steps * rows].reshape(steps, rows)
        return [(self.inputs[batch], self.labels[batch]) for batch in chosen]

    def held_out(self, rows: int) -> list[tuple[Array, Array]]:
        first = len(self.inputs) - _HELD_OUT
        return [
            (self.inputs[at : at + rows], self.labels[at : at + rows])
            for at in range(first, len(self.inputs) - rows + 1, rows)
        ]


@cache
def _digits() -> tuple[Array, Array]:
    """Returns images [N, 8, 8] in the range [0, 1] and labels, in random order."""
    with np.load(_DIGITS) as data:
        images, labels = data["images"].reshape(-1, _SIDE, _SIDE), data["labels"].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(labels))
    return images[order], labels[order]


def _larger(images: Array, size: int) -> Array:
    factor = size // _SIDE
    return images.repeat(factor, axis=-2).repeat(factor, axis=-1)


def gray(size: int) -> Task:
    """Digits as grayscale images."""
    images, labels = _digits()
    return Task((_larger(images, size)[:, None] * 2 - 1).astype(np.float32), labels)


def color(size: int) -> Task:
    """Digits of any color on backgrounds of any color, with noise."""
    images, labels = _digits()
    random = np.random.default_rng(2)
    ink, paper = (random.uniform(low, high, (len(images), 3, 1, 1)) for low, high in ((0.3, 1.5), (-1.5, -0.3)))
    shown = _larger(images, size)[:, None]
    noise = 0.2 * random.standard_normal((len(images), 3, size, size))
    return Task((paper + shown * (ink - paper) + noise).astype(np.float32), labels)


def tokens() -> Task:
    """The pixels as a sequence of tokens, one per gray level."""
    images, labels = _digits()
    return Task(np.rint(images * (_LEVELS - 1)).astype(np.int64).reshape(-1, LENGTH), labels)


def rows() -> Task:
    """The rows of an image as steps of a sequence."""
    images, labels = _digits()
    return Task(images.astype(np.float32), labels)


def masks(size: int) -> Task:
    """A small digit at a random position in a color image; the target is the mask of its pixels."""
    small = color(size // 2).inputs
    images, _ = _digits()
    ink = _larger(images, size // 2) > 0.3
    random = np.random.default_rng(3)
    inputs = 0.5 * random.standard_normal((len(images), 3, size, size)).astype(np.float32)
    labels = np.zeros((len(images), 1, size, size), np.float32)
    for row, (y, x) in enumerate(random.integers(0, size // 2, (len(images), 2))):
        place = np.s_[y : y + size // 2, x : x + size // 2]
        inputs[row][:, *place] = small[row]
        labels[row, 0][place] = ink[row]
    return Task(inputs, labels)


def itself(size: int) -> Task:
    """Digits for an autoencoder: the target is the input."""
    inputs = gray(size).inputs
    return Task(inputs, inputs)
