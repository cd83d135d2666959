"""Models with a dynamic batch dimension: it is set to 1, as in `benchmark` and in generated C."""

from __future__ import annotations

from pathlib import Path

from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Module
from mslite.converter.options import FmkType, Options


def open_batches(module: Module) -> tuple[str, ...]:
    """Returns the names of the inputs whose first dimension is dynamic."""
    return tuple(value.name for value in module.main.inputs if value.shape and value.shape[0] < 0)


def with_batch_of_one(path: Path, module: Module) -> Path:
    """Returns a model file without dynamic batches, because backends run only nodes with known shapes.

    `module` is the model in `path`. Returns `path` if it has no dynamic batch, else a new file in the same folder.
    """
    names = open_batches(module)
    if not names:
        return path
    shapes = {
        value.name: (1, *(max(size, -1) for size in value.shape[1:]))
        for value in module.main.inputs
        if value.shape and value.name in names
    }
    target = path.with_name("batch_of_one.ms")
    try:
        convert(Options(path, target, framework=FmkType.MSLITE, input_shapes=shapes, fusion=False))
    except ConversionError:  # the model does not support a batch of 1: the backends get it unchanged
        return path
    return target
