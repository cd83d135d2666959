"""A disk that becomes full, at every call that writes: one message, exit status 1, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mslite.converter import cli
from tests.converter.onnx_models import small_network

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("MSLITE_BUILD", "build")


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("disk") / "failing_disk.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "failing_disk.c", "-ldl"], check=True)
    return library


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Beside the folder that is full."""
    (tmp_path / "full").mkdir()
    (tmp_path / "temporary").mkdir()
    path = small_network(tmp_path / "net.onnx")
    assert cli.main([f"--modelFile={path}", f"--outputFile={tmp_path / 'net'}"]) == 0
    return path


def environment(disk: Path, folder: Path, temporary: Path) -> dict[str, str]:
    return {
        **os.environ,
        "LD_PRELOAD": str(disk),
        "FAILING_FOLDER": f"{folder}/",
        "TMPDIR": str(temporary),
        "ELSEWHERE": str(folder.parent),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(BUILD / "python")]),
        "MSLITE_VERIFY": "0",
    }


def sweep(
    disk: Path, module: str, folder: Path, temporary: Path, step: int, arguments: list[str], together: bool = True
) -> dict[str, str]:
    """Fills the disk at every place in turn, and gives what is there when it does not become full.

    `together`: all files of the program appear at once, or none."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.programs.full_disk", module, str(folder), str(step), *arguments],
        env=environment(disk, folder, temporary), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    runs = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(runs) > 3
    for run in runs[:-1]:
        assert run["status"] == 1, run
        assert run["said"].count("\n") == 1, run
        assert "No space left on device" in run["said"]
        assert run["is_same"] or not together, run
        assert run["is_same"] or run["files"].items() <= runs[-1]["files"].items(), run
    assert runs[-1]["status"] == 0, runs[-1]
    found: dict[str, str] = runs[-1]["files"]
    return found


@pytest.mark.parametrize("existing", [False, True])
@pytest.mark.parametrize("full", ["output", "output and temporary files"])
def test_converter(disk: Path, model: Path, tmp_path: Path, existing: bool, full: str) -> None:
    folder = tmp_path / "full"
    temporary = tmp_path / "temporary"
    if "temporary" in full:
        temporary = folder / "temporary"
        temporary.mkdir()
    if existing:
        (folder / "net.ms").write_bytes(b"an older model")
    files = sweep(
        disk, "mslite.converter.cli", folder, temporary, 1, [f"--modelFile={model}", f"--outputFile={folder / 'net'}"]
    )
    assert "net.ms" in files


@pytest.mark.parametrize("flag", ["--json=on", pytest.param("--json=off", marks=pytest.mark.slow)])
def test_examination(disk: Path, model: Path, tmp_path: Path, flag: str) -> None:
    folder = tmp_path / "full"
    flags = [f"--modelFile={model}", "--check", flag, f"--checkReport={folder / 'net.html'}"]
    files = sweep(disk, "mslite.converter.cli", folder, folder, 1, flags)
    assert list(files) == ["net.html"]


@pytest.mark.slow
def test_prune_report(disk: Path, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "full"
    config = tmp_path / "prune.cfg"
    config.write_text(
        f"[mslite_prune_param]\nmethod=MAGNITUDE\nsparsity=0.5\nreport={folder / 'reports' / 'prune.csv'}\n"
    )
    flags = [f"--modelFile={model}", f"--outputFile={folder / 'net'}", f"--configFile={config}"]
    files = sweep(disk, "mslite.converter.cli", folder, folder, 1, flags, together=False)
    assert list(files) == ["net.ms", "reports", "reports/prune.csv"]


@pytest.mark.parametrize(
    ("existing", "flags", "step"),
    [
        pytest.param(False, ["--target=x86"], 83, marks=pytest.mark.slow),
        pytest.param(True, ["--target=cortex-m4"], 89, marks=pytest.mark.slow),
        pytest.param(False, ["--target=x86", "--train"], 83, marks=pytest.mark.slow),
    ],
)
def test_code_generator(disk: Path, model: Path, tmp_path: Path, existing: bool, flags: list[str], step: int) -> None:
    folder = tmp_path / "full"
    if existing:
        (folder / "project" / "src").mkdir(parents=True)
        (folder / "project" / "Makefile").write_text("an older project")
        (folder / "project" / "generated-files.txt").write_text("Makefile\n")
        (folder / "project" / "mine.txt").write_text("what somebody added")
    arguments = [str(model), f"--output={folder / 'project'}", *flags]
    files = sweep(disk, "mslite.codegen.cli", folder, tmp_path / "temporary", step, arguments)
    assert "project/report.html" in files
    assert "project/Makefile" in files
    assert ("project/mine.txt" in files) == existing
    assert not [name for name in files if ".mslite-" in name]


@pytest.mark.skipif(not (BUILD / "benchmark" / "benchmark").is_file(), reason="benchmark was not built")
@pytest.mark.parametrize("flag", ["jsonFile", "htmlFile"])
def test_benchmark(disk: Path, model: Path, tmp_path: Path, flag: str) -> None:
    folder = tmp_path / "full"
    report = folder / "report"
    report.write_text("an older report")
    command = [BUILD / "benchmark" / "benchmark", f"--modelFile={model.with_suffix('.ms')}", "--loopCount=1"]
    for calls in range(20):
        result = subprocess.run(
            [*command, f"--{flag}={report}"], env=environment(disk, folder, tmp_path) | {"FAILING_AFTER": str(calls)},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert list(folder.iterdir()) == [report]
        if result.returncode == 0:
            break
        assert result.returncode == 1
        assert "cannot write" in result.stderr
        assert "No space left on device" in result.stderr
        assert report.read_text() == "an older report"
    assert calls > 2
    assert len(report.read_text()) > 1000


@pytest.mark.skipif(not (BUILD / "benchmark" / "benchmark").is_file(), reason="benchmark was not built")
def test_benchmark_writes_through_no_link(model: Path, tmp_path: Path) -> None:
    folder, victim = tmp_path / "full", tmp_path / "victim"
    victim.write_text("theirs")
    for name in ("report", "report.partial"):
        (folder / name).symlink_to(victim)
    os.mkfifo(folder / "pipe")
    command = [BUILD / "benchmark" / "benchmark", f"--modelFile={model.with_suffix('.ms')}", "--loopCount=1"]
    subprocess.run([*command, f"--jsonFile={folder / 'report'}"], check=True, capture_output=True, timeout=60)
    assert json.loads((folder / "report").read_text())["model"] == "net.ms"
    assert not (folder / "report").is_symlink()
    assert victim.read_text() == "theirs"
    assert (folder / "report").stat().st_mode & 0o777 == 0o666 & ~umask()
    with subprocess.Popen([*command, f"--jsonFile={folder / 'pipe'}"], stdout=subprocess.DEVNULL) as process:
        assert json.loads((folder / "pipe").read_text())["model"] == "net.ms"
        assert process.wait(timeout=60) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["pipe", "report", "report.partial"]


def umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
