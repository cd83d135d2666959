"""`python -m tests.converter.ethosu.open_set [TARGET ...]`: prints vela's results for the 8-bit models of the open model set."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.ethosu import npu_settings
from mslite.converter.mac_shares import mac_shares_of
from mslite.converter.mindir.module_io import load
from mslite.converter.options import Options
from tests.e2e.models import models


def row(path: Path, target: str) -> str:
    """Returns nodes and multiply-accumulates on the NPU, subgraphs, cycles and SRAM; or the reason if there are none."""
    npu = npu_settings(target, {})
    with tempfile.TemporaryDirectory() as folder:
        plain = load(convert(Options(path, Path(folder) / "plain")).files[0])
        shares = mac_shares_of(plain)
        own = {node.name: shares[id(node)].macs or 0 for graph in plain.graphs for node in graph.nodes}
        try:
            placement = convert(Options(path, Path(folder) / "npu", npu=npu)).placement
        except ConversionError as error:
            return f"{error.message.partition('. ')[0]} | | | |"
    assert placement is not None
    placed = sum(own.get(name, 0) for part in placement.parts for name in part.nodes)
    share = f"{100 * placed / max(sum(own.values()), 1):.1f} %"
    nodes = f"{placement.nodes} of {placement.nodes + len(placement.left)}"
    return f"{nodes} | {share} | {len(placement.parts)} | {placement.cycles:,} | {placement.sram / 1024:,.0f} KiB"


def main() -> None:
    for target in sys.argv[1:] or ["ethos-u55"]:
        print(f"| {target} | nodes | multiply-accumulates | subgraphs | cycles | SRAM |\n|---|---|---|---|---|---|")
        for entry in models():
            if entry.kind == "tflite" and entry.tolerance_class == "int8":
                print(f"| {entry.path} | {row(entry.source, target)} |", flush=True)


if __name__ == "__main__":
    main()
