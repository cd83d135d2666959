"""Networks of open sizes that MindSpore 2.10 exported (`open_exports/make_exports.py`): runs of two sizes give what they give there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options

EXPORTS = Path(__file__).parent / "open_exports"
NAMES = sorted(path.stem for path in EXPORTS.glob("*.mindir"))


def test_exports_are_there() -> None:
    assert len(NAMES) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_two_sizes(name: str, tmp_path: Path) -> None:
    path = convert(Options(EXPORTS / f"{name}.mindir", tmp_path / f"{name}.ms")).files[0]
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
    with np.load(EXPORTS / f"{name}.npz") as stored:
        arrays = dict(stored)
    for run in (0, 1):
        tensors = model.get_inputs()
        given = [_laid_out(arrays[f"{run}i{i}"], tensor) for i, tensor in enumerate(tensors)]
        model.resize(tensors, [list(array.shape) for array in given])
        tensors = model.get_inputs()
        for tensor, array in zip(tensors, given, strict=True):
            tensor.set_data_from_numpy(np.ascontiguousarray(array))
        results = [tensor.get_data_to_numpy() for tensor in model.predict(tensors)]
        assert len(results) == sum(key.startswith(f"{run}y") for key in arrays)
        for i, result in enumerate(results):
            wanted = arrays[f"{run}y{i}"]
            assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(result, wanted, 1e-4, 1e-5)


def _laid_out(array: npt.NDArray[np.generic], tensor: mslite.Tensor) -> npt.NDArray[np.generic]:
    """Images go in as the converter made the input: NHWC."""
    is_image = array.ndim == 4 and list(tensor.shape)[-1] == array.shape[1]
    return array.transpose(0, 2, 3, 1) if is_image else array
