"""The compared networks and their training parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from mslite.converter.training import BatchNorm, Loss, Optimizer, TrainSettings

from . import images, pixels, sequences, tasks
from .tasks import Task


@dataclass(frozen=True)
class Case:
    """A network and its training. `settings` are those of [train_param]; `rows` is the batch size."""

    name: str
    make: Callable[[], nn.Module]
    task: Callable[[], Task]
    settings: TrainSettings
    rows: int = 8
    before: int = 0
    """Number of steps that PyTorch has trained it before, with another optimizer; mslite then fine-tunes it."""
    program: bool = False
    """Whether it is a torch.export program, not an ONNX file."""


LEARNED = 60
"""Number of pretraining steps of networks that are fine-tuned."""


def _settings(
    optimizer: Optimizer,
    rate: float,
    loss: Loss = Loss.SPARSE_SOFTMAX,
    decay: float = 0.0,
    clip: float | None = None,
    trained: frozenset[str] = frozenset(),
) -> TrainSettings:
    return TrainSettings(
        loss, optimizer, rate, weight_decay=decay, clip_norm=clip, batch_norm=BatchNorm.TRAIN, trained=trained
    )


CASES = (
    Case("LeNet-5", images.LeNet, lambda: tasks.gray(32), _settings(Optimizer.MOMENTUM, 0.02), 16),
    Case(
        "MobileNetV2",
        images.MobileNetV2,
        lambda: tasks.color(64),
        _settings(Optimizer.MOMENTUM, 1e-3, decay=4e-5),
        before=LEARNED,
    ),
    Case(
        "MobileNetV2 (head only)",
        images.MobileNetV2,
        lambda: tasks.color(64),
        TrainSettings(
            optimizer=Optimizer.ADAM, learning_rate=1e-3, frozen=frozenset({"features"}), batch_norm=BatchNorm.TRAIN
        ),
        before=LEARNED,
    ),
    Case(
        "ResNet-18",
        images.ResNet18,
        lambda: tasks.color(64),
        _settings(Optimizer.NESTEROV, 1e-3, decay=1e-4),
        before=LEARNED,
    ),
    Case("SqueezeNet 1.1", images.SqueezeNet, lambda: tasks.color(64), _settings(Optimizer.ADAM, 1e-4)),
    Case(
        "ShuffleNetV2",
        images.ShuffleNetV2,
        lambda: tasks.color(64),
        _settings(Optimizer.SGD, 0.01, decay=4e-5),
        before=LEARNED,
    ),
    Case(
        "MobileNetV3-Small",
        images.MobileNetV3Small,
        lambda: tasks.color(64),
        _settings(Optimizer.RMSPROP, 1e-5),
        before=LEARNED,
    ),
    Case(
        "EfficientNet-B0",
        images.EfficientNetB0,
        lambda: tasks.color(64),
        _settings(Optimizer.ADAMW, 1e-4, decay=0.01),
        before=LEARNED,
    ),
    Case(
        "DenseNet",
        lambda: images.DenseNet((4, 8, 8)),
        lambda: tasks.color(64),
        _settings(Optimizer.NESTEROV, 1e-3, decay=1e-4),
        before=LEARNED,
    ),
    Case("U-Net", pixels.UNet, lambda: tasks.masks(64), _settings(Optimizer.ADAM, 1e-3, Loss.SIGMOID)),
    Case(
        "autoencoder", pixels.Autoencoder, lambda: tasks.itself(32), _settings(Optimizer.ADAMW, 2e-4, Loss.SQUARED), 16
    ),
    Case(
        "BERT-mini",
        lambda: sequences.Bert(tasks.VOCABULARY, tasks.LENGTH),
        tasks.tokens,
        _settings(Optimizer.ADAMW, 2e-4, decay=0.01, clip=1.0),
    ),
    Case(
        "ViT-Tiny",
        lambda: sequences.VisionTransformer(64, 8, layers=6),
        lambda: tasks.color(64),
        _settings(Optimizer.ADAMW, 2e-4, decay=0.05, clip=1.0, trained=frozenset({"chosen", "places"})),
    ),
    Case("text CNN", lambda: sequences.TextCNN(tasks.VOCABULARY), tasks.tokens, _settings(Optimizer.ADAGRAD, 0.01), 16),
    Case("LSTM", lambda: sequences.Recurrent(8), tasks.rows, _settings(Optimizer.ADAMW, 5e-3, clip=1.0), 16),
    Case(
        "ResNet-18 from random weights", images.ResNet18, lambda: tasks.color(64), _settings(Optimizer.NESTEROV, 1e-3)
    ),
    Case("LeNet-5 (.pt2)", images.LeNet, lambda: tasks.gray(32), _settings(Optimizer.ADAMW, 1e-3), 16, program=True),
    Case(
        "ResNet-18 (.pt2)",
        images.ResNet18,
        lambda: tasks.color(64),
        _settings(Optimizer.MOMENTUM, 1e-3),
        before=LEARNED,
        program=True,
    ),
)
