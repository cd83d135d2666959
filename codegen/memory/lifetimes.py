"""Computes lifetimes for an order of steps: of blocks, workspaces, and row buffers of chains."""

from __future__ import annotations

from dataclasses import dataclass, field

from mslite.codegen.memory.graph import Graph, Sharing, gain, spared
from mslite.codegen.memory.layout import Block
from mslite.codegen.memory.rows import Chain
from mslite.codegen.memory.timeline import PlacedBuffer, Timeline, shared_intervals
from mslite.codegen.program import Step, Tensor


@dataclass(eq=False)
class ChainBuffers:
    """Buffers of a chain. `buffers`: row buffer of each tensor between the steps (first and last entry are None);
    `workspaces`: workspace of each layer."""

    buffers: list[PlacedBuffer | None]
    workspaces: list[PlacedBuffer | None]


@dataclass(eq=False)
class BufferLifetimes:
    """Buffers of a program and their lifetimes. `homes`: buffer in which a block is computed; `later`: buffer of the
    block after a move, if it is moved."""

    timeline: Timeline
    homes: dict[Block, PlacedBuffer] = field(default_factory=dict)
    later: dict[Block, PlacedBuffer] = field(default_factory=dict)
    workspaces: dict[Step, PlacedBuffer] = field(default_factory=dict)
    rows: dict[Step, ChainBuffers] = field(default_factory=dict)
    steps: dict[int, Step] = field(default_factory=dict)
    """Step that runs at a tick."""
    accesses: dict[PlacedBuffer, int] = field(default_factory=dict)
    """Estimated number of bytes that a run reads from and writes to each buffer."""

    def access(self, thing: PlacedBuffer, count: int) -> None:
        self.accesses[thing] = self.accesses.get(thing, 0) + count


def make_lifetimes(
    graph: Graph, order: list[int], chains: dict[Step, Chain], merge: bool, moved: frozenset[Block] = frozenset()
) -> BufferLifetimes:
    """Returns the buffers and their lifetimes.

    `chains`: steps that represent a chain; `merge`: whether outputs that can share the address of an input do so;
    `moved`:
    blocks that may move after they are computed.
    """
    return _Maker(graph, order, chains, merge, moved).make()


