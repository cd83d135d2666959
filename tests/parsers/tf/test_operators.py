"""Every recorded TensorFlow model, from its GraphDef to TensorFlow's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.parsers.tf import archive
from tests.parsers.tf.graphs import results

_CUBIC_TABLE = 2e-3
"""TensorFlow takes the weights of cubic interpolation from a table of 1024 steps."""


@pytest.mark.parametrize("name", archive.names())
def test_recorded_model(name: str, tmp_path: Path) -> None:
    recorded = archive.read(name)
    inputs = {f"x{number}": array for number, array in enumerate(recorded.inputs)}
    got = results(recorded.content, tmp_path, inputs)
    assert sorted(got) == sorted(recorded.outputs)
    tolerance = _CUBIC_TABLE if name.startswith("bicubic") else 1e-5
    for key, want in recorded.outputs.items():
        assert got[key].dtype == want.dtype, key
        assert got[key].shape == want.shape, key
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got[key], want, tolerance, tolerance, err_msg=key)
        else:
            np.testing.assert_array_equal(got[key], want, err_msg=key)
