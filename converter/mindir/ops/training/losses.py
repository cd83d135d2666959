"""Losses, and their gradients."""

from __future__ import annotations

from .._declare import Operator, boolean, enum, operator, real
from ..enums import Reduction


@operator(24, inputs="probabilities labels [weight]", outputs="loss", training=True)
class BinaryCrossEntropy(Operator):
    """Binary cross entropy of probabilities; the mean is divided by the number of elements, independent of weights."""

    reduction: Reduction = enum(0, Reduction.REDUCTION_SUM)


@operator(25, inputs="probabilities labels dloss [weight]", outputs="dx", training=True)
class BinaryCrossEntropyGrad(Operator):
    """Gradient of BinaryCrossEntropy with respect to the probabilities."""

    reduction: Reduction = enum(0, Reduction.MEAN)


@operator(207, inputs="log_probabilities labels weights", outputs="loss total_weight", training=True, since_1_3=False)
class NLLLoss(Operator):
    """Negative log likelihood of rows; the mean is divided by the sum of the labels' weights, which is the second
    output."""

    reduction: Reduction = enum(0, Reduction.REDUCTION_SUM)


@operator(
    208, inputs="log_probabilities dloss labels weights total_weight", outputs="dx", training=True, since_1_3=False
)
class NLLLossGrad(Operator):
    """Gradient of NLLLoss."""

    reduction: Reduction = enum(0, Reduction.REDUCTION_SUM)


@operator(131, inputs="logits labels", outputs="loss", training=True)
class SigmoidCrossEntropyWithLogits(Operator):
    """Sigmoid cross entropy loss."""


@operator(132, inputs="logits labels dloss", outputs="dx", training=True)
class SigmoidCrossEntropyWithLogitsGrad(Operator):
    """Gradient of SigmoidCrossEntropyWithLogits."""


@operator(136, inputs="prediction target", outputs="loss", training=True)
class SmoothL1Loss(Operator):
    """Smooth L1 (Huber) loss."""

    beta: float = real(0)


@operator(137, inputs="prediction target dloss", outputs="dx", training=True)
class SmoothL1LossGrad(Operator):
    """Gradient of SmoothL1Loss."""

    beta: float = real(0)


@operator(139, inputs="logits labels", outputs="loss [dlogits]", training=True)
class SoftmaxCrossEntropyWithLogits(Operator):
    """Softmax cross entropy loss."""


@operator(143, inputs="logits labels", outputs="loss", training=True)
class SparseSoftmaxCrossEntropyWithLogits(Operator):
    """Softmax cross entropy loss with integer labels."""

    is_grad: bool = boolean(0)
