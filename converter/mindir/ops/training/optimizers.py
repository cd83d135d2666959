"""Steps of optimizers, and assignments."""

from __future__ import annotations

from .._declare import Operator, boolean, operator, real


@operator(
    4,
    inputs="weight m v beta1_power beta2_power learning_rate beta1 beta2 epsilon gradient",
    outputs="weight [m] [v]",
    training=True,
)
class Adam(Operator):
    """Adam optimizer step. Kernels want all results: MindSpore's files, where it changes operands, are rewritten so."""

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
    """Adam step with decoupled weight decay. Kernels want all results."""

    use_locking: bool = boolean(0)


@operator(
    10, inputs="weight accumulator learning_rate gradient momentum", outputs="weight [accumulator]", training=True
)
class ApplyMomentum(Operator):
    """Momentum optimizer step. Kernels want all results."""

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
    """Stochastic gradient descent step; at the first (stat > 0) the accumulator is the gradient. Kernels want all results."""

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
    """Step of gradient descent on the rows of a table that were read; `rows` are their gradients, `index` says which rows they are.

    Rows that are named several times get one step, by the sum of their gradients in the order of `index`.
    """
