"""Encrypted files that were changed, and sealed files that hold a part of a model: `benchmark` with sanitizers ends with one message."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from mslite.converter.cli import main
from tests.converter.onnx_models import small_network
from tests.runtime.encrypted_files import HEAD, KEY, gcm_file

from .limits import ROOT

BUILD = os.environ.get("MSLITE_SANITIZE_BUILD") or os.environ.get("MSLITE_BUILD")
FILES = 60


def changed(text: bytes, number: int) -> bytes:
    """One time in two the file's bytes, most of them in its fields; else the model is cut off, whose tag is right."""
    rng = random.Random(number)
    if number % 2:
        return gcm_file(text[: rng.randrange(1, len(text))], KEY, (rng.randrange(50),))
    file = bytearray(gcm_file(text, KEY, (100,)))
    for _ in range(rng.randint(1, 3)):
        file[rng.randrange(HEAD if number % 4 else len(file))] = rng.randrange(256)
    return bytes(file)


@pytest.mark.skipif(not BUILD, reason="set MSLITE_BUILD or MSLITE_SANITIZE_BUILD to a build folder")
def test_benchmark_survives(tmp_path: Path) -> None:
    program, file = ROOT / str(BUILD) / "benchmark" / "benchmark", tmp_path / "secret.ms"
    main([f"--modelFile={small_network(tmp_path / 'net.onnx')}", f"--outputFile={tmp_path / 'net'}"])
    text = (tmp_path / "net.ms").read_bytes()
    command = [program, f"--modelFile={file}", "--loopCount=1", "--warmUpLoopCount=0", f"--decryptKey={KEY.hex()}"]
    refused = 0
    for number in range(FILES):
        file.write_bytes(changed(text, number))
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in (0, 1), (number, done.stderr)
        assert "Sanitizer" not in done.stderr, (number, done.stderr)
        assert "runtime error" not in done.stderr, (number, done.stderr)
        refused += done.returncode
    assert refused >= FILES - 2  # two edits may leave the file as it was
