"""Photographs from scikit-image and scikit-learn, cropped to any size; some for calibration, others for evaluation."""

from __future__ import annotations

import functools

import cv2
import numpy as np
import numpy.typing as npt

from tests.models.trained.dataset import DataMissing, package_folder

Picture = npt.NDArray[np.uint8]

CALIBRATION = ("skimage/coffee.png", "skimage/motorcycle_left.png", "skimage/rocket.jpg", "sklearn/china.jpg",
               "skimage/camera.png", "skimage/ihc.png")  # fmt: skip
HELD_OUT = ("skimage/astronaut.png", "skimage/chelsea.png", "sklearn/flower.jpg", "skimage/coins.png")
FOLDERS = {"skimage": "data", "sklearn": "datasets/images"}


@functools.cache
def photograph(name: str) -> Picture:
    """Returns an RGB image [height, width, 3]. Raises DataMissing."""
    home, _, file = name.partition("/")
    path = package_folder(home).joinpath(FOLDERS[home], file)
    picture = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR) if path.is_file() else None
    if picture is None:
        raise DataMissing(f"{path} is not a picture")
    return np.asarray(picture[:, :, ::-1], np.uint8)


def cuts(names: tuple[str, ...], height: int, width: int, count: int, seed: int) -> list[Picture]:
    """Returns `count` random crops of the given shape, with random size, position and mirroring: [height, width, 3]."""
    random = np.random.default_rng(seed)
    found = []
    for index in range(count):
        whole = photograph(names[index % len(names)])
        limit = min(whole.shape[0] / height, whole.shape[1] / width)
        factor = float(random.uniform(0.35, 1.0)) * limit
        rows, columns = max(1, int(height * factor)), max(1, int(width * factor))
        top = int(random.integers(0, whole.shape[0] - rows + 1))
        left = int(random.integers(0, whole.shape[1] - columns + 1))
        cut = cv2.resize(whole[top : top + rows, left : left + columns], (width, height), interpolation=cv2.INTER_AREA)
        if random.random() < 0.5:
            cut = cut[:, ::-1]
        found.append(np.ascontiguousarray(cut, np.uint8))
    return found
