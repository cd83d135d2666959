"""Plans that spare memory at the price of more calls and moves: chains that run row by row, tensors that move."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mslite.codegen.memory import MemoryOptions, MemoryPlanError, check_plan, plan_memory
from mslite.codegen.memory.rows import BandCache, make_chain
from mslite.codegen.program import Band, FusedRows, Move, Overlap, Program, RowWise, Step

from .programs import cut, image, keywords, resnet8, separable, step, tensor

LEAST = MemoryOptions().least()


def test_goals() -> None:
    """What a convolution's output that overlaps its own dying input, and fused layers, make possible."""
    assert plan_memory(separable(lead=True), replace(LEAST, fuse_rows=False)).size <= 38 * 1024
    assert plan_memory(separable(lead=True), LEAST).size <= 30 * 1024
    assert plan_memory(resnet8(lead=True), LEAST).size <= 33 * 1024
    assert plan_memory(keywords(lead=True), LEAST).size <= 9 * 1024


def test_nothing_of_it_unless_asked() -> None:
    plan = plan_memory(separable(lead=True))
    assert all(isinstance(entry, Step) for entry in plan.order)


def test_fused_without_overlap() -> None:
    """Kernels that overlap nothing can be fused all the same."""
    assert plan_memory(separable(), LEAST).size < 36 * 1024


def test_moves_are_few() -> None:
    """Each pair of layers that would run out of room moves once, and what is small stays."""
    plan = plan_memory(keywords(lead=True), LEAST)
    moves = [entry for entry in plan.order if isinstance(entry, Move)]
    assert 1 <= len(moves) <= 8
    assert all(move.tensor.size == 8000 for move in moves)


def test_turns_become_loops() -> None:
    plan = plan_memory(separable(lead=True), LEAST)
    chains = [entry for entry in plan.order if isinstance(entry, FusedRows)]
    assert chains
    for chain in chains:
        assert len(chain.loops) <= 6
        assert max(loop.count for loop in chain.loops) > 10


def random_chain(shapes: list[tuple[int, int, int, int]], height: int, lead: bool) -> Program:
    """`shapes`: extent, stride, padding before, padding after; cut to what makes no window of padding alone."""
    x = source = image(height, 3, 2)
    steps = []
    for number, (extent, stride, before, after) in enumerate(shapes):
        high = source.shape[1]
        extent, before = min(extent, high), min(before, extent - 1, high - 1)
        rows = min((high + before + after - extent) // stride, (high + before - 1) // stride) + 1
        y = tensor(f"layer{number}", 1, rows, 3, 2)
        overlaps = (Overlap(0, 6 * (before + extent)),) if lead else ()
        windows = RowWise(extent, stride, before)
        steps.append(step(y.name, "Conv2DFusion", [source], [y], 8 * (number % 3), overlaps=overlaps, rows=windows))
        source = y
    return Program("chain", "cortex-m4", [x], [source], steps, cut)


LAYERS = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6
)


@settings(max_examples=40, deadline=None)
@given(LAYERS, st.integers(1, 30), st.booleans())
def test_random_chains(shapes: list[tuple[int, int, int, int]], height: int, lead: bool) -> None:
    """Every row of a chain is computed once, from rows that are there; plans of it pass the checker."""
    program = random_chain(shapes, height, lead)
    chain = make_chain(program.steps, BandCache(program))
    assert chain is not None
    for layer, one in enumerate(program.steps):
        assert one.rows is not None
        ready = 0
        for turn in chain.turns:
            band = turn.bands[layer]
            if band is not None:
                assert turn.new[layer + 1] == ready
                ready = turn.end[layer + 1]
                assert band.outputs[0].shape[1] == ready - turn.new[layer + 1]
                assert (ready - 1) * one.rows.stride - one.rows.pad + one.rows.extent <= turn.end[layer] or (
                    turn.end[layer] == chain.tensors[layer].shape[1]
                )
        assert ready == one.outputs[0].shape[1] or layer < len(program.steps) - 1
    whole, least = plan_memory(program), plan_memory(program, LEAST)
    check_plan(program, least, LEAST.alignment)
    assert least.size <= whole.size


def test_chain_of_refused_bands_is_not_fused() -> None:
    program = replace(separable(), cut=lambda whole, band: None)
    assert plan_memory(program, LEAST).size == 55_296


def test_no_fusion_across_what_others_read() -> None:
    """The input of a residual block is still needed behind it."""
    program = resnet8()
    for entry in plan_memory(program, LEAST).order:
        if isinstance(entry, FusedRows):
            inner = {one.outputs[0] for one in entry.steps[:-1]}
            for one in program.steps:
                assert one in entry.steps or not inner & set(one.inputs)


def test_checker_sees_wrong_rows() -> None:
    program = separable(lead=True)
    good = plan_memory(program, LEAST)
    place = next(place for place, entry in enumerate(good.order) if isinstance(entry, FusedRows))
    chain = good.order[place]
    assert isinstance(chain, FusedRows)

    def broken(**changes: int) -> list[Step | FusedRows | Move]:
        longest = max(range(len(chain.loops)), key=lambda i: chain.loops[i].count)
        loops = list(chain.loops)
        calls = list(loops[longest].calls)
        calls[-1] = replace(calls[-1], **changes)
        loops[longest] = replace(loops[longest], calls=tuple(calls))
        return [*good.order[:place], FusedRows(chain.name, chain.steps, loops), *good.order[place + 1 :]]

    with pytest.raises(MemoryPlanError, match="overwritten"):
        check_plan(program, replace(good, order=broken(input=chain.loops[0].calls[-1].input + 8)))
    with pytest.raises(MemoryPlanError, match=r"overwritten|overlap"):
        check_plan(program, replace(good, order=broken(output_advance=0)))
    short = FusedRows(chain.name, chain.steps, chain.loops[:-1])
    with pytest.raises(MemoryPlanError, match=r"computes \d+ of"):
        check_plan(program, replace(good, order=[*good.order[:place], short, *good.order[place + 1 :]]))


def test_bands_are_asked_for_once() -> None:
    asked: list[tuple[str, Band]] = []

    def counting(whole: Step, band: Band) -> Step | None:
        asked.append((whole.name, band))
        return cut(whole, band)

    plan_memory(replace(separable(lead=True), cut=counting), LEAST)
    assert len(asked) == len(set(asked))
