"""Selects the steps whose constants are compressed, and the number of tiles in which they are decompressed.

With one tile, all weights of a layer are decompressed at once, which needs the most memory. With smaller tiles, a
kernel runs several times, for a few output channels each, and reads its input each time. A layer gets the largest tile
that does not increase the arena. If even the smallest tile increases it, the layer is compressed only if this saves
eight times as much flash as it costs memory.
"""

from __future__ import annotations

from dataclasses import replace

from mslite.codegen.compress.layers import Tiles, tiled, whole, with_tiles
from mslite.codegen.memory import MemoryOptions, plan_memory
from mslite.codegen.memory.usage import arena_usage
from mslite.codegen.program import Plan, Program, Step

_WORTH = 128
"""Smallest saving of a step in bytes."""
_CODE = 1200
"""Smallest saving of all steps together in bytes: about the size of the code for decompression."""
_MIN_CHANNELS = 4
_ROUNDS = 12
_PRICE = 8
"""Bytes of flash that must be saved for each additional byte of memory."""


def compressed(program: Program, memory: MemoryOptions, is_micro: bool) -> Program:
    """Returns the program with compressed constants for the steps where this saves flash. The additional memory is
    limited on microcontrollers only."""
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
    """Returns the program with compressed steps, and the compressed step for each original one."""
    made = {step: with_tiles(step, tiles) for step, tiles in chosen.items()}
    return replace(program, steps=[made.get(step, step) for step in program.steps]), made


def _fit(program: Program, memory: MemoryOptions, chosen: dict[Step, Tiles]) -> None:
    """Makes tiles smaller, or removes them from `chosen`, until the arena is not larger than without compression."""
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
    """Returns tiles with half as many channels or fewer, or None if the kernel does not support it or nothing is
    saved."""
    channels = tiles.channels // 2
    while channels >= _MIN_CHANNELS:
        channels -= channels % _MIN_CHANNELS
        found = tiled(program, step, plain, channels)
        if found is not None and found.saved >= _WORTH:
            return found
        channels //= 2
    return None


def _in_use(program: Program, plan: Plan) -> dict[Step, int]:
    """Returns the bytes of the arena that are in use while each step runs."""
    picture = arena_usage(program, plan)
    return {entry: picture.in_use[column] for column, entry in enumerate(plan.order, 1) if isinstance(entry, Step)}
