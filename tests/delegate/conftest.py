"""Each test of this folder that asks for `engine` runs for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from .engines import ENGINES, SLOW, Engine
from .models import missing


@cache
def _missing(engine: Engine) -> str:
    return missing(engine)


@pytest.fixture(
    params=[
        pytest.param(engine, id=engine.label, marks=[pytest.mark.slow] if engine.label in SLOW else [])
        for engine in ENGINES
    ]
)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """The engine, found by its environment; skipped, with the reason, where there is none."""
    chosen: Engine = request.param
    if reason := _missing(chosen):
        pytest.skip(reason)
    with chosen.chosen():
        yield chosen
