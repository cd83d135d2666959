"""`benchmark --enableParallelPredict`: its lines, figures and page, and answers that are those of a single run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite
from tests.codegen.modules import counter, write

PARALLEL = ("--enableParallelPredict", "--numThreads=1")


def run(program: Path, model: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [program, f"--modelFile={model}", *PARALLEL, *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def measured(program: Path, model: Path, folder: Path, *flags: str) -> tuple[str, dict[str, Any]]:
    result = run(program, model, f"--jsonFile={folder / 'result.json'}", *flags)
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return result.stdout, found


def test_two_workers_and_four_clients(program: Path, digits: Path, tmp_path: Path) -> None:
    said, result = measured(program, digits, tmp_path, "--workersNum=2", "--parallelNum=4", "--parallelTaskNum=25")
    warm = re.findall(r"^warm up index: (\d) \| time: [\d.]+ ms$", said, re.MULTILINE)
    assert sorted(warm) == ["0", "1", "2"]
    lines = re.findall(r"^parallel index: (\d) \| task index: (\d+) \| predict time: [\d.]+ ms$", said, re.MULTILINE)
    assert sorted((int(client), int(task)) for client, task in lines) == [(c, t) for c in range(4) for t in range(25)]
    assert said.index("=============== end warm up ===============") < said.index("parallel index: ")
    for line in (
        "parallel predict init time: ",
        "parallel predict all run time: ",
        "Answers: 100 bit-identical to a single run\n",
    ):
        assert line in said
    assert "Requests: 100 answered, 0 refused\n" in said
    assert said.endswith("Run Benchmark digits.ms Success.\n")
    assert (result["answered"], result["refused"], result["other_bits"]) == (100, 0, 0)
    assert (result["workers"], result["clients"], result["request_rate"]) == (2, 4, None)
    requests = result["requests"]
    assert {len(column) for column in requests.values()} == {100}
    assert requests["due_ms"] == requests["sent_ms"]
    latencies = np.array(requests["end_ms"]) - np.array(requests["due_ms"])
    for name, share in (("p50", 50), ("p90", 90), ("p99", 99), ("max", 100), ("min", 0)):
        assert result["latency_ms"][name] == pytest.approx(np.percentile(latencies, share), abs=2e-4)
    assert result["run_ms"] == pytest.approx(max(requests["end_ms"]), abs=2e-4)
    assert result["requests_per_second"] == pytest.approx(100_000 / result["run_ms"])


def test_defaults_are_those_of_the_original(program: Path, digits: Path, tmp_path: Path) -> None:
    _, result = measured(program, digits, tmp_path)
    assert (result["workers"], result["clients"], result["answered"]) == (2, 2, 4)


def test_an_open_loop_has_the_rate_that_was_asked_for(program: Path, digits: Path, tmp_path: Path) -> None:
    flags = ("--requestRate=100", "--parallelNum=2", "--parallelTaskNum=50")
    said, result = measured(program, digits, tmp_path, *flags)
    requests = result["requests"]
    assert requests["due_ms"] == pytest.approx([10 * number for number in range(100)])
    assert min(np.array(requests["sent_ms"]) - np.array(requests["due_ms"])) >= 0
    assert max(np.array(requests["sent_ms"]) - np.array(requests["due_ms"])) == pytest.approx(
        result["latest_send_ms"], abs=2e-4
    )
    assert result["run_ms"] >= 1000
    assert 50 < result["requests_per_second"] <= 100
    assert re.search(
        r"^Throughput: [\d.]+ requests/s at a request rate of 100.0; maximum delay of sending [\d.]+ ms", said, re.M
    )


def test_expected_outputs_are_compared(program: Path, digits: Path, tmp_path: Path) -> None:
    model = mslite.Model()
    model.build_from_file(str(digits), mslite.ModelType.MINDIR_LITE, mslite.Context())
    image = np.random.default_rng(0).uniform(0, 1, (1, 8, 8, 1)).astype(np.float32)
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(image)
    output = model.predict(inputs)[0]
    (tmp_path / "image.bin").write_bytes(image.tobytes())
    values = output.get_data_to_numpy()
    for name, factor, status in (("right", 1.0, 0), ("wrong", 1.5, 1)):
        numbers = " ".join(f"{factor * value:.9g}" for value in values.ravel())
        (tmp_path / name).write_text(f"{output.name} 2 1 10\n{numbers}\n")
        result = run(
            program, digits, f"--inDataFile={tmp_path / 'image.bin'}", f"--benchmarkDataFile={tmp_path / name}"
        )
        assert result.returncode == status, result.stderr
        assert "MarkAccuracy\n" in result.stdout
        assert ("Answers: 4 bit-identical to a single run" in result.stdout) == (status == 0)
        assert status == 0 or "mean bias of all outputs" in result.stderr


def test_other_answers_are_an_error(program: Path, tmp_path: Path) -> None:
    """A variable that grows by the input at each run."""
    result = run(program, write(counter(), tmp_path))
    assert result.returncode == 1
    assert "differs from that of a single run" in result.stderr


def test_an_endless_load_reports_when_it_is_interrupted(program: Path, digits: Path, tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    command = [program, f"--modelFile={digits}", *PARALLEL, "--parallelTaskNum=-1", "--requestRate=1000"]
    with lines.open("w") as file, subprocess.Popen(command, stdout=file) as process:
        end = time.monotonic() + 60
        while "parallel index" not in lines.read_text() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    said = lines.read_text()
    assert "Latency: p50 " in said
    assert said.endswith("Run Benchmark digits.ms Success.\n")


def test_the_page_has_the_same_figures(program: Path, digits: Path, tmp_path: Path) -> None:
    page = tmp_path / "result.html"
    _, result = measured(program, digits, tmp_path, "--requestRate=500", "--parallelTaskNum=20", f"--htmlFile={page}")
    text = page.read_text(encoding="utf-8")
    shown = re.search(r'<script type="application/json" id="result">(.*?)</script>', text, re.DOTALL)
    assert shown is not None
    found = json.loads(shown[1])
    origin = found.pop("origin")
    assert found == result
    assert str(page) in origin["command"]
    assert "__" not in re.sub(r"<script type.*?</script>", "", text, flags=re.DOTALL), "a placeholder is left"


def test_flags_reach_the_workers(program: Path, digits: Path) -> None:
    result = run(program, digits, "--workersNum=1000000")
    assert result.returncode == 1
    assert "the number of workers is 1000000" in result.stderr
    result = run(program, digits, f"--configFile={os.devnull}x")
    assert result.returncode == 1
    assert "cannot be opened" in result.stderr
