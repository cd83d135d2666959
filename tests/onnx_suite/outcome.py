"""What becomes of one case: converted and run through `mslite.onnx_backend`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from mslite import onnx_backend
from mslite.converter.errors import Blocker, ConversionError

from .cases import case_named, difference

REST = Path(__file__).with_name("rest.json")
"""The cases that do not pass: reason -> names. `make onnx-suite` writes it."""


def rest() -> dict[str, str]:
    """Name of a case that does not pass -> the reason."""
    listed: dict[str, list[str]] = json.loads(REST.read_text(encoding="utf-8"))
    return {name: reason for reason, names in listed.items() for name in names}


def outcome(name: str) -> str:
    """Empty when the case is right, otherwise why not, in words that do not name its tensors."""
    case = case_named(name)
    if case is None:
        return "an input or output is a sequence, an optional value or a map, which a .ms file has no type for"
    try:
        return difference(case, list(onnx_backend.run_model(case.model, case.inputs)))
    except ConversionError as error:
        return _blocked(error.blockers) if error.blockers else _first_line(error.message.partition(": ")[2])
    except (RuntimeError, ValueError, TypeError) as error:
        return _first_line(str(error))


def _blocked(blockers: Sequence[Blocker]) -> str:
    """The first: what stands behind it cannot be known."""
    first = blockers[0]
    reason = re.sub(r"'[^']*'", "a tensor", first.reason.replace("of this graph input the", "an input's"))
    return reason if first.operator == "graph" else f"{first.operator}: {reason}"


def _first_line(text: str) -> str:
    """Of several lines the one that says most; without names and folders."""
    lines = [line.strip() for line in text.splitlines()]
    chosen = lines[1] if len(lines) > 1 and lines[0].endswith("cannot run:") else lines[0]
    return re.sub(r"node '[^']*' ", "", re.sub(r"file '[^']*': ", "", chosen))
