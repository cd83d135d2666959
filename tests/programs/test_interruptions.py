"""Ctrl-C at any moment: one line, exit status 130, nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from mslite.converter import cli
from tests.converter.onnx_models import save

ROOT = Path(__file__).parents[2]
BUILD = ROOT / os.environ.get("MSLITE_BUILD", "build")
PACKAGES = {
    "converter_lite": "numpy",
    "mslite-show": "flatbuffers",
    "mslite-codegen": "jinja2",
    "mslite-sparse": "jinja2",
    "mslite-crop": "tempfile",
    "cropper": "tempfile",
}
"""Program -> a package, or a module of Python, that it loads when it starts."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
ARGUMENTS = {
    "converter_lite": ["--modelFile={model}", "--outputFile={folder}/net"],
    "mslite-codegen": ["{model}", "--output={folder}/project"],
}


def scripts() -> dict[str, str]:
    scripts: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    return scripts


def command(program: str) -> list[str]:
    """What the script that pip makes does."""
    module, function = scripts()[program].split(":")
    return [sys.executable, "-c", f"import sys; from {module} import {function}; sys.exit({function}())"]


def wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, f"{path} does not appear"
        time.sleep(0.01)


def wait_for_reader(pipe: Path) -> int:
    """The pipe's other end, when somebody has opened it."""
    end = time.monotonic() + 60
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            assert time.monotonic() < end, f"nobody reads {pipe}"
            time.sleep(0.01)


def wait_until_it_waits(process: subprocess.Popen[bytes]) -> None:
    """An interruption between opening and reading would be noticed after the read only: Python's own gap."""
    end = time.monotonic() + 60
    asleep = 0
    while asleep < 20:
        assert time.monotonic() < end, "the program does not wait"
        state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        asleep = asleep + 1 if state == "S" else 0
        time.sleep(0.01)


@contextlib.contextmanager
def started(*arguments: str, environment: Mapping[str, str] = ENVIRONMENT) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is killed when its test fails, else the test would wait for it."""
    with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def interrupt(process: subprocess.Popen[bytes], program: str) -> None:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == b""
    assert err.startswith(f"{program}: interrupted".encode())
    assert err.count(b"\n") == 1, err
    assert process.returncode == 130


def test_every_program_is_covered() -> None:
    assert set(scripts()) == {*PACKAGES, "benchmark", "benchmark_train"}


def test_the_entry_loads_nothing_slow() -> None:
    code = "import sys, mslite.programs; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-S", "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in shown.stdout.split()}
    assert "mslite" in loaded
    assert loaded <= {*sys.stdlib_module_names, "mslite", "__main__"}


@pytest.mark.parametrize("program", PACKAGES)
def test_while_packages_are_loaded(program: str, tmp_path: Path) -> None:
    # A package that takes long, and makes another error of an interruption, as compiled ones may.
    package = tmp_path / "packages" / PACKAGES[program]
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        f"import pathlib, time\npathlib.Path({str(tmp_path / 'reached')!r}).touch()\n"
        "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    raise ImportError from None\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package.parent), str(BUILD / "python")])}
    with started(*command(program), environment=environment) as process:
        wait_for(tmp_path / "reached")
        interrupt(process, program)


@pytest.mark.parametrize("program", ["converter_lite", "mslite-codegen"])
def test_while_it_works(program: str, tmp_path: Path) -> None:
    # Reading from the pipe waits for what is never written.
    model, folder = tmp_path / "net.ms", tmp_path / "results"
    os.mkfifo(model)
    folder.mkdir()
    arguments = [text.format(model=model, folder=folder) for text in ARGUMENTS[program]]
    with started(*command(program), *arguments) as process:
        pipe = wait_for_reader(model)
        wait_until_it_waits(process)
        interrupt(process, program)
        os.close(pipe)
    assert list(folder.iterdir()) == []


def test_while_nobody_reads(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.zeros((200, 200), np.float32), "w")
    path = save(
        tmp_path / "net.onnx",
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        {"x": [1, 200]},
        {"y": [1, 200]},
        [weight],
    )
    assert cli.main([f"--modelFile={path}", f"--outputFile={tmp_path / 'net'}"]) == 0
    with started(*command("mslite-show"), str(tmp_path / "net.ms"), "--data") as process:
        wait_until_it_waits(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130  # though what it wanted to print is not printed
        assert process.stderr is not None
        assert process.stderr.read() == b"mslite-show: interrupted\n"
