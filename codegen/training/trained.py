"""A trained model as a `.ms` file: `python -m mslite.codegen.training.trained PROJECT WEIGHTS OUTPUT.ms`.

WEIGHTS is what `MSModelExportWeight` of the generated project wrote.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mslite.converter.errors import ConversionError, ExitStatus, ReturnCode
from mslite.converter.mindir.graph import Module, constant
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.wire import MindirFormatError


def trained_model(project: Path, weights: Path) -> Module:
    """The inference graph of a generated project with these weights. Raises ConversionError."""
    try:
        known = json.loads((project / "training" / "parameters.json").read_text())
        module = load(project / "training" / "inference.ms")
        data = weights.read_bytes()
    except (OSError, ValueError, MindirFormatError) as error:
        raise ConversionError(f"{project}: cannot be read: {error}", code=ReturnCode.FILE_ERROR) from None
    if len(data) != known["size"]:
        raise ConversionError(
            f"{weights}: has {len(data)} bytes; the weights of {project} have {known['size']}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )
    places = {one["name"]: one for one in known["variables"]}
    graph = module.main
    for node in [node for node in graph.nodes if node.op.name == "ReadVariable"]:
        one = places[str(node.op.variable)]  # type: ignore[attr-defined]
        count = int(np.prod(one["shape"], dtype=np.int64))
        array = np.frombuffer(data, np.float32, count, one["offset"]).reshape(one["shape"])
        value = constant(one["name"], array.copy(), node.output.format)
        graph.replace_uses(node.output, value)
        graph.remove(node)
    return module


def main(arguments: Sequence[str] | None = None) -> int:
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
