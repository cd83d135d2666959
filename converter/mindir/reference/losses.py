"""References of losses with a reduction attribute, and of their gradients."""

from __future__ import annotations

import numpy as np

from ..ops import training as ops
from ..ops.enums import Reduction
from ._declare import Array, Inputs, case, float32, integers, normal, reference

_TINY = 1e-12


def _reduced(losses: Array, reduction: Reduction, divisor: float) -> Array:
    if reduction is Reduction.NONE:
        return losses
    return np.asarray(losses.sum() / (divisor if reduction is Reduction.MEAN else 1.0))


@reference("BinaryCrossEntropy")
def binary_cross_entropy(op: ops.BinaryCrossEntropy, inputs: Inputs) -> list[Array]:
    """-(t log p + (1 - t) log(1 - p)) times the weight, as elements, sum or mean; arguments of log are at least
    1e-12."""
    p, t, *weight = (np.asarray(array, np.float64) for array in inputs)
    losses = -(t * np.log(np.maximum(p, _TINY)) + (1 - t) * np.log(np.maximum(1 - p, _TINY)))
    reduced = _reduced(losses * weight[0] if weight else losses, op.reduction, losses.size)
    return [np.atleast_1d(reduced).astype(np.float32)]


@reference("BinaryCrossEntropyGrad")
def binary_cross_entropy_gradient(op: ops.BinaryCrossEntropyGrad, inputs: Inputs) -> list[Array]:
    """dloss (p - t) / (p (1 - p)) times the weight, divided by the number of elements for a mean."""
    p, t, dloss, *weight = (np.asarray(array, np.float64) for array in inputs)
    own = dloss * (p - t) / np.maximum(p * (1 - p), _TINY) * (weight[0] if weight else 1)
    return [(own / p.size if op.reduction is Reduction.MEAN else own).astype(np.float32)]


@reference("NLLLoss")
def negative_log_likelihood(op: ops.NLLLoss, inputs: Inputs) -> list[Array]:
    """-weights[label] * log_probabilities[label], as rows, sum or weighted mean, and the sum of these weights."""
    logarithms, labels, weights = (np.asarray(array) for array in inputs)
    own = weights[labels].astype(np.float64)
    losses = -own * logarithms[np.arange(len(labels)), labels]
    return [float32(_reduced(losses, op.reduction, own.sum())), float32(own.sum())]


@reference("NLLLossGrad")
def negative_log_likelihood_gradient(op: ops.NLLLossGrad, inputs: Inputs) -> list[Array]:
    """-dloss weights[label] at the label, divided by the sum of weights for a mean; zeros elsewhere."""
    logarithms, dloss, labels, weights, total = (np.asarray(array) for array in inputs)
    own = -dloss.astype(np.float64) * weights[labels]
    gradient = np.zeros(logarithms.shape)
    gradient[np.arange(len(labels)), labels] = own / total if op.reduction is Reduction.MEAN else own
    return [gradient.astype(np.float32)]


_p = float32(1 / (1 + np.exp(-3 * normal(6, 7))))
_t = float32(normal(6, 7) > 0)
_sure = float32([0, 0, 1, 1])
_logarithms = -np.abs(normal(9, 5))
_labels = integers(0, 5, 9)
_weights = np.abs(normal(5)) + np.float32(0.1)
for _reduction in Reduction:
    _name, _none = _reduction.name.lower(), _reduction is Reduction.NONE
    for _label, _more in (("", []), ("-weighted", [np.abs(normal(6, 7))])):
        case(f"{_name}{_label}", ops.BinaryCrossEntropy(reduction=_reduction), [_p, _t, *_more])
        case(f"{_name}{_label}", ops.BinaryCrossEntropyGrad(reduction=_reduction),
             [_p, _t, normal(6, 7) if _none else normal(1), *_more])  # fmt: skip
    case(f"{_name}-sure", ops.BinaryCrossEntropy(reduction=_reduction), [_sure, _sure[::-1].copy()])
    case(f"{_name}-sure", ops.BinaryCrossEntropyGrad(reduction=_reduction),
         [_sure, float32([0, 1, 0, 1]), normal(4) if _none else normal(1)])  # fmt: skip
    case(_name, ops.NLLLoss(reduction=_reduction), [_logarithms, _labels, _weights])
    case(_name, ops.NLLLossGrad(reduction=_reduction),
         [_logarithms, normal(9) if _none else float32(0.7), _labels, _weights, float32(_weights[_labels].sum())])  # fmt: skip
