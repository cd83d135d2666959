"""Files that appear whole, and together, or not at all."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import IO

import pytest

from mslite.converter.mindir.atomic import write_files_atomically


def _put(content: bytes, file: IO[bytes]) -> None:
    file.write(content)


def _fail(file: IO[bytes]) -> None:
    file.write(b"a part")
    raise OSError("the disk is full")


def test_models_are_their_owners_and_reports_are_like_other_files(tmp_path: Path) -> None:
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    model, report = tmp_path / "model.ms", tmp_path / "report.html"
    write_files_atomically({model: lambda file: _put(b"model", file)}, owner_only=True)
    write_files_atomically({report: lambda file: _put(b"report", file)})
    assert model.stat().st_mode & 0o777 == 0o400
    assert report.stat().st_mode == ordinary.stat().st_mode


def test_one_that_fails_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    old, new, bad = tmp_path / "old", tmp_path / "new", tmp_path / "bad"
    old.write_bytes(b"old")
    with pytest.raises(OSError, match="the disk is full"):
        write_files_atomically(
            {old: lambda file: _put(b"other", file), new: lambda file: _put(b"new", file), bad: _fail}
        )
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert old.read_bytes() == b"old"


def test_neither_links_nor_files_of_others_are_written_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim, path = tmp_path / "victim", tmp_path / "out"
    victim.write_bytes(b"theirs")
    path.symlink_to(victim)
    write_files_atomically({path: lambda file: _put(b"ours", file)})
    assert not path.is_symlink()
    assert path.read_bytes() == b"ours"
    assert victim.read_bytes() == b"theirs"
    # Even where somebody guessed the name.
    monkeypatch.setattr("secrets.token_hex", lambda count: "0" * 2 * count)
    (tmp_path / f".mslite-{'0' * 16}.part").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_files_atomically({path: lambda file: _put(b"other", file)})
    assert victim.read_bytes() == b"theirs"
    assert path.read_bytes() == b"ours"


def test_names_beside_differ_each_time(tmp_path: Path) -> None:
    names: set[str] = set()

    def note(file: IO[bytes]) -> None:
        (name,) = os.listdir(tmp_path)
        names.add(name)
        raise OSError("enough")

    for _ in range(3):
        with pytest.raises(OSError, match="enough"):
            write_files_atomically({tmp_path / "out": note})
    assert len(names) == 3


def test_pipes_are_written_to_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_files_atomically({pipe: lambda file: _put(b"report", file)})
    reader.join(timeout=10)
    assert read == [b"report"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("at", range(5))
def test_interrupted_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, links: bool) -> None:
    """By Ctrl-C behind each call that changes a name, also where the file system has no second names."""
    old, older, new = tmp_path / "old", tmp_path / "older", tmp_path / "new"
    for path in (old, older):
        path.write_bytes(path.name.encode())
    count = 0

    def interrupted(name: str) -> None:
        real = getattr(os, name)

        def call(*arguments: object, **options: object) -> None:
            nonlocal count
            if name == "link" and not links:
                raise PermissionError
            real(*arguments, **options)
            count += 1
            if count == at + 1:
                raise KeyboardInterrupt

        monkeypatch.setattr(os, name, call)

    for name in ("link", "rename", "replace"):
        interrupted(name)
    with pytest.raises(KeyboardInterrupt):
        write_files_atomically({path: lambda file: _put(b"other", file) for path in (old, older, new)})
    assert count > at
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"old": b"old", "older": b"older"}
