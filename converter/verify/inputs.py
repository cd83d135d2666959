"""Makes the inputs for both models: given arrays, or reproducible random ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array, Shape, Value, numpy_type
from mslite.converter.mindir.quantized import is_quantized
from mslite.converter.numpy_file import NumpyFileError, read_numpy
from mslite.converter.text_shortening import counted

_UNKNOWN_BATCH, _UNKNOWN_SIZE = 1, 32
_INDEX_LIMIT = 8
"""Random integers are below this, because they may be indices into a small table."""


def random_inputs(inputs: list[Value]) -> list[Array]:
    """Returns a random array for each input; a dynamic dimension is 1 (the first dimension) or 32.

    Floats are in [-1, 1), integers in [0, 8), quantized integers in the whole range of their type.
    """
    draw = np.random.default_rng(20)
    arrays: list[Array] = []
    sizes: dict[int, int] = {}
    for value in inputs:
        dtype, shape = numpy_type(value.dtype), _filled(value.shape or (), sizes)
        if dtype.kind == "f":
            arrays.append(draw.uniform(-1, 1, shape).astype(dtype))
        elif dtype.kind == "b":
            arrays.append(draw.integers(0, 2, shape).astype(np.bool_))
        elif is_quantized(value):
            limits = np.iinfo(dtype.char)
            arrays.append(draw.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype))
        else:
            arrays.append(draw.integers(0, _INDEX_LIMIT, shape).astype(dtype))
    return arrays


def _filled(shape: Shape, sizes: dict[int, int]) -> Shape:
    """Returns the shape with sizes for dynamic dimensions; equal symbols get equal sizes."""
    return tuple(
        size if size >= 0 else sizes.setdefault(size, _UNKNOWN_BATCH if axis == 0 else _UNKNOWN_SIZE)
        for axis, size in enumerate(shape)
    )


def given_inputs(text: str, inputs: list[Value]) -> list[Array]:
    """Reads the arrays of `a.npy,b.npy`, in the order of the inputs and in the layout of the source. Raises
    ConversionError."""
    names = text.split(",")
    if len(names) != len(inputs):
        raise ConversionError(
            f"--verify: the model has {counted(len(inputs), 'input')}, {counted(len(names), 'file')} {'was' if len(names) == 1 else 'were'} given",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )
    arrays: list[Array] = []
    for name, value in zip(names, inputs, strict=True):
        try:
            array = read_numpy(Path(name))
            if isinstance(array, dict):
                raise NumpyFileError("a .npz file contains several arrays; give one .npy file for each input")
        except (OSError, NumpyFileError) as error:
            reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            raise ConversionError(f"--verify: '{name}' cannot be read: {reason}", code=ReturnCode.FILE_ERROR) from None
        if array.dtype != numpy_type(value.dtype):
            raise ConversionError(
                f"--verify: '{name}' contains {array.dtype}, but input '{value.name}' is {numpy_type(value.dtype)}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
        arrays.append(array)
    return arrays
