"""Every file that a test writes is checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mslite.converter.mindir.ms_writer import write_ms
from mslite.converter.mindir.ops.enums import ActivationType

from . import hook
from .checker import violations
from .files import fed, model

ROOT = Path(__file__).parents[2]
LOOSE = model("Softmax", fed(2, 3))
"""Its axis is missing."""

SOME = """
import pytest
from mslite.converter.mindir.ms_writer import ms_bytes
from tests.conformance.test_hook import LOOSE

@pytest.fixture(scope="module")
def file():
    return ms_bytes(LOOSE)

def test_loose(file):
    assert file

@pytest.mark.nonconforming("on purpose")
def test_marked():
    assert ms_bytes(LOOSE)

@pytest.mark.nonconforming
def test_without_reason():
    pass

def test_after():
    pass
"""


@pytest.mark.nonconforming("shows that the fixture sees it")
def test_a_file_that_breaks_a_rule_is_seen_where_it_is_written(tmp_path: Path) -> None:
    write_ms(LOOSE, tmp_path / "loose.ms")
    assert [each.operator for each in hook.written()] == ["Softmax"]


def test_a_test_that_writes_whole_files_passes(tmp_path: Path) -> None:
    write_ms(model("Abs", fed(2)), tmp_path / "whole.ms")
    assert hook.written() == []


def test_a_test_fails_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conformance.hook import files_conform, watched_writer\n")
    (tmp_path / "test_some.py").write_text(SOME)
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(tmp_path), str(tmp_path)]
    result = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert "4 passed" in result.stdout, result.stdout + result.stderr
    assert "2 errors" in result.stdout
    assert "axis is not stored" in result.stdout
    assert "needs a reason" in result.stdout


def test_known_violations_are_passed_over_in_their_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    found = violations(model("MulFusion", fed(2), fed(2), activation_type=ActivationType.RELU), ["1.3"])
    assert hook.unexpected(found, "a.py::test") == found
    row = {
        "rule": "allowed attribute=activation_type",
        "operators": ["MulFusion"],
        "why": "a test",
        "tests": ["a.py::test"],
    }
    monkeypatch.setattr(hook, "known", lambda: [row])
    assert hook.unexpected(found, "a.py::test[1]") == []
    assert hook.unexpected(found, "a.py::other") == found
    monkeypatch.setattr(hook, "known", lambda: [{**row, "operators": ["SubFusion"]}])
    assert hook.unexpected(found, "a.py::test") == found


def test_known_violations_name_rules_and_reasons() -> None:
    for each in hook.known():
        assert set(each) | {"operators"} == {"operators", "rule", "why", "tests"}
        assert each["why"]
        assert all((ROOT / test.partition("::")[0]).is_file() for test in each["tests"])
