"""Primitives without computation: tuples, execution order, identity, and subgraphs."""

from __future__ import annotations

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops import training as ops
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.unary import Cast

from .call import Call
from .entries import Choice, Closure, Entry, Failed, Immediate, Order, Sequence, UnsupportedResult, flattened
from .exceptions import UpstreamUnsupported
from .registry import primitive

_OPEN_RANK = -2
"""The value in MindSpore's shapes for an unknown rank."""


def _operand(call: Call, index: int) -> Entry:
    if index >= len(call.entries):
        raise call.block(f"input {index} is missing")
    if isinstance(call.entries[index], Failed):
        raise UpstreamUnsupported
    return call.entries[index]


@primitive("MakeTuple", "MakeList", "make_tuple", "make_list", operators="")
def make_tuple(call: Call) -> Entry:
    if any(isinstance(entry, Failed) for entry in call.entries):
        raise UpstreamUnsupported
    return Sequence(tuple(call.entries))


@primitive("TupleGetItem", "ListGetItem", "tuple_getitem", "list_getitem", operators="Gather")
def tuple_get_item(call: Call) -> Entry:
    source = _operand(call, 0)
    index = call.constant(1, "the index").reshape(-1)
    if index.size != 1 or index.dtype.kind not in "iu":
        raise call.block("its index is not an integer")
    number = int(index[0])
    if isinstance(source, Immediate) and isinstance(source.contents, tuple):
        source = Sequence(tuple(Immediate(item) for item in source.contents))
    if isinstance(source, Sequence):
        if not -len(source.items) <= number < len(source.items):
            raise call.block(f"it reads item {number} of a tuple of {len(source.items)}")
        return source.items[number]
    if not isinstance(source, Value):
        raise call.block("its operand is not a tuple")
    if source.producer is not None and source.producer.op.name == "Shape":
        return call.cast(call.emit(Gather(), source, call.ints(number), call.ints(0)), call.declared_type)
    if number != 0:
        raise call.block(f"it reads item {number}, but its operand has only one")
    return source


@primitive(
    *("Depend", "Load", "StopGradient", "Identity", "stop_gradient", "Return", "return", "InsertGradientOf"),
    *("DynamicLossScale", "ScalarToTensor", "TensorToScalar"),
    operators="",
)
def pass_on(call: Call) -> Entry:
    """Returns the first operand; other operands only order nodes or state types."""
    return _operand(call, 0)


@primitive("TupleToTensor", "ListToTensor", operators="Stack Cast", arguments="input_tuple dtype")
def tuple_to_tensor(call: Call) -> Entry:
    """Converts a tuple of scalars, some of them computed, to a vector of the stated type."""
    source = _operand(call, 0)
    if isinstance(source, Immediate):
        return source
    made, wanted = call.value(source), call.declared_type
    if wanted is DataType.UNKNOWN or call.dtype(made) is wanted:
        return made
    return call.emit(Cast(), made, call.ints(int(wanted)))


@primitive("TensorToTuple", operators="Gather")
def tensor_to_tuple(call: Call) -> Entry:
    """Converts a vector to a tuple; the file has the number of its elements."""
    source = _operand(call, 0)
    if not isinstance(source, Value) or source.data is not None or call.declared_outputs < 2:
        return source
    picked = (call.emit(Gather(), source, call.ints(i), call.ints(0)) for i in range(call.declared_outputs))
    return Sequence(tuple(picked))


@primitive("InSequence", operators="")
def in_sequence(call: Call) -> Entry:
    """Returns whether a scalar is in a tuple. MindSpore searches a shape for -2, an unknown rank; the
    result of a Shape node never contains it."""
    wanted, items = _operand(call, 0), _operand(call, 1)
    if isinstance(items, Immediate) and isinstance(items.contents, tuple):
        items = Sequence(tuple(Immediate(item) for item in items.contents))
    is_shape = isinstance(items, Value) and items.producer is not None and items.producer.op.name == "Shape"
    if isinstance(wanted, Immediate) and is_shape and wanted.contents == _OPEN_RANK:
        return Immediate(False)
    if isinstance(wanted, Immediate) and isinstance(items, Sequence):
        known = [item.contents for item in items.items if isinstance(item, Immediate)]
        if wanted.contents in known or len(known) == len(items.items):
            return Immediate(wanted.contents in known)
    raise call.block("it searches a tuple for a computed value", "Use an attribute of the network as the condition")


@primitive("is_", "is_not", operators="")
def is_same(call: Call) -> Entry:
    """Compares two constants for identity."""
    first, second = _operand(call, 0), _operand(call, 1)
    if not isinstance(first, Immediate) or not isinstance(second, Immediate):
        raise call.block("it compares computed values", "Compare with == in the model")
    same = type(first.contents) is type(second.contents) and first.contents == second.contents
    return Immediate(same == (call.operator == "is_"))


@primitive("Dropout2D", "Dropout3D", operators="", arguments="x keep_prob")
@primitive("DropoutExt", operators="", arguments="input p seed offset")
@primitive("Dropout", operators="", arguments="x keep_prob Seed0 Seed1")
def dropout(call: Call) -> Entry:
    """Returns the input for inference. A node that reads the mask is unsupported."""
    x = call.input(0)
    kept = call.real("keep_prob", 0.5)
    if call.scope.session.trains and 0 < kept < 1 and x.producer is not None:
        x = call.emit(ops.Dropout(keep_prob=kept), x)
    return Sequence((x, UnsupportedResult("the mask of a Dropout is not computed"))) if call.declared_outputs > 1 else x


@primitive("Print", operators="")
def printed(call: Call) -> Entry:
    """Drops Print: models print nothing at inference."""
    return Immediate(None)


@primitive("UpdateState", operators="")
def update_state(call: Call) -> Entry:
    return Order()


@primitive("Partial", "PartialFusion", operators="PartialFusion")
def partial(call: Call) -> Entry:
    target = _operand(call, 0)
    if not isinstance(target, Closure):
        raise call.block("its first input is not a subgraph")
    arguments = tuple(call.value(entry) for entry in flattened(call.entries[1:]))
    return Closure(target.graph, (*target.arguments, *arguments))


@primitive("Switch", "switch", operators="Switch")
def switch(call: Call) -> Entry:
    branches = call.entries[1:]
    if len(branches) != 2:
        raise call.block(f"it has {len(branches)} branches instead of 2")
    condition = _operand(call, 0)
    if isinstance(condition, Immediate) and isinstance(condition.contents, bool):
        return _branch(call, branches[0 if condition.contents else 1])
    return Choice(call.input(0), tuple(_branch(call, entry) for entry in branches))


@primitive("SwitchLayer", "switch_layer", operators="SwitchLayer")
def switch_layer(call: Call) -> Entry:
    branches = [
        each for entry in call.entries[1:] for each in (entry.items if isinstance(entry, Sequence) else (entry,))
    ]
    if not branches:
        raise call.block("it has no branches")
    return Choice(call.input(0), tuple(_branch(call, entry) for entry in branches), by_index=True)


def _branch(call: Call, entry: Entry) -> Closure:
    if isinstance(entry, Failed):
        raise UpstreamUnsupported
    if not isinstance(entry, Closure):
        raise call.block("one of its branches is not a subgraph", "Export control flow with functions as branches")
    return entry
