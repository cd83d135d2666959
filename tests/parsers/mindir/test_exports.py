"""Networks that MindSpore 2.10 exported (`exports/make_exports.py`): two runs give what they give there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.options import Options

EXPORTS = Path(__file__).parent / "exports"
REFUSED = {"reread": "has changed it in place"}
NAMES = sorted(path.stem for path in EXPORTS.glob("*.mindir"))


def test_exports_are_there() -> None:
    assert len(NAMES) >= 34
    assert set(REFUSED) < set(NAMES)


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(REFUSED)))
def test_two_runs(name: str, tmp_path: Path) -> None:
    path = convert(Options(EXPORTS / f"{name}.mindir", tmp_path / f"{name}.ms")).files[0]
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
    with np.load(EXPORTS / f"{name}.npz") as stored:
        arrays = dict(stored)
    for run in ("first", "second"):
        tensors = model.get_inputs()
        for i, tensor in enumerate(tensors):
            array = arrays[f"i{i}"]
            last = array.ndim == 4 and list(tensor.shape) != list(array.shape)
            tensor.set_data_from_numpy(np.ascontiguousarray(array.transpose(0, 2, 3, 1) if last else array))
        results = [tensor.get_data_to_numpy() for tensor in model.predict(tensors)]
        assert len(results) == sum(key.startswith(run) for key in arrays)
        for i, result in enumerate(results):
            wanted = arrays[f"{run}{i}"]
            assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(result, wanted, 1e-4, 1e-5)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_with_a_remedy(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError) as caught:
        convert(Options(EXPORTS / f"{name}.mindir", tmp_path / f"{name}.ms"))
    assert REFUSED[name] in str(caught.value)
    assert "a copy, y.copy()" in str(caught.value)
