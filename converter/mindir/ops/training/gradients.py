"""Gradients of element-wise functions and of operators that move elements. Those without a kernel are read and
written, not run."""

from __future__ import annotations

from .._declare import Operator, boolean, enum, long, operator, real
from ..enums import ActivationType


@operator(3, inputs="dy x", outputs="dx", training=True)
class ActivationGrad(Operator):
    """Gradient of Activation. Inputs are dy and x (ELU: y; ReLU variants: x or y); for SIGMOID and TANH y and dy.

    The bounds of HARD_TANH are fixed to -1 and 1.
    """

    activation_type: ActivationType = enum(0, ActivationType.NO_ACTIVATION)
    alpha: float = real(1)


@operator(1903, outputs="mask", training=True, custom_type="mslite.GateMask")
class GateMask(Operator):
    """The mask for the gradient of a clamping activation, one bit per element: whether low < x < high.

    The first element is the lowest bit of the first byte; unused bits are 0.
    """

    low: float = real(0)
    high: float = real(1)


@operator(1904, inputs="dy mask", outputs="dx", training=True, custom_type="mslite.GateGrad")
class GateGrad(Operator):
    """dy where the bit of GateMask is set, else 0."""


@operator(183, inputs="x dy", outputs="dx", training=True)
class AbsGrad(Operator):
    """Gradient of Abs."""


@operator(7, inputs="dy a b", outputs="da db", training=True)
class AddGrad(Operator):
    """Gradient of Add."""


@operator(48, inputs="dy a b", outputs="da db", training=True)
class DivGrad(Operator):
    """Gradient of Div."""


@operator(62, inputs="dy shape", outputs="dx", training=True)
class FlattenGrad(Operator):
    """Gradient of Flatten."""


@operator(80, inputs="dy x", outputs="dx", training=True)
class LogGrad(Operator):
    """Gradient of Log."""


@operator(91, inputs="a b dy", outputs="da db", training=True)
class MaximumGrad(Operator):
    """Gradient of Maximum."""

    grad_x: bool = boolean(0)
    grad_y: bool = boolean(1)


@operator(97, inputs="a b dy", outputs="da db", training=True)
class MinimumGrad(Operator):
    """Gradient of Minimum."""

    grad_x: bool = boolean(0)
    grad_y: bool = boolean(1)


@operator(100, inputs="dy a b", outputs="da db", training=True)
class MulGrad(Operator):
    """Gradient of Mul."""


@operator(102, inputs="dy", outputs="dx", training=True)
class NegGrad(Operator):
    """Gradient of Neg."""


@operator(109, inputs="dy x", outputs="dx", training=True)
class PowerGrad(Operator):
    """Gradient of Power."""

    power: float = real(0)
    scale: float = real(1)
    shift: float = real(2)


@operator(184, inputs="y dy", outputs="dx", training=True)
class RsqrtGrad(Operator):
    """Gradient of Rsqrt."""


@operator(185, inputs="y dy", outputs="dx", training=True)
class SqrtGrad(Operator):
    """Gradient of Sqrt."""


@operator(179, inputs="dy shape begin end strides", outputs="dx", training=True)
class StridedSliceGrad(Operator):
    """Gradient of StridedSlice."""

    begin_mask: int = long(0)
    end_mask: int = long(1)
    ellipsis_mask: int = long(2)
    new_axis_mask: int = long(3)
    shrink_axis_mask: int = long(4)


@operator(153, inputs="dy a b", outputs="da db", training=True)
class SubGrad(Operator):
    """Gradient of Sub."""
