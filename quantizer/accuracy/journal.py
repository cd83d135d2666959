"""Stores the results of a long search in a file, one per line, so that an interrupted search can continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mslite.converter.errors import ConversionError, ReturnCode


class Journal:
    """Maps keys to results (JSON values) in the file `<folder>/<name>-<fingerprint>.jsonl`, or in memory without a
    folder.

    The fingerprint is a hash of everything that the results depend on, so another model, data or settings use another
    file. Each result is written and flushed at once. An incomplete last line after a crash is ignored.
    """

    def __init__(self, folder: Path | None, name: str, fingerprint: str) -> None:
        self.path = None if folder is None else folder / f"{name}-{fingerprint[:16]}.jsonl"
        self._found: dict[str, Any] = {}
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
            self._file = self.path.open("a", encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ConversionError(
                f"{self.path}: the results of the search cannot be written: {error}", code=ReturnCode.FILE_ERROR
            ) from None
        for line in lines:
            self._take(line)
        if lines:
            self._file.write("\n")  # ends an incomplete last line

    def _take(self, line: str) -> None:
        try:
            entry = json.loads(line)
        except ValueError:
            return
        if isinstance(entry, dict) and isinstance(entry.get("key"), str) and "result" in entry:
            self._found[entry["key"]] = entry["result"]

    @property
    def is_empty(self) -> bool:
        """Whether the journal has no results."""
        return not self._found

    def get(self, key: str) -> Any | None:
        """Returns the stored result, or None."""
        return self._found.get(key)

    def put(self, key: str, result: Any) -> None:
        """Stores a result. Raises ConversionError if it cannot be written."""
        self._found[key] = result
        if self.path is None:
            return
        try:
            self._file.write(json.dumps({"key": key, "result": result}) + "\n")
            self._file.flush()
        except OSError as error:
            raise ConversionError(
                f"{self.path}: the results of the search cannot be written: {error}", code=ReturnCode.FILE_ERROR
            ) from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        if self.path is not None:
            self._file.close()
