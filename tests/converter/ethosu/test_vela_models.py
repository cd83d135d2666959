"""Networks of the open set on the NPU: what share of their work vela takes. `make check-frameworks` runs this."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.convert import convert
from mslite.converter.ethosu import npu_settings
from mslite.converter.mac_shares import mac_shares_of
from mslite.converter.mindir.module_io import load
from mslite.converter.options import Options
from tests.e2e.models import MODELS

pytestmark = [
    pytest.mark.frameworks if MODELS.is_dir() else pytest.mark.skip("the shared models are not here"),
    pytest.mark.skipif(importlib.util.find_spec("ethosu") is None, reason="needs ethos-u-vela"),
]


@pytest.mark.parametrize(
    ("path", "share"),
    [("mlperf_tiny/vww_96_int8", 1.0), ("coral/mobilenet_v2_10_224_quant", 1.0), ("coral/movenet_lightning_ptq", 0.99)],
)
def test_networks_of_the_open_set(path: str, share: float, tmp_path: Path) -> None:
    """All their multiply-accumulates, or nearly all, run on the NPU."""
    source = MODELS / path / "model.tflite"
    whole = load(convert(Options(source, tmp_path / "plain")).files[0])
    total = sum(own.macs or 0 for own in mac_shares_of(whole).values())
    report = convert(Options(source, tmp_path / "npu", npu=npu_settings("ethos-u55-256", {})))
    assert report.placement is not None
    placed = {name for part in report.placement.parts for name in part.nodes}
    own = {node.name: mac_shares_of(whole)[id(node)].macs or 0 for node in whole.main.nodes}
    assert sum(own[name] for name in placed if name in own) >= share * total
    assert np.isclose(sum(part.macs for part in report.placement.parts), total, rtol=0.2)
