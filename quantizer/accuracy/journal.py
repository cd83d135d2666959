"""Results of a long search on disk, one line each, so that an interrupted search goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mslite.converter.errors import ConversionError, ReturnCode


class Journal:
    """Key → result (anything JSON holds), kept in `<folder>/<name>-<fingerprint>.jsonl`; without a folder in memory.

    The fingerprint stands for everything that results depend on: another model, other data or settings are another
    file. A line is written and flushed as soon as a result is known; a line cut off by a crash is dropped.
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
                f"{self.path}: the results of the search cannot be kept: {error}", code=ReturnCode.FILE_ERROR
            ) from None
        for line in lines:
            self._take(line)
        if lines:
            self._file.write("\n")  # what a crash left of the last line ends here

    def _take(self, line: str) -> None:
        try:
            entry = json.loads(line)
        except ValueError:
            return
        if isinstance(entry, dict) and isinstance(entry.get("key"), str) and "result" in entry:
            self._found[entry["key"]] = entry["result"]

    @property
    def is_empty(self) -> bool:
        """Whether it knows no result."""
        return not self._found

    def get(self, key: str) -> Any | None:
        """The result of an earlier run, or None."""
        return self._found.get(key)

    def put(self, key: str, result: Any) -> None:
        """Keeps a result. Raises ConversionError when the disk does not take it."""
        self._found[key] = result
        if self.path is None:
            return
        try:
            self._file.write(json.dumps({"key": key, "result": result}) + "\n")
            self._file.flush()
        except OSError as error:
            raise ConversionError(
                f"{self.path}: the results of the search cannot be kept: {error}", code=ReturnCode.FILE_ERROR
            ) from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        if self.path is not None:
            self._file.close()
