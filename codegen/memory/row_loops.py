"""Makes row loops from the iterations of a chain: calls and moves with their offsets."""

from __future__ import annotations

from dataclasses import replace

from mslite.codegen.memory.layout import Block
from mslite.codegen.memory.lifetimes import BufferLifetimes, ChainBuffers
from mslite.codegen.memory.rows import Chain
from mslite.codegen.memory.timeline import PlacedBuffer
from mslite.codegen.program import FusedRows, RowCall, RowLoop, RowMove, Tensor

_Turn = tuple[tuple[RowMove, ...], tuple[RowCall, ...]]


def fused_rows(
    chain: Chain,
    things: ChainBuffers,
    at: dict[PlacedBuffer, int],
    place: dict[Tensor, tuple[Block, int]],
    lives: BufferLifetimes,
) -> FusedRows:
    """Returns the row loops of a chain. `at`: offsets of buffers."""
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
        first, places = turn.begin(layer, rows), []
        for operand, tensor in chain.sources[layer]:
            inside = first - (turn.start[tensor] if tensor else 0)
            places.append((operand, buffers[tensor] + inside * chain.row_size[tensor]))
        advancing = next((operand for operand, tensor in chain.sources[layer] if tensor == 0), rows.input)
        before = turn.new[layer + 1] - turn.start[layer + 1]
        target = buffers[layer + 1] + before * chain.row_size[layer + 1]
        calls.append(RowCall(layer, band, places[0][1], target, workspaces[layer], 0, 0, tuple(places[1:]), advancing))
    return tuple(moves), tuple(calls)


def _loops(turns: list[_Turn]) -> list[RowLoop]:
    """Joins iterations to loops if their offsets differ by constant advances only."""
    loops: list[RowLoop] = []
    for moves, calls in turns:
        loop = loops[-1] if loops else None
        if loop is not None and loop.moves == moves and len(loop.calls) == len(calls):
            following = [_following(old, new, loop.count) for old, new in zip(loop.calls, calls, strict=True)]
            steady = [call for call in following if call is not None]
            if len(steady) == len(calls):
                loops[-1] = RowLoop(loop.count + 1, moves, tuple(steady))
                continue
        loops.append(RowLoop(1, moves, calls))
    return loops


def _following(old: RowCall, new: RowCall, count: int) -> RowCall | None:
    """Returns call `old`, which runs `count` times, with advances such that its next iteration is `new`; None if there
    are none."""
    distance = _place(new) - _place(old)
    advances = distance // count, (new.output - old.output) // count
    if min(advances) < 0 or (count > 1 and advances != (old.input_advance, old.output_advance)):
        return None
    there = replace(
        old,
        input=old.input + (0 if old.advancing in dict(old.others) else distance),
        others=tuple((operand, place + (distance if operand == old.advancing else 0)) for operand, place in old.others),
        output=old.output + count * advances[1],
        input_advance=0,
        output_advance=0,
    )
    if there != new or distance != count * advances[0]:
        return None
    return replace(old, input_advance=advances[0], output_advance=advances[1])


def _place(call: RowCall) -> int:
    """Returns the offset of the input that may advance."""
    return dict(call.others).get(call.advancing, call.input)
