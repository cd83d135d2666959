"""Checks a file against the requirements of MindSpore Lite's readers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.mindir.ops.tables import MetaGraph

from .file_rules import FILE_RULES
from .kernels import missing_kernel
from .rules import Rule, file_rules, operator_rules
from .view import VERSIONS, NodeView, View


@dataclass(frozen=True)
class Violation:
    """A broken rule."""

    node: str
    """Name of the node, or of another part of the file."""
    operator: str
    """Name of the operator; empty for a rule about the file."""
    rule: str
    reason: str
    versions: tuple[str, ...]
    """The checked versions with this rule."""
    effect: str
    read: str

    def __str__(self) -> str:
        where = f"{self.operator} '{self.node}'" if self.operator else f"'{self.node}'"
        return f"{', '.join(self.versions)}: {where}: {self.reason} [{self.rule}; {self.effect}; {self.read}]"


def violations(
    meta: MetaGraph, versions: Collection[str] = VERSIONS, *, file: bytes | None = None, kernels: bool = False
) -> list[Violation]:
    """Returns the problems for readers of `versions`. Custom nodes of mslite and training operators are not checked.

    `file`: the bytes of the file, which show stored default values; `kernels`: also checks that each node has a kernel.
    """
    view = View(meta, file)
    return [*_of_file(view, versions), *(each for node in view.nodes for each in _of_node(node, versions, kernels))]


def _of_file(view: View, versions: Collection[str]) -> Iterator[Violation]:
    for rule in file_rules():
        held = _in_order(rule.versions.intersection(versions))
        if held:
            for name, reason in FILE_RULES[rule.kind](view):
                yield Violation(name, "", rule.kind, reason, held, rule.effect, rule.read)


def _of_node(node: NodeView, versions: Collection[str], kernels: bool) -> Iterator[Violation]:
    op = node.node.primitive
    if op is None or isinstance(op, Custom) or op.declaration.is_custom or op.declaration.training:
        return
    for rule in operator_rules().get(op.name, ()):
        held = _in_order(rule.versions.intersection(versions))
        reason = _reason(rule, node) if held and rule.holds_for(node) else None
        if reason is not None:
            yield Violation(node.name, op.name, rule.label, reason, held, rule.effect, rule.read)
    for version in _in_order(versions) if kernels else ():
        reason = missing_kernel(node, version)
        if reason is not None:
            yield Violation(node.name, op.name, "kernel", reason, (version,), "refused", "kernel_types.yaml")


def _reason(rule: Rule, node: NodeView) -> str | None:
    try:
        return rule.reason(node)
    except IndexError:  # a missing operand is reported by another rule
        return None


def _in_order(versions: Collection[str]) -> tuple[str, ...]:
    return tuple(version for version in VERSIONS if version in versions)
