"""Replaces TensorFlow 1 control flow (Enter, Merge, Switch, NextIteration, Exit) by While, If and Case nodes.

A loop is a *frame*: `Enter` passes values into it, `Merge` selects the initial value of a loop variable or its next
value, and `Switch` passes it to `Exit` or into the body, depending on `LoopCond`. The condition and the body become two
functions, and the frame becomes a StatelessWhile node. Inner frames are replaced first.

Outside frames, `Switch` and `Merge` are conditions, see `conditions_v1`.
"""

from __future__ import annotations

from .conditions_v1 import replace_v1_conditions
from .function_extraction import function_attribute, slice_of, unique
from .model import ARGUMENT, Ref, SourceGraph, SourceModel, SourceNode, damaged

ENTERS = frozenset({"Enter", "RefEnter"})
EXITS = frozenset({"Exit", "RefExit"})
MERGES = frozenset({"Merge", "RefMerge"})
NEXTS = frozenset({"NextIteration", "RefNextIteration"})
SWITCHES = frozenset({"Switch", "RefSwitch"})

_Frame = tuple[str, ...]
"""Names of the frames around a node, outermost first."""


def replace_v1_control_flow(model: SourceModel) -> None:
    """Replaces the TensorFlow 1 control flow in all graphs of a model. Raises ConversionError if it is damaged."""
    flow = ENTERS | MERGES | SWITCHES
    if not any(node.operator in flow for graph in _graphs(model) for node in graph.nodes.values()):
        return
    for graph in _graphs(model):
        if any(node.operator in ENTERS for node in graph.nodes.values()):
            _Loops(model, graph).raise_all()
    for graph in _graphs(model):
        replace_v1_conditions(model, graph)


def _graphs(model: SourceModel) -> list[SourceGraph]:
    return [model.graph, *model.functions.values()]


