"""An open batch is taken as 1, as `benchmark` and generated C take it."""

from __future__ import annotations

from pathlib import Path

from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Module
from mslite.converter.options import FmkType, Options


def open_batches(module: Module) -> tuple[str, ...]:
    """The inputs whose first size is open."""
    return tuple(value.name for value in module.main.inputs if value.shape and value.shape[0] < 0)


def with_batch_of_one(path: Path, module: Module) -> Path:
    """The file at `path`, which `module` is, or one beside it in which open first sizes are 1: engines take nodes whose shapes are
    known."""
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
    except ConversionError:  # what the model was made for allows no other size: the engines see it as it is
        return path
    return target
