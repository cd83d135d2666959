"""Conditions of TensorFlow 1 (Switch, Merge outside of loops) raised to If and Case nodes.

`Switch` sends a value into the branch that its predicate names, `Merge` takes the value of the branch that ran. All
Merges of one condition become the results of one StatelessIf node. Conditions that others depend on come first, so
inner ones come before outer ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from mslite.converter.errors import Blocker, ConversionError, ReturnCode

from .model import ARGUMENT, Ref, SourceGraph, SourceModel, SourceNode
from .source_slices import function_attribute, slice_of, unique

MERGES = frozenset({"Merge", "RefMerge"})
SWITCHES = frozenset({"Switch", "RefSwitch", "_SwitchN"})


@dataclass(frozen=True)
class _Selector:
    """What decides between branches: the tensor, and whether it is a number rather than a boolean."""

    value: Ref
    is_number: bool


@dataclass
class _Branches:
    """A Merge whose condition is found: the number of the branch that each of its inputs comes from."""

    merge: SourceNode
    selector: _Selector
    ports: tuple[int, ...]


def raise_conditions(model: SourceModel, graph: SourceGraph) -> None:
    """Replaces the conditions of one graph without frames. Raises ConversionError for a Merge without a condition."""
    if any(node.operator in MERGES | SWITCHES for node in graph.nodes.values()):
        _Conditions(model, graph).raise_all()


class _Conditions:
    """The conditions of one graph."""

    def __init__(self, model: SourceModel, graph: SourceGraph) -> None:
        self._model = model
        self._graph = graph

    def raise_all(self) -> None:
        while True:
            merges = {name: node for name, node in self._graph.nodes.items() if node.operator in MERGES}
            if not merges:
                break
            first = self._branches(self._independent(merges))
            readers = self._readers()
            later = self._descendants(first.merge.name, readers)
            group = [first]
            for merge in merges.values():
                other = self._find(merge) if merge.name not in later else None
                if other is not None and other.selector == first.selector:
                    group.append(other)
                    later |= self._descendants(merge.name, readers)
            self._raise(group)
        self._remove_dead()

    def _independent(self, merges: dict[str, SourceNode]) -> SourceNode:
        """A Merge that depends on no other one."""
        merge, seen = next(iter(merges.values())), set[str]()
        while True:
            before = self._ancestors([ref.node for ref in merge.inputs]) & merges.keys()
            if not before:
                return merge
            seen.add(merge.name)
            fresh = sorted(before - seen)
            if not fresh:
                self._fail(merge, "waits for itself")
            merge = merges[fresh[0]]

    def _fail(self, node: SourceNode, reason: str) -> NoReturn:
        blocker = Blocker(node.name, node.operator, f"it {reason}", "Export the model with TensorFlow 2 control flow")
        message = f"{self._model.name}: the control flow of TensorFlow 1 cannot be understood:"
        raise ConversionError(message, [blocker], ReturnCode.NOT_SUPPORTED)

    def _ancestors(self, starts: Iterable[str]) -> set[str]:
        """All nodes that these are computed from, themselves included; data and control."""
        nodes, seen, pending = self._graph.nodes, set[str](), list(starts)
        while pending:
            name = pending.pop()
            if name not in seen and name in nodes:
                seen.add(name)
                pending.extend(ref.node for ref in nodes[name].inputs)
                pending.extend(nodes[name].controls)
        return seen

    def _readers(self) -> dict[str, list[str]]:
        """Who waits for each node's data, or for the node."""
        nodes = self._graph.nodes
        readers: dict[str, list[str]] = {name: [] for name in nodes}
        for node in nodes.values():
            for name in (*(ref.node for ref in node.inputs), *node.controls):
                if name in readers:
                    readers[name].append(node.name)
        return readers

    def _descendants(self, start: str, readers: dict[str, list[str]]) -> set[str]:
        """All nodes that depend on a node, itself included."""
        seen, pending = set[str](), [start]
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending.extend(readers[name])
        return seen

    # ---- who decides ----

    def _source(self, ref: Ref) -> Ref:
        """The tensor behind Identities."""
        seen = set()
        node = self._graph.nodes[ref.node]
        while node.operator == "Identity" and node.inputs and ref not in seen:
            seen.add(ref)
            ref = node.inputs[0]
            node = self._graph.nodes[ref.node]
        return ref

    def _selector(self, switch: SourceNode) -> _Selector:
        return _Selector(self._source(switch.inputs[1]), switch.operator == "_SwitchN")

    def _ports(self, start: Ref, with_controls: bool) -> dict[_Selector, set[int]] | None:
        """The Switches that a tensor comes from, and by which outputs; not what lies behind them. None when another Merge
        comes first."""
        nodes = self._graph.nodes
        found: dict[_Selector, set[int]] = {}
        seen: set[Ref] = set()
        pending = [start]
        while pending:
            ref = pending.pop()
            if ref in seen:
                continue
            seen.add(ref)
            node = nodes[ref.node]
            if node.operator in SWITCHES and len(node.inputs) == 2:
                if ref.output >= 0:
                    found.setdefault(self._selector(node), set()).add(ref.output)
                continue
            if node.operator in MERGES:
                return None
            pending.extend(node.inputs)
            if with_controls:
                pending.extend(Ref(name, -1) for name in node.controls if name in nodes)
        return found

    def _find(self, merge: SourceNode) -> _Branches | None:
        """The condition of a Merge: a predicate that sends each of its inputs through another output. None where there is
        none, or where inner conditions come first."""
        for with_controls in (False, True):
            sides = []
            for ref in merge.inputs:
                side = self._ports(ref, with_controls)
                if side is None:
                    return None
                sides.append(side)
            for selector in dict.fromkeys(selector for side in sides for selector in side):
                ports = [side.get(selector, set()) for side in sides]
                known = [port for port in ports if port]
                if any(len(port) > 1 for port in ports) or len(set(map(frozenset, known))) < len(known):
                    continue
                if len(known) == len(ports):
                    return _Branches(merge, selector, tuple(next(iter(port)) for port in ports))
                if with_controls and len(ports) == 2 and len(known) == 1 and not selector.is_number:
                    # The other side is a constant whose tie to the branch was optimized away.
                    (port,) = known[0]
                    return _Branches(merge, selector, tuple(port if side else 1 - port for side in ports))
        return None

    def _branches(self, merge: SourceNode) -> _Branches:
        found = self._find(merge)
        if found is None:
            self._fail(merge, "joins values that no Switch tells apart")
        return found

    # ---- rewriting ----

    def _guarded(self, roots: Iterable[Ref], selector: _Selector) -> set[str]:
        """The nodes between the Switches of a selector and these tensors: what runs in a branch only."""
        nodes = self._graph.nodes
        inside: dict[str, bool] = {}
        met: set[str] = set()

        def is_switch(name: str) -> bool:
            node = nodes[name]
            return node.operator in SWITCHES and len(node.inputs) == 2 and self._selector(node) == selector

        pending = [(ref.node, False) for ref in roots]
        while pending:
            name, is_second_look = pending.pop()
            node = nodes[name]
            if name in inside:
                continue
            if node.operator in SWITCHES:
                inside[name] = False
                continue
            sources = [*(ref.node for ref in node.inputs), *(name for name in node.controls if name in nodes)]
            if is_second_look:
                inside[name] = any(is_switch(source) or inside.get(source, False) for source in sources)
                continue
            if name not in met:  # a damaged graph may have cycles
                met.add(name)
                pending.append((name, True))
                pending.extend((source, False) for source in sources if source not in inside)
        return {name for name, value in inside.items() if value}

    def _raise(self, group: list[_Branches]) -> None:
        """Replaces the Merges of one condition by one node and Identities."""
        nodes = self._graph.nodes
        selector = group[0].selector
        count = 1 + max(port for branches in group for port in branches.ports)
        guarded = self._guarded([ref for branches in group for ref in branches.merge.inputs], selector)
        captured: dict[Ref, str] = {}

        def argument(ref: Ref) -> Ref | None:
            """What a reference is inside of a branch; None for what is copied into it."""
            node = nodes[ref.node]
            if node.operator in SWITCHES and len(node.inputs) == 2 and self._selector(node) == selector:
                ref = node.inputs[0]
            elif node.name in guarded or node.operator == "Const":
                return None
            return Ref(captured.setdefault(ref, f"argument_{len(captured)}/{ref.node}"))

        bodies: list[tuple[dict[str, SourceNode], list[Ref]]] = []
        for port in range(max(count, 2)):
            roots = [branches.merge.inputs[branches.ports.index(port)] for branches in group if port in branches.ports]
            if len(roots) != len(group):
                self._fail(group[0].merge, f"has no value for branch {port}")
            bodies.append(slice_of(self._graph, roots, argument, lambda name: False))
        functions = []
        for port, (copies, results) in enumerate(bodies):
            wish = f"{group[0].merge.name}_branch_{port}"
            name = unique(wish, self._model.functions)
            own = {name: SourceNode(name, ARGUMENT) for name in captured.values()}
            self._model.functions[name] = SourceGraph(name, {**own, **copies}, tuple(own), tuple(results))
            functions.append(name)
        node_name = unique(f"{group[0].merge.name}/condition", nodes)
        attributes = {"then_branch": function_attribute(functions[1]), "else_branch": function_attribute(functions[0])}
        operator = "StatelessIf"
        if selector.is_number:
            operator, attributes = "StatelessCase", {"branches": function_attribute(*functions)}
        inputs = (selector.value, *captured)
        condition = SourceNode(node_name, operator, inputs, attributes=attributes)
        merges = {branches.merge.name: number for number, branches in enumerate(group)}
        replaced: dict[str, SourceNode] = {}
        for node in nodes.values():
            if node.name not in merges:
                replaced[node.name] = node
                continue
            replaced.setdefault(node_name, condition)
            replaced[node.name] = SourceNode(
                node.name, "Identity", (Ref(node_name, merges[node.name]),), attributes=node.attributes
            )
        nodes.clear()
        nodes.update(replaced)

    def _remove_dead(self) -> None:
        """Takes out what only branches read: Switches, and what depends on them and on nothing that runs."""
        nodes, readers = self._graph.nodes, self._readers()
        dead: set[str] = set()
        pending = [node.name for node in nodes.values() if node.operator in SWITCHES]
        while pending:
            name = pending.pop()
            if name not in dead:
                dead.add(name)
                pending.extend(readers[name])
        live = [name for name in nodes if name not in dead and nodes[name].operator != "NoOp"]
        kept = self._ancestors([*live, *(ref.node for ref in self._graph.results)])
        for name in dead - kept:
            del nodes[name]
        for node in nodes.values():
            node.controls = tuple(name for name in node.controls if name in nodes)
