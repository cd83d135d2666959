"""Lgamma, digamma and the inverse error function, to float32 precision."""

from __future__ import annotations

from math import log, pi

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.comparison import Equal, Less, Where
from mslite.converter.mindir.ops.unary import Abs, Cos, Floor, Log, Reciprocal, Sin, Sqrt, Square

from .call import Call
from .registry import primitive

_SHIFT = 7
"""Stirling's series has float32 precision for arguments from here on."""


class _Formula:
    """Arithmetic of tensors and scalars."""

    def __init__(self, call: Call, x: Value) -> None:
        self._call, self._x = call, x

    def of(self, op: Operator, *operands: Value | float) -> Value:
        return self._call.emit(
            op, *(each if isinstance(each, Value) else self._call.like(each, self._x) for each in operands)
        )

    def polynomial(self, x: Value, factors: tuple[float, ...]) -> Value:
        """Returns a polynomial of x by Horner's scheme; the coefficient of the highest power is first."""
        result: Value | float = factors[0]
        for factor in factors[1:]:
            result = self.of(AddFusion(), self.of(MulFusion(), result, x), factor)
        assert isinstance(result, Value)
        return result

    def distance(self, x: Value) -> Value:
        """Returns x - floor(x)."""
        return self.of(SubFusion(), x, self.of(Floor(), x))


@primitive("Lgamma", operators="Log Abs Sin Floor Where AddFusion SubFusion MulFusion DivFusion", arguments="x")
def log_gamma(call: Call) -> Value:
    """Converts Lgamma: shifts small arguments up with a product, then uses Stirling's series; below 1/2 with the
    reflection pi / (|sin(pi x)| gamma(1 - x))."""
    x = call.input(0)
    f = _Formula(call, x)
    is_small = f.of(Less(), x, 0.5)
    z = f.of(Where(), is_small, f.of(SubFusion(), 1.0, x), x)
    steps = z  # unused for large arguments: the product would overflow
    for step in range(1, _SHIFT):
        factor = f.of(AddFusion(), z, float(step))
        steps = f.of(MulFusion(), steps, factor)
    is_near = f.of(Less(), z, float(_SHIFT))
    far = f.of(Where(), is_near, f.of(AddFusion(), z, float(_SHIFT)), z)
    series = f.of(DivFusion(), f.polynomial(f.of(Reciprocal(), f.of(Square(), far)), (1 / 1260, -1 / 360, 1 / 12)), far)
    logarithm = f.of(MulFusion(), f.of(SubFusion(), far, 0.5), f.of(Log(), far))
    stirling = f.of(AddFusion(), f.of(AddFusion(), f.of(SubFusion(), logarithm, far), 0.5 * log(2 * pi)), series)
    taken = f.of(Log(), f.of(Where(), is_near, steps, 1.0))
    result = f.of(SubFusion(), stirling, taken)
    sine = f.of(Abs(), f.of(Sin(), f.of(MulFusion(), f.distance(x), pi)))
    mirrored = f.of(SubFusion(), f.of(SubFusion(), log(pi), f.of(Log(), sine)), result)
    return f.of(Where(), is_small, mirrored, result)


@primitive("Digamma", operators="Log Sin Cos Floor Where AddFusion SubFusion MulFusion DivFusion", arguments="input")
def digamma(call: Call) -> Value:
    """Converts Digamma: shifts arguments up, then uses the asymptotic series; below 1/2 with the reflection
    psi(1 - x) - pi / tan(pi x)."""
    x = call.input(0)
    f = _Formula(call, x)
    is_small = f.of(Less(), x, 0.5)
    z = f.of(Where(), is_small, f.of(SubFusion(), 1.0, x), x)
    far = f.of(AddFusion(), z, float(_SHIFT))
    inverse = f.of(Reciprocal(), f.of(Square(), far))
    series = f.of(MulFusion(), f.polynomial(inverse, (1 / 252, -1 / 120, 1 / 12)), inverse)
    result = f.of(SubFusion(), f.of(Log(), far), f.of(AddFusion(), f.of(DivFusion(), 0.5, far), series))
    for step in range(_SHIFT):
        result = f.of(SubFusion(), result, f.of(Reciprocal(), f.of(AddFusion(), z, float(step))))
    angle = f.of(MulFusion(), f.distance(x), pi)
    cotangent = f.of(DivFusion(), f.of(MulFusion(), f.of(Cos(), angle), pi), f.of(Sin(), angle))
    return f.of(Where(), is_small, f.of(SubFusion(), result, cotangent), result)


# fmt: off
_NEAR = (
    2.32861187e-08, 3.42518243e-07, -3.46335916e-06, -4.38356958e-06, 0.000218346925, -0.00125374877, -0.00417738977,
    0.246640758, 1.50140936,
)
_FAR = (
    -0.000138178841, 5.30544037e-05, 0.00127115916, -0.00362351054, 0.00577197511, -0.00763699174, 0.00943428555,
    1.00167511, 2.83297703,
)
# fmt: on
"""Polynomials for erfinv(x) / x, with w = -log(1 - x^2): _NEAR in w - 2.5 for w < 5, _FAR in sqrt(w) - 3 up to w =
16.7, the largest w in float32. Fitted by least squares at Chebyshev points; the relative error is below 2e-7."""


@primitive(
    "Erfinv", "InplaceErfinv", operators="Log Sqrt Abs Where Equal MulFusion AddFusion SubFusion", arguments="input"
)
def inverse_error_function(call: Call) -> Value:
    x = call.input(0)
    f = _Formula(call, x)
    rest = f.of(MulFusion(), f.of(SubFusion(), 1.0, x), f.of(AddFusion(), 1.0, x))
    w = f.of(MulFusion(), f.of(Log(), rest), -1.0)
    near = f.polynomial(f.of(SubFusion(), w, 2.5), _NEAR)
    far = f.polynomial(f.of(SubFusion(), f.of(Sqrt(), w), 3.0), _FAR)
    made = f.of(MulFusion(), x, f.of(Where(), f.of(Less(), w, 5.0), near, far))
    at_end = f.of(Equal(), f.of(Abs(), x), 1.0)
    return f.of(Where(), at_end, f.of(MulFusion(), x, float("inf")), made)
