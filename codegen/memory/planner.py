"""Plans the arena of a program: order of the steps, then offsets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mslite.codegen.memory.check import check_plan
from mslite.codegen.memory.graph import Graph, Sharing, gain, make_graph
from mslite.codegen.memory.layout import Block, Layout, make_layout
from mslite.codegen.memory.options import MemoryOptions
from mslite.codegen.memory.order import Order, find_order
from mslite.codegen.memory.placement import Placement, place
from mslite.codegen.memory.timeline import Thing, Timeline, shared_intervals
from mslite.codegen.program import Plan, Program, Step, Tensor


@dataclass(eq=False)
class Attempt:
    """A plan, and how sure it is that there is none better of its kind."""

    plan: Plan
    bound: int


def plan_memory(program: Program, options: MemoryOptions | None = None) -> Plan:
    """The smallest plan that a bounded, repeatable search finds; checked before it is returned.

    Raises MemoryPlanError when the plan is wrong, which is a defect of the planner.
    """
    options = options or MemoryOptions()
    best = _attempt(program, options)
    if options.no_copies and len(best.plan.order) < len(program.steps):
        copying = _attempt(program, replace(options, no_copies=False))
        if copying.plan.size < best.plan.size:  # a small piece kept a large whole alive, say
            best = copying
    check_plan(program, best.plan, options.alignment)
    return best.plan


def _attempt(program: Program, options: MemoryOptions) -> Attempt:
    layout = make_layout(program, options)
    graph = make_graph(program, layout, options)
    order = find_order(graph, options.reorder)
    best: Attempt | None = None
    for merge in (True, False):
        found = _place(program, graph, order, options, merge)
        if best is None or found.plan.size < best.plan.size:
            best = found
        if best.plan.size <= best.bound or not any(one.in_place for row in graph.sharings for one in row):
            break
    assert best is not None
    return best


def _place(program: Program, graph: Graph, order: Order, options: MemoryOptions, merge: bool) -> Attempt:
    builder = _Builder(graph, order.steps, merge)
    problem = builder.timeline.problem(options.alignment)
    placement = place(problem, options.seed)
    return Attempt(_plan(graph.layout, builder, placement, order), problem.bound)


def _plan(layout: Layout, builder: _Builder, placement: Placement, order: Order) -> Plan:
    at = dict(zip(builder.timeline.things, placement.offsets, strict=True))
    offsets: dict[Tensor, int] = {}
    for tensor, (block, inside) in layout.place.items():
        if tensor.alias_of is None:
            offsets[tensor] = at.get(builder.homes[block], 0) + inside
    steps = [layout.steps[number] for number in order.steps]
    workspaces = {step: at[thing] for step, thing in builder.workspaces.items()}
    peak = builder.timeline.fullest
    return Plan(list(steps), offsets, workspaces, placement.size, steps[peak - 1] if peak else None)


class _Builder:
    """The timeline of an order of steps. `merge`: what may share an address does."""

    def __init__(self, graph: Graph, order: list[int], merge: bool) -> None:
        self.graph = graph
        self.timeline = Timeline()
        self.homes: dict[Block, Thing] = {}
        self.workspaces: dict[Step, Thing] = {}
        used = self._used(order)
        self._make_things(used if merge else [])
        self._add_lives(order)
        for tick, step in enumerate((graph.steps[number] for number in order), 1):
            size = step.shared_size + step.scratch_size
            if size:
                self.workspaces[step] = self._thing(f"workspace of {step.name}")
                self.workspaces[step].use(tick, tick, 0, size)
        for tick, sharings in used:
            self._share(tick, sharings)

    def _thing(self, name: str) -> Thing:
        self.timeline.things.append(Thing(name))
        return self.timeline.things[-1]

    def _used(self, order: list[int]) -> list[tuple[int, list[Sharing]]]:
        """The sharings that the order allows, by tick."""
        found, done = [], 0
        for tick, number in enumerate(order, 1):
            found.append((tick, self.graph.usable(number, done)))
            done |= 1 << number
        return found

    def _make_things(self, used: list[tuple[int, list[Sharing]]]) -> None:
        parents: dict[Block, Block] = {}

        def first(block: Block) -> Block:
            while block in parents:
                block = parents[block]
            return block

        place = self.graph.layout.place
        for _, sharings in used:
            for one in sharings:
                made, taken = place[one.made][0], place[one.taken][0]
                if one.in_place and len(made.bases) == len(taken.bases) == 1 and first(made) is not first(taken):
                    parents[first(made)] = first(taken)
        for block in self.graph.layout.blocks:
            if first(block) is block:
                self.homes[block] = self._thing(block.name)
        for block in self.graph.layout.blocks:
            self.homes[block] = self.homes[first(block)]

    def _add_lives(self, order: list[int]) -> None:
        graph = self.graph
        births, deaths = dict.fromkeys(graph.given, 0), dict.fromkeys(graph.given, 0)
        for tick, number in enumerate(order, 1):
            for base in graph.writes[number]:
                births.setdefault(base, tick)
                deaths[base] = max(tick, deaths.get(base, tick))
            for base in graph.reads[number]:
                deaths[base] = tick
        end = len(order)
        for block in graph.layout.blocks:
            for base, at in block.bases:
                last = end if base in graph.kept else deaths[base]
                self.homes[block].use(births[base], last, at, at + base.size)

    def _share(self, tick: int, sharings: list[Sharing]) -> None:
        place = self.graph.layout.place
        alone = [one for one in sharings if self._alone(one.made, tick) and self._alone(one.taken, tick)]
        for one in alone:
            made, taken = place[one.made], place[one.taken]
            homes = self.homes[made[0]], self.homes[taken[0]]
            if homes[0] is homes[1]:
                continue
            shift = taken[1] - made[1]  # offset(made's thing) - offset(taken's thing) = difference of addresses + shift
            intervals = shared_intervals(one.made.size, one.taken.size, one.in_place, one.lead)
            self.timeline.relaxed[tick, homes[0], homes[1]] = [(low + shift, high + shift) for low, high in intervals]
        apart = [one for one in alone if self.homes[place[one.made][0]] is not self.homes[place[one.taken][0]]]
        self.timeline.spared[tick] = gain(apart)

    def _alone(self, base: Tensor, tick: int) -> bool:
        """Whether nothing else of the thing that holds `base` is in use at a tick."""
        block, at = self.graph.layout.place[base]
        spans = [span for span in self.homes[block].spans if span.first <= tick <= span.last]
        return len(spans) == 1 and (spans[0].low, spans[0].high) == (at, at + base.size)
