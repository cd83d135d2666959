"""Two workers beside two processes: what counts as their throughput, and that the comparison runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mslite.benchmark.compare_workers import main, throughput


def result(started: float, sent: list[float], end: list[float], client: list[int] | None = None) -> dict[str, Any]:
    columns = {"client": client or [0] * len(sent), "sent_ms": sent, "end_ms": end}
    return {"started": started, "requests": columns}


def test_only_the_time_in_which_all_work_counts() -> None:
    """The second begins half a second later, and goes on when the first is done."""
    first = result(100.0, [0, 250, 500, 750], [250, 500, 750, 1000])
    second = result(100.5, [0, 250, 500, 750], [250, 500, 750, 1000])
    assert throughput([first, second]) == pytest.approx(4 / 0.5)


def test_clients_of_one_process_are_told_apart() -> None:
    one = result(5.0, [0, 0, 500, 500], [500, 500, 1000, 1000], [0, 1, 0, 1])
    assert throughput([one]) == pytest.approx(4)


def test_no_time_together_is_no_throughput() -> None:
    assert throughput([result(0.0, [0], [10]), result(1.0, [0], [10])]) == 0


def test_it_runs(program: Path, digits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(digits), f"--program={program}", "--rounds=2", "--tasks=20000"]) == 0
    said = capsys.readouterr().out
    assert said.count("round ") == 2
    assert re.search(r"^median: 2 workers [\d.]+/s, 2 processes [\d.]+/s, ratio [\d.]+$", said, re.MULTILINE)
    assert re.search(r"^memory: 2 workers [\d.]+ MiB, 2 processes [\d.]+ MiB together$", said, re.MULTILINE)


def test_what_cannot_run_is_said(program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "absent.ms"), f"--program={program}", "--rounds=1"]) == 1
    assert "absent.ms" in capsys.readouterr().err
    assert main([str(tmp_path / "absent.ms"), f"--program={tmp_path / 'absent'}", "--rounds=1"]) == 1
    assert "--program" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path / "absent.ms"), "--rounds=0"])
    assert stopped.value.code == 2
