"""Prints the share of floating-point operations of models that runs on a backend, and the reasons for the rest.

PYTHONPATH=build/python:. python -m tests.delegate.coverage OpenCL                     the open model set, compared with recorded outputs
PYTHONPATH=build/python:. python -m tests.delegate.coverage OpenCL build/bench-models  ONNX files of a folder, compared with the CPU

"OpenCL float16" selects OpenCL with float16 storage, and prints the SQNR of the outputs compared with the CPU in dB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.options import Options
from mslite.model import Placement
from tests.e2e.models import Entry, convert_model, differences, models, run_case

from .engines import ENGINES, Engine
from .models import SEEDS, built_on_cpu, half_cases, half_problem, with_disturbed_weights

TOLERANCE = 2e-4
"""Tolerance relative to the largest output: backends sum in another order, over a hundred layers."""


def of_the_open_set(engine: Engine, entry: Entry, folder: Path) -> tuple[list[Placement], str]:
    """The backend of each node of a model, and problems of its outputs."""
    path = convert_model(entry, folder)
    model = engine.built(path)
    if engine.is_half:
        return model.placements(), noise(half_cases(entry, path, model))
    problems = [line for case in entry.cases for line in differences(entry, case, run_case(entry, model, case))]
    return model.placements(), "; ".join(problems)


def beside_the_cpu(engine: Engine, source: Path, folder: Path) -> tuple[list[Placement], str]:
    """The same for a model without recorded outputs."""
    path = convert(Options(source, folder / source.stem)).files[0]
    on_engine, on_cpu = engine.built(path), built_on_cpu(path)
    rng = np.random.default_rng(7)
    inputs = [
        rng.standard_normal(tensor.shape).astype(np.float32)
        if tensor.dtype == mslite.DataType.FLOAT32
        else np.ones(tensor.shape, np.int64 if tensor.dtype == mslite.DataType.INT64 else np.int32)
        for tensor in on_engine.get_inputs()
    ]
    got = [tensor.get_data_to_numpy() for tensor in on_engine.predict(inputs)]
    wanted = [tensor.get_data_to_numpy() for tensor in on_cpu.predict(inputs)]
    if engine.is_half:
        noisy = [
            [tensor.get_data_to_numpy() for tensor in built_on_cpu(with_disturbed_weights(path, seed)).predict(inputs)]
            for seed in SEEDS
        ]
        return on_engine.placements(), noise([half_problem(got, wanted, noisy)])
    worst = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(got, wanted, strict=True))
    return on_engine.placements(), "" if worst <= TOLERANCE else f"off by {worst:.2g} of the largest output"


def noise(cases: list[tuple[float, str]]) -> str:
    """Prints the lowest SQNR of the cases. Returns the problem, if any."""
    print(f"SQNR {min(ratio for ratio, _ in cases):.1f} dB", end="  ")
    return "; ".join(problem for _, problem in cases if problem)


def outcomes(engine: Engine, networks: Path | None, folder: Path) -> Iterator[tuple[str, list[Placement], str]]:
    """Yields name, placements and problems of every model."""
    chosen: list[Path | Entry] = [entry for entry in models() if entry.tolerance_class == "float"]
    if networks is not None:
        chosen = sorted(networks.glob("*.onnx"))
    for each in chosen:
        name = each.stem if isinstance(each, Path) else each.path
        try:
            found = (
                beside_the_cpu(engine, each, folder)
                if isinstance(each, Path)
                else of_the_open_set(engine, each, folder)
            )
        except (ConversionError, RuntimeError) as error:
            found = [], str(error)
        yield name, *found


def main() -> int:
    parser = argparse.ArgumentParser(description="Prints what runs on a backend, and why the rest does not.")
    parser.add_argument("engine", choices=[engine.label for engine in ENGINES])
    parser.add_argument("networks", type=Path, nargs="?", help="a folder of ONNX files; without it, the open model set")
    given = parser.parse_args()
    (engine,) = (engine for engine in ENGINES if engine.label == given.engine)
    reasons: Counter[str] = Counter()
    count = wrong = total = on_engine = 0
    with tempfile.TemporaryDirectory() as folder, engine.chosen():
        for name, placements, problem in outcomes(engine, given.networks, Path(folder)):
            count, wrong = count + 1, wrong + bool(problem)
            parts = len({placement.part for placement in placements if engine.has(placement)})
            print(f"{name}: {engine.share(placements):.1%} in {parts} parts {problem}".rstrip(), flush=True)
            for placement in placements:
                total += placement.flops
                on_engine += placement.flops if engine.has(placement) else 0
                if not engine.has(placement):
                    reasons[f"{placement.op}: {placement.reason}"] += placement.flops + 1
    print(f"{count} models, {wrong} wrong; {on_engine / max(total, 1):.2%} of the operations")
    for reason, flops in reasons.most_common(40):
        print(f"{flops / max(total, 1):8.3%}  {reason}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
