"""Stores the results: one file for each task and tool, so that parallel runs do not conflict."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from .measure import Result


class Results:
    """A folder of results. Each result has the key (`keys.py`) that it was measured with."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, task: str, tool: str, key: str) -> Result | None:
        """Returns the result; None if there is none or its key differs."""
        try:
            entry = json.loads(self._path(task, tool).read_text(encoding="utf-8"))
            return Result(**entry["result"]) if entry["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, result: Result, key: str) -> None:
        """Writes a result to a temporary file and renames it."""
        path = self._path(result.task, result.tool)
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(".part")
        made.write_text(json.dumps({"key": key, "result": dataclasses.asdict(result)}, indent=1), encoding="utf-8")
        made.replace(path)

    def _path(self, task: str, tool: str) -> Path:
        return self._folder / f"{task.replace('/', '_')}-{tool.replace(', ', '-').replace(' ', '_')}.json"
