"""Checks every file that a test writes: fixtures for `conftest.py`.

A file for version 1.3 is checked with the rules of 1.3 and later versions, a file for 2.7 with those of 2.7. So rules that hold for all
versions are always checked. A test that intentionally writes invalid files is marked with `@pytest.mark.nonconforming("why")`. Known
errors of the converter, and the tests that show them, are listed in `known.yaml`. Files of other processes are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from mslite.converter.mindir import ms_writer
from mslite.converter.mindir.ops.tables import MetaGraph

from .checker import Violation, violations
from .view import versions_after

MARKER = "nonconforming(why): writes files that MindSpore Lite's readers would refuse, on purpose"

KNOWN = Path(__file__).with_name("known.yaml")
_SHOWN = 12
_MARK = "_misread_mark"
"""Operators for which every version rejects the file, so that other nodes cannot be misread."""

_written: list[Violation] = []


def written() -> list[Violation]:
    """Problems of the files that were written since the last test ended."""
    return list(_written)


@cache
def known() -> list[dict[str, Any]]:
    """Known problems, which are accepted for now."""
    return list(yaml.safe_load(KNOWN.read_text()) or ())


def unexpected(found: list[Violation], test: str) -> list[Violation]:
    """Returns the problems that are not known for a test, with any parameters."""
    rows = [row for row in known() if test.partition("[")[0] in row["tests"]]
    return [
        each
        for each in found
        if not any(each.rule.startswith(row["rule"]) and each.operator in row.get("operators", [""]) for row in rows)
    ]


@pytest.fixture(scope="session", autouse=True)
def watched_writer() -> Iterator[None]:
    """Checks the tables of every file when it is serialized."""
    lay_out = ms_writer._lay_out

    def watched(meta: MetaGraph) -> Any:
        layout = lay_out(meta)
        found = violations(meta, versions_after(meta.version), file=layout.head)
        is_marked = any((node.name or "").endswith(_MARK) for node in meta.nodes or ())
        _written.extend(each for each in found if each.effect == "refused" or not is_marked)
        return layout

    patch = pytest.MonkeyPatch()
    patch.setattr(ms_writer, "_lay_out", watched)
    yield
    patch.undo()


@pytest.fixture(autouse=True)
def files_conform(request: pytest.FixtureRequest, watched_writer: None) -> Iterator[None]:
    """Fails a test that writes a file which MindSpore Lite's readers would reject or misread."""
    yield
    found = list(dict.fromkeys(unexpected(_written, request.node.nodeid)))
    _written.clear()
    marker = request.node.get_closest_marker("nonconforming")
    if marker is not None:
        if not marker.args:
            pytest.fail("@pytest.mark.nonconforming needs a reason")
    elif found:
        shown = "\n".join(f"  {each}" for each in found[:_SHOWN])
        pytest.fail(f"files with {len(found)} violations of the readers' rules:\n{shown}", pytrace=False)
