"""Every case of the onnx package passes, but for those in `rest.json`, which do not."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from .cases import names
from .outcome import outcome, rest

CORE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "onnx_backend_cases.json"
"""Which cases are core: dense tensors of the usual types, inference. Outside of the repository."""

SHARDS = 24


@pytest.mark.parametrize("shard", range(SHARDS))
def test_cases(shard: int) -> None:
    known = rest()
    mine = [name for name in names() if zlib.crc32(name.encode()) % SHARDS == shard]
    assert mine
    results = {name: outcome(name) for name in mine}
    failed = {name: reason for name, reason in results.items() if reason and name not in known}
    assert not failed
    passed = [name for name, reason in results.items() if not reason and name in known]
    assert not passed, "these pass now: run `make onnx-suite`, which writes rest.json"


def test_all_core_cases_pass() -> None:
    if not CORE.exists():
        pytest.skip(f"{CORE} is not there")
    groups: dict[str, list[str]] = json.loads(CORE.read_text())["groups"]
    core = set(next(cases for group, cases in groups.items() if group.startswith("core")))
    assert core <= set(names()), "another version of the onnx package"
    assert not core & set(rest())
