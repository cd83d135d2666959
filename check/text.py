"""Prints an examination as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mslite.benchmark.page import grouped, size
from mslite.check.results import BackendFacts, CheckResult, TargetFacts
from mslite.converter.errors import Blocker
from mslite.converter.ethosu import Placement
from mslite.converter.mac_shares import UNKNOWN_SHARE, Share
from mslite.converter.text_shortening import counted, quoted, readable, shortened

_MAX_NAMES = 12
_LONGEST_NAME = 400
"""Characters. Users search for names in their model, so only absurdly long names are shortened."""

OPEN_INPUTS = "Backends run only nodes with known shapes: set the dynamic dimensions of the inputs with --inputShape"


def batch_text(found: CheckResult) -> str:
    """Returns the note that a dynamic batch was taken as 1, or an empty string."""
    names = ", ".join(map(quoted, found.batches))
    return f"The dynamic batch of {names} is taken as 1; --inputShape sets another" if names else ""


def verdict(found: CheckResult, blank: str = " ") -> str:
    """Returns the headline of the report. `blank` separates groups of thousands."""
    if not found.converts:
        count = len(found.blockers)
        return f"{found.file} cannot be converted: {count} unsupported {'node' if count == 1 else 'nodes'}"
    return f"{found.file} can be converted: {counted(len(found.nodes), 'node')}, {grouped(found.macs, blank)} multiply-accumulates"


def print_check_result(found: CheckResult, console: Console | None = None) -> None:
    """Prints the unsupported nodes or, if the model can be converted, the table of targets and the backends."""
    console = console or Console(highlight=False, soft_wrap=True)
    console.print(verdict(found), markup=False)
    if found.blockers:
        for line in blocker_lines(found, found.blockers):
            console.print(line, markup=False)
        return
    table = Table(show_edge=False)
    for title in ("target", "runs", "RAM", "flash"):
        table.add_column(title, justify="left" if title in ("target", "runs") else "right")
    for target in found.targets:
        ram, flash = ("-" if count is None else size(count) for count in (target.ram, target.flash))
        table.add_row(target.name, escape(answer(target)), ram, flash)
    console.print(table)
    console.print(
        "RAM: activations and scratch buffers; flash: constants, code is extra (CPU: the model file)", markup=False
    )
    if found.batches:
        console.print(readable(batch_text(found)), markup=False)
    if found.placement is not None:
        _print_npu(found.placement, console)
    if found.npu_problem:
        console.print(f"\nNPU: {readable(found.npu_problem)}", markup=False)
    for targets, blockers in found.blocked_targets:
        console.print(f"\n{', '.join(target.name for target in targets)}:", markup=False)
        for line in blocker_lines(found, blockers):
            console.print(line, markup=False)
    for engine in found.engines:
        console.print()
        for line in engine_lines(engine):
            console.print(line, markup=False)
    if found.engines and found.has_open_inputs:
        console.print(f"\n{OPEN_INPUTS}", markup=False)


def _print_npu(found: Placement, console: Console) -> None:
    """Prints the subgraphs on the NPU with vela's estimates, and the nodes on the CPU, grouped by reason."""
    how = f"vela {found.version}, {found.system_config}, {found.memory_mode}"
    console.print(
        f"\n{found.accelerator}: {found.nodes} of {found.nodes + len(found.left)} nodes ({how})", markup=False
    )
    table = Table(show_edge=False)
    for title in ("subgraph", "nodes", "MACs", "cycles", "SRAM", "constants"):
        table.add_column(title, justify="left" if title == "subgraph" else "right")
    for part in found.parts:
        numbers = (
            grouped(len(part.nodes)),
            grouped(part.macs),
            grouped(part.cycles),
            size(part.sram),
            size(part.constants),
        )
        table.add_row(escape(part.name), *numbers)
    console.print(table)
    console.print("cycles and SRAM of the NPU: estimated by vela", markup=False)
    alike: dict[str, list[str]] = {}
    for name, operator, why in found.left:
        alike.setdefault(why, []).append(f"{operator} {shortened(name, _LONGEST_NAME)}")
    for why, names in alike.items():
        console.print(
            f"  on the CPU: {readable(why)} ({len(names)} node{'' if len(names) == 1 else 's'})", markup=False
        )
        for line in names[:_MAX_NAMES]:
            console.print(f"    {line}", markup=False)
        if len(names) > _MAX_NAMES:
            console.print(f"    and {len(names) - _MAX_NAMES} more; --checkReport lists all", markup=False)


def answer(target: TargetFacts) -> str:
    """Returns "yes" or "no" with the reason: whether the target runs the model."""
    if target.blockers:
        return f"no: {len(target.blockers)} node{'' if len(target.blockers) == 1 else 's'}"
    return ("yes" if target.runs else "no") + (f": {readable(target.problem)}" if target.problem else "")


def blocker_lines(found: CheckResult, blockers: Sequence[Blocker]) -> Iterator[str]:
    """Yields the lines for unsupported nodes, grouped by operator, reason and remedy, with the names of the nodes."""
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    for one in blockers:
        alike.setdefault((one.operator, one.attribute, one.reason, one.remedy), []).append(one.node)
    for (operator, attribute, reason, remedy), names in alike.items():
        nodes = list(dict.fromkeys(names))
        count = "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"
        why = f"attribute {attribute}: {reason}" if attribute else reason
        yield f"  {shortened(operator)}: {readable(why)} ({count}, {_share(found, nodes)})"
        yield f"    what to do: {readable(remedy)}"
        yield from _name_lines(nodes)


def engine_lines(engine: BackendFacts) -> Iterator[str]:
    """Yields the lines for a backend: how many nodes it runs, and why the others run on the CPU.

    `benchmark` prints the same lines, without names. Names are left out if the backend runs no node.
    """
    parts = f", in {engine.parts} partition{'s' * (engine.parts > 1)}" if engine.parts else ""
    yield (
        f"On {readable(engine.name)}: {len(engine.taken)} of {len(engine.nodes)} nodes, "
        f"{100 * engine.share:.2f} % of the operations{parts}"
    )
    if engine.missing:
        yield f"  not on this machine: {readable(engine.missing)}"
    for (operator, reason), nodes in engine.left.items():
        yield f"  {len(nodes)} x {shortened(operator)}: {readable(reason)}"
        if engine.taken:
            yield from _name_lines([node.node for node in nodes])


def _name_lines(names: Sequence[str]) -> Iterator[str]:
    for name in names[:_MAX_NAMES]:
        yield f"    {shortened(name, _LONGEST_NAME)}"
    if len(names) > _MAX_NAMES:
        yield f"    and {len(names) - _MAX_NAMES} more; --checkReport lists all"


def _share(found: CheckResult, nodes: Sequence[str]) -> str:
    """Returns the share of several nodes together, for those with a known share."""
    shares = [found.shares.get(name, UNKNOWN_SHARE) for name in nodes]
    known = [share for share in shares if share.macs is not None and share.fraction is not None]
    if not known:
        return "unknown share of the multiply-accumulates"
    macs, fraction = sum(share.macs or 0 for share in known), sum(share.fraction or 0.0 for share in known)
    whole = f"{Share(macs, fraction, any(share.estimated for share in known))} of the multiply-accumulates"
    return whole if len(known) == len(shares) else f"at least {whole}"


def json_text(found: CheckResult) -> str:
    """Returns the examination as JSON. The keys are the field names of `CheckResult`."""
    return json.dumps({**asdict(found), "macs": found.macs}, indent=1)
