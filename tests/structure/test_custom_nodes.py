"""docs/custom_nodes.md: every Custom type of our own, and no other, with what would make it unnecessary."""

from __future__ import annotations

import re
from pathlib import Path

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.passes.target.lower import DECOMPOSITIONS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "custom_nodes.md"
VERDICTS = ("yes", "in part: ", "no")


def rows() -> dict[str, list[str]]:
    """By type, the other cells of its row."""
    found: dict[str, list[str]] = {}
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if not line.startswith("| `"):
            continue
        name, *cells = (cell.strip() for cell in line.strip("|").replace("\\|", "!").split("|"))
        assert name not in found, f"{name} stands there twice"
        found[name.strip("`")] = cells
    return found


def test_every_type_of_ours_stands_there() -> None:
    types = {cls.declaration.custom_type or "" for cls in OPERATORS.values()}
    assert set(rows()) == {name for name in types if name.startswith("mslite.")}
    assert list(rows()) == sorted(rows())


def test_every_row_is_filled_in() -> None:
    for name, cells in rows().items():
        assert len(cells) == 3, name
        assert all(cells), name
        assert cells[-1].startswith(VERDICTS), name


def test_the_list_of_decompositions_is_what_there_is() -> None:
    """Those that `--targetVersion` writes; types of older files are upgraded instead."""
    (text,) = re.findall(
        r"Lowered by `--targetVersion`:\n\n(.*?)\.\n\n", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL
    )
    listed = re.findall(r"\b[A-Z]\w+", text)
    own = {OPERATORS[name].declaration.custom_type or "" for name in DECOMPOSITIONS}
    assert set(listed) == {name.removeprefix("mslite.") for name in own if name.startswith("mslite.")}
    assert len(listed) == len(set(listed))
