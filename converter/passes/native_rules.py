"""Calls the shape rules and the scalar kernels, which are written in C, in the module `mslite._native`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mslite import _native
from mslite.converter.mindir.graph import Array, Shape
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.serialization import primitive_bytes


class NativeRuleError(Exception):
    """An invalid node; with `missing`, a valid node without a shape rule or kernel."""

    def __init__(self, message: str, missing: bool) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True)
class NativeTensorFacts:
    """The description of a tensor: type, shape (None: unknown rank), known contents of a small integer tensor, data."""

    dtype: DataType
    shape: Shape | None = None
    known: tuple[int, ...] | None = None
    data: Array | None = None
    quant: tuple[QuantParam, ...] = ()


def _info(facts: NativeTensorFacts) -> _native.TensorInfo:
    data = facts.data
    if data is not None and not data.flags.c_contiguous:
        data = np.ascontiguousarray(data).reshape(data.shape)  # ascontiguousarray changes the shape of a scalar
    quant = [(record.scale, record.zeroPoint, int(facts.dtype)) for record in facts.quant]
    dims = None if facts.shape is None else list(facts.shape)
    known = None if facts.known is None else list(facts.known)
    return _native.TensorInfo(int(facts.dtype), dims, known, data, quant)


def infer(
    op: Operator, inputs: Sequence[NativeTensorFacts], output_count: int, next_symbol: int
) -> tuple[list[NativeTensorFacts], int]:
    """Returns types and shapes of the outputs, and the next unused symbol. Raises NativeRuleError."""
    try:
        outputs, symbol = _native.infer(
            primitive_bytes(op), [_info(facts) for facts in inputs], output_count, next_symbol
        )
    except _native.OperatorError as error:
        raise NativeRuleError(str(error), isinstance(error, _native.UnsupportedError)) from None
    return [
        NativeTensorFacts(
            DataType(output.dtype),
            None if output.dims is None else tuple(output.dims),
            None if output.known is None else tuple(output.known),
        )
        for output in outputs
    ], symbol


def evaluate(op: Operator, inputs: Sequence[NativeTensorFacts], output_count: int) -> list[Array]:
    """Computes the outputs for constant inputs with the scalar kernels; same bits on every machine. Raises
    NativeRuleError."""
    try:
        arrays = _native.evaluate(primitive_bytes(op), [_info(facts) for facts in inputs], output_count)
    except _native.OperatorError as error:
        raise NativeRuleError(str(error), isinstance(error, _native.UnsupportedError)) from None
    return [np.asarray(array) for array in arrays]


def kernel_types(
    op: Operator, inputs: Sequence[NativeTensorFacts], results: Sequence[DataType]
) -> tuple[tuple[DataType, ...], tuple[DataType, ...], bool] | None:
    """Returns the types of inputs and outputs for which a portable kernel supports a node, preferably the given ones,
    and
    whether uint64 inputs may be compared as int64. None if there is no kernel. Raises NativeRuleError for an invalid node."""
    try:
        found = _native.kernel_types(
            primitive_bytes(op), [_info(facts) for facts in inputs], [int(dtype) for dtype in results]
        )
    except ValueError as error:
        raise NativeRuleError(str(error), missing=False) from None
    if found is None:
        return None
    operands, made, compares = found
    return tuple(map(DataType, operands)), tuple(map(DataType, made)), compares
