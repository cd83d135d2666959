"""`make onnx-suite`: counts the passed test cases of the onnx package, by operator.

Writes docs/developers/onnx_suite.md, and rest.json in this folder: the cases that do not pass, with their reasons. With a regular
expression as argument, only matching cases run; their failures are printed, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import onnx
from rich.progress import track

from .cases import model_of, names
from .outcome import REST, outcome

PAGE = Path(__file__).resolve().parents[2] / "docs" / "developers" / "onnx_suite.md"


def score(results: dict[str, str]) -> dict[str, tuple[int, int]]:
    """Returns operator -> passed cases, and all cases with it in their main graph."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, reason in results.items():
        for operator in {node.op_type for node in model_of(name).graph.node}:
            counts[operator][0] += not reason
            counts[operator][1] += 1
    return {operator: (passed, total) for operator, (passed, total) in sorted(counts.items())}


def by_reason(results: dict[str, str]) -> dict[str, list[str]]:
    """Returns reason -> cases that fail for it, most frequent reason first."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, reason in sorted(results.items()):
        if reason:
            found[reason].append(name)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))


def page(results: dict[str, str]) -> str:
    """Returns the text of docs/developers/onnx_suite.md."""
    passed = sum(not reason for reason in results.values())
    lines = [
        "# The ONNX backend test suite",
        "",
        "`make onnx-suite` writes this page; do not edit it. The command converts and runs every test case of the onnx package",
        "through `mslite.onnx_backend`.",
        "",
        f"onnx {onnx.__version__}: **{passed} of {len(results)}** cases pass, within the tolerance of each case. Networks that the",
        "package downloads are not included.",
        "",
        "## Cases that do not pass",
        "",
    ]
    for reason, found in by_reason(results).items():
        lines += [f"- {reason} ({len(found)}): {', '.join(f'`{name}`' for name in found)}"]
    lines += ["", "## By operator", "", "| operator | pass | of |", "|---|---:|---:|"]
    lines += [f"| {operator} | {good} | {total} |" for operator, (good, total) in score(results).items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="", help="regular expression for the names of cases")
    pattern = parser.parse_args().pattern
    chosen = [name for name in names() if re.search(pattern, name)]
    results = {name: outcome(name) for name in track(chosen, "cases", disable=not sys.stderr.isatty())}
    for operator, (good, total) in score(results).items():
        print(f"{operator:28} {good:4} of {total:4}{'' if good == total else '  <--'}")
    print(f"{'all':28} {sum(not reason for reason in results.values()):4} of {len(results):4}")
    if pattern:
        for name, reason in results.items():
            if reason:
                print(f"{name}: {reason}")
        return 0
    REST.write_text(json.dumps(by_reason(results), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
