"""8-bit integers on NNAPI: its stand-in computes with our kernels, so they must be the CPU's to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from tests.e2e.models import MODELS, convert_model, models

from .engines import NNAPI
from .models import missing

pytestmark = pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models are not here")
SAMPLE = {
    "keras_tflite/mobilenet_v2_035_96_int8": 0.99,
    "mlperf_tiny/kws_ref_int8": 0.99,
    "tflite_micro/micro_speech_quantized": 0.9,
}
"""Models that CI runs, with the least share of their operations that has to run on the engine. `make check-slow` runs all."""
ROUNDED_OTHERWISE = {"coral/deeplabv3_dm05_quant", "coral/mobilenet_v1_025_128_quant"}
"""From unsigned integers, whose products TensorFlow Lite scales with less precision. NNAPI does not know where a model is from."""


@pytest.fixture(autouse=True)
def nnapi(monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := missing(NNAPI):
        pytest.skip(reason)
    for name, value in NNAPI.environment.items():
        monkeypatch.setenv(name, value)


def built(name: str, folder: Path) -> tuple[mslite.Model, mslite.Model]:
    """The model on NNAPI, and on the CPU."""
    (entry,) = (entry for entry in models() if entry.path == name)
    path = convert_model(entry, folder)
    on_cpu = mslite.Model()
    on_cpu.build_from_file(path, mslite.ModelType.MINDIR_LITE)
    return NNAPI.built(path), on_cpu


def _parameters() -> list[object]:
    names = [entry.path for entry in models() if entry.tolerance_class == "int8"]
    return [pytest.param(name, id=name, marks=[] if name in SAMPLE else [pytest.mark.slow]) for name in names]


@pytest.mark.parametrize("name", _parameters())
def test_the_integers_are_those_of_the_cpu(name: str, tmp_path: Path) -> None:
    on_engine, on_cpu = built(name, tmp_path)
    rng = np.random.default_rng(1)
    inputs = []
    for tensor in on_cpu.get_inputs():
        if min(tensor.shape, default=1) < 0:
            pytest.skip("the shape of its input is open")
        kind = tensor.get_data_to_numpy().dtype
        real = rng.standard_normal(tensor.shape)
        inputs.append(real.astype(kind) if kind.kind == "f" else rng.integers(0, 100, tensor.shape).astype(kind))
    for mine, right in zip(on_engine.predict(inputs), on_cpu.predict(inputs), strict=True):
        got, wanted = mine.get_data_to_numpy(), right.get_data_to_numpy()
        if name in ROUNDED_OTHERWISE:
            assert float(np.mean(got.astype(np.float64) == wanted)) > 0.9
        else:
            np.testing.assert_array_equal(got, wanted)
    assert NNAPI.share(on_engine.placements()) >= SAMPLE.get(name, 0.0)


def test_an_older_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """int8 needs NNAPI feature level 30."""
    monkeypatch.setenv("FAKE_NNAPI_LEVEL", "29")
    on_engine, _ = built("mlperf_tiny/kws_ref_int8", tmp_path)
    reasons = [node.reason for node in on_engine.placements() if node.op == "Conv2DFusion"]
    assert reasons
    for reason in reasons:
        assert "CONV_2D with these data types needs NNAPI feature level 30, but the device supports level 29" in reason
