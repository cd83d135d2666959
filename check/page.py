"""An examination as one self-contained page with the graph drawn."""

from __future__ import annotations

from pathlib import Path

from mslite.benchmark.page import render_page, write_page
from mslite.check.facts import Examination, NodeFacts
from mslite.check.layout import HEIGHT, WIDTH, place
from mslite.check.text import answer, verdict
from mslite.converter.quoting import readable


def write_check_page(path: Path, found: Examination) -> None:
    """Writes the page. Raises ConversionError when it cannot be written."""
    places = place([node.inputs for node in found.nodes])
    graph = {
        "width": WIDTH,
        "height": HEIGHT,
        "nodes": [_drawn(node, at) for node, at in zip(found.nodes, places, strict=True)],
    }
    text = render_page(
        "mslite.check",
        "report.html.j2",
        {"answer": answer, "readable": readable},
        found=found,
        verdict=verdict(found),
        shares=found.shares,
        graph=graph,
    )
    write_page(path, text)


def _drawn(node: NodeFacts, at: tuple[float, float]) -> dict[str, object]:
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
        "x": round(at[0], 1),
        "y": at[1],
        "name": readable(node.name),
        "op": readable(node.operator),
        "state": node.state.value,
        "in": node.inputs,
        "share": node.share.fraction or 0,
        "facts": [readable(fact) for fact in facts],
    }
