"""Every quantized model of the set on every instruction set that this machine runs or emulates."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.integers import ISAS, availability, int8_models, problems_of
from tests.e2e.models import MODELS, Entry, convert_model

ENTRIES = int8_models()


@pytest.mark.skipif(bool(ENTRIES), reason="the model set is there")
def test_model_set_is_absent() -> None:
    pytest.skip(f"no models at {MODELS}")


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.path) for entry in ENTRIES])
def test_integers_are_those_of_the_reference(entry: Entry, tmp_path: Path) -> None:
    model = convert_model(entry, tmp_path)
    skipped = {isa: reason for isa in ISAS if (reason := availability(isa))}
    for isa in set(ISAS) - set(skipped):
        problems = problems_of(entry, model, tmp_path / isa.replace(":", "_"), isa)
        assert not problems, f"{isa}: " + "; ".join(problems)
    if len(skipped) == len(ISAS):
        pytest.skip("; ".join(skipped.values()))
    print(f"{entry.path}: not run on {', '.join(skipped) or 'none'}")
