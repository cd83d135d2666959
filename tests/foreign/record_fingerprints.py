"""`python -m tests.foreign.record_fingerprints`, with TensorFlow: writes fingerprints.json, texts and their hash buckets of a million."""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).parent / "fingerprints.json"
_LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 191, 192, 193, 300)


def texts() -> list[str]:
    """Texts of every length at which the formula of the fingerprint changes."""
    letters = "the quick brown fox jumps over the lazy dog; "
    return [(letters[shift:] + letters * 8)[:length] for length in _LENGTHS for shift in (0, 5)]


def main() -> None:
    import tensorflow as tf

    found = {text: int(tf.strings.to_hash_bucket_fast(tf.constant(text), 1000000)) for text in texts()}
    FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
