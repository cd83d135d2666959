"""Parameterizes each test with the fixture `engine` over all backends."""

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
    """The backend, found through its environment variables; skips the test with the reason if it is missing."""
    chosen: Engine = request.param
    if reason := _missing(chosen):
        pytest.skip(reason)
    with chosen.chosen():
        yield chosen
