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
    assert capsys.readouterr().out == "tensor 'w'.data: 1 of 8 bytes differ, the first at 6\n"


def two_nodes(path: Path, *, swapped: bool = False, more: bool = False) -> str:
    """Two sums of one input, in one order or the other, and a third that reads the first."""
    x, a, b, c = (Value(name, DataType.FLOAT32, (2,)) for name in "xabc")
    nodes = [
        Node(AddFusion(), "left", (x, constant("v", np.float32([1, 2]))), (a,)),
        Node(AddFusion(), "right", (x, constant("w", np.float32([3, 4]))), (b,)),
    ]
    nodes = nodes[::-1] if swapped else nodes
    outputs = [a, b]
    if more:
        nodes.append(Node(AddFusion(), "third", (a, x), (c,)))
        outputs = [c, b]
    save(Module([Graph("main", [x], outputs, nodes)]), path)
    return str(path)


def test_entries_belong_together_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = two_nodes(tmp_path / "a.ms"), two_nodes(tmp_path / "b.ms", swapped=True)
    assert show.main([a, b]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["allTensors: in another order", "nodes: in another order"]
    assert len(lines) > 2
    assert all(line.startswith("graph ") and line.endswith("Indices: in another order") for line in lines[2:])


def test_entries_of_one_side_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main([two_nodes(tmp_path / "a.ms"), two_nodes(tmp_path / "b.ms", more=True)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "node 'third': absent | AddFusion" in lines
    assert "tensor 'c': absent | shape (2,)" in lines
    assert "outputIndex: 'a', 'b' | 'c', 'b'" in lines
    assert not any(line.startswith(("node 'left'", "node 'right'", "tensor 'w'")) for line in lines)


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
