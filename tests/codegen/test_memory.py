"""Plans of the arena: as small as they can be, right, and always the same."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mslite.codegen.memory import Inputs, MemoryOptions, MemoryPlanError, check_plan, plan_memory
from mslite.codegen.memory.usage import arena_usage
from mslite.codegen.program import Plan, Program, Storage

from .programs import (
    Builder,
    autoencoder,
    image,
    keywords,
    random_program,
    resnet8,
    separable,
    step,
    tensor,
)

PLAIN = MemoryOptions(in_place=False, overlap=False)
OPTIONS = [
    MemoryOptions(),
    MemoryOptions(alignment=16, inputs=Inputs.KEPT),
    MemoryOptions(alignment=1, inputs=Inputs.CALLER, no_copies=False),
    MemoryOptions(alignment=4, in_place=False),
    MemoryOptions(overlap=False, reorder=False),
]


@pytest.mark.parametrize(
    ("program", "size"), [(separable(), 55_296), (resnet8(), 49_152), (keywords(), 16_000), (autoencoder(), 768)]
)
def test_best_without_sharing(program: Program, size: int) -> None:
    """The largest sums of what must be live at the same time."""
    assert plan_memory(program, PLAIN).size == size


def test_overlapping_rows() -> None:
    assert plan_memory(separable(lead=True)).size <= 38 * 1024
    assert plan_memory(resnet8(lead=True)).size <= 33 * 1024


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 14), st.sampled_from(OPTIONS))
def test_random_graphs(seed: int, count: int, options: MemoryOptions) -> None:
    """The checker, which shares nothing with the planner, agrees; a second plan is the same."""
    program = random_program(seed, count)
    plan = plan_memory(program, options)
    check_plan(program, plan, options.alignment)
    assert _same(plan, plan_memory(program, options))
    for tensor_ in program.inputs:
        assert (tensor_ in plan.offsets) == (options.inputs is not Inputs.CALLER)


def _same(one: Plan, other: Plan) -> bool:
    return (one.order, one.offsets, one.workspaces, one.size) == (
        other.order,
        other.offsets,
        other.workspaces,
        other.size,
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(2, 6))
def test_best_order(seed: int, count: int) -> None:
    """No order of a small graph needs less."""
    program = random_program(seed, count)
    options = MemoryOptions(alignment=1, in_place=False, overlap=False, no_copies=False)
    best = plan_memory(program, options).size
    given_order = replace(options, reorder=False)
    for steps in permutations(program.steps):
        if _computes(program, steps):
            other = Program("other", "any", program.inputs, program.outputs, list(steps))
            assert best <= plan_memory(other, given_order).size


def _computes(program: Program, steps: tuple[object, ...]) -> bool:
    known = set(program.inputs)
    for one in steps:
        for operand in one.inputs:  # type: ignore[attr-defined]
            while operand.alias_of is not None:
                operand = operand.alias_of
            if operand not in known:
                return False
        known |= set(one.outputs)  # type: ignore[attr-defined]
    return True


def test_order_with_branches() -> None:
    """Two branches that widen and shrink again: one after the other needs less than side by side."""
    x = image(4, 4, 4)
    ends, first, second = [], [], []
    for branch in range(2):
        wide, narrow = tensor(f"wide{branch}", 1000), tensor(f"narrow{branch}", 10)
        first.append(step(f"widen{branch}", "Any", [x], [wide]))
        second.append(step(f"shrink{branch}", "Any", [wide], [narrow]))
        ends.append(narrow)
    out = tensor("out", 20)
    program = Program("p", "t", [x], [out], [*first, *second, step("join", "Any", ends, [out])])
    plan = plan_memory(program, PLAIN)
    assert plan.size == 64 + 1000 + 10
    assert plan_memory(program, replace(PLAIN, reorder=False)).size >= 2064
    assert arena_usage(program, plan).peak_layer.startswith(("widen", "shrink"))


def test_concat_and_split_move_nothing() -> None:
    x = image(8, 8, 1)
    a, b, both = tensor("a", 1, 4, 8), tensor("b", 1, 6, 8), tensor("both", 1, 10, 8)
    c, d, out = tensor("c", 1, 2, 8), tensor("d", 1, 8, 8), tensor("out", 1, 8, 8)
    steps = [
        step("one", "Any", [x], [a]),
        step("two", "Any", [x], [b]),
        step("concat", "Concat", [a, b], [both]),
        step("split", "Split", [both], [c, d]),
        step("last", "Any", [c, d], [out]),
    ]
    program = Program("p", "t", [x], [out], steps)
    plan = plan_memory(program, PLAIN)
    assert [one.name for one in plan.order] == ["one", "two", "last"]
    assert plan.offsets[b] == plan.offsets[a] + 32 == plan.offsets[both] + 32
    assert plan.offsets[d] == plan.offsets[c] + 16 == plan.offsets[both] + 16
    assert len(plan_memory(program, replace(PLAIN, no_copies=False)).order) == 5


def test_concat_of_channels_is_a_step() -> None:
    x = image(4, 4, 8)
    a, b, both = tensor("a", 1, 4, 4, 8), tensor("b", 1, 4, 4, 8), tensor("both", 1, 4, 4, 16)
    steps = [step("one", "Any", [x], [a]), step("two", "Any", [x], [b]), step("concat", "Concat", [a, b], [both])]
    assert len(plan_memory(Program("p", "t", [x], [both], steps)).order) == 3


def test_variables_stay() -> None:
    x, state = image(8), tensor("state", 16, storage=Storage.VARIABLE)
    a, out = tensor("a", 64), tensor("out", 8)
    steps = [
        step("read", "Any", [x, state], [a]),
        step("write", "Assign", [state, a], [state]),
        step("last", "Any", [a], [out]),
    ]
    program = Program("p", "t", [x], [out], steps)
    plan = plan_memory(program)
    at = plan.offsets[state]
    for other in (x, a, out):
        assert plan.offsets[other] >= at + 16 or plan.offsets[other] + other.size <= at
    assert [one.name for one in plan.order][:2] == ["read", "write"]


def test_checker_sees_what_is_lost() -> None:
    build = Builder()
    x = image(8, 8, 4)
    first = build.window(x, 4, 3, 1)
    program = build.program(x, build.add(build.window(first, 4, 3, 1), first))
    good = plan_memory(program)
    check_plan(program, good)
    last = program.steps[-1]
    broken = dict.fromkeys(good.offsets, 0)
    with pytest.raises(MemoryPlanError, match="overlaps image, which the step reads"):
        check_plan(program, replace(good, offsets=broken))
    broken = good.offsets | {first: good.offsets[program.steps[1].outputs[0]]}
    with pytest.raises(MemoryPlanError):
        check_plan(program, replace(good, offsets=broken))
    with pytest.raises(MemoryPlanError, match="before it is computed"):
        check_plan(program, replace(good, order=[last, *program.steps[:-1]]))
    with pytest.raises(MemoryPlanError, match="end of the arena"):
        check_plan(program, replace(good, size=good.size - 1))
    with pytest.raises(MemoryPlanError, match="multiple of 8"):
        check_plan(program, replace(good, offsets=good.offsets | {x: 4}), 8)


def test_two_memories() -> None:
    """What is read most for its size lies in the fast memory; nothing lies across its end."""
    program = separable()
    whole = plan_memory(program, PLAIN)
    fast = 24 * 1024
    plan = plan_memory(program, replace(PLAIN, fast_size=fast + 5))
    assert plan.fast_size == fast
    assert whole.size <= plan.size < 2 * whole.size
    for tensor_, at in plan.offsets.items():
        assert at + tensor_.size <= fast or at >= fast
    inside = [tensor_ for tensor_, at in plan.offsets.items() if at < fast]
    assert len(inside) > len(plan.offsets) * 3 // 4
    with pytest.raises(MemoryPlanError, match="across the end of the fast memory"):
        check_plan(program, replace(plan, fast_size=plan.offsets[program.steps[1].outputs[0]] + 8))
    assert plan_memory(program, replace(PLAIN, fast_size=1 << 20)).fast_size == 0
    nothing_fast = plan_memory(program, replace(PLAIN, fast_size=0))
    assert nothing_fast.size == whole.size


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 12), st.integers(0, 100))
def test_random_graphs_in_two_memories(seed: int, count: int, fast: int) -> None:
    program = random_program(seed, count)
    options = MemoryOptions(fast_size=fast)
    plan = plan_memory(program, options)
    check_plan(program, plan, options.alignment)
    assert plan.fast_size in (0, fast // 16 * 16)
