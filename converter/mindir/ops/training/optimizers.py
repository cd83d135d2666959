"""Optimizer steps and assignments."""

from __future__ import annotations

from .._declare import Operator, boolean, operator, real


@operator(
    4,
    inputs="weight m v beta1_power beta2_power learning_rate beta1 beta2 epsilon gradient",
    outputs="weight [m] [v]",
    training=True,
)
class Adam(Operator):
    """Adam step. Kernels need all outputs; MindSpore's files, in which inputs are updated in place, are rewritten."""

    use_locking: bool = boolean(0)
    use_nesterov: bool = boolean(1)


@operator(
    220,
    inputs="weight m v learning_rate beta1 beta2 epsilon decay gradient",
    outputs="weight [m] [v]",
    training=True,
    since_1_3=False,
)
class AdamWeightDecay(Operator):
    """Adam step with decoupled weight decay. Kernels need all outputs."""

    use_locking: bool = boolean(0)


@operator(
    10, inputs="weight accumulator learning_rate gradient momentum", outputs="weight [accumulator]", training=True
)
class ApplyMomentum(Operator):
    """Momentum step. Kernels need all outputs."""

    use_nesterov: bool = boolean(0)
    use_locking: bool = boolean(1)
    gradient_scale: float = real(2)


@operator(14, inputs="variable value", outputs="variable", training=True)
class Assign(Operator):
    """Sets a variable."""


@operator(15, inputs="variable value", outputs="variable", training=True)
class AssignAdd(Operator):
    """Adds to a variable."""


@operator(
    129,
    inputs="weight gradient learning_rate accumulator momentum stat",
    outputs="weight [accumulator] [stat]",
    training=True,
)
class SGD(Operator):
    """Stochastic gradient descent step; in the first (stat > 0) the accumulator is the gradient. Kernels need all
    outputs."""

    nesterov: bool = boolean(0)
    dampening: float = real(1)
    weight_decay: float = real(2)


@operator(
    1905,
    inputs="weight rows index learning_rate",
    outputs="weight",
    training=True,
    custom_type="mslite.SparseDescent",
)
class SparseDescent(Operator):
    """Gradient descent step on the rows of a table that were read; `rows` are their gradients, `index` their positions.

    Repeated rows get one step, with the sum of their gradients in the order of `index`.
    """