class _Loops:
    """The loops of one graph."""

    def __init__(self, model: SourceModel, graph: SourceGraph) -> None:
        self._model = model
        self._graph = graph
        self._frames: dict[str, _Frame] = {}
        self._readers: dict[str, list[str]] = {}

    def raise_all(self) -> None:
        self._find_frames()
        frames = sorted({frame for frame in self._frames.values() if frame}, key=lambda frame: (-len(frame), frame))
        for frame in frames:
            self._raise(frame)

    def _find_frames(self) -> None:
        """Finds the frame of each node: the frame of its inputs, one level deeper for Enter, one level less after
        Exit."""
        nodes = self._graph.nodes
        readers: dict[str, list[str]] = {name: [] for name in nodes}
        for node in nodes.values():
            for name in {ref.node for ref in node.inputs} | {name for name in node.controls if name in nodes}:
                readers[name].append(node.name)
        self._readers = readers
        frames = self._frames
        for first in nodes.values():
            if first.inputs or any(name in nodes for name in first.controls):
                continue
            frames.setdefault(first.name, ())
            pending = [first.name]
            while pending:
                name = pending.pop()
                own = frames[name]
                outside = own[:-1] if nodes[name].operator in EXITS else own
                for reader in readers[name]:
                    frame = outside
                    if nodes[reader].operator in ENTERS:
                        attribute = nodes[reader].attributes.get("frame_name")
                        frame = (*outside, attribute.s.decode("utf-8", "replace") if attribute is not None else "")
                    if len(frame) > len(frames.get(reader, ())) or reader not in frames:
                        frames[reader] = frame
                        pending.append(reader)
                if len(own) > 64:
                    raise damaged(self._model.name, f"the loops around '{name}' are nested without end")

    def _raise(self, frame: _Frame) -> None:
        graph, nodes = self._graph, self._graph.nodes
        members = [node for node in nodes.values() if self._frames.get(node.name, ()) == frame]
        conditions = [node for node in members if node.operator == "LoopCond"]
        where = f"the loop '{frame[-1]}'"
        if len(conditions) != 1 or len(conditions[0].inputs) != 1:
            raise damaged(self._model.name, f"{where} has {len(conditions)} conditions instead of one")
        condition = conditions[0].name
        variables: list[tuple[SourceNode, SourceNode, SourceNode]] = []  # Merge, Enter, NextIteration
        for merge in members:
            if merge.operator in MERGES:
                sources = [nodes[ref.node] for ref in merge.inputs]
                enters = [node for node in sources if node.operator in ENTERS]
                nexts = [node for node in sources if node.operator in NEXTS]
                if len(enters) == 1 and len(nexts) == 1 and enters[0].inputs and nexts[0].inputs:
                    variables.append((merge, enters[0], nexts[0]))
        if not variables:
            raise damaged(self._model.name, f"{where} has no variables")
        position = {merge.name: number for number, (merge, _, _) in enumerate(variables)}
        entered = {enter.name for _, enter, _ in variables}
        constants = [node for node in members if node.operator in ENTERS and node.name not in entered and node.inputs]
        inside: dict[Ref, Ref] = {Ref(merge.name): Ref(merge.name) for merge, _, _ in variables}
        inside.update((Ref(enter.name), Ref(merge.name)) for merge, enter, _ in variables)
        inside.update((Ref(node.name), Ref(node.name)) for node in constants)
        for node in members:
            if node.operator in SWITCHES and len(node.inputs) == 2 and node.inputs[1].node == condition:
                merge_name = node.inputs[0].node
                if merge_name not in position:
                    raise damaged(self._model.name, f"{where}: '{node.name}' does not follow a loop variable")
                inside[Ref(node.name, 1)] = Ref(merge_name)
                inside[Ref(node.name, 0)] = Ref(merge_name)
        captured: dict[Ref, Ref] = {}

        def argument(ref: Ref) -> Ref | None:
            if ref in inside:
                return inside[ref]
            outside = self._frames.get(ref.node, ()) != frame and nodes[ref.node].operator != "Const"
            if outside and nodes[ref.node].operator not in EXITS:
                own = ref.node if ref.output == 0 else f"{ref.node}/output_{ref.output}"
                return captured.setdefault(ref, Ref(own))
            return None

        borders = {ref.node for ref in inside} | {condition}
        arguments = [(merge.name, enter) for merge, enter, _ in variables] + [(node.name, node) for node in constants]
        slices = []
        for results in ([nodes[condition].inputs[0]], [following.inputs[0] for _, _, following in variables]):
            slices.append(
                slice_of(
                    graph, results, argument, lambda name: self._frames.get(name, ()) == frame and name not in borders
                )
            )
        names = []
        for what, (copies, ends) in zip(("cond", "body"), slices, strict=True):
            own: dict[str, SourceNode] = {}
            for name, enter in arguments:
                kind = {"T": enter.attributes["T"]} if "T" in enter.attributes else {}
                own[name] = SourceNode(name, ARGUMENT, attributes=kind)
            for ref in captured.values():
                own[ref.node] = SourceNode(ref.node, ARGUMENT)
            order = tuple(own)
            own.update((name, copy) for name, copy in copies.items() if name not in own)
            if what == "body":
                ends = [*ends, *(Ref(name) for name in order[len(variables) :])]
            name = unique(f"{condition.rpartition('/')[0] or frame[-1]}_{what}_graph", self._model.functions)
            self._model.functions[name] = SourceGraph(name, own, order, tuple(ends))
            names.append(name)
        self._replace(frame, condition, names, variables, constants, list(captured), position)

    def _replace(
        self,
        frame: _Frame,
        condition: str,
        functions: list[str],
        variables: list[tuple[SourceNode, SourceNode, SourceNode]],
        constants: list[SourceNode],
        captured: list[Ref],
        position: dict[str, int],
    ) -> None:
        """Replaces a frame by a StatelessWhile node; its Exits become Identities."""
        nodes = self._graph.nodes
        name = unique(f"{condition.rpartition('/')[0] or frame[-1]}/while", nodes)
        inputs = [enter.inputs[0] for _, enter, _ in variables]
        inputs += [node.inputs[0] for node in constants] + captured
        attributes = {"cond": function_attribute(functions[0]), "body": function_attribute(functions[1])}
        exits = {}
        for node in list(nodes.values()):
            if node.operator in EXITS and self._frames.get(node.name, ()) == frame:
                switch = nodes[node.inputs[0].node] if node.inputs else node
                seen: set[str] = set()
                while switch.operator == "Identity" and switch.inputs and switch.name not in seen:
                    seen.add(switch.name)
                    switch = nodes[switch.inputs[0].node]
                merge = switch.inputs[0].node if switch.operator in SWITCHES and switch.inputs else ""
                if merge not in position:
                    raise damaged(
                        self._model.name, f"the loop '{frame[-1]}': '{node.name}' is not the exit of a loop variable"
                    )
                exits[node.name] = SourceNode(
                    node.name, "Identity", (Ref(name, position[merge]),), attributes=node.attributes
                )
        result: dict[str, SourceNode] = {}
        for node in nodes.values():
            if node.name in exits:
                if name not in result:
                    result[name] = SourceNode(name, "StatelessWhile", tuple(inputs), attributes=attributes)
                    self._frames[name] = frame[:-1]
                result[node.name] = exits[node.name]
                self._frames[node.name] = frame[:-1]
            elif self._frames.get(node.name, ()) != frame:
                result[node.name] = node
        self._graph.nodes.clear()
        self._graph.nodes.update(result)
        for node in result.values():
            if any(ref.node not in result for ref in node.inputs):
                raise damaged(self._model.name, f"'{node.name}' reads a value inside the loop '{frame[-1]}'")
            node.controls = tuple(control for control in node.controls if control in result)
