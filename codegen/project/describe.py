"""Describes models and their tensors for the templates."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mslite.codegen.core import Core
from mslite.codegen.emit.c_values import c_values_of
from mslite.codegen.literals import c_string
from mslite.codegen.program import Array, Tensor
from mslite.codegen.project.recorded import Case
from mslite.converter.mindir.graph import numpy_type
from mslite.converter.mindir.ops.enums import DataType

MAXIMUM_RANK = 8

_TYPES = {
    DataType.BOOL: "Bool",
    DataType.INT8: "Int8",
    DataType.INT16: "Int16",
    DataType.INT32: "Int32",
    DataType.INT64: "Int64",
    DataType.UINT8: "UInt8",
    DataType.UINT16: "UInt16",
    DataType.UINT32: "UInt32",
    DataType.UINT64: "UInt64",
    DataType.FLOAT16: "Float16",
    DataType.FLOAT32: "Float32",
    DataType.FLOAT64: "Float64",
}


@dataclass(frozen=True)
class TensorDescription:
    """An input or output of a model."""

    name: str
    """Escaped for a string literal of C."""
    symbol: str
    role: str
    index: int
    shape: tuple[int, ...]
    size: int
    """Bytes, for the largest shape if there are several."""
    count: int
    """Elements."""
    type: str
    format: str
    in_arena: bool
    """Whether the memory plan has an offset for it."""
    offset: int
    """Offset in the arena or, if it is not in the arena, after it in the workspace; bytes."""
    is_float: bool
    ctype: str


@dataclass(frozen=True)
class ModelSummary:
    """One model of a project."""

    i: int
    name: str
    net_header: str
    inputs: tuple[TensorDescription, ...]
    outputs: tuple[TensorDescription, ...]
    arena_size: int
    alignment: int
    workspace_size: int
    """Bytes of the arena, and of the inputs and outputs after it."""
    weights_size: int
    """Bytes of the weights in memory."""
    file_size: int
    """Bytes of net<i>.bin."""
    loads_weights: bool
    """Whether model<i>_load_weights packs the contents of net<i>.bin into the weights in memory."""
    has_variables: bool
    parallel: bool
    case_count: int
    has_expected: bool
    """Whether outputs were recorded. False if mslite had no kernel for a custom operator."""
    shape_count: int
    """Number of shapes that the model can run with."""

    @property
    def prefix(self) -> str:
        """Prefix of the names of recorded data; empty for the first model."""
        return f"model{self.i}_" if self.i else ""

    @property
    def tensors(self) -> tuple[TensorDescription, ...]:
        return self.inputs + self.outputs


@dataclass(frozen=True)
class CArray:
    """A C array and the lines of its initializer."""

    name: str
    ctype: str
    count: int
    lines: tuple[str, ...]

    @classmethod
    def of(cls, name: str, values: Array) -> CArray:
        """Makes an array of values. An empty one gets one element, because C99 has no empty arrays."""
        numbers = c_values_of(values if values.size else np.zeros(1, values.dtype))
        lines = textwrap.wrap(", ".join(numbers.texts), 112, break_long_words=False, break_on_hyphens=False)
        return cls(name, numbers.ctype, len(numbers.texts), tuple(lines))


def describe(core: Core, parallel: bool, cases: Sequence[Case]) -> ModelSummary:
    """Returns the data of a model for the templates. Inputs and outputs outside of the arena get offsets after it."""
    end = core.arena_size
    alignment = max(core.arena_alignment, 8)

    def facts(tensors: Sequence[Tensor], offsets: Sequence[int | None], role: str) -> tuple[TensorDescription, ...]:
        nonlocal end
        found = []
        for index, tensor in enumerate(tensors):
            offset = offsets[index] if not core.more_shapes else None
            place = offset
            others = [getattr(one.program, f"{role}s")[index].size for one in core.more_shapes]
            size = max([tensor.size, *others])
            if place is None:
                place = -(-end // alignment) * alignment
                end = place + size
            found.append(
                TensorDescription(
                    c_string(tensor.name),
                    f"{role}{index}",
                    role,
                    index,
                    tensor.shape,
                    size,
                    size // numpy_type(tensor.dtype).itemsize,
                    f"kMSDataTypeNumberType{_TYPES[tensor.dtype]}",
                    "kMSFormatNHWC",
                    offset is not None,
                    place,
                    tensor.dtype is DataType.FLOAT32,
                    c_values_of(np.zeros(1, numpy_type(tensor.dtype))).ctype,
                )
            )
        return tuple(found)

    inputs = facts(core.program.inputs, core.input_offsets, "input")
    outputs = facts(core.program.outputs, core.output_offsets, "output")
    return ModelSummary(
        core.index,
        core.program.name,
        f"model{core.index}/net{core.index}.h",
        inputs,
        outputs,
        core.arena_size,
        core.arena_alignment,
        end,
        0 if core.weights is None else core.constants_size,
        0 if core.weights is None else len(core.weights),
        core.loads_weights,
        core.has_variables,
        parallel,
        len(cases),
        any(case.outputs for case in cases),
        1 + len(core.more_shapes),
    )