class _Maker:
    def __init__(
        self, graph: Graph, order: list[int], chains: dict[Step, Chain], merge: bool, moved: frozenset[Block]
    ) -> None:
        self.graph, self.order, self.chains, self.merge, self.moved = graph, order, chains, merge, moved
        self.place = graph.layout.place
        self.lives = BufferLifetimes(Timeline())
        self.first: dict[int, int] = {}  # step number -> its first tick
        self.last: dict[int, int] = {}
        self.usable: dict[int, list[Sharing]] = {}
        self.moves: dict[Block, int] = {}  # block -> tick of its move
        tick, done = 1, 0
        for number in order:
            step = graph.steps[number]
            self.first[number] = tick
            tick += _ticks(chains[step]) if step in chains else 1
            self.last[number] = tick - 1
            self.usable[number] = graph.usable(number, done)
            done |= 1 << number
            for known in range(self.first[number], tick):
                self.lives.steps[known] = step
            for base in graph.writes[number]:
                if self.place[base][0] in moved:
                    self.moves[self.place[base][0]] = tick
                    self.lives.steps[tick] = step
                    tick += 1
        self.end = tick - 1

    def make(self) -> BufferLifetimes:
        self._make_things()
        self._add_lives()
        for number in self.order:
            step = self.graph.steps[number]
            if step in self.chains:
                _RowLives(self, number, self.chains[step]).add()
            elif step.workspace:
                self.lives.workspaces[step] = self.thing(f"workspace of {step.name}")
                self.lives.workspaces[step].use(self.first[number], self.first[number], 0, step.workspace)
        for number in self.order:
            self._share(number)
            self._count(number)
        for block, tick in self.moves.items():
            before, after = self.lives.homes[block], self.lives.later[block]
            if (
                before is not after
                and self._alone(before, tick, 0, block.size)
                and self._alone(after, tick, 0, block.size)
            ):
                self.lives.timeline.relaxed[tick, after, before] = []
                self.lives.timeline.spared[tick] = block.size
        return self.lives

    def thing(self, name: str) -> PlacedBuffer:
        self.lives.timeline.things.append(PlacedBuffer(name))
        return self.lives.timeline.things[-1]

    def _make_things(self) -> None:
        """Makes a buffer for each block, or for several that share an address, and one more for a block that moves."""
        parents: dict[tuple[Block, bool], tuple[Block, bool]] = {}

        def first(key: tuple[Block, bool]) -> tuple[Block, bool]:
            while key in parents:
                key = parents[key]
            return key

        for number in self.order if self.merge else []:
            for one in self.usable[number]:
                made, taken = self.place[one.made][0], self.place[one.taken][0]
                keys = first((made, False)), first((taken, taken in self.moves))
                if one.in_place and len(made.bases) == len(taken.bases) == 1 and keys[0] != keys[1]:
                    parents[keys[0]] = keys[1]
        things: dict[tuple[Block, bool], PlacedBuffer] = {}
        for block in self.graph.layout.blocks:
            for key in ((block, False), (block, True)) if block in self.moves else ((block, False),):
                if first(key) not in things:
                    things[first(key)] = self.thing(block.name)
                (self.lives.later if key[1] else self.lives.homes)[block] = things[first(key)]

    def taken_home(self, block: Block) -> PlacedBuffer:
        """Returns the buffer from which a block is read."""
        return self.lives.later.get(block, self.lives.homes[block])

    def _add_lives(self) -> None:
        graph = self.graph
        births, deaths = dict.fromkeys(graph.given, 0), dict.fromkeys(graph.given, 0)
        self.partial: set[tuple[Tensor, int]] = set()  # lifetimes that _RowLives adds in more detail
        for number in self.order:
            chain = self.chains.get(graph.steps[number])
            for base in graph.writes[number]:
                births.setdefault(base, self.first[number])
                deaths[base] = max(self.last[number], deaths.get(base, 0))
                if chain is not None and len(self.place[base][0].bases) == 1:
                    self.partial.add((base, number))
                    births[base] = self.last[number] + 1
            for base in graph.reads[number]:
                deaths[base] = self.last[number]
                if chain is not None and self._dies_in(base, number) and len(self.place[base][0].bases) == 1:
                    self.partial.add((base, number))
                    deaths[base] = self.first[number] - 1
        for block in graph.layout.blocks:
            for base, at in block.bases:
                last = self.end if base in graph.kept else deaths[base]
                move = self.moves.get(block)
                if move is None:
                    self.lives.homes[block].use(births[base], last, at, at + base.size)
                else:
                    self.lives.homes[block].use(births[base], move, at, at + base.size)
                    self.lives.later[block].use(move, last, at, at + base.size)

    def _dies_in(self, base: Tensor, number: int) -> bool:
        done = 0
        for earlier in self.order:
            if earlier == number:
                break
            done |= 1 << earlier
        return self.graph.dies(base, number, done)

    def _count(self, number: int) -> None:
        """Adds the estimated accesses of a step. A convolution reads its input MACs / output channels times in
        total."""
        step, lives = self.graph.steps[number], self.lives
        for base in self.graph.writes[number]:
            lives.access(lives.homes[self.place[base][0]], base.size)
        for base in self.graph.reads[number]:
            channels = step.outputs[0].shape[-1] if step.outputs and step.outputs[0].shape else 1
            lives.access(self.taken_home(self.place[base][0]), max(base.size, step.macs // max(1, channels)))
        if step in lives.workspaces:
            lives.access(lives.workspaces[step], 2 * step.workspace * max(1, sum(step.parts)))
        for thing, tensor in (
            zip(lives.rows[step].buffers, self.chains[step].tensors, strict=True) if step in self.chains else ()
        ):
            if thing is not None:
                lives.access(thing, 2 * tensor.size)

    def _share(self, number: int) -> None:
        tick = self.first[number]
        apart = []
        for one in self.usable[number]:
            (made, made_at), (taken, taken_at) = self.place[one.made], self.place[one.taken]
            homes = self.lives.homes[made], self.taken_home(taken)
            if homes[0] is homes[1] or not self._alone(homes[0], tick, made_at, one.made.size):
                continue
            if not self._alone(homes[1], tick, taken_at, one.taken.size):
                continue
            shift = (
                taken_at - made_at
            )  # offset(made's buffer) - offset(taken's buffer) = difference of addresses + shift
            intervals = shared_intervals(one.made.size, one.taken.size, one.in_place, one.lead)
            self.lives.timeline.relaxed[tick, homes[0], homes[1]] = [
                (low + shift, high + shift) for low, high in intervals
            ]
            apart.append(one)
        self.lives.timeline.spared[tick] = gain(apart)

    @staticmethod
    def _alone(thing: PlacedBuffer, tick: int, low: int, size: int) -> bool:
        """Returns whether these bytes are the only ones of a buffer in use at a tick."""
        spans = [span for span in thing.spans if span.first <= tick <= span.last]
        return len(spans) == 1 and (spans[0].low, spans[0].high) == (low, low + size)


def _ticks(chain: Chain) -> int:
    """Returns the number of ticks of a chain: in each iteration, one for the moves and one for each layer."""
    return len(chain.turns) * (1 + len(chain.steps))


class _RowLives:
    """Adds the lifetimes of a chain's row buffers."""

    def __init__(self, maker: _Maker, number: int, chain: Chain) -> None:
        self.maker, self.number, self.chain = maker, number, chain
        self.layers = len(chain.steps)
        buffers: list[PlacedBuffer | None] = [None, *(maker.thing(tensor.name) for tensor in chain.tensors[1:-1]), None]
        self.things = ChainBuffers(buffers, [None] * self.layers)
        maker.lives.rows[maker.graph.steps[number]] = self.things

    def add(self) -> None:
        chain = self.chain
        for place, turn in enumerate(chain.turns):
            tick = self.maker.first[self.number] + place * (1 + self.layers)
            self._input(place, tick)
            self._output(place, tick)
            for tensor in range(1, self.layers):
                self._buffer(place, tick, tensor)
            for layer, band in enumerate(turn.bands):
                if band is not None and band.workspace:
                    thing = self.things.workspaces[layer] or self.maker.thing(f"workspace of {chain.steps[layer].name}")
                    self.things.workspaces[layer] = thing
                    thing.use(tick + 1 + layer, tick + 1 + layer, 0, band.workspace)
                if band is not None and layer:
                    self._share(place, tick + 1 + layer, layer, band)

    def _input(self, place: int, tick: int) -> None:
        base = self.chain.tensors[0]
        for known, number in self.maker.partial:
            if number == self.number and self.maker.graph.layout.bases[base] == (known,) and base.size == known.size:
                block, at = self.maker.place[base]
                home, row = self.maker.taken_home(block), self.chain.row_size[0]
                last = tick + 1 + self.chain.readers[0]
                home.use(tick, last, at + self.chain.turns[place].start[0] * row, at + base.size)
                if place + 1 < len(self.chain.turns):
                    low = at + self.chain.turns[place + 1].start[0] * row
                    home.use(last + 1, tick + self.layers, low, at + base.size)

    def _output(self, place: int, tick: int) -> None:
        turn, output = self.chain.turns[place], self.chain.tensors[-1]
        if (output, self.number) not in self.maker.partial:
            return
        block, at = self.maker.place[output]
        home, row = self.maker.lives.homes[block], self.chain.row_size[-1]
        home.use(tick, tick + self.layers - 1, at, at + turn.new[-1] * row)
        home.use(tick + self.layers, tick + self.layers, at, at + turn.end[-1] * row)

    def _buffer(self, place: int, tick: int, tensor: int) -> None:
        """Adds the lifetime of a row buffer: tensor l is computed at tick + l and read until the tick of its last
        reader."""
        thing, row = self.things.buffers[tensor], self.chain.row_size[tensor]
        assert thing is not None
        turn = self.chain.turns[place]
        first = turn.start[tensor]
        kept = max(0, turn.new[tensor] - first)
        if place and kept:
            before = self.chain.turns[place - 1]
            thing.use(tick, tick, 0, (before.end[tensor] - before.start[tensor]) * row)
        thing.use(tick + 1, tick + tensor - 1, 0, kept * row)
        last = tick + 1 + self.chain.readers[tensor]
        thing.use(tick + tensor, last, 0, (turn.end[tensor] - first) * row)
        if place + 1 < len(self.chain.turns):
            again = self.chain.turns[place + 1].start[tensor]
            if again < turn.end[tensor]:
                low, high = (again - first) * row, (turn.end[tensor] - first) * row
                thing.use(last + 1, tick + self.layers, low, high)

    def _share(self, place: int, tick: int, layer: int, band: Step) -> None:
        """Lets the output rows of a layer share memory with its input rows, if these are not needed later."""
        turn, rows = self.chain.turns[place], self.chain.steps[layer].rows
        assert rows is not None
        source = self.chain.sources[layer][0][1]
        if len(self.chain.sources[layer]) > 1 or self.chain.readers[source] != layer:
            return
        if place + 1 < len(self.chain.turns) and self.chain.turns[place + 1].start[source] < turn.end[source]:
            return
        if turn.begin(layer, rows) != turn.start[source]:
            return
        lead = next((overlap.lead for overlap in band.overlaps if overlap.input == rows.input), -1)
        in_place = band.in_place == rows.input
        taken_thing = self.things.buffers[source]
        last = layer == self.layers - 1
        made_thing = self.things.buffers[layer + 1]
        if last and (self.chain.tensors[-1], self.number) in self.maker.partial:
            made_thing = self.maker.lives.homes[self.maker.place[self.chain.tensors[-1]][0]]
        if taken_thing is None or made_thing is None or (lead < 0 and not in_place):
            return
        kept = (turn.new[layer + 1] - turn.start[layer + 1]) * self.chain.row_size[layer + 1]
        made = (turn.end[layer + 1] - turn.new[layer + 1]) * self.chain.row_size[layer + 1]
        taken = (turn.end[source] - turn.start[source]) * self.chain.row_size[source]
        intervals = shared_intervals(made, taken, in_place, lead)
        if kept:
            intervals = [*intervals, (0, taken + kept)]
        self.maker.lives.timeline.relaxed[tick, made_thing, taken_thing] = [
            (low - kept, high - kept) for low, high in intervals
        ]
        known = self.maker.lives.timeline.spared.get(tick, 0)
        self.maker.lives.timeline.spared[tick] = known + spared(made, taken, in_place, lead)
