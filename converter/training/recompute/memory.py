"""What a training graph takes in the runtime."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Module, Value
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.training.recompute.stages import size_of

_ISAS = ("scalar", "neon")
"""Every machine on which models are converted has the kernels of 64-bit ARM, its own or emulated: the plan is the same on all."""
_THREADS = 2
"""As the runtime has them where nothing is said; each has its own scratch memory."""


def arena_bytes(stored: Module) -> int:
    """The arena of a step, as the runtime plans it on 64-bit ARM with two threads. `stored`: a training graph in the form of files.
    Raises ConversionError where it cannot."""
    from mslite import _codegen  # which costs time that other conversions do not need

    module = copy_module(stored)
    # The plan does not depend on weights, and who encrypts the result wants none on a disk.
    for value in module.main.values():
        if value.data is not None and value.dtype is DataType.FLOAT32 and value.data.size > 1:
            value.data = np.zeros(value.data.shape, np.float32)
    with tempfile.TemporaryDirectory() as folder:
        (file, *_) = save(module, Path(folder) / "step.ms")
        try:
            return _codegen.step_arena(file, _ISAS, _THREADS)
        except _codegen.ModelError as error:
            reason = f"--trainMemory: the runtime, which says what a step takes, cannot plan it: {error}"
            raise ConversionError(reason, code=ReturnCode.NOT_SUPPORTED) from None


def fixed_bytes(stored: Module) -> int:
    """What lies in memory beside the arena: weights and what optimizers keep, other constants, inputs and losses."""
    graph = stored.main
    constants: dict[Value, None] = {value: None for value in graph.values() if value.data is not None}
    return sum(size_of(value) for value in (*constants, *graph.inputs, *graph.outputs))
