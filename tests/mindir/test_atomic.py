"""Files that appear whole, and together, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import pytest

from mslite.converter.mindir.atomic import write_together


def _put(content: bytes, file: IO[bytes]) -> None:
    file.write(content)


def _fail(file: IO[bytes]) -> None:
    file.write(b"a part")
    raise OSError("the disk is full")


def test_models_are_their_owners_and_reports_are_like_other_files(tmp_path: Path) -> None:
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    model, report = tmp_path / "model.ms", tmp_path / "report.html"
    write_together({model: lambda file: _put(b"model", file)}, owner_only=True)
    write_together({report: lambda file: _put(b"report", file)})
    assert model.stat().st_mode & 0o777 == 0o400
    assert report.stat().st_mode == ordinary.stat().st_mode


def test_one_that_fails_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    old, new, bad = tmp_path / "old", tmp_path / "new", tmp_path / "bad"
    old.write_bytes(b"old")
    with pytest.raises(OSError, match="the disk is full"):
        write_together({old: lambda file: _put(b"other", file), new: lambda file: _put(b"new", file), bad: _fail})
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert old.read_bytes() == b"old"
