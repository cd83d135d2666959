"""Random values: the distribution is MindSpore's, but the values are different even with the same seeds."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import AddFusion, MulFusion, SubFusion
from mslite.converter.mindir.ops.comparison import Less
from mslite.converter.mindir.ops.creation import RandomStandardNormal, UniformReal
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Shape
from mslite.converter.mindir.ops.unary import Floor

from .call import Call
from .registry import primitive


def _float(call: Call, index: int) -> Value:
    return call.cast(call.input(index), DataType.FLOAT32)


def _shape_of(call: Call, index: int) -> Value:
    return call.emit(Shape(), call.input(index))


def _between(call: Call, shape: Value, low: Value, high: Value) -> Value:
    """Returns uniformly distributed float32 values in [low, high)."""
    width = call.emit(SubFusion(), high, low)
    return call.emit(AddFusion(), call.emit(MulFusion(), call.emit(UniformReal(), shape), width), low)


@primitive("RandExt", operators="UniformReal Cast", arguments="shape seed offset dtype device")
def uniform(call: Call) -> Value:
    return call.cast(call.emit(UniformReal(), call.index_list(0)), call.declared_type)


@primitive("RandLikeExt", operators="UniformReal Shape Cast", arguments="tensor seed offset dtype device")
def uniform_like(call: Call) -> Value:
    return call.cast(call.emit(UniformReal(), _shape_of(call, 0)), call.declared_type)


@primitive("UniformExt", operators="UniformReal MulFusion AddFusion", arguments="tensor a b seed offset")
def uniform_between(call: Call) -> Value:
    return call.cast(_between(call, _shape_of(call, 0), _float(call, 1), _float(call, 2)), call.declared_type)


@primitive("Randn", operators="RandomStandardNormal Cast", arguments="shape seed offset dtype device")
def normal(call: Call) -> Value:
    return call.cast(call.emit(RandomStandardNormal(), call.index_list(0)), call.declared_type)


@primitive("RandnLike", operators="RandomStandardNormal Shape Cast", arguments="input seed offset dtype device")
def normal_like(call: Call) -> Value:
    return call.cast(call.emit(RandomStandardNormal(), _shape_of(call, 0)), call.declared_type)


@primitive(
    "NormalFloatFloat", operators="RandomStandardNormal MulFusion AddFusion", arguments="mean std size seed offset"
)
@primitive(*("NormalFloatTensor", "NormalTensorFloat", "NormalTensorTensor"),
           operators="RandomStandardNormal MulFusion AddFusion", arguments="mean std seed offset")  # fmt: skip
def normal_around(call: Call) -> Value:
    """Converts normal distributions with a tensor or a scalar as mean and as standard deviation."""
    mean, deviation = _float(call, 0), _float(call, 1)
    if call.operator == "NormalFloatFloat":
        shape = call.index_list(2)
    else:
        shape = call.emit(Shape(), call.emit(AddFusion(), mean, deviation))
    numbers = call.emit(MulFusion(), call.emit(RandomStandardNormal(), shape), deviation)
    return call.cast(call.emit(AddFusion(), numbers, mean), call.declared_type)


@primitive("UniformInt", operators="UniformReal Floor Cast", arguments="shape low high")
@primitive("RandIntLike", operators="UniformReal Floor Cast", arguments="input low high seed offset dtype device")
@primitive("RandInt", operators="UniformReal Floor Cast", arguments="low high shape seed offset dtype device")
def integers(call: Call) -> Value:
    """Converts random integers in [low, high)."""
    first = 0 if call.operator == "RandInt" else 1
    if call.operator == "RandIntLike":
        shape = _shape_of(call, 0)
    else:
        shape = call.index_list(2 if call.operator == "RandInt" else 0)
    made = call.emit(Floor(), _between(call, shape, _float(call, first), _float(call, first + 1)))
    return call.cast(made, DataType.INT32 if call.declared_type is DataType.UNKNOWN else call.declared_type)


@primitive("Bernoulli", operators="UniformReal Less Cast", arguments="x p")
@primitive("BernoulliExt", operators="UniformReal Less Cast", arguments="input seed offset")
def coins(call: Call) -> Value:
    """Converts Bernoulli: 1 with probability p; without an operand p, the elements are the probabilities."""
    chance = _float(call, 1 if call.operator == "Bernoulli" else 0)
    drawn = call.emit(Less(), call.emit(UniformReal(), _shape_of(call, 0)), chance)
    return call.cast(drawn, DataType.FLOAT32 if call.declared_type is DataType.UNKNOWN else call.declared_type)
