"""What to keep of a chain of stages so that their backward pass fits into memory at the least cost.

Each stage makes its output of that of the stage before. Its backward pass needs the output before it, what the stage saved, and
the gradient of its output. A stage may run without saving, and once more later. The optimum over all schedules whose stored
outputs stay until the backward pass has used them is found by dynamic programming (Beaumont, Eyraud-Dubois, Herrmann, Joly,
Shilova: "Optimal checkpointing for heterogeneous chains", 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Stage:
    """One stage; memory is in any unit, the same for all."""

    cost: float
    """Of its forward pass."""
    output: int
    """What the next stage reads; its gradient is as large."""
    saved: int
    """What its backward pass and that of the next one read of what it makes, the output included."""
    discarding: int = 0
    """What its forward pass needs for itself beside its input and output, where nothing is saved..."""
    saving: int = 0
    """...and beside what is saved."""
    backward: int = 0
    """What its backward pass needs beside what is saved and the gradients of output and input; negative where one of these takes
    the place of the other."""


class Kind(Enum):
    DISCARD = "forward, and only the output stays"
    SAVE = "forward, and what the backward pass reads stays"
    BACKWARD = "backward"


@dataclass(frozen=True)
class Step:
    kind: Kind
    stage: int


class Chain:
    """The schedules of a chain for each memory up to `memory`. The first input costs nothing: it is the caller's."""

    def __init__(self, stages: list[Stage], memory: int) -> None:
        self._stages = stages
        count = len(stages)
        self._sums = np.concatenate(([0.0], np.cumsum([stage.cost for stage in stages])))
        self._costs = np.full((count, count, memory + 1), np.inf)
        """[s, t, m]: forward and backward passes of stages s ... t in memory m, the output before s not counted."""
        self._choices = np.zeros((count, count, memory + 1), np.int32)
        """The stage before which an output is stored; s: what stage s makes is saved."""
        for last in range(count):
            self._end_at(last)

    def _end_at(self, last: int) -> None:
        """The segments whose last stage this is, from the shortest on."""
        stages, memory = self._stages, self._costs.shape[2] - 1
        amounts = np.arange(memory + 1)
        behind = np.full((last + 1, memory + 1), np.inf)
        """[k]: stages k ... last, with the output before k stored in the same memory."""
        gradient = stages[last].output
        for first in range(last, -1, -1):
            stage = stages[first]
            before = stages[first - 1].output if first else 0
            least = max(gradient + stage.saved + stage.saving, stage.output + stage.saved + before + stage.backward)
            if first == last:
                self._costs[first, last] = np.where(amounts >= least, stage.cost, np.inf)
                self._choices[first, last] = first
            else:
                rest = _shifted(self._costs[first + 1, last], stage.saved)
                options = [np.where(amounts >= least, stage.cost + rest, np.inf)[None]]
                needs = self._needs_to_reach(first, last)
                ways = self._sums[first + 1 : last + 1, None] - self._sums[first]
                ways = ways + behind[first + 1 : last + 1] + self._costs[first, first:last]
                options.append(np.where(amounts >= needs[:, None], ways, np.inf))
                together = np.concatenate(options)
                chosen = together.argmin(0)
                self._choices[first, last] = first + chosen
                self._costs[first, last] = together[chosen, amounts]
            behind[first] = _shifted(self._costs[first, last], before)

    def _needs_to_reach(self, first: int, last: int) -> npt.NDArray[np.int64]:
        """For each stage k behind `first`: the memory in which `first` ... k - 1 run without saving, with the gradient of `last`."""
        stages = self._stages
        needs, most = [], 0
        for place in range(first, last):
            before = stages[place - 1].output if place > first else 0
            most = max(most, before + stages[place].output + stages[place].discarding)
            needs.append(stages[last].output + most)
        return np.asarray(needs, np.int64)

    def cost(self, memory: int) -> float:
        """Of all forward passes; infinite where no schedule fits."""
        return float(self._costs[0, -1, memory])

    def levels(self) -> list[int]:
        """The memories at which the cost falls, from the smallest that suffices on."""
        costs = self._costs[0, -1]
        return [
            memory
            for memory, cost in enumerate(costs)
            if np.isfinite(cost) and (not memory or cost < costs[memory - 1])
        ]

    def schedule(self, memory: int) -> list[Step]:
        """Raises ValueError where none fits."""
        if not np.isfinite(self.cost(memory)):
            raise ValueError(f"no schedule fits into {memory}")
        steps: list[Step] = []
        open_tasks: list[Step | tuple[int, int, int]] = [(0, len(self._stages) - 1, memory)]
        while open_tasks:
            task = open_tasks.pop()
            if isinstance(task, Step):
                steps.append(task)
                continue
            first, last, room = task
            chosen = int(self._choices[first, last, room])
            if chosen == first:
                steps.append(Step(Kind.SAVE, first))
                open_tasks.append(Step(Kind.BACKWARD, first))
                if first < last:
                    open_tasks.append((first + 1, last, room - self._stages[first].saved))
            else:
                steps += [Step(Kind.DISCARD, stage) for stage in range(first, chosen)]
                open_tasks.append((first, chosen - 1, room))
                open_tasks.append((chosen, last, room - self._stages[chosen - 1].output))
        return steps


def _shifted(costs: npt.NDArray[np.float64], taken: int) -> npt.NDArray[np.float64]:
    """By memory, where `taken` of it is not there."""
    shifted = np.full_like(costs, np.inf)
    if taken < len(costs):
        shifted[taken:] = costs[: len(costs) - taken]
    return shifted
