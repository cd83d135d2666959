"""Writes docs/developers/quantization_accuracy.md: the tables and a description of the measurements."""

from __future__ import annotations

import math
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .keys import sources
from .measure import OTHERS, Result
from .ours import BUDGET, MSLITE, STRICT, STRICT_BUDGET

_BESIDE = (MSLITE, *OTHERS)

_HEADER = f"""# Quantization: accuracy compared with other quantizers

Written by `make accuracy` (`python -m tests.accuracy`). It measures again what has changed since its last run, or
everything after `rm -r build/accuracy`. [quantization.md](../quantization.md#choose-a-method) has a summary for users.

Each model is quantized four times, from the same float model and the same calibration samples, without labels:

- **mslite**: `quant_type=FULL_QUANT`, `activation_quant_method=AUTO` and `--accuracyBudget={BUDGET}`, for every model.
  The layers that the budget raises to int16 activations or float are listed below the tables. All other layers compute
  in int8.
- **mslite, strict**: the same with `--accuracyBudget={STRICT_BUDGET}`, for every model. Its tables are separate.
- **onnxruntime**: `quant_pre_process` and `quantize_static` with QDQ, int8 activations and weights, MinMax, per channel
  (per tensor if that fails). Results are computed in float between the roundings, because its integer kernels saturate
  on processors without int8 dot products. ONNX models only. Models below opset 13 are converted to 17 first. Recurrent
  layers stay in float.
- **TFLite**: the converter's post-training quantizer, int8 with float inputs and outputs, run by LiteRT. onnx2tf first
  converts ONNX models to TFLite. No Caffe models.

A name without a folder is a trained model of this repository (`tests/models/trained`). The others are [models that are
not in the repository](../../CONTRIBUTING.md#models-that-are-not-in-the-repository), by project. Without these,
`make accuracy` measures the models of the repository only.

A dash means that the tool does not read the model, or that it failed (listed at the end).

All values are measured on held-out samples, which no quantizer saw:

- *cosine* and *SQNR*: compared with the float model of the same tool; the worst output of a model counts
- *top-1*: share of correct labels, in float and after quantization
- *changed*: share of answers (largest output) that differ from those of the float model
- *integers*: share of the multiply-accumulates that mslite computes in integers
- ±: standard error over the held-out samples (jackknife)
"""

_CHANCE = """### Significance of the differences

Two classifiers differ only on the samples that one of them gets right and the other does not. *p* is the probability of
a division of these samples that is at least as unequal, if both classifiers are equally good (McNemar's exact test,
two-sided). *difference* is the top-1 accuracy of mslite minus that of the other, in percentage points, ± its standard
error.
"""

_STRICT = f"""## With a strict budget

With `--accuracyBudget={STRICT_BUDGET}` for every model, more layers compute with int16 activations (counted as
integers) or in float (not counted). *raised* are the convolutions, matmuls and recurrent layers that do.
"""

_VERSIONS = {"onnxruntime": "onnxruntime", "LiteRT": "ai-edge-litert", "NumPy": "numpy"}


