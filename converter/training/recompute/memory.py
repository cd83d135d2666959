"""Computes the memory that a training graph uses in the runtime."""

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
"""Instruction sets of the plan: 64-bit Arm, native or emulated, so that the plan is the same on every machine."""
_THREADS = 2
"""The runtime's default number of threads; each has its own scratch buffer."""


def arena_bytes(stored: Module) -> int:
    """Returns the bytes of the arena of a step, as the runtime plans it on 64-bit Arm with two threads.

    `stored` is a training graph in the form of files. Raises ConversionError if it cannot be planned."""
    from mslite import _codegen  # imported here because it is slow and rarely needed

    module = copy_module(stored)
    # The plan does not depend on the weights, which must not be written to disk if the result is encrypted.
    for value in module.main.values():
        if value.data is not None and value.dtype is DataType.FLOAT32 and value.data.size > 1:
            value.data = np.zeros(value.data.shape, np.float32)
    with tempfile.TemporaryDirectory() as folder:
        (file, *_) = save(module, Path(folder) / "step.ms")
        try:
            return _codegen.step_arena(file, _ISAS, _THREADS)
        except _codegen.ModelError as error:
            reason = f"--trainMemory: the runtime cannot plan the memory of a step: {error}"
            raise ConversionError(reason, code=ReturnCode.NOT_SUPPORTED) from None


def fixed_bytes(stored: Module) -> int:
    """Returns the bytes besides the arena: weights, optimizer state, other constants, inputs and losses."""
    graph = stored.main
    constants: dict[Value, None] = {value: None for value in graph.values() if value.data is not None}
    return sum(size_of(value) for value in (*constants, *graph.inputs, *graph.outputs))
