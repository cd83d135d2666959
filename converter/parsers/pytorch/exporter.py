"""Program that converts a `torch.export` program to an ONNX file with PyTorch.

    python -P exporter.py <program.pt2> <result.onnx> <memory limit in bytes> [simplified]

Without `simplified` the model is for training. On errors, prints `load`, `refuse` or `export` and the reason as the
last line of standard output; the exit code is 1.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import os
import resource
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OWN_BYTES = 2 << 30
"""Additional memory for PyTorch itself."""


def main() -> int:
    source, target, limit, simplified = sys.argv[1], sys.argv[2], int(sys.argv[3]), "simplified" in sys.argv[4:]
    limit_memory(limit + OWN_BYTES)
    stage, said = "load", ""
    with quiet():
        try:
            import torch  # type: ignore[import-untyped, import-not-found, unused-ignore]
            import torch.onnx  # type: ignore[import-untyped, import-not-found, unused-ignore]

            quantized = _beside("quantized_programs")
            quantized.register(source)
            program = torch.export.load(source)
            stage = "refuse"
            replacements = {**_beside("replacements").REPLACEMENTS, **quantized.replacements()}
            program = _beside("exporter_fixes").repaired(program, trains=not simplified, replacements=replacements)
            mutations = _beside("mutations").Mutations(program, trains=not simplified)
            stage = "export"
            found = torch.onnx.export(program, (), None, dynamo=True, optimize=False, verbose=False)
            stage = "refuse"
            mutations.deliver(found, Path(target).parent)
            stage = "export"
            if simplified:
                found.optimize()
            else:
                _drop_zero_biases(found.model)
            found.save(target)
            stage = ""
        except Exception as error:  # the loader and the exporter raise any type
            said = first_line(error)
    if stage:
        print(stage, said)
    return 1 if stage else 0


def _beside(name: str) -> Any:
    """Loads `name`.py in this folder. The folder is not in sys.path, because its files could hide other modules."""
    spec = importlib.util.spec_from_file_location(f"mslite_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _drop_zero_biases(model: Any) -> None:
    """Removes the zeros that torch adds as the bias of convolutions without one."""
    for node in model.graph:
        if node.op_type in ("Conv", "ConvTranspose") and len(node.inputs) > 2 and _is_spread_number(node.inputs[2]):
            node.resize_inputs(2)


def _is_spread_number(value: Any) -> bool:
    """Returns whether it is a broadcast scalar constant, which is not a tensor of the program."""
    node = value.producer() if value is not None else None
    if node is None or node.op_type not in ("Expand", "CastLike", "Constant"):
        return False
    return node.op_type == "Constant" or _is_spread_number(node.inputs[0])


def limit_memory(count: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (count if hard < 0 else min(count, hard), hard))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppresses output, warnings and logs of torch."""
    logging.disable(logging.CRITICAL)
    os.environ.setdefault("TORCH_LOGS", "-all")
    with (
        warnings.catch_warnings(action="ignore"),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        yield


def first_line(error: BaseException) -> str:
    """Returns the first line of the innermost exception."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in _text(error).splitlines() if line.strip()]
    return lines[0][:500] if lines else type(error).__name__


def _text(error: Any) -> str:
    return "there is not enough memory, see --memoryLimit" if isinstance(error, MemoryError) else str(error)


if __name__ == "__main__":
    sys.exit(main())
