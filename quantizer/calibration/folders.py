"""Reads calibration files: one folder per graph input, files in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array, Value, numpy_type
from mslite.converter.numpy_file import NumpyFileError, read_numpy
from mslite.quantizer.calibration.images import image_array
from mslite.quantizer.calibration.samples import Sample, copied_inputs, cut, fitted, together
from mslite.quantizer.settings import DataPreprocessParam, InputType

MAX_FILE_BYTES = 1 << 30
_NUMPY_SUFFIXES = (".npy", ".npz")


class FolderData:
    """Calibration samples from the folders in [data_preprocess_param]. Only one sample is in memory at a time.

    Raises ConversionError if inputs, folders or files do not match the model.
    """

    def __init__(self, settings: DataPreprocessParam, inputs: Sequence[Value]) -> None:
        names = [value.name for value in inputs]
        for name in settings.calibrate_path:
            if name not in names:
                raise _wrong(f"calibrate_path: the model has no input '{name}'; its inputs are {', '.join(names)}")
        for name in names:
            if name not in settings.calibrate_path:
                raise _wrong(f"calibrate_path: no folder is given for input '{name}'")
        self._settings = settings
        self._inputs = copied_inputs(inputs)
        folders = [settings.calibrate_path[name] for name in names]
        files = [_files(folder) for folder in folders]
        counts = {len(found) for found in files}
        if len(counts) > 1:
            told = ", ".join(f"{folder} {len(found)}" for folder, found in zip(folders, files, strict=True))
            raise _wrong(f"calibrate_path: the folders must have the same number of files: {told}")
        self._batch = _images_per_sample(settings, inputs)
        wanted = settings.calibrate_size
        self._files = [found[:wanted] for found in files]
        self._others = [found[wanted:] for found in files]
        used = len(self._files[0])
        if used % self._batch:
            raise _wrong(f"calibrate_size: {used} images are not a multiple of the model's batch, {self._batch}")
        self.size: int | None = used // self._batch

    def __iter__(self) -> Iterator[Sample]:
        return self._samples(self._files)

    def beyond(self) -> Iterator[Sample]:
        return self._samples(self._others)

    def _samples(self, folders: Sequence[Sequence[Path]]) -> Iterator[Sample]:
        for number in range(len(folders[0]) // self._batch):
            parts = [self._arrays(files, number, value) for files, value in zip(folders, self._inputs, strict=True)]
            samples = together(parts, self._inputs, str(folders[0][number]))
            if len(samples) > 1:
                self.size = len(samples) * len(
                    self._files[0]
                )  # as in all of them, most likely: it is for a progress bar
            yield from samples

    def _arrays(self, files: Sequence[Path], number: int, value: Value) -> list[Array]:
        """Returns the samples in a file, or one sample from a batch of images."""
        kind = self._settings.input_type
        if kind is InputType.IMAGE:
            chosen = files[number * self._batch : (number + 1) * self._batch]
            images = np.stack(_alike([image_array(path, self._settings) for path in chosen], chosen))
            wanted = numpy_type(value.dtype)
            if wanted.kind in "iu":  # the model's input is integer pixels
                limits = np.iinfo(wanted.char)
                images = np.clip(np.rint(images), limits.min, limits.max).astype(wanted)
            return [fitted(images, value, f"{chosen[0]}")]
        path = files[number]
        if kind is InputType.NPY or path.suffix in _NUMPY_SUFFIXES:
            return cut(_numpy_file(path, value.name), value, str(path))
        return _raw_file(path, value)


def _alike(images: list[Array], files: Sequence[Path]) -> list[Array]:
    """Checks that the images of a batch have equal sizes. Raises ConversionError."""
    for image, path in zip(images, files, strict=True):
        if image.shape != images[0].shape:
            raise _wrong(
                f"{path}: the image has {image.shape[1]}x{image.shape[0]} pixels, others of the batch have another"
                " size; use resize or center_crop in [data_preprocess_param]"
            )
    return images


def _images_per_sample(settings: DataPreprocessParam, inputs: Sequence[Value]) -> int:
    if settings.input_type is not InputType.IMAGE:
        return 1
    batches = {value.shape[0] for value in inputs if value.shape and value.shape[0] > 0}
    return batches.pop() if len(batches) == 1 else 1


def _files(folder: Path) -> list[Path]:
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise ConversionError(
            f"calibrate_path: the folder '{folder}' cannot be read: {error.strerror}", code=ReturnCode.FILE_ERROR
        ) from None
    if not files:
        raise _wrong(f"calibrate_path: the folder '{folder}' has no files")
    return files


def _read(path: Path) -> bytes:
    try:
        _check_size(path)
        return path.read_bytes()
    except OSError as error:
        raise ConversionError(f"{path}: cannot be read: {error.strerror}", code=ReturnCode.FILE_ERROR) from None


def _raw_file(path: Path, value: Value) -> list[Array]:
    """Reads little-endian elements in the layout of the input. A file may contain several samples."""
    data = _read(path)
    dtype = numpy_type(value.dtype)
    shape = [size if size >= 0 else -1 for size in value.shape or ()]
    known = int(np.prod([size for size in shape if size >= 0], dtype=np.int64)) * dtype.itemsize
    unknown = shape.count(-1)
    is_multiple = known > 0 and len(data) > 0 and len(data) % known == 0
    fits = len(data) == known or (is_multiple and bool(shape)) if not unknown else unknown == 1 and is_multiple
    if unknown > 1 or not fits:
        needs = f"needs {known} bytes, or a multiple of that"
        reason = "has several dynamic dimensions; set them with --inputShape" if unknown > 1 else needs
        raise _wrong(f"{path}: {len(data)} bytes; input '{value.name}' {reason}")
    if not unknown and is_multiple and shape:
        shape[0] *= len(data) // known
    return cut(np.frombuffer(data, dtype.newbyteorder("<")).reshape(shape), value, str(path))


def _numpy_file(path: Path, name: str) -> Array:
    """Returns the array of a `.npy` file, or from a `.npz` file the array with the input's name or the only array."""
    try:
        _check_size(path)
        loaded = read_numpy(path)
    except OSError as error:
        raise ConversionError(
            f"{path}: cannot be read: {error.strerror or error}", code=ReturnCode.FILE_ERROR
        ) from None
    except NumpyFileError as error:
        raise ConversionError(f"{path}: {error}", code=ReturnCode.FILE_ERROR) from None
    if not isinstance(loaded, dict):
        return loaded
    chosen = name if name in loaded else next(iter(loaded)) if len(loaded) == 1 else None
    if chosen is None:
        raise _wrong(f"{path}: the file has no array '{name}', only {', '.join(loaded)}")
    return loaded[chosen]


def _check_size(path: Path) -> None:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise _wrong(f"{path}: calibration files may have at most 1 GiB")


def _wrong(text: str) -> ConversionError:
    return ConversionError(text, code=ReturnCode.INPUT_PARAMETER_INVALID)
