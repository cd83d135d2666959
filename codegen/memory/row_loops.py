"""The turns of a fused chain as loops: calls and moves with their addresses."""

from __future__ import annotations

from dataclasses import replace

from mslite.codegen.memory.layout import Block
from mslite.codegen.memory.lives import Lives, RowThings
from mslite.codegen.memory.rows import Chain
from mslite.codegen.memory.timeline import Thing
from mslite.codegen.program import FusedRows, RowCall, RowLoop, RowMove, Tensor

_Turn = tuple[tuple[RowMove, ...], tuple[RowCall, ...]]


def fused_rows(
    chain: Chain, things: RowThings, at: dict[Thing, int], place: dict[Tensor, tuple[Block, int]], lives: Lives
) -> FusedRows:
    """`at`: offsets of things."""
    block, inside = place[chain.tensors[0]]
    source = at[lives.later.get(block, lives.homes[block])] + inside
    block, inside = place[chain.tensors[-1]]
    target = at[lives.homes[block]] + inside
    buffers = [0 if thing is None else at[thing] for thing in things.buffers]
    buffers[0], buffers[-1] = source, target
    workspaces = [0 if thing is None else at[thing] for thing in things.workspaces]
    turns = [_turn(chain, place, buffers, workspaces) for place in range(len(chain.turns))]
    return FusedRows(chain.name, list(chain.steps), _loops(turns))


def _turn(chain: Chain, place: int, buffers: list[int], workspaces: list[int]) -> _Turn:
    turn = chain.turns[place]
    moves, calls = [], []
    for tensor in range(1, len(chain.steps)):
        kept = turn.new[tensor] - turn.start[tensor]
        shift = turn.start[tensor] - chain.turns[place - 1].start[tensor] if place else 0
        if kept > 0 and shift > 0:
            row = chain.row_size[tensor]
            moves.append(RowMove(buffers[tensor], buffers[tensor] + shift * row, kept * row))
    for layer, band in enumerate(turn.bands):
        rows = chain.steps[layer].rows
        if band is None or rows is None:
            continue
        first = turn.begin(layer, rows) - (turn.start[layer] if layer else 0)
        before = turn.new[layer + 1] - turn.start[layer + 1]
        source = buffers[layer] + first * chain.row_size[layer]
        target = buffers[layer + 1] + before * chain.row_size[layer + 1]
        calls.append(RowCall(layer, band, source, target, workspaces[layer], 0, 0))
    return tuple(moves), tuple(calls)


def _loops(turns: list[_Turn]) -> list[RowLoop]:
    """Turns that differ by steady advances only become one loop."""
    loops: list[RowLoop] = []
    for moves, calls in turns:
        loop = loops[-1] if loops else None
        if loop is not None and loop.moves == moves and len(loop.calls) == len(calls):
            advances = [
                ((new.input - old.input) // loop.count, (new.output - old.output) // loop.count)
                for old, new in zip(loop.calls, calls, strict=True)
            ]
            steady = all(
                (new.layer, new.step, new.workspace) == (old.layer, old.step, old.workspace)
                and (loop.count == 1 or advance == (old.input_advance, old.output_advance))
                and old.input + loop.count * advance[0] == new.input
                and old.output + loop.count * advance[1] == new.output
                and min(advance) >= 0
                for old, new, advance in zip(loop.calls, calls, advances, strict=True)
            )
            if steady:
                advanced = tuple(
                    replace(old, input_advance=advance[0], output_advance=advance[1])
                    for old, advance in zip(loop.calls, advances, strict=True)
                )
                loops[-1] = RowLoop(loop.count + 1, moves, advanced)
                continue
        loops.append(RowLoop(1, moves, calls))
    return loops
