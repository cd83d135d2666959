"""Recognizes loops over time steps that are a recurrent layer, and converts them to the fused operator.

Besides values that it only reads, such a loop has counters from 0 in steps of 1, the states of one cell, and lists that
the hidden state is written to. By the known shapes, it must end when a counter reaches the length of the sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from mslite.converter.mindir.graph import Array, Node, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import AddFusion, Maximum, Minimum
from mslite.converter.mindir.ops.comparison import Greater, Less, LogicalAnd
from mslite.converter.mindir.ops.control_flow import TensorListFromTensor, TensorListGetItem, TensorListSetItem
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Squeeze, Unsqueeze

from . import lists
from .call import Call
from .recurrent_cells import Cell, CellReader
from .session import Inference


@dataclass(frozen=True)
class Loop:
    """A loop. The lists have an entry for each loop variable: its initial value, its current and next value in the
    body, and its value in the condition."""

    start: Sequence[Value]
    now: Sequence[Value]
    following: Sequence[Value]
    checked: Sequence[Value]
    go_on: Value
    """Result of the condition."""


@dataclass(frozen=True)
class RecurrentLayer:
    """A recognized recurrent layer. The lists have indices of loop variables."""

    cell: Cell
    sequence: Value
    """A tensor list of elements [batch, input]."""
    states: tuple[int, ...]
    """The hidden state, and for LSTM the cell state."""
    whole: list[int]
    """Tensor lists with the hidden state of every step."""
    last: list[int]
    """Tensor lists with the hidden state of the last step."""
    counters: list[int]
    steps: Value | int


def recognized(loop: Loop, inference: Inference) -> RecurrentLayer | None:
    """Returns the recurrent layer of a loop, or None."""
    reader = _LoopReader(loop, inference)
    return reader.layer()


class _LoopReader:
    def __init__(self, loop: Loop, inference: Inference) -> None:
        self._loop = loop
        self._inference = inference
        count = range(len(loop.start))
        self._kept = [number for number in count if loop.following[number] is loop.now[number]]
        self._counters = [number for number in count if self._is_counter(number)]
        self._written = [number for number in count if _made_by(loop.following[number], TensorListSetItem) is not None]
        known = {*self._kept, *self._counters, *self._written}
        self._states = [number for number in count if number not in known]

    def layer(self) -> RecurrentLayer | None:
        loop = self._loop
        steps = self._steps()
        read = self._sequence(steps) if steps is not None else None
        if steps is None or read is None or not 1 <= len(self._states) <= 2:
            return None
        element, sequence = read
        assert sequence.shape is not None
        reader = CellReader(self._constant)
        for states in permutations(self._states):
            now, following = ([values[number] for number in states] for values in (loop.now, loop.following))
            if len(states) == 2:
                cell = reader.lstm(element, now[0], now[1], following[0], following[1])
            else:
                cell = reader.gru(element, now[0], following[0]) or reader.plain(element, now[0], following[0])
            if cell is not None and self._states_fit(states, sequence.shape[1], cell):
                return self._with_lists(cell, sequence, states, steps)
        return None

    def _constant(self, value: Value) -> Array | None:
        """Returns the contents of a constant, or of a loop variable that is constant and does not change; else None."""
        for number in self._kept:
            if value is self._loop.now[number]:
                return self._inference.constant(self._loop.start[number])
        return self._inference.constant(value)

    def _is_counter(self, number: int) -> bool:
        """Returns whether a loop variable is a scalar that starts at 0 and is incremented by 1."""
        node = _made_by(self._loop.following[number], AddFusion)
        first = self._inference.contents(self._loop.start[number])
        if node is None or first is None or first.size != 1 or first.dtype.kind != "i" or first.item() != 0:
            return False
        for value, other in permutations(node.inputs):
            step = self._inference.contents(other)
            if value is self._loop.now[number] and step is not None and step.size == 1 and step.item() == 1:
                return True
        return False

    # ---- number of iterations ----

    def _steps(self) -> tuple[int, Value | int] | None:
        """Returns the number of iterations as a size or symbol, and as a value; None if unknown."""
        limits = self._limits(self._loop.go_on)
        if not limits or any(size != limits[0][0] for size, _ in limits):
            return None
        return limits[0]

    def _limits(self, condition: Value) -> list[tuple[int, Value | int]] | None:
        """Returns the limits of the condition, which has the form counter < limit (and ...); None for other
        conditions."""
        loop, node = self._loop, condition.producer
        if node is not None and isinstance(node.op, LogicalAnd):
            found = [self._limits(value) for value in node.inputs]
            joined = [limit for limits in found for limit in limits or ()]
            return None if any(limits is None for limits in found) else joined
        if node is None or not isinstance(node.op, (Less, Greater)):
            known = self._inference.contents(condition)
            return [] if known is not None and known.all() else None
        counter, limit = node.inputs if isinstance(node.op, Less) else reversed(node.inputs)
        if not any(counter is loop.checked[number] for number in self._counters):
            return None
        for number in self._kept:
            if limit is loop.checked[number]:
                size = self._size(loop.start[number])
                return None if size is None else [(size, loop.start[number])]
        known = self._inference.contents(limit)
        return [(int(known.item()),) * 2] if known is not None and known.size == 1 and known.dtype.kind == "i" else None

    def _size(self, value: Value) -> int | None:
        """Returns the size or symbol of a scalar, or None. Also recognizes min(n, max(1, n)), which is n."""
        node = _made_by(value, Minimum)
        for size, other in permutations([] if node is None else node.inputs, 2):
            inner, wanted = _made_by(other, Maximum), self._size(size)
            if inner is not None and wanted is not None and wanted in [self._size(part) for part in inner.inputs]:
                least = [self._inference.contents(part) for part in inner.inputs]
                if any(part is not None and part.size == 1 and part.item() == 1 for part in least):
                    return wanted
        sizes = self._inference.sizes(value)
        return sizes[0] if sizes is not None and len(sizes) == 1 else None

    # ---- lists that are read and written ----

    def _sequence(self, steps: tuple[int, Value | int]) -> tuple[Value, Value] | None:
        """Returns the element that the body reads, and its list; None if there is not exactly one."""
        loop = self._loop
        reads = [
            (node.output, number)
            for number in self._kept
            for node in loop.now[number].users
            if isinstance(node.op, TensorListGetItem)
            and any(node.inputs[1] is loop.now[counter] for counter in self._counters)
        ]
        if len(reads) != 1:
            return None
        element, sequence = reads[0][0], loop.start[reads[0][1]]
        shape = sequence.shape
        if shape is None or len(shape) != 3 or shape[0] != steps[0] or shape[2] < 1 or element.rank != 2:
            return None
        return (element, sequence) if sequence.dtype is DataType.FLOAT32 else None

    def _states_fit(self, states: Sequence[int], batch: int, cell: Cell) -> bool:
        """Returns whether the initial states have the shapes that the operator needs."""
        hidden = cell.weight_hidden.shape[1]
        widths = (hidden, hidden if cell.projection is None else cell.projection.shape[0])
        values = [self._loop.start[number] for number in states]
        return all(
            value.dtype is DataType.FLOAT32 and value.shape == (batch, width)
            for value, width in zip(values, widths, strict=False)
        )

    def _with_lists(
        self, cell: Cell, sequence: Value, states: tuple[int, ...], steps: tuple[int, Value | int]
    ) -> RecurrentLayer | None:
        loop, hidden = self._loop, self._loop.following[states[0]]
        whole: list[int] = []
        last: list[int] = []
        for number in self._written:
            node = _made_by(loop.following[number], TensorListSetItem)
            assert node is not None
            shape, index = loop.start[number].shape, self._inference.contents(node.inputs[1])
            if node.inputs[0] is not loop.now[number] or node.inputs[2] is not hidden or not shape:
                return None
            if any(node.inputs[1] is loop.now[counter] for counter in self._counters) and shape[0] == steps[0]:
                whole.append(number)
            elif index is not None and index.size == 1 and index.item() == 0 and shape[0] == 1:
                last.append(number)
            else:
                return None
        return RecurrentLayer(cell, sequence, states, whole, last, self._counters, steps[1])


def emitted(call: Call, layer: RecurrentLayer, start: Sequence[Value]) -> list[Value]:
    """Emits the fused operator; returns the values of the loop variables after the loop. `start` has their initial
    values."""
    source = layer.sequence.producer
    if source is not None and isinstance(source.op, TensorListFromTensor):
        x = source.inputs[0]
    else:
        x = lists.stack(call, layer.sequence, call.ints(-1))
    cell = layer.cell
    operands = [call.const(part[np.newaxis]) for part in (cell.weight_input, cell.weight_hidden, cell.bias)]
    operands += [call.emit(Unsqueeze(axis=(0,)), start[number]) for number in layer.states]
    if cell.peepholes is not None:
        operands.append(call.const(cell.peepholes[np.newaxis]))
    if cell.projection is not None:
        operands.append(call.const(np.ascontiguousarray(cell.projection.T)[np.newaxis]))
    y, *finals = call.emit_many(cell.operator, [x, *operands], 1 + len(layer.states))
    results = list(start)
    for number in layer.counters:
        steps = call.ints(layer.steps) if isinstance(layer.steps, int) else layer.steps
        results[number] = call.as_type(steps, start[number].dtype)
    for number, final in zip(layer.states, finals, strict=True):
        results[number] = call.emit(Squeeze(axis=(0,)), final)
    for number in layer.whole:
        results[number] = lists.from_tensor(call, call.emit(Squeeze(axis=(1,)), y), call.ints(-1))
    for number in layer.last:
        results[number] = lists.from_tensor(call, finals[0], call.ints(-1))
    return results


def _made_by(value: Value, kind: type[Operator]) -> Node | None:
    """Returns the node that computes a value if it has the operator `kind`, else None."""
    node = value.producer
    return node if node is not None and isinstance(node.op, kind) else None