def write_markdown(results: list[Result], path: Path, missing: list[str]) -> None:
    """Writes the page. `missing`: names of tasks that were not measured."""
    names = [result.task for result in results if result.tool == MSLITE]
    by_key = {(result.task, result.tool): result for result in results}
    labeled = [name for name in names if any(by_key[key].right >= 0 for key in by_key if key[0] == name)]
    classifying = [name for name in names if name not in labeled and by_key[name, MSLITE].classifies]
    others = [name for name in names if name not in labeled and name not in classifying]
    lines = [
        _HEADER,
        f"Versions: {', '.join(_versions())}; all of mslite from the quantizer {sources()[:12]} (checksum of its sources).",
        "",
    ]
    lines += ["## Classifiers with labels", "", *_labeled(labeled, by_key), ""]
    lines += [_CHANCE, *_differences(labeled, by_key, MSLITE), ""]
    lines += ["## Classifiers without labels", "", *_others(classifying, by_key, "changed, %"), ""]
    lines += ["## Other models", "", *_others(others, by_key, ""), ""]
    lines += ["## SQNR compared with the others", "", *_verdicts(names, by_key, MSLITE), ""]
    lines += [_STRICT, *_strict(names, by_key), "", *_verdicts(names, by_key, STRICT), ""]
    lines += ["### Significance with the strict budget", "", *_differences(labeled, by_key, STRICT), ""]
    lines += ["## Ranges and raised layers", "", *_chosen(names, by_key), ""]
    lines += ["## Samples", "", *_samples(names, by_key), ""]
    failed = [
        f"- {result.tool}, {result.task}: {result.error}" for result in results if result.error and not result.apart
    ]
    lines += ["## Failed", "", *failed, ""] if failed else []
    lines += ["## Not measured", "", *(f"- {name}" for name in missing), ""] if missing else []
    path.write_text("\n".join(lines), encoding="utf-8")


def _versions() -> list[str]:
    found = []
    for name, package in _VERSIONS.items():
        try:
            found.append(f"{name} {version(package)}")
        except PackageNotFoundError:
            continue
    return found


def _labeled(names: list[str], by_key: dict[tuple[str, str], Result]) -> list[str]:
    lines = [
        "| model | float top-1, % | " + " | ".join(f"{tool} top-1, %" for tool in _BESIDE) + " | mslite loss, points | "
        + " | ".join(f"{tool} SQNR, dB" for tool in _BESIDE) + " | integers, % |",
        "|---|" + "---:|" * (3 + 2 * len(_BESIDE)),
    ]  # fmt: skip
    for name in names:
        mine = by_key[name, MSLITE]
        rights = [_cell(by_key.get((name, tool)), "right", ".2f") for tool in _BESIDE]
        noises = [_cell(by_key.get((name, tool)), "sqnr", ".1f") for tool in _BESIDE]
        lines.append(
            f"| {name} | {_cell(mine, 'right_float', '.2f')} | {' | '.join(rights)} | {_cell(mine, 'loss', '.2f')} |"
            f" {' | '.join(noises)} | {_cell(mine, 'integers', '.1f')} |"
        )
    return lines


def discordant(mine: Result, wrong: list[int]) -> tuple[int, int]:
    """Returns the number of samples that only mslite classifies correctly, and that only the other tool does."""
    here, there = set(mine.wrong), set(wrong)
    return len(there - here), len(here - there)


def chance(better: int, worse: int) -> float:
    """Returns the two-sided p-value of McNemar's exact test."""
    count = better + worse
    tail = sum(math.comb(count, least) for least in range(min(better, worse) + 1))
    return min(1.0, 2 * tail / 2**count)


def _differences(names: list[str], by_key: dict[tuple[str, str], Result], own: str) -> list[str]:
    lines = [f"| model | compared with | only {own} is right | only the other is right | difference, points | p |",
             "|---|---|---:|---:|---:|---:|"]  # fmt: skip
    for name in names:
        mine = by_key.get((name, own))
        if mine is None or mine.error:
            continue
        others = [("float", mine.wrong_float)]
        others += [
            (tool, by_key[name, tool].wrong)
            for tool in OTHERS
            if (name, tool) in by_key and not by_key[name, tool].error
        ]
        for other, wrong in others:
            better, worse = discordant(mine, wrong)
            points = 100 * (better - worse) / mine.held_out
            error = 100 * math.sqrt(better + worse - (better - worse) ** 2 / mine.held_out) / mine.held_out
            lines.append(
                f"| {name} | {other} | {better} | {worse} | {points:+.2f} ± {error:.2f} | {chance(better, worse):.2f} |"
            )
    return lines


