"""`python -m tests.accuracy.tuning`: measures which raised layers of the strict accuracy budget `method=QAT` returns to int8.

Writes docs/developers/quantization_tuning.md. Arguments: names of tasks (default: all); `--results FOLDER`; `--write` only writes the
page from existing results. A measurement is repeated if its model, its samples, or the quantizer's sources have changed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.models.trained.dataset import DataMissing

from .__main__ import tasks
from .apart import measure_apart
from .keys import ROOT, key_of
from .measure import Result
from .ours import STRICT, STRICT_BUDGET, TUNED
from .results import Results
from .table import raised

_HEADER = f"""# Quantization: fine-tuning with an accuracy budget

Written by `python -m tests.accuracy.tuning`.

The table shows whether fine-tuning (`[full_quant_param] method=QAT`) lets the accuracy budget raise fewer layers. Each
model of [quantization_accuracy.md](quantization_accuracy.md) is quantized with `quant_type=FULL_QUANT`,
`activation_quant_method=AUTO` and `--accuracyBudget={STRICT_BUDGET}`, without and with `method=QAT` (1000 steps on the
calibration samples, no labels). Models in which the budget raises no layer are left out.

- *raised*: the convolutions, matmuls and recurrent layers that compute with int16 activations or in float
- *cosine* and *SQNR*: compared with the float model on held-out samples

The budget is checked on calibration samples, with `method=QAT` on calibration samples that were not used for training.

| model | raised without | raised with QAT | cosine without | cosine with QAT | SQNR without, dB | SQNR with QAT, dB |
|---|---|---|---:|---:|---:|---:|
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "accuracy")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "developers" / "quantization_tuning.md")
    given = parser.parse_args()
    results, known = Results(given.results), tasks()
    pairs, missing = [], []
    for name, make in known.items():
        found = []
        try:
            task = make()
        except DataMissing as error:
            missing.append(f"{name}: {error}")
            continue
        for tool in (STRICT, TUNED):
            result = results.get(name, tool, key_of(task, tool))
            if result is None and not given.write and (not given.names or name in given.names):
                result = measure_apart(task, tool)
                results.put(result, key_of(task, tool))
                print(f"{name:44} {tool:20} {result.error or raised(result)}", flush=True)
            found.append(result)
        if None in found:
            missing.append(name)
        else:
            pairs.append((found[0], found[1]))
    given.out.write_text(_page([pair for pair in pairs if None not in pair], missing), encoding="utf-8")
    return 0


def _page(pairs: list[tuple[Result, Result]], missing: list[str]) -> str:
    rows, fewer, same = [], [], []
    for plain, tuned in pairs:
        if plain.error or tuned.error:
            missing.append(f"{plain.task}: {plain.error or tuned.error}")
            continue
        if not plain.wide_layers + plain.float_layers:
            continue
        (fewer if _price(tuned) < _price(plain) else same).append(plain.task)
        rows.append(
            f"| {plain.task} | {raised(plain)} | {raised(tuned)} | {plain.cosine:.5f} ± {plain.cosine_error:.5f}"
            f" | {tuned.cosine:.5f} ± {tuned.cosine_error:.5f} | {plain.sqnr:.1f} | {tuned.sqnr:.1f} |"
        )
    lines = [
        _HEADER + "\n".join(rows),
        "",
        f"Fewer layers are raised in {len(fewer)} of {len(rows)} models. These models stay as they are, because tuning does not"
        f" improve the validation samples, or not enough to lower a layer: {', '.join(same) or 'none'}.",
        "",
    ]
    lines += ["## Not measured", "", *(f"- {name}" for name in missing), ""] if missing else []
    return "\n".join(lines)


def _price(result: Result) -> tuple[int, int]:
    """Sorts by the number of float layers first."""
    return result.float_layers, result.wide_layers


if __name__ == "__main__":
    raise SystemExit(main())
