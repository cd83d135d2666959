"""The memory that `make bench-peers` reports."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mslite.benchmark.peers.measure import Row
from mslite.benchmark.peers.report import write_json, write_markdown
from mslite.benchmark.peers.resident import PeakBeyond


def test_the_peak_is_what_was_taken_at_most_since_it_began() -> None:
    before = np.ones(4_000_000)
    del before
    peak = PeakBeyond()
    small = peak.megabytes()
    if small is None:
        pytest.skip("this system does not show what is resident")
    block = np.ones(8_000_000)
    del block
    grown = peak.megabytes()
    assert grown is not None
    assert 55 < grown - small < 75, "a block of 61 MB that is gone again"


def test_the_table_sets_mslite_beside_the_smallest_peer(tmp_path: Path) -> None:
    rows = [
        Row("net", 1, "mslite", median_ms=1.0, peak_mb=30.0),
        Row("net", 1, "onnxruntime", median_ms=1.0, peak_mb=60.0),
        Row("net", 1, "MNN", median_ms=1.0, peak_mb=40.0),
        Row("other", 1, "mslite", median_ms=1.0),
        Row("other", 1, "onnxruntime", median_ms=1.0),
    ]
    versions = {"mslite": "1", "onnxruntime": "1", "MNN": "1"}
    write_markdown(rows, versions, "a machine", tmp_path / "peers.md")
    text = (tmp_path / "peers.md").read_text().split("**Memory**")[1]
    assert "| net | 30 | 60 |" in text
    assert "| 0.75 |" in text
    assert "| other | - | - |" in text
    write_json(rows, "peak_mb", tmp_path / "peers.json")
    assert json.loads((tmp_path / "peers.json").read_text())["net"]["1"] == {
        "mslite": 30.0, "onnxruntime": 60.0, "MNN": 40.0,
    }  # fmt: skip
