"""The memory limit, and how names of any length are quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

import mslite
from mslite.converter.cli import main
from mslite.converter.errors import Blocker, ConversionError, UsageError
from mslite.converter.memory_limit import (
    default_limit,
    memory_limit,
    memory_limited,
    parse_limit,
    shown,
    spend,
    try_spend,
)
from mslite.converter.text_shortening import quoted, readable
from tests.converter.onnx_models import small_network


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("2048", 2 << 30),
        ("100m", 100 << 20),
        ("2GiB", 2 << 30),
        ("65536K", 64 << 20),
        ("1T", 1 << 40),
        (" 64 ", 64 << 20),
    ],
)
def test_spellings(text: str, count: int) -> None:
    assert parse_limit(text) == count


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5G", "63", "1KB", "9" * 40, "64 M M"])
def test_wrong_spellings(text: str) -> None:
    with pytest.raises(UsageError, match="memoryLimit"):
        parse_limit(text)


def test_a_wrong_flag_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = small_network(tmp_path / "net.onnx")
    assert main([f"--modelFile={model}", f"--outputFile={tmp_path / 'net'}", "--memoryLimit=much"]) == 2
    assert "memoryLimit must be a number of MiB, or a number with" in capsys.readouterr().err


def test_the_sum_counts() -> None:
    with memory_limited(100 << 20):
        spend(60 << 20, "one")
        assert not try_spend(50 << 20)
        assert try_spend(30 << 20)
        with pytest.raises(
            ConversionError, match=r"two takes 20 MiB, after 90 MiB that are already used; .* 100 MiB.*--memoryLimit"
        ):
            spend(20 << 20, "two")
        with memory_limited(None):  # another conversion within it
            assert memory_limit() == 100 << 20
            spend(100 << 20, "three")
    assert memory_limit() == default_limit()


def test_the_api_has_it(tmp_path: Path) -> None:
    converter = mslite.Converter()
    assert converter.memory_limit is None
    with pytest.raises(ValueError, match="at least"):
        converter.memory_limit = 5
    with pytest.raises(TypeError):
        converter.memory_limit = "5"  # type: ignore[assignment]
    converter.memory_limit = 256 << 20
    converter.convert(mslite.FmkType.ONNX, str(small_network(tmp_path / "net.onnx")), str(tmp_path / "out"))


@pytest.mark.parametrize(
    ("count", "text"), [(5, "5 bytes"), (1536, "1.5 KiB"), (64 << 20, "64 MiB"), (3 << 40, "3 TiB")]
)
def test_numbers_of_bytes(count: int, text: str) -> None:
    assert shown(count) == text


def test_names_are_cut() -> None:
    assert quoted("short") == "'short'"
    cut = quoted("a" * 70_000 + "z" * 30_000)
    assert len(cut) == 122
    assert cut.startswith("'aaa")
    assert "a...z" in cut
    assert quoted("a\nb\x1b[2J\u202e") == "'a?b?[2J?'"
    blocker = Blocker("n" * 100_000, "o" * 100_000, "r" * 100_000, "Do it")
    error = ConversionError("m" * 100_000, [blocker] * 5_000)
    assert len(str(blocker)) < 1_000
    assert len(str(error).splitlines()) == 1002
    assert str(error).endswith("and 4000 more")


def test_lines_stay() -> None:
    text = "one\n  two 'three'"
    assert readable(text) == text
    assert len(readable("/folder" * 20 + "\n" + "w" * 5_000).splitlines()) == 2
