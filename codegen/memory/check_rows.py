"""The part of the checker that follows a chain of row-wise steps, call by call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.codegen.program import FusedRows, RowCall, RowMove, Step, Tensor

Labels = npt.NDArray[np.int64]


@dataclass(eq=False)
class RowChecker:
    """`memory`: the arena's labels; `contents[l]`: those of the rows of tensor l, of which `ready[l]` were computed."""

    memory: Labels
    chain: FusedRows
    contents: list[Labels]
    fail: Callable[[str], Exception]

    def run(self) -> None:
        """Raises what `fail` makes of a message unless every call reads the rows that it must."""
        tensors = _tensors(self.chain)
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
        source, output = call.step.inputs[rows.input], call.step.outputs[0]
        assert source is not None
        first, layer = self.ready[call.layer + 1], call.layer
        low = first * rows.stride - rows.pad
        end = min(self.heights[layer], low + (output.shape[1] - 1) * rows.stride + rows.extent)
        low = max(0, low)
        if source.shape[1] != max(0, end - low) or end > self.ready[layer]:
            raise self.fail(f"{step.name}: rows {low} to {end} are needed, of {self.ready[layer]} that are computed")
        expected = self.contents[layer][low:end].reshape(-1)
        begin = call.input + turn * call.input_advance
        if not np.array_equal(self.memory[begin : begin + len(expected)], expected):
            raise self.fail(f"{step.name}: rows of {source.name} are overwritten before they are read")
        target = call.output + turn * call.output_advance
        spans = {"input": (begin, begin + len(expected)), "output": (target, target + output.size)}
        size = call.step.workspace
        if size:
            spans["workspace"] = (call.workspace, call.workspace + size)
            for name in ("input", "output"):
                if max(spans[name][0], call.workspace) < min(spans[name][1], call.workspace + size):
                    raise self.fail(f"{step.name}: its workspace lies over its {name}")
        if max(begin, target) < min(spans["input"][1], spans["output"][1]) and not _may_share(call.step, target, begin):
            raise self.fail(f"{step.name}: rows of its output lie over its input")
        if max(end for _, end in spans.values()) > len(self.memory):
            raise self.fail(f"{step.name}: ends after the end of the arena")
        if size:
            self.memory[call.workspace : call.workspace + size] = -2
        computed = self.contents[layer + 1][first : first + output.shape[1]].reshape(-1)
        if len(computed) != output.size:
            raise self.fail(f"{step.name}: computes rows that it has not")
        self.memory[target : target + output.size] = computed
        self.ready[layer + 1] += output.shape[1]


def _tensors(chain: FusedRows) -> list[Tensor]:
    rows = chain.steps[0].rows
    assert rows is not None
    source = chain.steps[0].inputs[rows.input]
    assert source is not None
    return [source, *(step.outputs[0] for step in chain.steps)]


def _may_share(step: Step, target: int, begin: int) -> bool:
    rows = step.rows
    number = rows.input if rows is not None else 0
    if step.in_place == number and target == begin:
        return True
    return any(overlap.input == number and target + overlap.lead <= begin for overlap in step.overlaps)
