"""Writes a trained model as a `.ms` file: `python -m mslite.codegen.training.trained PROJECT WEIGHTS OUTPUT.ms`.

PROJECT is the generated project, WEIGHTS the file that its `MSModelExportWeight` wrote.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mslite.converter.errors import ConversionError, ExitStatus, ReturnCode
from mslite.converter.mindir.graph import Module, constant
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.serialization import MindirFormatError
from mslite.converter.text_shortening import quoted, shortened


@dataclass(frozen=True)
class _Known:
    """Contents of parameters.json: bytes of the weight file, and the offset and shape of each variable in it, by
    name."""

    size: int
    places: dict[str, tuple[int, tuple[int, ...]]]


def trained_model(project: Path, weights: Path) -> Module:
    """Returns the inference graph of a generated project with the weights of a file. Raises ConversionError."""
    known = _known(project / "training" / "parameters.json")
    try:
        module = load(project / "training" / "inference.ms")
    except (OSError, ValueError, MindirFormatError) as error:
        raise ConversionError(f"{project}: cannot be read: {error}", code=ReturnCode.FILE_ERROR) from None
    try:
        data = weights.read_bytes()
    except OSError as error:
        raise ConversionError(f"{weights}: cannot be read: {error.strerror}", code=ReturnCode.FILE_ERROR) from None
    if len(data) != known.size:
        raise ConversionError(
            f"{weights}: has {len(data)} bytes; the weights of {project} have {known.size}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )
    graph = module.main
    for node in [node for node in graph.nodes if node.op.name == "ReadVariable"]:
        name = str(node.op.variable)  # type: ignore[attr-defined]
        offset, shape = known.places.get(name, (-1, ()))
        if name not in known.places or node.output.shape not in (None, shape):
            raise _damaged(
                project / "training" / "parameters.json", f"variable {quoted(name)} differs from that of the model"
            )
        array = np.frombuffer(data, np.float32, math.prod(shape), offset).reshape(shape)
        value = constant(name, array.copy(), node.output.format)
        graph.replace_uses(node.output, value)
        graph.remove(node)
    return module


def _known(path: Path) -> _Known:
    """Reads parameters.json of a generated project. Raises ConversionError for an invalid file."""
    try:
        read = json.loads(path.read_bytes())
        known = _Known(
            _natural(read["size"]),
            {
                one["name"]: (_natural(one["offset"]), tuple(_natural(size) for size in one["shape"]))
                for one in read["variables"]
            },
        )
    except OSError as error:
        raise ConversionError(f"{path}: cannot be read: {error.strerror}", code=ReturnCode.FILE_ERROR) from None
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise _damaged(path, f"{type(error).__name__}: {shortened(str(error))}") from None
    for name, (offset, shape) in known.places.items():
        if offset + 4 * math.prod(shape) > known.size:
            raise _damaged(path, f"variable {quoted(str(name))} is outside of the {known.size} bytes of the weights")
    return known


def _natural(number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError("a size or offset is not a non-negative integer")
    return number


def _damaged(path: Path, reason: str) -> ConversionError:
    return ConversionError(
        f"{path}: the file was changed since mslite-codegen --train wrote it ({reason}). Generate the project again",
        code=ReturnCode.FILE_ERROR,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if len(given) != 3:
        print(__doc__, file=sys.stderr)
        return ExitStatus.WRONG_USAGE
    try:
        save(trained_model(Path(given[0]), Path(given[1])), Path(given[2]))
    except ConversionError as error:
        print(error, file=sys.stderr)
        return ExitStatus.BAD_INPUT
    except OSError as error:
        print(f"{given[2]}: cannot be written: {error.strerror}", file=sys.stderr)
        return ExitStatus.BAD_INPUT
    return ExitStatus.OK


if __name__ == "__main__":
    sys.exit(main())
