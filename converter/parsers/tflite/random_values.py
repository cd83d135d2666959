"""Random values. With the seeds of the model, they are the same in every run."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import SubFusion
from mslite.converter.mindir.ops.creation import RandomStandardNormal, UniformReal
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import ExpandDims
from mslite.converter.mindir.ops.reduction import ArgMaxFusion
from mslite.converter.mindir.ops.unary import Log, Neg

from .call import Call
from .registry import tflite_operator


def _seeds(call: Call) -> dict[str, int]:
    return {name: call.options.integer(name) for name in ("seed", "seed2")}


@tflite_operator("RANDOM_UNIFORM")
def uniform(call: Call) -> Value:
    return call.emit(UniformReal(**_seeds(call)), call.int32(0))


@tflite_operator("RANDOM_STANDARD_NORMAL")
def normal(call: Call) -> Value:
    return call.emit(RandomStandardNormal(**_seeds(call)), call.int32(0))


@tflite_operator("MULTINOMIAL")
def multinomial(call: Call) -> Value:
    """Converts MULTINOMIAL: samples classes from logits [batch, classes] as argmax(logit - log(-log(uniform)))."""
    count = call.number(1, "the number of samples")
    if call.rank(0) != 2 or count < 0:
        raise call.block(f"{count} samples from logits of shape {call.shape(0)} are not valid")
    batch, classes = call.shape(0)
    numbers = call.emit(UniformReal(**_seeds(call)), call.ints((batch, count, classes)))
    noise = call.emit(Log(), call.emit(Neg(), call.emit(Log(), numbers)))
    logits = call.emit(ExpandDims(), call.as_type(call.input(0), DataType.FLOAT32), call.ints(1))
    op = ArgMaxFusion(axis=2, top_k=1, keep_dims=False)
    return call.as_declared(call.emit(op, call.emit(SubFusion(), logits, noise)))
