"""Every recorded TensorFlow model, from its GraphDef to TensorFlow's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options
from tests.parsers.tf import archive

_CUBIC_TABLE = 2e-3
"""TensorFlow takes the weights of cubic interpolation from a table of 1024 steps."""


@pytest.mark.parametrize("name", archive.names())
def test_recorded_model(name: str, tmp_path: Path) -> None:
    recorded = archive.read(name)
    source = tmp_path / "model.pb"
    source.write_bytes(recorded.content)
    (file,) = convert(Options(source, tmp_path / "model")).files
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    tensors = model.get_inputs()
    given = {f"x{number}": array for number, array in enumerate(recorded.inputs)}
    assert sorted(given) == sorted(tensor.name for tensor in tensors)
    arrays = [given[tensor.name] for tensor in tensors]  # the file's order is not that of the arguments
    shapes = [list(array.shape) for array in arrays]
    if shapes != [list(tensor.shape) for tensor in tensors]:
        model.resize(tensors, shapes)
    results = {tensor.name: tensor.get_data_to_numpy() for tensor in model.predict(arrays)}
    assert sorted(results) == sorted(recorded.outputs)
    tolerance = _CUBIC_TABLE if name.startswith("bicubic") else 1e-5
    for key, want in recorded.outputs.items():
        got = results[key]
        assert got.dtype == want.dtype, key
        assert got.shape == want.shape, key
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, tolerance, tolerance, err_msg=key)
        else:
            np.testing.assert_array_equal(got, want, err_msg=key)
