"""An examination on the terminal, and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mslite.benchmark.page import grouped, size
from mslite.check.facts import Examination, TargetFacts
from mslite.converter.errors import Blocker
from mslite.converter.quoting import readable, shortened
from mslite.converter.shares import NOT_KNOWN


def verdict(found: Examination) -> str:
    """One sentence."""
    if not found.converts:
        count = len(found.blockers)
        return f"{found.file} cannot be converted: {count} {'node stands' if count == 1 else 'nodes stand'} in the way"
    return f"{found.file} can be converted: {len(found.nodes)} nodes, {grouped(found.macs)} multiply-accumulates"


def print_examination(found: Examination, console: Console | None = None) -> None:
    """The blocking nodes, or what each target makes of the model."""
    console = console or Console(highlight=False, soft_wrap=True)
    console.print(verdict(found), markup=False)
    if found.blockers:
        console.print(blocker_table(found, found.blockers))
        return
    table = Table(show_edge=False)
    for title in ("target", "runs", "RAM", "flash"):
        table.add_column(title, justify="left" if title in ("target", "runs") else "right")
    for target in found.targets:
        ram, flash = ("-" if count is None else size(count) for count in (target.ram, target.flash))
        table.add_row(target.name, escape(answer(target)), ram, flash)
    console.print(table)
    console.print("RAM: the arena of activations and workspace; flash: constants, to which code comes", markup=False)
    for targets, blockers in found.blocked_targets:
        console.print(f"\n{', '.join(target.name for target in targets)}:", markup=False)
        console.print(blocker_table(found, blockers))


def answer(target: TargetFacts) -> str:
    """Whether it runs there, in some words."""
    if target.blockers:
        return f"no: {len(target.blockers)} node{'' if len(target.blockers) == 1 else 's'}"
    return ("yes" if target.runs else "no") + (f": {readable(target.problem)}" if target.problem else "")


def blocker_table(found: Examination, blockers: tuple[Blocker, ...]) -> Table:
    """Node, operator, reason, remedy, share of the multiply-accumulates."""
    shares = found.shares
    table = Table(show_edge=False)
    for title in ("node", "operator", "reason", "what to do", "share"):
        table.add_column(title, overflow="fold")
    for one in blockers:
        reason = f"attribute {one.attribute}: {one.reason}" if one.attribute else one.reason
        told = (shortened(one.node), shortened(one.operator), readable(reason), readable(one.remedy))
        table.add_row(*(escape(cell) for cell in told), str(shares.get(one.node, NOT_KNOWN)))
    return table


def json_text(found: Examination) -> str:
    """Everything, with the names of the fields as keys."""
    return json.dumps({**asdict(found), "macs": found.macs}, indent=1)
