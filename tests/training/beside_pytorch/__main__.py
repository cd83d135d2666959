"""`python -m tests.training.beside_pytorch [NAME ...]`: compares these networks, or all, and rewrites the page."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch

from mslite.converter.errors import ConversionError

from .cases import CASES, LEARNED, Case
from .compare import compare
from .page import write_page
from .results import Refused, Result, load, save

STEPS = 50
_ROOT = Path(__file__).resolve().parents[3]


def _result(case: Case) -> Result | Refused:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return compare(case, STEPS, Path(folder))
        except ConversionError as error:
            operators = sorted({blocker.operator for blocker in error.blockers})
            return Refused(case.name, f"no gradient: {', '.join(operators)}" if operators else error.message)


def main() -> int:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m tests.training.beside_pytorch", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all of: {', '.join(names)}")
    parser.add_argument(
        "--out", type=Path, default=_ROOT / "build" / "training_accuracy", help="folder for the results"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(names)}")
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        if not arguments.names or case.name in arguments.names:
            result = _result(case)
            save(result, arguments.out)
            print(result.summary(), flush=True)
    cases = {case.name: case for case in CASES}
    docs = _ROOT / "docs" / "developers"
    write_page(load(names, arguments.out), cases, docs, torch.__version__.partition("+")[0], LEARNED)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
