"""Plans the arena of a program: order of steps and offsets; with --memory=min also chains that run row by row, and
moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mslite.codegen.memory.check import check_plan
from mslite.codegen.memory.control_flow import plan_control_flow
from mslite.codegen.memory.graph import Graph, make_graph
from mslite.codegen.memory.layout import Block, make_layout
from mslite.codegen.memory.lifetimes import BufferLifetimes, make_lifetimes
from mslite.codegen.memory.options import MemoryOptions
from mslite.codegen.memory.order import find_order
from mslite.codegen.memory.placement import Placement, Problem, place
from mslite.codegen.memory.row_loops import fused_rows
from mslite.codegen.memory.rows import BandCache, Chain, make_chain, row_runs
from mslite.codegen.memory.tiers import place_in_tiers
from mslite.codegen.program import FusedRows, Move, Plan, Program, Step, Tensor, all_steps

LONGEST = 16
"""Largest number of steps in a chain."""
ROUNDS = 16
"""Largest number of attempts to lower the peak by another chain."""
QUICK = 0.1
"""Search effort for finding out which moves are not needed."""


def plan_memory(program: Program, options: MemoryOptions | None = None) -> Plan:
    """Returns the smallest plan that a bounded, reproducible search finds. The plan is checked.

    Raises MemoryPlanError if the plan is wrong, which is a bug of the planner.
    """
    options = options or MemoryOptions()
    asked = (step.call.alignment for step in all_steps(program) if step.call is not None)
    options = replace(options, alignment=max(options.alignment, *asked, 1))
    nests = plan_control_flow(program, options, plan_memory)
    best = _Planner(program, options).best()
    if len(make_layout(program, options).steps) < len(program.steps):
        copying = _Planner(program, replace(options, no_copies=False)).best()
        if copying.size < best.size:  # for example, if a small part of a split keeps a large input alive
            best = copying
    best.nests = nests
    check_plan(program, best, options.alignment)
    return best


def needed_memory(program: Program, options: MemoryOptions) -> int:
    """Returns the peak in bytes of the best order: a lower bound for the plan (without gaps), which is faster to
    compute."""
    return _Planner(replace(program, cut=None), options).attempt([], place_them=False).size


@dataclass(eq=False)
class _Attempt:
    """A candidate plan: an order, its chains and moves, and its placement, if that was computed."""

    program: Program
    """The program, with one step for each chain."""
    graph: Graph
    order: list[int]
    chains: dict[Step, Chain]
    merge: bool
    lives: BufferLifetimes
    problem: Problem
    placement: Placement | None = None

    @property
    def size(self) -> int:
        return self.problem.bound if self.placement is None else self.placement.size

    @property
    def need(self) -> tuple[int, int]:
        """The lower bound of the peak step in bytes, and the number of steps with the same bound."""
        most: dict[Step | None, int] = {}
        for tick, need in self.lives.timeline.needs.items():
            step = self.lives.steps.get(tick)
            most[step] = max(need, most.get(step, 0))
        peak = max(most.values(), default=0)
        return peak, list(most.values()).count(peak)


class _Planner:
    def __init__(self, program: Program, options: MemoryOptions) -> None:
        self.program, self.options = program, options
        self.cutter = BandCache(program)

    def best(self) -> Plan:
        whole = found = self.moved(self.attempt([]))
        if self.options.fuse_rows and self.program.cut is not None:
            fused = self.moved(self.by_rows(whole))
            if fused.size < whole.size:
                found = fused
        return self.plan(self.in_tiers(found))

    def in_tiers(self, found: _Attempt) -> _Attempt:
        """Splits the arena into fast and slow memory if it does not fit into the fast memory."""
        fast = self.fast_size
        if fast is None or found.size <= fast:
            return found
        accesses = [found.lives.accesses.get(thing, 0) for thing in found.lives.timeline.things]
        found.placement = place_in_tiers(found.problem, accesses, fast, self.options.seed)
        return found

    @property
    def fast_size(self) -> int | None:
        """The size of the fast memory, rounded down to a multiple of 16, the largest alignment."""
        return None if self.options.fast_size is None else self.options.fast_size // 16 * 16

    def moved(self, found: _Attempt) -> _Attempt:
        """Returns the attempt with moves, if they are enabled and save memory."""
        return self.by_moves(found) if self.options.moves and found.size > found.problem.bound else found

    def attempt(self, chains: list[Chain], place_them: bool = True) -> _Attempt:
        """Returns the best order and placement with these chains."""
        program, stands = _reduced(self.program, chains)
        layout = make_layout(program, self.options)
        graph = make_graph(program, layout, self.options)
        order = find_order(graph, self.options.reorder).steps
        best: _Attempt | None = None
        for merge in (True, False):
            found = self.timed(program, graph, order, stands, merge, frozenset())
            if not place_them:
                return found
            found.lives.timeline.add_rules(found.problem)
            found.placement = place(found.problem, self.options.seed)
            if best is None or found.size < best.size:
                best = found
            if best.size <= best.problem.bound or not any(one.in_place for row in graph.sharings for one in row):
                break
        assert best is not None
        return best

    def timed(
        self,
        program: Program,
        graph: Graph,
        order: list[int],
        chains: dict[Step, Chain],
        merge: bool,
        moved: frozenset[Block],
    ) -> _Attempt:
        lives = make_lifetimes(graph, order, chains, merge, moved)
        return _Attempt(program, graph, order, chains, merge, lives, lives.timeline.problem(self.options.alignment))

    def by_rows(self, whole: _Attempt) -> _Attempt:
        """Runs the peak steps row by row, alone or in chains, while this lowers the peak. The placement of the result
        may still be larger than that of `whole`."""
        runs = row_runs(self.program, whole.graph.layout, LONGEST)
        best, chains = self.attempt([], place_them=False), list[Chain]()
        for _ in range(ROUNDS):
            found: tuple[tuple[int, int], int, _Attempt, list[Chain]] | None = None
            for steps, others in self.candidates(best, runs, chains):
                chain = make_chain(steps, self.cutter)
                if chain is not None:
                    tried = self.attempt([*others, chain], place_them=False)
                    if found is None or (tried.need, len(steps)) < found[:2]:
                        found = tried.need, len(steps), tried, [*others, chain]
            if found is None or found[0] >= best.need:
                break
            best, chains = found[2:]
        return self.attempt(chains) if chains else whole

    def candidates(
        self, best: _Attempt, runs: list[list[Step]], chains: list[Chain]
    ) -> Iterator[tuple[list[Step], list[Chain]]]:
        """Yields new chains that contain the peak step, or all steps of the peak chain, and the existing chains to
        keep."""
        peak = best.lives.steps.get(best.lives.timeline.peak_tick)
        inside = best.chains[peak].steps if peak in best.chains else [peak]
        known = [chain.steps for chain in chains]
        for steps in runs:
            if steps in known or not all(step in steps for step in inside):
                continue
            others = [chain for chain in chains if not set(chain.steps) & set(steps)]
            if all(step in steps for chain in chains if chain not in others for step in chain.steps):
                yield steps, others

    def by_moves(self, best: _Attempt) -> _Attempt:
        """Allows moves of outputs, then removes those that save nothing."""
        place_of = best.graph.layout.place
        written = dict.fromkeys(
            place_of[base][0]
            for number in best.order
            for base in best.graph.writes[number]
            if base not in best.graph.kept and best.graph.readers[base] and len(place_of[base][0].bases) == 1
        )
        blocks = [block for block in written if block.size * 8 >= best.size]
        moved = frozenset(blocks)
        everything = self.moving(best, moved, 1.0)
        if everything.size * 100 > best.size * 99:
            return best
        found = everything
        for block in sorted(blocks, key=lambda block: -block.size):
            fewer = self.moving(best, moved - {block}, QUICK)
            if fewer.size <= everything.size:
                moved, found = moved - {block}, fewer
        return found

    def moving(self, best: _Attempt, moved: frozenset[Block], effort: float) -> _Attempt:
        found = self.timed(best.program, best.graph, best.order, best.chains, best.merge, moved)
        found.lives.timeline.add_rules(found.problem)
        found.placement = place(found.problem, self.options.seed, effort)
        return found

    def plan(self, found: _Attempt) -> Plan:
        assert found.placement is not None
        lives, layout, graph = found.lives, found.graph.layout, found.graph
        at = dict(zip(lives.timeline.things, found.placement.offsets, strict=True))
        offsets: dict[Tensor, int] = {}
        for tensor, (block, inside) in layout.place.items():
            if tensor.alias_of is None:
                offsets[tensor] = at.get(lives.homes[block], 0) + inside
        entries: dict[Step, FusedRows] = {}
        for step, chain in found.chains.items():
            entries[step] = fused_rows(chain, lives.rows[step], at, layout.place, lives)
        order: list[Step | FusedRows | Move] = []
        for number in found.order:
            step = graph.steps[number]
            order.append(entries.get(step, step))
            for base in graph.writes[number]:
                block = layout.place[base][0]
                if block in lives.later and at[lives.later[block]] != at[lives.homes[block]]:
                    order.append(Move(base, at[lives.later[block]]))
        workspaces = {step: at[thing] for step, thing in lives.workspaces.items()}
        fast = self.fast_size if self.fast_size is not None and found.size > self.fast_size else 0
        return Plan(order, offsets, workspaces, found.size, fast)


def _reduced(program: Program, chains: list[Chain]) -> tuple[Program, dict[Step, Chain]]:
    """Returns the program with one step for each chain, and the chain of each such step."""
    stands: dict[Step, Chain] = {}
    ends: dict[Step, Step] = {}
    for chain in chains:
        constants = [operand for step in chain.steps for operand in step.inputs if operand not in chain.tensors]
        stand = Step(
            name=chain.name,
            operator="FusedRows",
            kernel="",
            inputs=[chain.tensors[0], *constants],
            outputs=[chain.tensors[-1]],
            derived=b"",
            parts=(),
            shared_size=0,
            scratch_size=0,
        )
        stands[stand] = chain
        ends[chain.steps[-1]] = stand
    hidden = {step for chain in chains for step in chain.steps}
    steps = [ends.get(step, step) for step in program.steps if step in ends or step not in hidden]
    return replace(program, steps=steps), stands
