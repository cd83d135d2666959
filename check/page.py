"""Writes an examination as one self-contained HTML page with a drawing of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.benchmark.origin import origin_of
from mslite.benchmark.page import NARROW, render_page, size, write_page
from mslite.check.layout import HEIGHT, WIDTH, fold, place
from mslite.check.results import CheckResult, ModelPortFacts, NodeFacts, TargetFacts
from mslite.check.text import OPEN_INPUTS, answer, batch_text, verdict
from mslite.converter.text_shortening import readable, shortened

_LONGEST_NAME = 2000
"""Largest number of characters of a node's name in the page. The script shortens names further, but keeps them
distinct."""


def write_check_page(path: Path, found: CheckResult, sources: Sequence[Path] = ()) -> None:
    """Writes the page to `path`. `sources` are the files of the model, whose hashes the page shows.

    Raises:
        ConversionError: if the page cannot be written.
        OSError: if a file in `sources` cannot be read.
    """
    numbers = {node.name: index for index, node in reversed(list(enumerate(found.nodes)))}
    text = render_page(
        "mslite.check",
        "report.html.j2",
        {"answer": answer, "readable": readable, "full": _full, "own": _own},
        found=found,
        verdict=verdict(found, NARROW),
        groups=_groups(found.targets),
        open_inputs=OPEN_INPUTS if found.has_open_inputs else "",
        batches=batch_text(found),
        shares=found.shares,
        places={name: index + len(found.inputs) for name, index in numbers.items()},
        graph=graph_drawing(found),
        origin=origin_of(sources),
    )
    write_page(path, text)


@dataclass(frozen=True)
class Group:
    """Targets of one kind with the same result."""

    kind: str
    targets: tuple[TargetFacts, ...]

    def span(self, quantity: str) -> str:
        """Returns the range of `quantity` ("ram" or "flash") over the targets: "2 kB to 5 kB", or "-" if unknown."""
        known = [value for one in self.targets if (value := getattr(one, quantity)) is not None]
        if not known:
            return "-"
        texts = dict.fromkeys(size(value) for value in (min(known), max(known)))
        return " to ".join(texts)


def _groups(targets: Sequence[TargetFacts]) -> list[Group]:
    """Groups the targets by kind and result, and keeps their order."""
    found: dict[tuple[str, str], list[TargetFacts]] = {}
    for target in targets:
        found.setdefault((_kind(target), answer(target)), []).append(target)
    return [Group(kind, tuple(members)) for (kind, _), members in found.items()]


def _kind(target: TargetFacts) -> str:
    if target.name.startswith("cortex-m"):
        return "generated C, Cortex-M"
    if target.summary.startswith("generated C"):
        return "generated C, x86 and Arm"
    return "MindSpore Lite's CPU runtime" if target.name.startswith("MindSpore Lite") else target.summary


def _own(reason: str, engine: str) -> str:
    """Removes the backend's name from the start of a reason, because the heading shows it."""
    return reason.removeprefix(f"{engine.split(' (')[0]}: ")


def graph_drawing(found: CheckResult) -> dict[str, object]:
    """Returns the data of the drawing: the graph's inputs, nodes and outputs, in this order, with their positions."""
    first = len(found.inputs)
    read: list[list[int]] = [[] for _ in found.inputs]
    read += [[index + first for index in node.inputs] for node in found.nodes]
    for index, port in enumerate(found.inputs):
        for node in port.nodes:
            read[node + first].append(index)
    for port in found.outputs:
        read.append([node + first for node in port.nodes] if port.source is None else [port.source])
    facts = [
        *(_port(port, "input") for port in found.inputs),
        *(_node(node) for node in found.nodes),
        *(_port(port, "output") for port in found.outputs),
    ]
    nodes = [
        {"x": round(at.x, 1), "y": at.y, "column": at.column, "lane": round(at.lane, 1), "in": inputs, **one}
        for at, inputs, one in zip(fold(place(read)), read, facts, strict=True)
    ]
    return {"width": WIDTH, "height": HEIGHT, "nodes": nodes}


def _full(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else shortened(text, _LONGEST_NAME)


def _port(port: ModelPortFacts, kind: str) -> dict[str, object]:
    return {"name": _full(port.name), "op": kind, "state": kind, "share": 0, "facts": [readable(port.shape)]}


def _node(node: NodeFacts) -> dict[str, object]:
    facts = [*node.shapes]
    if node.origin:
        facts.append(f"from {node.origin}")
    if node.graph:
        facts.append(f"in {node.graph}")
    if node.share.macs:
        facts.append(f"{node.share.macs:,} multiply-accumulates, {node.share}")
    facts += [f"{target}: {kernel}" for target, kernel in node.kernels]
    facts += [f"{one.reason}. {one.remedy}" for one in node.blockers]
    return {
        "name": _full(node.name),
        "op": readable(node.operator),
        "state": node.state.value,
        "share": node.share.fraction or 0,
        "facts": [readable(fact) for fact in facts],
    }
