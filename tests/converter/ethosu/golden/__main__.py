"""Rewrites the golden files: `python -m tests.converter.ethosu.golden`, with the version of vela that they are for."""

from pathlib import Path

from tests.converter.ethosu.test_vela import LAYERS, printed_commands

for name in LAYERS:
    (Path(__file__).parent / f"{name}.txt").write_text(printed_commands(name), encoding="utf-8")
