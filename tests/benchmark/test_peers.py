"""What `make bench-peers` reports of times and of runtimes that did not run."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mslite.benchmark.peers.measure import Row, is_wanted
from mslite.benchmark.peers.report import ratios, write_html, write_markdown
from mslite.benchmark.peers.runtimes import RUNTIMES, _convert
from mslite.benchmark.peers.serve import timed


class Sleeper:
    def run(self) -> list[np.ndarray]:
        time.sleep(0.02)
        return []


def test_cpu_time_is_without_what_others_take() -> None:
    times, cpu_times = timed(Sleeper(), 0, 3)
    assert min(times) >= 20
    assert max(cpu_times) < 10


def test_one_thread_is_compared_by_cpu_time_too(tmp_path: Path) -> None:
    rows = [
        Row("net", 1, "mslite", median_ms=9.0, cpu_ms=2.0),
        Row("net", 1, "onnxruntime", median_ms=3.0, cpu_ms=4.0),
        Row("net", 1, "MNN", median_ms=3.0, cpu_ms=1.0),
        Row("net", 2, "mslite", median_ms=1.0),
        Row("net", 2, "onnxruntime", median_ms=2.0),
        Row("net", 2, "ncnn", error="ncnn cannot load net.ncnn.param"),
    ]
    versions = {"mslite": "1", "onnxruntime": "1", "MNN": "1"}
    write_markdown(rows, versions, "a machine", tmp_path / "peers.md")
    text = (tmp_path / "peers.md").read_text()
    wall, cpu = text.split("**1 thread**, median ms:")[1].split("**1 thread**, CPU time, median ms:")
    assert "| net | 9.00 | 3.00 | 3.00 | 3.00 | 3.00 |" in wall
    assert "| net | 2.00 | 4.00 | 1.00 | 0.50 | 2.00 |" in cpu
    assert "**2 threads**, CPU time" not in text
    assert "- ncnn on net: ncnn cannot load net.ncnn.param" in text
    assert ratios(rows, "mslite", 1, "cpu_ms") == {"net": 0.5}
    write_html(rows, versions, "a machine", tmp_path / "peers.html")
    page = (tmp_path / "peers.html").read_text()
    assert "1 thread, CPU time" in page
    assert "mslite 0.50" in page


def test_a_name_may_leave_out_the_size() -> None:
    assert is_wanted("mobilenet_v2_224", "")
    assert is_wanted("mobilenet_v2_224", "resnet18,mobilenet_v2")
    assert is_wanted("mobilenet_v2_224", "mobilenet_v2_224")
    assert not is_wanted("mobilenet_v2_224", "mobilenet")


def test_a_converter_that_fails_is_told_by_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"^python\S* failed with exit status 3: no such operator$"):
        _convert([sys.executable, "-c", "print('reading\\nno such operator'); raise SystemExit(3)"], tmp_path)


def test_litert_says_why_it_has_no_file(tmp_path: Path) -> None:
    pytest.importorskip("ai_edge_litert")
    (tmp_path / "missing.txt").write_text("net.tflite: ValueError: no such operator\n")
    with pytest.raises(FileNotFoundError, match=r"net\.tflite is missing: ValueError: no such operator$"):
        RUNTIMES["litert"](tmp_path / "net.onnx", tmp_path, {}, 1)
