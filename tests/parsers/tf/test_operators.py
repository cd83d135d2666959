"""Every recorded TensorFlow model, from its GraphDef to TensorFlow's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.parsers.tf import archive
from tests.parsers.tf.graphs import results

_CUBIC_TABLE = 2e-3
"""TensorFlow takes the weights of cubic interpolation from a table of 1024 steps."""


def check(name: str, model: archive.Recorded, folder: Path) -> None:
    """Asserts that the converted model gives the outputs that are recorded with it."""
    inputs = {f"x{number}": array for number, array in enumerate(model.inputs)}
    got = results(model.content, folder, inputs)
    assert sorted(got) == sorted(model.outputs)
    tolerance = _CUBIC_TABLE if name.startswith("bicubic") else 1e-5
    for key, want in model.outputs.items():
        assert got[key].dtype == want.dtype, key
        assert got[key].shape == want.shape, key
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got[key], want, tolerance, tolerance, err_msg=key)
        else:
            np.testing.assert_array_equal(got[key], want, err_msg=key)


@pytest.mark.parametrize("name", archive.names())
def test_recorded_model(name: str, tmp_path: Path) -> None:
    check(name, archive.read(name), tmp_path)
