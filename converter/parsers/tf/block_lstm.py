"""BlockLSTM: an LSTM over a sequence; its results are all gates of all steps."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Value
from mslite.converter.mindir.ops.arithmetic import Minimum
from mslite.converter.mindir.ops.assembly import Stack, Unstack
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.indexing import Gather
from mslite.converter.mindir.ops.rearrange import Reshape, Shape

from . import lists
from .call import Call
from .control_flow import while_loop
from .model import ARGUMENT, Ref, SourceGraph, SourceNode
from .recurrent import OUTPUTS, lstm_step
from .registry import tf_operator

_LONGEST = 512
"""Largest number of steps that are unrolled."""

_ARGUMENTS = ("i", "steps", "x", "cs", "h", "w", "wci", "wcf", "wco", "b", "one", "open")


@tf_operator("BlockLSTM", "BlockLSTMV2")
def block_lstm(call: Call) -> Sequence[Value]:
    """Converts BlockLSTM. Its inputs are seq_len_max, x [time, batch, input], cell, hidden, w, wci, wcf, wco, b.

    The gate order is i c f o, in version 2 i f c o. Steps from seq_len_max on are 0.
    """
    x = call.input(1)
    if call.require_rank(x) != 3:
        raise call.block(f"the input has {call.require_rank(x)} dimensions, not 3")
    assert x.shape is not None
    limit, time = call.scope.session.inference.sizes(call.input(0)), x.shape[0]
    is_whole = limit is not None and len(limit) == 1 and (limit[0] == time or limit[0] >= time >= 0)
    only_hidden = not any(call.is_read(number) for number in range(len(OUTPUTS) - 1))
    if is_whole and 1 <= time <= _LONGEST and not only_hidden:
        return _written_out(call, x, time)
    return _loop(call, x, is_whole)


def _step(call: Call, x: Value, state: tuple[Value, Value], weights: Sequence[Value]) -> dict[str, Value]:
    second = call.operator.endswith("V2")
    clip = call.real("cell_clip", 0.0 if second else 3.0)
    return lstm_step(call, x, state, weights, "ifco" if second else "icfo", clip)


def _written_out(call: Call, x: Value, steps: int) -> Sequence[Value]:
    cell, hidden = call.inputs(2, 4)
    weights = call.inputs(4, 9)
    made: dict[str, list[Value]] = {name: [] for name in OUTPUTS}
    for row in call.emit_many(Unstack(axis=0), [x], steps):
        step = _step(call, row, (cell, hidden), weights)
        cell, hidden = step["cs"], step["h"]
        for name in OUTPUTS:
            made[name].append(step[name])
    return tuple(
        call.emit(Stack(axis=0), *made[name]) if call.is_read(number) else made[name][0]
        for number, name in enumerate(OUTPUTS)
    )


@tf_operator("_BlockLSTMStep", "_BlockLSTMStepV2")
def block_step(call: Call) -> Sequence[Value]:
    """Converts one step of the loop of `_loop`. Its inputs are x, cell, hidden, w, wci, wcf, wco, b."""
    x, cell, hidden = call.inputs(0, 3)
    made = _step(call, x, (cell, hidden), call.inputs(3, 8))
    return tuple(made[name] for name in OUTPUTS)


def _loop(call: Call, x: Value, is_whole: bool) -> Sequence[Value]:
    """Converts the LSTM to a loop over tensor lists; only outputs that are read are computed."""
    read = [number for number in range(len(OUTPUTS)) if call.is_read(number)]
    hidden = call.input(3)
    width = call.require_size(hidden, 1, "BlockLSTM")
    rows = call.emit(Gather(), call.emit(Shape(), x), call.ints(0), call.ints(0))
    steps = rows if is_whole else call.emit(Minimum(), call.emit(Reshape(), call.int32(0), call.ints(())), rows)
    sequence = lists.from_tensor(call, x, call.ints(-1))
    results = [lists.reserve(call, call.ints((-1, width)), rows, DataType.FLOAT32) for _ in read]
    start = [call.ints(0), steps, sequence, *call.inputs(2, 9), call.ints(1), call.ints(-1), *results]
    body, condition = _graphs(call, read)
    after = while_loop(call, condition, body, start)[len(_ARGUMENTS) :]
    made = dict(zip(read, (lists.stack(call, value, call.ints((-1, width))) for value in after), strict=True))
    return tuple(made.get(number, hidden) for number in range(len(OUTPUTS)))


def _graphs(call: Call, read: Sequence[int]) -> tuple[SourceGraph, SourceGraph]:
    """Returns the body and the condition of the loop."""
    arguments = (*_ARGUMENTS, *(f"list_{number}" for number in read))
    given = {name: SourceNode(name, ARGUMENT) for name in arguments}
    weights = tuple(Ref(name) for name in _ARGUMENTS[5:10])
    operator = "_BlockLSTMStepV2" if call.operator.endswith("V2") else "_BlockLSTMStep"
    added = [
        SourceNode("x_t", "TensorListGetItem", (Ref("x"), Ref("i"), Ref("open"))),
        SourceNode("step", operator, (Ref("x_t"), Ref("cs"), Ref("h"), *weights), (), call.node.attributes),
        SourceNode("next", "AddV2", (Ref("i"), Ref("one"))),
    ]
    added += [
        SourceNode(f"set_{number}", "TensorListSetItem", (Ref(f"list_{number}"), Ref("i"), Ref("step", number)))
        for number in read
    ]
    changed = {"i": Ref("next"), "cs": Ref("step", 1), "h": Ref("step", len(OUTPUTS) - 1)}
    changed |= {f"list_{number}": Ref(f"set_{number}") for number in read}
    results = tuple(changed.get(name, Ref(name)) for name in arguments)
    body = SourceGraph(f"{call.name}_body", given | {node.name: node for node in added}, arguments, results)
    less = SourceNode("less", "Less", (Ref("i"), Ref("steps")))
    condition = SourceGraph(f"{call.name}_condition", given | {"less": less}, arguments, (Ref("less"),))
    return body, condition