def _verdicts(names: list[str], by_key: dict[tuple[str, str], Result], own: str) -> list[str]:
    """Counts the models with a higher, equal or lower SQNR of mslite, with a tolerance of two standard errors of the difference."""
    lines = []
    for tool in OTHERS:
        higher, alike, lower = 0, 0, []
        for name in names:
            mine, other = by_key.get((name, own)), by_key.get((name, tool))
            if mine is None or other is None or mine.error or other.error:
                continue
            difference = mine.sqnr - other.sqnr
            if abs(difference) <= 2 * math.hypot(mine.sqnr_error, other.sqnr_error):
                alike += 1
            elif difference > 0:
                higher += 1
            else:
                lower.append(name)
        lines.append(
            f"- {tool}, {higher + alike + len(lower)} models: the SQNR of {own} is higher on {higher}, within two standard"
            f" errors on {alike}, lower on {len(lower)}{': ' if lower else ''}{', '.join(lower)}."
        )
    return lines


def _strict(names: list[str], by_key: dict[tuple[str, str], Result]) -> list[str]:
    """Returns the table of results with the strict budget, its costs, and the results of the other tools."""
    lines = [
        f"| model | raised | integers, % | cosine | SQNR, dB | {' | '.join(f'{tool} SQNR, dB' for tool in OTHERS)} | top-1, % |",
        "|---|---|" + "---:|" * (4 + len(OTHERS)),
    ]
    for name in names:
        mine = by_key.get((name, STRICT))
        others = [_cell(by_key.get((name, tool)), "sqnr", ".1f") for tool in OTHERS]
        right = _cell(mine, "right", ".2f") if mine is not None and mine.right >= 0 else "-"
        lines.append(
            f"| {name} | {raised(mine)} | {_cell(mine, 'integers', '.1f')} | {_cell(mine, 'cosine', '.5f')}"
            f" | {_cell(mine, 'sqnr', '.1f')} | {' | '.join(others)} | {right} |"
        )
    return lines


def raised(result: Result | None) -> str:
    """Returns the number of matmul and convolution layers above int8."""
    if result is None or result.error:
        return "-"
    counts = ((result.wide_layers, "int16"), (result.float_layers, "float"))
    return ", ".join(f"{count} {what}" for count, what in counts if count) or "none"


def _others(names: list[str], by_key: dict[tuple[str, str], Result], changed: str) -> list[str]:
    header = [f"{tool} {what}" for tool in _BESIDE for what in ("cosine", "SQNR, dB", *([changed] if changed else []))]
    lines = [f"| model | {' | '.join(header)} | integers, % |", "|---|" + "---:|" * (len(header) + 1)]
    for name in names:
        cells = []
        for tool in _BESIDE:
            result = by_key.get((name, tool))
            cells += [_cell(result, "cosine", ".5f"), _cell(result, "sqnr", ".1f")]
            cells += [_cell(result, "changed", ".2f")] if changed else []
        lines.append(f"| {name} | {' | '.join(cells)} | {_cell(by_key[name, 'mslite'], 'integers', '.1f')} |")
    return lines


def _cell(result: Result | None, name: str, form: str) -> str:
    if result is None or result.error:
        return "-"
    text = format(getattr(result, name), form)
    return f"{text} ± {format(getattr(result, f'{name}_error'), form)}" if hasattr(result, f"{name}_error") else text


def _chosen(names: list[str], by_key: dict[tuple[str, str], Result]) -> list[str]:
    lines = []
    for name in names:
        notes = by_key[name, MSLITE].notes
        lines += [f"**{name}**", "", *(f"- {note}" for note in notes), ""] if notes else []
    return lines


def _samples(names: list[str], by_key: dict[tuple[str, str], Result]) -> list[str]:
    lines = ["| model | samples | calibration | held out |", "|---|---|---:|---:|"]
    for name in names:
        result = by_key[name, MSLITE]
        lines.append(f"| {name} | {result.data} | {result.calibration} | {result.held_out} |")
    return lines
