"""Where a project is written: a new folder, or one that holds an earlier project, which is replaced whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from mslite.codegen import cli

from . import modules


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    made = {"floats": modules.floats(), "stored": modules.stored()}
    return {name: modules.write(module, folder, name) for name, module in made.items()}


def write(model: Path, folder: Path, *flags: str) -> int:
    return cli.main([str(model), f"--output={folder}", "--target=cortex-m4", *flags])


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_an_earlier_project_is_replaced_whole(model: dict[str, Path], tmp_path: Path) -> None:
    once, alone = tmp_path / "once", tmp_path / "alone"
    assert write(model["floats"], once) == 0
    kernels = {name for name in files(once) if name.startswith("src/kernels/")}
    (once / "build").mkdir()
    (once / "build" / "net0.o").write_text("what make left")
    (once / "notes.txt").write_text("mine")
    assert write(model["stored"], once) == 0
    assert write(model["stored"], alone) == 0
    assert files(once) - {"src/once.h"} == (files(alone) | {"build/net0.o", "notes.txt"}) - {"src/alone.h"}
    stale = kernels - {name for name in files(alone) if name.startswith("src/kernels/")}
    assert stale, "the two models need other kernels"
    assert not stale & files(once)
    assert not [path for path in (once / "src").rglob("*") if path.is_dir() and not any(path.iterdir())]


def test_other_folders_are_refused(model: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    assert write(model["floats"], tmp_path) == 2
    assert "the folder contains letter.txt and is not an earlier project" in capsys.readouterr().err
    assert files(tmp_path) == {"letter.txt"}
    assert write(model["floats"], tmp_path, "--force") == 0
    assert (tmp_path / "letter.txt").read_text() == "mine"
    assert write(model["floats"], tmp_path) == 0, "now it is a project"


def test_an_empty_folder_will_do(model: dict[str, Path], tmp_path: Path) -> None:
    assert write(model["floats"], tmp_path) == 0


def test_a_list_that_leads_elsewhere_removes_nothing(model: dict[str, Path], tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    project = tmp_path / "project"
    project.mkdir()
    (project / "generated-files.txt").write_text(f"../outside.txt\n{outside}\n")
    assert write(model["floats"], project) == 0
    assert outside.read_text() == "mine"
