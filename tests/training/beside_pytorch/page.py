"""Writes docs/developers/training_accuracy.md and its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mslite.converter.training import Loss

from .cases import Case
from .picture import picture
from .results import TOLERANCE, Refused, Result

_TITLE = "Training compared with PyTorch"
_PICTURE = "training_accuracy.svg"
_HEAD = """# Training accuracy compared with PyTorch

User page: [training.md](../training.md#speed-and-accuracy). `make compare-training`
(`python -m tests.training.beside_pytorch`) writes this page. `python -m tests.training.beside_pytorch "ResNet-18"`
measures one network again.

Each network is defined in PyTorch, exported to ONNX (or `.pt2`, if its name says so) and converted with
`--trainModel=true`. mslite and PyTorch {version} (CPU, eager) train it for {steps} steps with the same initial weights, batches
and optimizer. PyTorch also trains it in float64. The difference between PyTorch's float32 and float64 shows the effect
of rounding alone.

![Losses of mslite and PyTorch, and their difference]({picture})

"""
_COLUMNS = """| network | initial weights | optimizer | batch | loss, first → last | largest difference | PyTorch, float32 to float64 | test: mslite | test: PyTorch |
|---|---|---|---:|---|---:|---:|---:|---:|
"""
_NOTES = """
Columns:

- *largest difference*: of the loss of a step, relative to PyTorch's in float32; the largest of all steps.
- *test*: accuracy on 80 digits that were not trained with, in evaluation mode after the last step. For U-Net it is the
  accuracy of pixels, for the autoencoder the mean squared error.
- *tuned*: PyTorch has trained the network for {learned} steps before, as if it were fine-tuned on a device.

The data are the digits of [examples/digits](../../examples/digits): gray, in color with noise, as tokens, or as masks.
Adam is MindSpore's, which uses a different epsilon in the first steps than PyTorch's Adam. AdamW without decay is
PyTorch's Adam.

## Why rounding grows

The gradient of ReLU is discontinuous at zero. With different rounding, a few of a million inputs can be on different
sides of zero, and the gradients then differ by about 0.001, in any precision. In networks with batch normalization and
random initial weights, each step multiplies such a difference. PyTorch's float32 and float64 losses diverge in the same
way. For these networks, compare the test accuracy instead of the losses.
"""


def write_page(
    results: Sequence[Result | Refused], cases: Mapping[str, Case], docs: Path, version: str, learned: int
) -> None:
    trained = [result for result in results if isinstance(result, Result)]
    steps = max(len(result.here.losses) for result in trained)
    below = f"{steps} steps with the same weights and batches. Below: relative difference of the loss; black line: {TOLERANCE:g}"
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
