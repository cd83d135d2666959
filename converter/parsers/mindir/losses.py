"""Losses, which some networks return in addition to their results."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, Maximum, MulFusion, SubFusion
from mslite.converter.mindir.ops.comparison import Equal, Greater, Less, NotEqual, Where
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.indexing import Gather, GatherD
from mslite.converter.mindir.ops.rearrange import ExpandDims, Reshape
from mslite.converter.mindir.ops.unary import Abs, ExpFusion, Log, Log1p, Neg, Sqrt, Square

from .call import Call
from .entries import Entry, Sequence
from .generic import cast_to_common_type, convert_same_operator
from .matmul import times
from .registry import primitive
from .statistics import reduced

_REDUCTIONS = {0: "sum", 1: "mean", 2: "none"}


def _reduction(call: Call, default: str = "mean") -> str:
    """Returns the reduction `sum`, `mean`, `batchmean` or `none`, which is stored as a string or an integer."""
    given = call.attribute("reduction")
    found = default if given is None else _REDUCTIONS.get(given, given)
    if found not in ("sum", "mean", "batchmean", "none"):
        raise call.block(f"{given!r} is not sum, mean, batchmean or none", attribute="reduction")
    return str(found)


def _finished(call: Call, losses: Value, default: str = "mean") -> Value:
    """Applies the reduction to the losses of all elements."""
    kind = _reduction(call, default)
    if kind == "none":
        return losses
    if kind == "batchmean":
        batch = call.size(call.input(0), 0, "a mean over the batch")
        return times(call, reduced(call, ReduceMode.ReduceSum, losses, None, False), 1 / max(batch, 1))
    mode = ReduceMode.ReduceMean if kind == "mean" else ReduceMode.ReduceSum
    return reduced(call, mode, losses, None, False)


def _exponential(call: Call, x: Value) -> Value:
    return call.emit(ExpFusion(base=-1.0, scale=1.0, shift=0.0), x)


def _difference(call: Call) -> Value:
    return call.emit(SubFusion(), *cast_to_common_type(call, call.input(0), call.input(1)))


@primitive("MSELossExt", operators="SubFusion Square ReduceFusion", arguments="input target reduction")
def squared_error(call: Call) -> Value:
    return _finished(call, call.emit(Square(), _difference(call)))


@primitive("L1LossExt", operators="SubFusion Abs ReduceFusion", arguments="input target reduction")
def absolute_error(call: Call) -> Value:
    return _finished(call, call.emit(Abs(), _difference(call)))


@primitive(
    "SmoothL1Loss", operators="SubFusion Abs Square Where ReduceFusion", arguments="prediction target beta reduction"
)
def smooth_error(call: Call) -> Value:
    """Converts SmoothL1Loss: d^2 / (2 beta) for distances d below beta, d - beta / 2 above."""
    if call.scope.session.trains:
        return call.value(convert_same_operator(call, OPERATORS["SmoothL1Loss"]))
    beta = call.real("beta", 1.0)
    distance = call.emit(Abs(), _difference(call))
    if beta == 0:
        return _finished(call, distance, "none")
    curved = times(call, call.emit(Square(), distance), 0.5 / beta)
    straight = call.emit(SubFusion(), distance, call.like(beta / 2, distance))
    near = call.emit(Less(), distance, call.like(beta, distance))
    return _finished(call, call.emit(Where(), near, curved, straight), "none")


@primitive("L2Loss", operators="ReduceFusion MulFusion", arguments="input_x")
def half_of_squares(call: Call) -> Value:
    return times(call, reduced(call, ReduceMode.ReduceSumSquare, call.input(0), None, False), 0.5)


@primitive(
    "BCEWithLogitsLoss",
    operators="Maximum Log1p ExpFusion ReduceFusion",
    arguments="input target weight posWeight reduction",
)
def binary_cross_entropy_of_logits(call: Call) -> Value:
    """Converts BCEWithLogitsLoss: (1 - t) x + (1 + (w - 1) t) (log(1 + exp(-|x|)) + max(-x, 0)); w is posWeight."""
    x, target, weight, positive = call.input(0), call.input(1), call.optional(2), call.optional(3)
    rest = call.emit(Log1p(), _exponential(call, call.emit(Neg(), call.emit(Abs(), x))))
    soft = call.emit(AddFusion(), rest, call.emit(Maximum(), call.emit(Neg(), x), call.like(0, x)))
    if positive is not None:
        factor = call.emit(MulFusion(), call.emit(SubFusion(), positive, call.like(1, x)), target)
        soft = call.emit(MulFusion(), soft, call.emit(AddFusion(), factor, call.like(1, x)))
    first = call.emit(MulFusion(), call.emit(SubFusion(), call.like(1, x), target), x)
    losses = call.emit(AddFusion(), first, soft)
    return _finished(call, losses if weight is None else call.emit(MulFusion(), losses, weight))


@primitive(
    "KLDiv", "KLDivLoss", operators="Log MulFusion Where ReduceFusion", arguments="input target reduction log_target"
)
def divergence(call: Call) -> Value:
    """Converts KLDivLoss: t (log t - x), 0 if t is not positive; exp(t) (t - x) with log_target."""
    x, target = call.input(0), call.input(1)
    if call.boolean("log_target"):
        return _finished(call, call.emit(MulFusion(), _exponential(call, target), call.emit(SubFusion(), target, x)))
    losses = call.emit(MulFusion(), target, call.emit(SubFusion(), call.emit(Log(), target), x))
    positive = call.emit(Greater(), target, call.like(0, target))
    return _finished(call, call.emit(Where(), positive, losses, call.like(0, losses)))


@primitive("SoftMarginLoss", operators="MulFusion ExpFusion Log1p ReduceFusion", arguments="input target reduction")
def soft_margin(call: Call) -> Value:
    """Converts SoftMarginLoss: log(1 + exp(-t x))."""
    product = call.emit(MulFusion(), *cast_to_common_type(call, call.input(0), call.input(1)))
    return _finished(call, call.emit(Log1p(), _exponential(call, call.emit(Neg(), product))))


@primitive(
    "MultiMarginLoss",
    operators="GatherD SubFusion Maximum PowFusion ReduceFusion",
    arguments="x target weight p margin reduction",
)
def margins(call: Call) -> Value:
    """Converts MultiMarginLoss: sum of max(0, margin - x[y] + x[j])^p over classes j other than the label y, divided by
    the number of classes, times the weight of the label."""
    x, target, power = call.input(0), call.input(1), call.integer("p", 1)
    if call.rank(x) == 1:
        x, target = (call.emit(Reshape(), each, call.ints(shape)) for each, shape in ((x, (1, -1)), (target, (-1,))))
    classes = call.size(x, 1, "a margin loss")
    column = call.emit(ExpandDims(), target, call.ints(1))
    own = call.emit(GatherD(), x, call.ints(1), column)
    over = call.emit(AddFusion(), call.emit(SubFusion(), x, own), call.like(call.real("margin", 1.0), x))
    over = call.emit(Maximum(), over, call.like(0, x))
    over = call.emit(Square(), over) if power == 2 else over
    others = call.emit(NotEqual(), call.const(np.arange(classes)[None], np.int64), call.cast(column, DataType.INT64))
    over = call.emit(Where(), others, over, call.like(0, x))
    losses = times(call, reduced(call, ReduceMode.ReduceSum, over, (1,), False), 1 / classes)
    weight = call.optional(2)
    if weight is not None:
        losses = call.emit(MulFusion(), losses, call.emit(Gather(), weight, target, call.ints(0)))
    return _finished(call, losses)


@primitive(
    "CosineEmbeddingLoss",
    operators="ReduceFusion DivFusion Maximum Where",
    arguments="input1 input2 target margin reduction",
)
def cosine_error(call: Call) -> Value:
    """Converts CosineEmbeddingLoss: 1 - cos for target 1, max(0, cos - margin) for target -1."""
    a, b, target = call.input(0), call.input(1), call.input(2)
    axes = (call.rank(a) - 1,)

    def added(first: Value, second: Value) -> Value:
        return reduced(call, ReduceMode.ReduceSum, call.emit(MulFusion(), first, second), axes, False)

    least = 1e-12
    squares = (call.emit(AddFusion(), added(each, each), call.like(least, a)) for each in (a, b))
    cosine = call.emit(DivFusion(), added(a, b), call.emit(Sqrt(), call.emit(MulFusion(), *squares)))
    away = call.emit(SubFusion(), cosine, call.like(call.real("margin", 0.0), a))
    away = call.emit(Maximum(), away, call.like(0, a))
    near = call.emit(SubFusion(), call.like(1, a), cosine)
    losses = call.emit(Where(), call.emit(Equal(), target, call.like(1, target)), near, away)
    return _finished(call, losses)


@primitive(
    "NLLLoss2d",
    operators="GatherD MulFusion DivFusion ReduceFusion",
    arguments="input target weight reduction ignore_index",
)
def likelihood_of_images(call: Call) -> Entry:
    """Converts NLLLoss2d: log probabilities [batch, classes, height, width], labels [batch, height, width]."""
    return Sequence(_likelihood(call))


@primitive(
    "NLLLoss",
    operators="NLLLoss GatherD MulFusion DivFusion ReduceFusion",
    arguments="logits labels weight reduction ignore_index",
)
def likelihood(call: Call) -> Entry:
    """Converts NLLLoss: to mslite's operator in training; else to the loss and the sum of the weights, without ignored
    labels."""
    if call.scope.session.trains:
        return convert_same_operator(call, OPERATORS["NLLLoss"])
    return Sequence(_likelihood(call))


def _likelihood(call: Call) -> tuple[Value, Value]:
    x, labels, weight = call.input(0), call.input(1), call.optional(2)
    column = call.emit(ExpandDims(), labels, call.ints(1 if call.rank(x) > 1 else 0))
    axis = call.ints(1 if call.rank(x) > 1 else 0)
    ignored = call.integer("ignore_index", -100)
    counted = call.emit(NotEqual(), labels, call.like(ignored, labels))
    inside = call.emit(Where(), call.emit(NotEqual(), column, call.like(ignored, column)), column, call.like(0, column))
    picked = call.emit(
        Reshape(), call.emit(GatherD(), x, axis, inside), call.ints(call.require_shape(labels, "a loss"))
    )
    shares = call.cast(counted, DataType.FLOAT32)
    if weight is not None:
        flat = call.emit(Reshape(), inside, call.ints(call.require_shape(labels, "a loss")))
        shares = call.emit(MulFusion(), shares, call.emit(Gather(), weight, flat, call.ints(0)))
    losses = call.emit(Neg(), call.emit(MulFusion(), picked, shares))
    total = reduced(call, ReduceMode.ReduceSum, shares, None, False)
    kind = _reduction(call)
    if kind == "none":
        return losses, total
    result = reduced(call, ReduceMode.ReduceSum, losses, None, False)
    return (call.emit(DivFusion(), result, total) if kind == "mean" else result), total
