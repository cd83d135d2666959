"""`mslite-show`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir import show
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.text_parser import parse


def write(path: Path, value: float) -> str:
    x, y = Value("x[1]", DataType.FLOAT32, (2,)), Value("y", DataType.FLOAT32, (2,))
    node = Node(AddFusion(), "add[/bold]", (x, constant("w", np.float32([1, value]))), (y,))
    save(Module([Graph("main", [x], [y], [node])]), path)
    return str(path)


def test_into_a_pipe_it_prints_text_that_parses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main([write(tmp_path / "a.ms", 2), "--data"]) == 0
    module = parse(capsys.readouterr().out)
    assert module.main.nodes[0].name == "add[/bold]"


def test_on_a_terminal_it_prints_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert show.main([write(tmp_path / "a.ms", 2)]) == 0
    text = capsys.readouterr().out
    assert "AddFusion" in text
    assert "x[1]" in text
    assert "add[/bold]" in text


def test_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, c = (write(tmp_path / f"{name}.ms", value) for name, value in (("a", 2), ("b", 2), ("c", 3)))
    assert show.main([a, b]) == 0
    assert "equal" in capsys.readouterr().out
    assert show.main([a, c]) == 1
    assert "allTensors[1] 'w'.data: 1 of 8 bytes differ, the first at 6" in capsys.readouterr().out


def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.ms").write_bytes(b"not a model")
    assert show.main([str(tmp_path / "x.ms")]) == 1
    assert show.main([str(tmp_path / "missing.ms")]) == 1
    assert show.main([str(tmp_path)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("mslite-show: ") for line in lines)
    assert show.main([]) == 2
    assert show.main(["--nonsense", "x"]) == 2
