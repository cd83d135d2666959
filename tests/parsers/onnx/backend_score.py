"""How many of the onnx package's own cases are right, by operator: `python -m tests.parsers.onnx.backend_score`.

Arguments: a regular expression for the names of cases, `--all` for cases beyond the core ones, `--failures` to list them.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path

from mslite.converter.errors import ConversionError

from .backend_cases import BackendCase, backend_cases, core_names, difference
from .helper import compute


def outcome(case: BackendCase, folder: Path) -> str:
    """Empty when a case is right, otherwise why not."""
    try:
        return difference(case, compute(case.model, case.inputs, folder))
    except ConversionError as error:
        return "refused: " + "; ".join(str(blocker) for blocker in error.blockers) if error.blockers else str(error)
    except Exception as error:  # a score counts every kind of failure
        return f"{type(error).__name__}: {error}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--failures", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    right: dict[str, int] = defaultdict(int)
    count: dict[str, int] = defaultdict(int)
    total = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in backend_cases(frozenset() if options.all else core_names()):
            if not re.search(options.pattern, case.name):
                continue
            reason = outcome(case, Path(folder))
            total += 1
            passed += not reason
            for operator in case.operators:
                count[operator] += 1
                right[operator] += not reason
            if reason and options.failures:
                print(f"{case.name}: {reason[:300]}", flush=True)
    for operator in sorted(count):
        mark = "" if right[operator] == count[operator] else "  <--"
        print(f"{operator:28} {right[operator]:4} of {count[operator]:4}{mark}")
    print(f"{'all':28} {passed:4} of {total:4}")


if __name__ == "__main__":
    main()
