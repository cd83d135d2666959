"""docs/training_accuracy.md and its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mslite.converter.training import Loss

from .cases import Case
from .picture import picture
from .results import TOLERANCE, Refused, Result

_TITLE = "Training compared with PyTorch"
_PICTURE = "training_accuracy.svg"
_HEAD = """# Training compared with PyTorch

Written by `make compare-training` (`python -m tests.training.beside_pytorch`); `python -m tests.training.beside_pytorch
"ResNet-18"` measures one network again.

Each network is defined in PyTorch, exported to ONNX (`.pt2` where the name says so) and converted with `--trainModel=true`. Then mslite
and PyTorch {version} (CPU, eager) train it for {steps} steps from the same weights, on the same batches, by the same optimizer. PyTorch
does it a third time in float64: what its two precisions differ by is what rounding alone does to the losses.

![Losses of mslite and PyTorch, and how far apart they are]({picture})

"""
_COLUMNS = """| network | begins | optimizer | rows | loss, first → last | largest difference | PyTorch, float32 to float64 | held out: mslite | PyTorch |
|---|---|---|---:|---|---:|---:|---:|---:|
"""
_NOTES = """
*difference*: of a step's loss, relative to PyTorch's in float32; the largest of all steps. *held out*: the share of right answers (of right
pixels for U-Net, the mean square for the autoencoder) on 80 digits that were not trained with, in evaluation mode after the last step.
The data are the digits of [examples/digits](../examples/digits): gray or in color and with noise, as tokens, as masks. *tuned*: PyTorch
has trained the network for {learned} steps before, as a network that is tuned on a device has been trained. Adam is MindSpore's, whose epsilon
is another one in the first steps, so that its losses leave those of PyTorch's Adam; AdamW without decay is PyTorch's Adam.

## What chance does

A ReLU's gradient jumps where its input crosses zero. Two programs that round differently now and then find one of a million inputs on
different sides; then their gradients differ by some thousandths, whatever the precision. Behind networks with batch normalization that begin
with random weights, each step makes such a difference several times as large: float32 and float64 of PyTorch part as well,
and losses can be compared no longer. What the network has learned at the end can be.
"""


def write_page(
    results: Sequence[Result | Refused], cases: Mapping[str, Case], docs: Path, version: str, learned: int
) -> None:
    trained = [result for result in results if isinstance(result, Result)]
    steps = max(len(result.here.losses) for result in trained)
    below = f"{steps} steps from the same weights on the same batches; below, the difference of each step's loss, relative; black: {TOLERANCE:g}"
    (docs / _PICTURE).write_text(picture(trained, _TITLE, below), encoding="utf-8")
    text = _HEAD.format(version=version, steps=steps, picture=_PICTURE)
    near = [result for result in trained if result.difference <= TOLERANCE]
    far = [result for result in trained if result.difference > TOLERANCE]
    text += f"## Within {TOLERANCE:g} at every step\n\n{_table(near, cases)}"
    if far:
        text += f"\n## Where rounding grows\n\n{_table(far, cases)}"
    refused = [result for result in results if isinstance(result, Refused)]
    if refused:
        text += "\n## Not trained\n\n" + "".join(f"- {result.name}: {result.reason}\n" for result in refused)
    (docs / "training_accuracy.md").write_text(text + _NOTES.format(learned=learned), encoding="utf-8")


def _table(results: Sequence[Result], cases: Mapping[str, Case]) -> str:
    return _COLUMNS + "".join(_row(result, cases[result.name]) for result in results)


def _row(result: Result, case: Case) -> str:
    losses, settings = result.single.losses, case.settings
    optimizer = [f"{result.optimizer} {settings.learning_rate:g}"]
    if settings.weight_decay:
        optimizer.append(f"decay {settings.weight_decay:g}")
    if settings.clip_norm is not None:
        optimizer.append(f"clipped at {settings.clip_norm:g}")
    is_share = settings.loss is not Loss.SQUARED
    scores = [
        f"{one.score:.1%}".replace("%", " %") if is_share else f"{one.score:.4f}"
        for one in (result.here, result.single)
    ]
    cells = [
        result.name,
        "tuned" if case.before else "random",
        ", ".join(optimizer),
        str(case.rows),
        f"{losses[0]:.3f} → {losses[-1]:.3f}",
        f"{result.difference:.1e}",
        f"{result.rounding:.1e}",
        *scores,
    ]
    return f"| {' | '.join(cells)} |\n"
