"""Quantised models give the integers of LiteRT's reference kernels, the same on every instruction set of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.integers import ISAS, availability, int8_models, problems_of
from tests.e2e.models import MODELS, Entry, convert_model

ENTRIES = int8_models()
HERE = [isa for isa in ISAS if not isa.startswith("arm64")]


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The `.ms` files of the models that were needed so far; see `_file`."""
    return {"": tmp_path_factory.mktemp("integers")}


def _file(entry: Entry, converted: dict[str, Path]) -> Path:
    if entry.path not in converted:
        converted[entry.path] = convert_model(entry, converted[""])
    return converted[entry.path]


@pytest.mark.skipif(bool(ENTRIES), reason="the model set is there")
def test_model_set_is_absent() -> None:
    pytest.skip(f"no models at {MODELS}")


@pytest.mark.parametrize("isa", HERE)
@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.path) for entry in ENTRIES])
def test_integers_are_those_of_the_reference(
    entry: Entry, isa: str, converted: dict[str, Path], tmp_path: Path
) -> None:
    if reason := availability(isa):
        pytest.skip(reason)
    problems = problems_of(entry, _file(entry, converted), tmp_path, isa)
    assert not problems, "; ".join(problems)
