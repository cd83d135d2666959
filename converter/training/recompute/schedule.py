"""Finds the cheapest checkpointing schedule of a chain of stages within a memory limit.

Each stage computes its output from the output of the stage before. Its backward pass needs that input, the values that
the stage saved, and the gradient of its output. A stage may run without saving values, and again later. Dynamic
programming finds the optimum of all schedules in which stored outputs are kept until the backward pass has used them
(Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova: "Optimal checkpointing for heterogeneous chains", 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Stage:
    """A stage; memory is in any unit, the same for all stages."""

    cost: float
    """Cost of the forward pass."""
    output: int
    """Size of the output, and of its gradient."""
    saved: int
    """Size of the values of this stage that its backward pass and that of the next stage read, including the output."""
    discarding: int = 0
    """Further memory of the forward pass, besides input and output, if values are not saved..."""
    saving: int = 0
    """...and if they are saved, besides the saved values."""
    backward: int = 0
    """Further memory of the backward pass, besides the saved values and the gradients of output and input; negative if
    these gradients
    share memory."""


class Kind(Enum):
    DISCARD = "forward, keep only the output"
    SAVE = "forward, keep the values that the backward pass reads"
    BACKWARD = "backward"


@dataclass(frozen=True)
class Step:
    kind: Kind
    stage: int


class Chain:
    """The optimal schedules of a chain for each memory up to `memory`. The input of the first stage is not counted."""

    def __init__(self, stages: list[Stage], memory: int) -> None:
        self._stages = stages
        count = len(stages)
        self._sums = np.concatenate(([0.0], np.cumsum([stage.cost for stage in stages])))
        self._costs = np.full((count, count, memory + 1), np.inf)
        """[s, t, m]: cost of the forward and backward passes of stages s ... t in memory m, without the input of s."""
        self._choices = np.zeros((count, count, memory + 1), np.int32)
        """[s, t, m]: the stage before which an output is stored; s: the values of stage s are saved."""
        for last in range(count):
            self._end_at(last)

    def _end_at(self, last: int) -> None:
        """Computes the segments that end with this stage, beginning with the shortest."""
        stages, memory = self._stages, self._costs.shape[2] - 1
        amounts = np.arange(memory + 1)
        behind = np.full((last + 1, memory + 1), np.inf)
        """[k]: cost of stages k ... last, with the input of k stored in the same memory."""
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
        """Returns for each stage k after `first` the memory to run `first` ... k - 1 without saving, with the gradient
        of `last`."""
        stages = self._stages
        needs, most = [], 0
        for place in range(first, last):
            before = stages[place - 1].output if place > first else 0
            most = max(most, before + stages[place].output + stages[place].discarding)
            needs.append(stages[last].output + most)
        return np.asarray(needs, np.int64)

    def cost(self, memory: int) -> float:
        """Returns the cost of all forward passes; infinite if no schedule fits."""
        return float(self._costs[0, -1, memory])

    def levels(self) -> list[int]:
        """Returns the memory sizes at which the cost decreases, beginning with the smallest possible."""
        costs = self._costs[0, -1]
        return [
            memory
            for memory, cost in enumerate(costs)
            if np.isfinite(cost) and (not memory or cost < costs[memory - 1])
        ]

    def schedule(self, memory: int) -> list[Step]:
        """Returns the steps of the optimal schedule. Raises ValueError if none fits."""
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
    """Returns the costs by memory if `taken` of it is used."""
    shifted = np.full_like(costs, np.inf)
    if taken < len(costs):
        shifted[taken:] = costs[: len(costs) - taken]
    return shifted
