"""Replaces conditions of TensorFlow 1 (Switch and Merge outside loops) by StatelessIf and StatelessCase nodes.

`Switch` passes a value to the branch that its predicate selects; `Merge` returns the value of the branch that ran. All
Merges of a condition become results of one StatelessIf node. Conditions that others depend on are replaced first, so
inner conditions are replaced before outer ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from mslite.converter.errors import Blocker, ConversionError, ReturnCode

from .function_extraction import function_attribute, slice_of, unique
from .model import ARGUMENT, Ref, SourceGraph, SourceModel, SourceNode

MERGES = frozenset({"Merge", "RefMerge"})
SWITCHES = frozenset({"Switch", "RefSwitch", "_SwitchN"})


@dataclass(frozen=True)
class _Selector:
    """The tensor that selects a branch; `is_number`: it is an index instead of a boolean."""

    value: Ref
    is_number: bool


@dataclass
class _Branches:
    """A Merge with its condition; `ports` has the branch number of each input."""

    merge: SourceNode
    selector: _Selector
    ports: tuple[int, ...]


def replace_v1_conditions(model: SourceModel, graph: SourceGraph) -> None:
    """Replaces the conditions of a graph without loop frames. Raises ConversionError for a Merge without a
    condition."""
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
        """Returns a Merge that does not depend on other Merges. Raises ConversionError for a cycle."""
        merge, seen = next(iter(merges.values())), set[str]()
        while True:
            before = self._ancestors([ref.node for ref in merge.inputs]) & merges.keys()
            if not before:
                return merge
            seen.add(merge.name)
            fresh = sorted(before - seen)
            if not fresh:
                self._fail(merge, "depends on itself")
            merge = merges[fresh[0]]

    def _fail(self, node: SourceNode, reason: str) -> NoReturn:
        blocker = Blocker(node.name, node.operator, f"it {reason}", "Export the model with TensorFlow 2 control flow")
        message = f"{self._model.name}: the TensorFlow 1 control flow is unsupported:"
        raise ConversionError(message, [blocker], ReturnCode.NOT_SUPPORTED)

    def _ancestors(self, starts: Iterable[str]) -> set[str]:
        """Returns all nodes that these depend on, by data or control inputs, including themselves."""
        nodes, seen, pending = self._graph.nodes, set[str](), list(starts)
        while pending:
            name = pending.pop()
            if name not in seen and name in nodes:
                seen.add(name)
                pending.extend(ref.node for ref in nodes[name].inputs)
                pending.extend(nodes[name].controls)
        return seen

    def _readers(self) -> dict[str, list[str]]:
        """Returns, for each node, the nodes that have it as a data or control input."""
        nodes = self._graph.nodes
        readers: dict[str, list[str]] = {name: [] for name in nodes}
        for node in nodes.values():
            for name in (*(ref.node for ref in node.inputs), *node.controls):
                if name in readers:
                    readers[name].append(node.name)
        return readers

    def _descendants(self, start: str, readers: dict[str, list[str]]) -> set[str]:
        """Returns all nodes that depend on a node, including itself."""
        seen, pending = set[str](), [start]
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending.extend(readers[name])
        return seen

    # ---- selectors of branches ----

    def _source(self, ref: Ref) -> Ref:
        """Returns the tensor before Identity nodes."""
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
        """Returns the nearest Switches that a tensor depends on, as selectors, and which of their outputs. None if
        another Merge is in between."""
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
        """Returns the condition of a Merge: a selector whose Switches pass each input of the Merge from a different
        output. None if there is no such selector, or if inner conditions must be replaced first."""
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
                    # The other input is a constant; its control input was removed by an optimization.
                    (port,) = known[0]
                    return _Branches(merge, selector, tuple(port if side else 1 - port for side in ports))
        return None

    def _branches(self, merge: SourceNode) -> _Branches:
        found = self._find(merge)
        if found is None:
            self._fail(merge, "merges values that do not come from different outputs of a Switch")
        return found

    # ---- rewriting ----

    def _guarded(self, roots: Iterable[Ref], selector: _Selector) -> set[str]:
        """Returns the nodes between the Switches of a selector and these tensors, which only run in a branch."""
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
        """Replaces the Merges of a condition by one StatelessIf or StatelessCase node and Identities."""
        nodes = self._graph.nodes
        selector = group[0].selector
        count = 1 + max(port for branches in group for port in branches.ports)
        guarded = self._guarded([ref for branches in group for ref in branches.merge.inputs], selector)
        captured: dict[Ref, str] = {}

        def argument(ref: Ref) -> Ref | None:
            """Returns the argument of the branch for a tensor; None for nodes that are copied into the branch."""
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
        """Removes Switches and nodes that depend on them and are not needed for any result."""
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
