"""Runs a parser under Atheris, a coverage-guided fuzzer.

    python -m tests.fuzz.atheris_target --parser onnx --seconds 600 [--corpus FOLDER]

The initial corpus are the seeds of `seeds.py`. At the first input that is neither read nor rejected, the exit code is not 0, and
libFuzzer writes the input to the working directory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

_MEBIBYTES, _SECONDS = 3072, 30
"""Limits for one input."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Fuzzes a parser with Atheris.")
    parser.add_argument("--parser", choices=("onnx", "tflite", "tf", "caffe", "mindir", "ms"), required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path)
    asked = parser.parse_args()
    reader = "mslite.converter.mindir" if asked.parser == "ms" else f"mslite.converter.parsers.{asked.parser}"
    with atheris.instrument_imports(include=[reader]):
        from .seeds import SEEDS
        from .targets import Target, variant

        target = Target(asked.parser)
        target.run(next(iter(SEEDS[asked.parser]())))  # loads modules that are imported at first use

    def one_input(content: bytes) -> None:
        target.run(content)
        if target.failure is not None:
            raise AssertionError(target.failure)

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        """Uses libFuzzer's mutations half of the time, else structured changes that keep the file format valid."""
        if seed % 2:
            return bytes(atheris.Mutate(content, most))
        return variant(asked.parser, content, seed)[:most]

    with tempfile.TemporaryDirectory() as folder:
        corpus = asked.corpus or Path(folder)
        corpus.mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(SEEDS[asked.parser]()):
            (corpus / f"seed{number}").write_bytes(content)
        flags = [
            f"-max_total_time={asked.seconds}",
            f"-rss_limit_mb={_MEBIBYTES}",
            f"-timeout={_SECONDS}",
            "-max_len=65536",
        ]
        atheris.Setup([sys.argv[0], *flags, str(corpus)], one_input, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
