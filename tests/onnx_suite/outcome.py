"""Converts and runs one case through `mslite.onnx_backend`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from onnx import ModelProto

from mslite import onnx_backend
from mslite.converter.errors import Blocker, ConversionError

from .cases import case_named, difference

REST = Path(__file__).with_name("rest.json")
"""The file with cases that do not pass: reason -> names. `make onnx-suite` writes it."""

_RANDOM = frozenset({"Bernoulli", "Dropout", "Multinomial", "RandomNormalLike", "RandomUniformLike"})


def rest() -> dict[str, str]:
    """Name of a case that does not pass -> the reason."""
    listed: dict[str, list[str]] = json.loads(REST.read_text(encoding="utf-8"))
    return {name: reason for reason, names in listed.items() for name in names}


def outcome(name: str) -> str:
    """Returns "" if the case passes, otherwise the reason without names of tensors."""
    case = case_named(name)
    if case is None:
        return (
            "an input or output is a sequence, an empty optional value or a map; those of a .ms file are dense tensors"
        )
    try:
        found = difference(case, list(onnx_backend.run_model(case.model, case.inputs)))
        drawn = _RANDOM.intersection(case.operators)
        return f"{min(drawn)}: draws random numbers, which are not those of the case" if found and drawn else found
    except ConversionError as error:
        return _blocked(error.blockers, case.model) if error.blockers else _first_line(error.message.partition(": ")[2])
    except (RuntimeError, ValueError, TypeError) as error:
        return _first_line(str(error))


def _blocked(blockers: Sequence[Blocker], model: ModelProto) -> str:
    """The first one, because later errors may be consequences of it."""
    first = blockers[0]
    tensors = {value for node in model.graph.node for value in (*node.input, *node.output)}
    tensors |= {value.name for value in model.graph.input}
    reason = re.sub("^(element type .*) for a graph input$", r"an input's \1", first.reason)
    for name in re.findall(r"'([^']*)'", reason):
        if name in tensors:
            reason = reason.replace(f"'{name}'", "a tensor")
    return reason if first.operator == "graph" else f"{first.operator}: {reason}"


def _first_line(text: str) -> str:
    """Returns the most informative line, without names and folders."""
    lines = [line.strip() for line in text.splitlines()]
    chosen = lines[1] if len(lines) > 1 and lines[0].endswith("cannot run:") else lines[0]
    return re.sub(r"node '[^']*' ", "", re.sub(r"file '[^']*': ", "", chosen))
