"""Files that are not what they are said to be: one clear error, a non-zero exit, nothing left behind."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.cli import main
from mslite.converter.mindir.module_io import load, save

from .hostile_onnx import one_node


@pytest.fixture
def onnx_model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(one_node("Relu").SerializeToString())
    return path


def refused(capsys: pytest.CaptureFixture[str], model: Path, *flags: str) -> str:
    """What the converter says of a file that it must refuse."""
    folder = model.parent / "results"
    folder.mkdir(exist_ok=True)
    status = main([f"--modelFile={model}", f"--outputFile={folder / 'result'}", *flags])
    text = capsys.readouterr()
    assert status != 0
    assert "Traceback" not in text.err
    assert "please report" not in text.err
    assert not list(folder.iterdir()), "something was left behind"
    return text.err


@pytest.mark.parametrize("framework", ["ONNX", "TFLITE", "MINDIR", "PYTORCH", "MSLITE"])
@pytest.mark.parametrize(
    "contents",
    [b"", b"\0", b"\xff" * 64, bytes(4096), b"{}", b"PK\x03\x04" + bytes(60), np.random.default_rng(7).bytes(4096)],
    ids=["empty", "zero_byte", "ones", "zeros", "text", "archive", "random"],
)
def test_no_model_at_all(framework: str, contents: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(contents)
    assert "file.bin" in refused(capsys, path, f"--fmk={framework}")


@pytest.mark.parametrize("framework", ["ONNX", "TFLITE", "MINDIR", "PYTORCH", "MSLITE"])
def test_a_folder_is_no_model(framework: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "folder.onnx"
    folder.mkdir()
    assert "folder.onnx" in refused(capsys, folder, f"--fmk={framework}")
    assert "missing.onnx" in refused(capsys, tmp_path / "missing.onnx", f"--fmk={framework}")


@pytest.mark.parametrize("framework", ["TFLITE", "PYTORCH", "MSLITE"])
def test_onnx_said_to_be_something_else(framework: str, onnx_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "model.onnx" in refused(capsys, onnx_model, f"--fmk={framework}")


@pytest.mark.parametrize("framework", ["ONNX", "TFLITE"])
def test_ms_said_to_be_something_else(framework: str, onnx_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = onnx_model.with_suffix(".ms")
    assert main([f"--modelFile={onnx_model}", f"--outputFile={good}"]) == 0
    capsys.readouterr()
    assert "model.ms" in refused(capsys, good, f"--fmk={framework}")


def _no_output(module: object) -> None:
    module.graphs[0].outputs = []  # type: ignore[attr-defined]


def _input_twice(module: object) -> None:
    module.graphs[0].inputs *= 2  # type: ignore[attr-defined]


@pytest.mark.nonconforming("the graph is impossible")
@pytest.mark.parametrize("damage", [_no_output, _input_twice])
def test_ms_with_an_impossible_graph(
    damage: Callable[[object], None], onnx_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = onnx_model.with_suffix(".ms")
    assert main([f"--modelFile={onnx_model}", f"--outputFile={good}"]) == 0
    module = load(good)
    damage(module)
    save(module, onnx_model.parent / "bad.ms")
    capsys.readouterr()
    assert "graph" in refused(capsys, onnx_model.parent / "bad.ms", "--fmk=MSLITE")


def test_an_output_that_is_a_folder(onnx_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = onnx_model.parent / "taken.ms"
    target.mkdir()
    before = sorted(onnx_model.parent.iterdir())
    status = main([f"--modelFile={onnx_model}", f"--outputFile={target}"])
    assert status == 1
    assert "cannot be written" in capsys.readouterr().err
    assert sorted(onnx_model.parent.iterdir()) == before


def test_a_full_disk(onnx_model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    before = sorted(onnx_model.parent.iterdir())
    status = main([f"--modelFile={onnx_model}", f"--outputFile={onnx_model.parent / 'result'}"])
    assert status == 1
    assert "No space left" in capsys.readouterr().err
    assert sorted(onnx_model.parent.iterdir()) == before
    assert not stat.S_ISDIR(onnx_model.stat().st_mode)
