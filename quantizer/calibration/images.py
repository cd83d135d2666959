"""Reads image files and preprocesses them (color format, resize, crop, normalize) as in [data_preprocess_param]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array
from mslite.extras import install
from mslite.quantizer.settings import DataPreprocessParam


def image_array(path: Path, settings: DataPreprocessParam) -> Array:
    """Returns an image as float32 [height, width, channels], BGR unless `image_to_format` is set. Raises
    ConversionError."""
    cv2 = _opencv()
    try:
        data = np.frombuffer(path.read_bytes(), np.uint8)
        image = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    except OSError as error:
        raise ConversionError(f"{path}: cannot be read: {error.strerror}", code=ReturnCode.FILE_ERROR) from None
    except cv2.error:
        image = None
    if image is None:
        raise ConversionError(f"{path}: OpenCV cannot decode the file as an image", code=ReturnCode.FILE_ERROR)
    if settings.image_to_format == "RGB":
        image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
    elif settings.image_to_format == "GRAY":
        image = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    if settings.resize_method:
        method = {"NEAREST": cv2.INTER_NEAREST, "LINEAR": cv2.INTER_LINEAR, "CUBIC": cv2.INTER_CUBIC}
        size = (settings.resize_width, settings.resize_height)
        image = cv2.resize(image, size, interpolation=method[settings.resize_method])
    image = _cropped(image, path, settings)
    array = np.asarray(image, np.float32).reshape(image.shape[0], image.shape[1], -1)
    if settings.normalize_mean:
        mean, deviation = (
            np.array(numbers, np.float32) for numbers in (settings.normalize_mean, settings.normalize_std)
        )
        if mean.size not in (1, array.shape[2]):
            raise ConversionError(
                f"normalize_mean: has {mean.size} values, but images have {array.shape[2]} channels",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
        array = (array - mean) / deviation
    return array


def _cropped(image: Any, path: Path, settings: DataPreprocessParam) -> Any:
    width, height = settings.center_crop_width, settings.center_crop_height
    if not width:
        return image
    if image.shape[0] < height or image.shape[1] < width:
        raise ConversionError(
            f"{path}: the image has {image.shape[1]}x{image.shape[0]} pixels and cannot be cropped to {width}x{height}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )
    top, left = (image.shape[0] - height) // 2, (image.shape[1] - width) // 2
    return image[top : top + height, left : left + width]


def _opencv() -> Any:
    try:
        import cv2
    except ImportError:
        raise ConversionError(
            f"calibration with images needs OpenCV: {install('images')}", code=ReturnCode.NOT_SUPPORTED
        ) from None
    return cv2
