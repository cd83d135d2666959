"""Which steps get compressed constants, and in how many tiles they are unpacked.

One tile costs the working memory of a whole layer's weights, but runs the kernel once; smaller tiles cost less memory, and
the kernel looks at its input once for each. So a layer gets the largest tile that leaves the arena as large as it is
without compression. Where even the smallest one does not, it is taken if it spares eight times as much flash as it costs
memory, and the layer stays as it is otherwise.
"""

from __future__ import annotations

from dataclasses import replace

from mslite.codegen.compress.layers import Tiles, tiled, whole, with_tiles
from mslite.codegen.memory import MemoryOptions, plan_memory
from mslite.codegen.memory.picture import make_picture
from mslite.codegen.program import Plan, Program, Step

_WORTH = 128
"""Bytes that a step has to spare."""
_CODE = 1200
"""Bytes of code that unpacking takes, about: what all steps have to spare together."""
_LEAST_CHANNELS = 4
_ROUNDS = 12
_PRICE = 8
"""Bytes of flash for one of memory."""


def compressed(program: Program, memory: MemoryOptions, is_micro: bool) -> Program:
    """The program with the constants of those steps compressed that gain by it. Memory is no concern but on
    microcontrollers."""
    chosen: dict[Step, Tiles] = {}
    for step in program.steps:
        tiles = whole(step) if step.call is None else None
        if tiles is not None and tiles.saved >= _WORTH:
            chosen[step] = tiles
    if sum(tiles.saved for tiles in chosen.values()) < _CODE:
        return program
    if is_micro:
        _fit(program, memory, chosen)
    return _with(program, chosen)[0]


def _with(program: Program, chosen: dict[Step, Tiles]) -> tuple[Program, dict[Step, Step]]:
    """The program, and the steps that stand for the old ones."""
    made = {step: with_tiles(step, tiles) for step, tiles in chosen.items()}
    return replace(program, steps=[made.get(step, step) for step in program.steps]), made


def _fit(program: Program, memory: MemoryOptions, chosen: dict[Step, Tiles]) -> None:
    """Makes tiles smaller, or drops them, until the arena is as large as without any."""
    plain = dict(chosen)
    limit = plan_memory(program, memory).size
    for _ in range(_ROUNDS):
        changed, made = _with(program, chosen)
        plan = plan_memory(changed, memory)
        if plan.size <= limit:
            return
        in_use = _in_use(changed, plan)
        full = [step for step in chosen if in_use.get(made[step], 0) > limit]
        smaller = {step: _smaller(program, step, plain[step], chosen[step]) for step in full}
        for step, tiles in smaller.items():
            if tiles is not None:
                chosen[step] = tiles
            elif chosen[step].saved < _PRICE * (in_use[made[step]] - limit):
                del chosen[step]
        if not any(tiles is not None for tiles in smaller.values()) and all(step in chosen for step in full):
            return


def _smaller(program: Program, step: Step, plain: Tiles, tiles: Tiles) -> Tiles | None:
    """Half as many channels at a time, or less, where that is possible and still spares something."""
    channels = tiles.channels // 2
    while channels >= _LEAST_CHANNELS:
        channels -= channels % _LEAST_CHANNELS
        found = tiled(program, step, plain, channels)
        if found is not None and found.saved >= _WORTH:
            return found
        channels //= 2
    return None


def _in_use(program: Program, plan: Plan) -> dict[Step, int]:
    """Bytes of the arena that are in use while a step runs."""
    picture = make_picture(program, plan)
    return {entry: picture.in_use[column] for column, entry in enumerate(plan.order, 1) if isinstance(entry, Step)}
