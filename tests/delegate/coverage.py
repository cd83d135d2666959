"""Which share of the open set's floating-point operations runs on an engine, and what keeps the rest away from it.

PYTHONPATH=build/python:. python -m tests.delegate.coverage OpenCL
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from mslite.converter.errors import ConversionError
from tests.e2e.models import convert_model, differences, models, run_case

from .engines import ENGINES


def main() -> int:
    (engine,) = (engine for engine in ENGINES if engine.name == sys.argv[1])
    wanted = sys.argv[2:]
    reasons: Counter[str] = Counter()
    total = on_engine = wrong = 0
    chosen = [entry for entry in models() if entry.tolerance_class == "float" and (not wanted or entry.path in wanted)]
    with tempfile.TemporaryDirectory() as folder, engine.chosen():
        for entry in chosen:
            try:
                model = engine.built(convert_model(entry, Path(folder)))
                got = [run_case(entry, model, case) for case in entry.cases]
            except (ConversionError, RuntimeError) as error:
                wrong += 1
                print(f"{entry.path}: {error}", flush=True)
                continue
            placements = model.placements()
            problems = [
                line for case, arrays in zip(entry.cases, got, strict=True) for line in differences(entry, case, arrays)
            ]
            wrong += bool(problems)
            parts = len({placement.part for placement in placements if engine.has(placement)})
            print(f"{entry.path}: {engine.share(placements):.1%} in {parts} parts {' '.join(problems)}", flush=True)
            total += sum(placement.flops for placement in placements)
            on_engine += sum(placement.flops for placement in placements if engine.has(placement))
            for placement in placements:
                if not engine.has(placement):
                    reasons[f"{placement.op}: {placement.reason}"] += placement.flops + 1
    print(f"{len(chosen)} models, {wrong} wrong; {on_engine / max(total, 1):.2%} of the operations")
    for reason, flops in reasons.most_common(40):
        print(f"{flops / max(total, 1):8.3%}  {reason}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
