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
(`python -m tests.training.beside_pytorch`) generates this page. To measure only one network again, name it:
`python -m tests.training.beside_pytorch "ResNet-18"`.

Each network is defined in PyTorch, exported to ONNX (or to `.pt2`, if its name says so) and converted with
`--trainModel=true`. mslite and PyTorch {version} (CPU, eager) train it for {steps} steps with the same initial weights,
batches and optimizer. PyTorch also trains the network in float64. The difference between PyTorch's float32 and float64
losses shows the effect of rounding errors alone.

![Losses of mslite and PyTorch, and their difference]({picture})

"""
_COLUMNS = """| network | initial weights | optimizer | batch size | loss, first → last step | mslite vs. PyTorch | PyTorch float32 vs. float64 | test, mslite | test, PyTorch |
|---|---|---|---:|---|---:|---:|---:|---:|
"""
_NOTES = """
## Columns

- *initial weights*: *random*, or *pretrained* for {learned} steps in PyTorch, to simulate fine-tuning on a device
- *optimizer*: its name, the learning rate, the weight decay, and the largest global norm of the gradients (*clip norm*)
- *loss*: the loss of PyTorch in float32
- *mslite vs. PyTorch*: the largest relative difference between the losses of mslite and of PyTorch in float32, over all
  steps
- *PyTorch float32 vs. float64*: the largest relative difference between the losses of PyTorch in float32 and in float64
- *test*: the accuracy on 80 held-out digits after the last step, in evaluation mode. For U-Net it is the accuracy of
  pixels. For the autoencoder it is the mean squared error.

The data are the digits of [examples/digits](../../examples/digits), as gray images, as color images with noise, as
tokens, or as masks. `Adam` is MindSpore's Adam, which adds epsilon before the bias correction. PyTorch's Adam adds it
after the correction, as does AdamW without weight decay.

## Why rounding errors are amplified

The gradient of ReLU is discontinuous at zero. Because of different rounding, a few of a million ReLU inputs can have
different signs in mslite and PyTorch. The gradients then differ by about 0.001, in any precision. In networks with
batch normalization and random initial weights, each step amplifies this difference. The float32 and float64 losses of
PyTorch diverge in the same way. For these networks, compare the test accuracy instead of the losses.
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
    text += f"## Networks within {TOLERANCE:g} of PyTorch at every step\n\n"
    text += _table(near, cases)
    if far:
        text += f"\n## Networks that amplify rounding errors\n\n{_table(far, cases)}"
    refused = [result for result in results if isinstance(result, Refused)]
    if refused:
        text += "\n## Networks that were not trained\n\n"
        text += "".join(f"- {result.name}: {result.reason}\n" for result in refused)
    (docs / "training_accuracy.md").write_text(text + _NOTES.format(learned=learned), encoding="utf-8")


def _table(results: Sequence[Result], cases: Mapping[str, Case]) -> str:
    return _COLUMNS + "".join(_row(result, cases[result.name]) for result in results)


def _row(result: Result, case: Case) -> str:
    losses, settings = result.single.losses, case.settings
    optimizer = [f"{result.optimizer} {settings.learning_rate:g}"]
    if settings.weight_decay:
        optimizer.append(f"weight decay {settings.weight_decay:g}")
    if settings.clip_norm is not None:
        optimizer.append(f"clip norm {settings.clip_norm:g}")
    is_share = settings.loss is not Loss.SQUARED
    scores = [
        f"{one.score:.1%}".replace("%", " %") if is_share else f"{one.score:.4f}"
        for one in (result.here, result.single)
    ]
    cells = [
        result.name,
        "pretrained" if case.before else "random",
        ", ".join(optimizer),
        str(case.rows),
        f"{losses[0]:.3f} → {losses[-1]:.3f}",
        f"{result.difference:.1e}",
        f"{result.rounding:.1e}",
        *scores,
    ]
    return f"| {' | '.join(cells)} |\n"
