"""Checks the memory plan of a chain of row-wise steps, call by call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.codegen.program import FusedRows, RowCall, RowMove, Step, Tensor

Labels = npt.NDArray[np.int64]


@dataclass(eq=False)
class RowChecker:
    """Simulates the calls of a chain.

    `memory`: labels of the arena; `contents[l]`: labels of the rows of tensor l; `ready[l]`: number of its computed
    rows; `fail` makes an exception of a message.
    """

    memory: Labels
    chain: FusedRows
    contents: list[Labels]
    fail: Callable[[str], Exception]

    def run(self) -> None:
        """Raises the exception of `fail` unless every call reads the right rows."""
        tensors = chain_tensors(self.chain)
        self.numbers = {tensor: number for number, tensor in enumerate(tensors)}
        self.ready = [tensors[0].shape[1]] + [0] * len(self.chain.steps)
        self.heights = [tensor.shape[1] for tensor in tensors]
        for loop in self.chain.loops:
            for turn in range(loop.count):
                for move in loop.moves:
                    self.move(move)
                for call in loop.calls:
                    self.call(call, turn)
        if self.ready[-1] != self.heights[-1]:
            raise self.fail(f"{self.chain.name}: computes {self.ready[-1]} of {self.heights[-1]} rows")

    def move(self, move: RowMove) -> None:
        if max(move.target, move.source) + move.size > len(self.memory) or min(move.target, move.source) < 0:
            raise self.fail(f"{self.chain.name}: moves bytes outside of the arena")
        self.memory[move.target : move.target + move.size] = self.memory[move.source : move.source + move.size].copy()

    def call(self, call: RowCall, turn: int) -> None:
        step = self.chain.steps[call.layer]
        rows = step.rows
        assert rows is not None
        output = call.step.outputs[0]
        first = self.ready[call.layer + 1]
        target = call.output + turn * call.output_advance
        spans = {"output": (target, target + output.size)}
        for operand, place in ((rows.input, call.input), *call.others):
            begin = place + (turn * call.input_advance if operand == call.advancing else 0)
            spans[f"input {operand}"] = self.read(call, operand, begin, first)
            end = spans[f"input {operand}"][1]
            if max(begin, target) < min(end, spans["output"][1]) and not _may_share(call.step, operand, target, begin):
                raise self.fail(f"{step.name}: rows of its output overlap its input")
        size = call.step.workspace
        if size:
            spans["workspace"] = (call.workspace, call.workspace + size)
            for name, (low, high) in spans.items():
                if name != "workspace" and max(low, call.workspace) < min(high, call.workspace + size):
                    raise self.fail(f"{step.name}: its workspace overlaps its {name}")
        if max(end for _, end in spans.values()) > len(self.memory):
            raise self.fail(f"{step.name}: ends after the end of the arena")
        if size:
            self.memory[call.workspace : call.workspace + size] = -2
        layer = call.layer
        computed = self.contents[layer + 1][first : first + output.shape[1]].reshape(-1)
        if len(computed) != output.size:
            raise self.fail(f"{step.name}: computes rows past the end of its output")
        self.memory[target : target + output.size] = computed
        self.ready[layer + 1] += output.shape[1]

    def read(self, call: RowCall, operand: int, begin: int, first: int) -> tuple[int, int]:
        """Checks the rows of one input that the output rows from `first` on need. Returns their first and last
        offset."""
        step = self.chain.steps[call.layer]
        rows, whole, part = step.rows, step.inputs[operand], call.step.inputs[operand]
        assert rows is not None
        assert whole is not None
        assert part is not None
        number = self.numbers[whole]
        low = first * rows.stride - rows.pad
        end = min(self.heights[number], low + (call.step.outputs[0].shape[1] - 1) * rows.stride + rows.extent)
        low = max(0, low)
        if part.shape[1] != max(0, end - low) or end > self.ready[number]:
            raise self.fail(f"{step.name}: needs rows {low} to {end}, but {self.ready[number]} are computed")
        expected = self.contents[number][low:end].reshape(-1)
        if not np.array_equal(self.memory[begin : begin + len(expected)], expected):
            raise self.fail(f"{step.name}: rows of {whole.name} are overwritten before they are read")
        return begin, begin + len(expected)


def chain_tensors(chain: FusedRows) -> list[Tensor]:
    """Returns the input of the chain and the outputs of its steps."""
    computed = [step.outputs[0] for step in chain.steps]
    for step in chain.steps:
        for place, operand in enumerate(step.inputs):
            rows = () if step.rows is None else (step.rows.input, *step.rows.others)
            if operand is not None and place in rows and operand not in computed:
                return [operand, *computed]
    raise ValueError("a chain without input")


def _may_share(step: Step, operand: int, target: int, begin: int) -> bool:
    if step.in_place == operand and target == begin:
        return True
    return any(overlap.input == operand and target + overlap.lead <= begin for overlap in step.overlaps)
