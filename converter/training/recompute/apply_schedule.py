"""Applies a schedule to a graph: recomputed nodes are added before the backward pass that reads them."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Graph, Node, Value
from mslite.converter.passes.graph_edit import live_nodes
from mslite.converter.training.builder import Builder
from mslite.converter.training.recompute.schedule import Kind, Step
from mslite.converter.training.recompute.stages import Block
from mslite.converter.training.training_passes import Passes, with_steps


def replay(
    graph: Graph, passes: Passes, blocks: Sequence[Block], pinned: set[Value], steps: Sequence[Step]
) -> list[Node]:
    """Orders the nodes of a training graph by `steps` and adds recomputed nodes. Returns the added nodes."""
    return _Replay(graph, passes, blocks, pinned).run(steps)


class _Replay:
    def __init__(self, graph: Graph, passes: Passes, blocks: Sequence[Block], pinned: set[Value]) -> None:
        self.graph, self.passes, self.blocks, self.pinned = graph, passes, blocks, pinned
        self.names = Builder(graph)
        self.latest: dict[Value, Value] = {}
        """Value of the forward pass -> its last copy."""
        self.added: list[Node] = []
        self.nodes: list[Node] = []

    def run(self, steps: Sequence[Step]) -> list[Node]:
        in_blocks = {node for block in self.blocks for node in (*block.nodes, *block.gradients)}
        of_steps = {node for step in self.passes.steps for node in step}
        others = [node for node in self.graph.nodes if node not in in_blocks | of_steps]
        place = {node: i for i, node in enumerate(self.graph.nodes)}
        begin = min(place[node] for block in self.blocks for node in block.nodes)
        turn = min(place[node] for block in self.blocks for node in block.gradients)
        self.nodes = [node for node in others if place[node] < begin]
        ran: set[int] = set()
        has_turned = False
        for step in steps:
            if step.kind is Kind.BACKWARD:
                if not has_turned:
                    self.nodes += [node for node in others if begin < place[node] < turn]
                has_turned = True
                self._backward(self.blocks[step.stage])
            elif step.stage in ran:
                self._again(self.blocks[step.stage])
            else:
                ran.add(step.stage)
                self.nodes += self.blocks[step.stage].nodes
        self.nodes += [node for node in others if place[node] > turn]
        self.graph.nodes = with_steps(self.nodes, self.passes.steps)
        self.graph.nodes = live_nodes(self.graph)
        alive = set(self.graph.nodes)
        return [node for node in self.added if node in alive]

    def _backward(self, block: Block) -> None:
        for node in block.gradients:
            node.set_inputs([self.latest.get(value, value) for value in node.inputs])
        self.nodes += block.gradients

    def _again(self, block: Block) -> None:
        """Adds the nodes of a stage again, except those of pinned values."""
        for node in block.nodes:
            if all(value in self.pinned for value in node.outputs):
                continue
            inputs = tuple(self.latest.get(value, value) for value in node.inputs)
            name = self.names.name(f"Gradients/{node.name}/again")
            outputs = tuple(
                Value(
                    self.names.name(f"{name}/{number}"),
                    value.dtype,
                    value.shape,
                    format=value.format,
                    quant=value.quant,
                )
                for number, value in enumerate(node.outputs)
            )
            copy = Node(node.op, name, inputs, outputs, node.quant_type, node.source)
            self.latest.update(
                (old, new) for old, new in zip(node.outputs, outputs, strict=True) if old not in self.pinned
            )
            self.added.append(copy)
            self.nodes.append(copy)
