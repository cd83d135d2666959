"""Greatest common divisors and least common multiples of integers, by Euclid's algorithm."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.arithmetic import DivFusion, Mod, MulFusion
from mslite.converter.mindir.ops.comparison import Equal, Where
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.unary import Abs

from .call import Call
from .generic import cast_to_common_type
from .registry import primitive

_STEPS = {8: 12, 16: 24, 32: 47, 64: 93}
"""Bits of the data type -> steps that Euclid's algorithm needs at most, for neighbors in the Fibonacci sequence."""


def _divisor(call: Call, a: Value, b: Value) -> Value:
    """Returns gcd(a, b): (a, b) becomes (b, a mod b) until b is 0. Raises Blocked if the operands are not integers."""
    dtype = call.dtype(a)
    if dtype is DataType.UNKNOWN or numpy_type(dtype).kind not in "iu":
        raise call.block("its operands are not integers, or their type is unknown", "Cast them to int32 in the model")
    a, b = call.emit(Abs(), a), call.emit(Abs(), b)
    zero, one = (call.const(number, numpy_type(dtype)) for number in (0, 1))
    for _ in range(_STEPS[8 * numpy_type(dtype).itemsize]):
        is_done = call.emit(Equal(), b, zero)
        rest = call.emit(Mod(), a, call.emit(Where(), is_done, one, b))
        a, b = call.emit(Where(), is_done, a, b), rest
    return a


@primitive("Gcd", operators="Abs Equal Mod Where", arguments="x1 x2")
def greatest_divisor(call: Call) -> Value:
    a, b = cast_to_common_type(call, call.input(0), call.input(1))
    return _divisor(call, a, b)


@primitive("Lcm", operators="Abs Equal Mod Where DivFusion MulFusion", arguments="x1 x2")
def least_multiple(call: Call) -> Value:
    """Converts Lcm: |a / gcd(a, b) * b|, and 0 if both are 0."""
    a, b = cast_to_common_type(call, call.input(0), call.input(1))
    divisor = _divisor(call, a, b)
    is_zero = call.emit(Equal(), divisor, call.like(0, a))
    divisor = call.emit(Where(), is_zero, call.like(1, a), divisor)
    return call.emit(Abs(), call.emit(MulFusion(), call.emit(DivFusion(), a, divisor), b))
