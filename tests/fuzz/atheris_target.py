"""A parser under Atheris, which looks for inputs that reach new code.

    python -m tests.fuzz.atheris_target --parser onnx --seconds 600 [--corpus FOLDER]

The corpus begins with the seeds of `seeds.py`. Ends with an exit code other than 0 at the first input that is neither taken nor
refused, which libFuzzer writes to the working directory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

_MEBIBYTES, _SECONDS = 3072, 30
"""What one input may take."""


def main() -> None:
    parser = argparse.ArgumentParser(description="A parser under Atheris.")
    parser.add_argument("--parser", choices=("onnx", "tflite", "tf", "caffe", "mindir", "ms"), required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path)
    asked = parser.parse_args()
    reader = "mslite.converter.mindir" if asked.parser == "ms" else f"mslite.converter.parsers.{asked.parser}"
    with atheris.instrument_imports(include=[reader]):
        from .seeds import SEEDS
        from .targets import Target, variant

        target = Target(asked.parser)
        target.run(next(iter(SEEDS[asked.parser]())))  # imports what is imported when it is needed first

    def one_input(content: bytes) -> None:
        target.run(content)
        if target.failure is not None:
            raise AssertionError(target.failure)

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        """Half of the time libFuzzer's own damage, else a lie that leaves the container sound."""
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
