"""The tables of `make bench-train`."""

from __future__ import annotations

import json
from pathlib import Path

from mslite.benchmark.peers.training.measure import Row, agrees
from mslite.benchmark.peers.training.report import time_ratios, write_json, write_markdown

ROWS = [
    Row("net", 8, 1, "mslite", median_ms=2.0, peak_mb=30.0, losses=[1.0, 0.5]),
    Row("net", 8, 1, "mslite, gradients not kept", median_ms=2.1, peak_mb=24.0, losses=[1.0, 0.5]),
    Row("net", 8, 1, "PyTorch", median_ms=4.0, peak_mb=60.0, losses=[1.0, 0.5001]),
    Row("net", 8, 1, "torch.compile", median_ms=2.5, peak_mb=70.0, losses=[1.0, 0.6]),
    Row("net", 8, 1, "mslite, half of PyTorch's memory", median_ms=2.4, peak_mb=29.0, losses=[1.0, 0.5]),
    Row("other", 8, 1, "mslite", error="it does not fit"),
    Row("other", 8, 1, "mslite, gradients not kept", error="it does not fit"),
    Row("other", 8, 1, "PyTorch", median_ms=4.0, peak_mb=60.0),
    Row("other", 8, 1, "torch.compile", median_ms=4.0, peak_mb=60.0),
    Row("other", 8, 1, "mslite, half of PyTorch's memory", error="it does not fit"),
]


def test_mslite_is_set_beside_both_where_they_ran(tmp_path: Path) -> None:
    assert time_ratios(ROWS, 1) == {("net", 8): 0.5}
    assert time_ratios(ROWS, 2) == {}
    write_markdown(ROWS, {"mslite": "1", "PyTorch": "2"}, "a machine", tmp_path / "train.md")
    times, memory = (tmp_path / "train.md").read_text().split("**Memory**")
    assert "| net | 8 | 2.00 | 2.10 | 4.00 | 2.50 | 2.40 | 0.50 | 0.80 |" in times
    assert "| other | 8 | - | - | 4.00 | 4.00 | - | - | - |" in times
    assert "| net | 8 | 30 | 24 | 60 | 70 | 29 | 0.50 | 0.40 | 0.48 |" in memory
    assert "- mslite with other: it does not fit" in memory
    write_json(ROWS, {"mslite": "1"}, "a machine", tmp_path / "train.json")
    assert json.loads((tmp_path / "train.json").read_text())["rows"][2]["median_ms"] == 4.0


def test_losses_that_are_others_are_seen() -> None:
    assert agrees(ROWS[0], ROWS)
    assert not agrees(ROWS[3], ROWS)
