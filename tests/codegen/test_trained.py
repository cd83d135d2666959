"""A trained model made of a generated project's files: what is damaged in them is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.codegen.training.trained import main
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.state import ReadVariable

WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)
KNOWN: dict[str, Any] = {
    "size": 32,
    "losses": [],
    "variables": [{"name": "weight", "shape": [2, 3], "offset": 8, "is_parameter": True}],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Files as a generated project has them: y = x + weight."""
    folder = tmp_path / "project"
    (folder / "training").mkdir(parents=True)
    x, weight, y = (Value(name, DataType.FLOAT32, (2, 3)) for name in ("x", "read", "y"))
    nodes = [Node(ReadVariable(variable="weight"), "read", (), (weight,)), Node(AddFusion(), "add", (x, weight), (y,))]
    module_io.save(Module([Graph("main", [x], [y], nodes)]), folder / "training" / "inference.ms")
    (folder / "training" / "parameters.json").write_text(json.dumps(KNOWN))
    (folder / "weights.bin").write_bytes(bytes(8) + WEIGHT.tobytes())
    return folder


def run(project: Path) -> int:
    return main([str(project), str(project / "weights.bin"), str(project / "trained.ms")])


def test_the_weights_are_constants(project: Path) -> None:
    assert run(project) == 0
    (add,) = module_io.load(project / "trained.ms").main.nodes
    assert any(value.data is not None and np.array_equal(value.data, WEIGHT) for value in add.inputs)


def changed(**fields: Any) -> bytes:
    return json.dumps({**KNOWN, "variables": [{**KNOWN["variables"][0], **fields}]}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"[]",
        b"null",
        b"{}",
        json.dumps({**KNOWN, "size": "32"}).encode(),
        json.dumps({**KNOWN, "size": -1}).encode(),
        json.dumps({**KNOWN, "variables": {}}).encode(),
        json.dumps({**KNOWN, "variables": None}).encode(),
        json.dumps({**KNOWN, "variables": [[]]}).encode(),
        changed(name="another"),
        changed(name=[]),
        changed(shape=None),
        changed(shape=[2, -3]),
        changed(shape=[1 << 70, 3]),
        changed(shape=["2", 3]),
        changed(shape=[3, 2]),
        changed(offset=12),
        changed(offset=-4),
        changed(offset=1.5),
        changed(offset=1 << 70),
    ],
)
def test_a_damaged_description_is_named(content: bytes, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "training" / "parameters.json").write_bytes(content)
    assert run(project) == 1
    told = capsys.readouterr().err
    assert "parameters.json" in told
    assert "Generate the project again" in told
    assert not (project / "trained.ms").exists()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda project: (project / "training" / "parameters.json").unlink(), "parameters.json: cannot be read"),
        (lambda project: (project / "training" / "inference.ms").write_bytes(b"nothing"), "cannot be read"),
        (lambda project: (project / "weights.bin").unlink(), "weights.bin: cannot be read"),
        (lambda project: (project / "weights.bin").write_bytes(bytes(31)), "has 31 bytes"),
    ],
)
def test_other_files_are_named(
    spoil: Callable[[Path], object], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(project)
    assert run(project) == 1
    assert message in capsys.readouterr().err
