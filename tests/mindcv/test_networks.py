"""Twelve networks of mindcv, as MindSpore 2.10 exports them: the results are MindSpore's within 1e-4 of the largest one.

`make check-frameworks` runs this, where MindSpore can be installed; MSLITE_MINDSPORE_PYTHON is the Python that has it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.options import Options

PYTHON = os.environ.get("MSLITE_MINDSPORE_PYTHON", "")
NETWORKS = {
    "resnet18": 224,
    "efficientnet_b0": 224,
    "mobilenet_v2_035_96": 96,
    "mobilenet_v3_small_075": 224,
    "squeezenet1_1": 224,
    "shufflenet_v2_x0_5": 224,
    "densenet121": 224,
    "ghostnet_050": 224,
    "convit_tiny": 224,
    "edgenext_xx_small": 256,
    "mobilevit_xx_small": 256,
    "swin_tiny": 224,
}


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason="MSLITE_MINDSPORE_PYTHON does not name a Python with MindSpore and mindcv")
@pytest.mark.parametrize("name", NETWORKS)
def test_network(name: str, tmp_path: Path) -> None:
    script = Path(__file__).with_name("export_network.py").resolve()
    exported = subprocess.run(
        [PYTHON, str(script), str(tmp_path), name, str(NETWORKS[name])],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert exported.returncode == 0, exported.stderr[-2000:]
    path = convert(Options(tmp_path / f"{name}.mindir", tmp_path / f"{name}.ms")).files[0]
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
    with np.load(tmp_path / f"{name}.npz") as stored:
        arrays = dict(stored)
    (tensor,) = model.get_inputs()
    tensor.set_data_from_numpy(np.ascontiguousarray(arrays.pop("x").transpose(0, 2, 3, 1)))
    results = [result.get_data_to_numpy() for result in model.predict([tensor])]
    assert len(results) == len(arrays)
    for i, result in enumerate(results):
        wanted = arrays[f"y{i}"]
        assert result.shape == wanted.shape
        assert np.abs(result - wanted).max() <= 1e-4 * np.abs(wanted).max()
