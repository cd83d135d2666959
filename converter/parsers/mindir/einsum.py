"""Einsum."""

from __future__ import annotations

import numpy.typing as npt

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.parsers.einsum import einsum

from .call import Call
from .entries import Sequence, flattened
from .registry import primitive


class _Equation:
    """Adapts Call to the einsum code that all parsers share: an unknown size is None."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def block(self, reason: str, remedy: str, attribute: str = "") -> Exception:
        return self._call.block(reason, remedy, attribute)

    def shape(self, value: Value) -> tuple[int | None, ...] | None:
        shape = self._call.shape(value)
        return None if shape is None else tuple(None if size < 0 else size for size in shape)

    def ints(self, data: npt.ArrayLike) -> Value:
        return self._call.ints(data)

    def emit(self, op: Operator, *inputs: Value) -> Value:
        return self._call.emit(op, *inputs)


@primitive("Einsum", operators="MatMulFusion MulFusion ReduceFusion Transpose Reshape")
@primitive(
    "EinsumExt", operators="MatMulFusion MulFusion ReduceFusion Transpose Reshape", arguments="equation operands"
)
def equation(call: Call) -> Value:
    """Converts Einsum. The operands are a tuple, the last argument."""
    tuples = [entry for entry in call.entries if isinstance(entry, Sequence)]
    operands = [call.value(entry) for entry in flattened(tuples)]
    return einsum(_Equation(call), call.text("equation", ""), operands)
