"""Results of a search survive its interruption, and only those of the same search are taken up."""

from __future__ import annotations

from pathlib import Path

import pytest

from mslite.converter.errors import ConversionError
from mslite.quantizer.accuracy.journal import Journal


def test_results_are_there_again(tmp_path: Path) -> None:
    with Journal(tmp_path, "search", "abc") as first:
        first.put("a", {"value": 1.5})
        first.put("b", [1, 2])
    with Journal(tmp_path, "search", "abc") as second:
        assert second.get("a") == {"value": 1.5}
        assert second.get("b") == [1, 2]
        assert second.get("c") is None


def test_another_model_has_another_journal(tmp_path: Path) -> None:
    with Journal(tmp_path, "search", "abc") as first:
        first.put("a", 1)
    with Journal(tmp_path, "search", "abd") as second:
        assert second.get("a") is None


def test_a_line_cut_off_by_a_crash_is_dropped(tmp_path: Path) -> None:
    with Journal(tmp_path, "search", "abc") as first:
        first.put("a", 1)
    assert first.path is not None
    with first.path.open("a") as file:
        file.write('{"key": "b", "resu')
    with Journal(tmp_path, "search", "abc") as second:
        assert (second.get("a"), second.get("b")) == (1, None)
        second.put("c", 3)
    with Journal(tmp_path, "search", "abc") as third:
        assert (third.get("a"), third.get("b"), third.get("c")) == (1, None, 3)


def test_without_a_folder_results_stay_in_memory() -> None:
    journal = Journal(None, "search", "abc")
    journal.put("a", 1)
    assert journal.get("a") == 1
    journal.close()


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "search-abc.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConversionError, match=r"search-abc\.jsonl"):
        Journal(tmp_path, "search", "abc")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConversionError, match="cannot be written"):
        Journal(tmp_path / "file" / "folder", "search", "abc")
