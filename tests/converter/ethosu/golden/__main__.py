"""Writes the golden files again: `python -m tests.converter.ethosu.golden`, with the vela that they are to be those of."""

from pathlib import Path

from tests.converter.ethosu.test_vela import LAYERS, printed_commands

for name in LAYERS:
    (Path(__file__).parent / f"{name}.txt").write_text(printed_commands(name), encoding="utf-8")
