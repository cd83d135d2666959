"""Which networks are compared, and what each is trained with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from mslite.converter.training import BatchNorm, Loss, Optimizer, TrainSettings

from . import images, pixels, sequences, tasks
from .tasks import Task


@dataclass(frozen=True)
class Case:
    """A network and how it learns. `settings` are those of [train_param]; `rows` is the size of a batch."""

    name: str
    make: Callable[[], nn.Module]
    task: Callable[[], Task]
    settings: TrainSettings
    rows: int = 16
    settles: bool = False
    """Whether its batch normalisation has seen the data before: as a network that was trained has."""
    program: bool = False
    """Whether it comes as a torch.export program, not as an ONNX file."""


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
    Case("LeNet-5", images.LeNet, lambda: tasks.grey(32), _settings(Optimizer.MOMENTUM, 0.02)),
    Case("MobileNetV2", images.MobileNetV2, lambda: tasks.colour(96), _settings(Optimizer.MOMENTUM, 0.02, decay=4e-5)),
    Case(
        "MobileNetV2, its head",
        images.MobileNetV2,
        lambda: tasks.colour(96),
        TrainSettings(
            optimizer=Optimizer.ADAM,
            learning_rate=0.01,
            frozen=frozenset({"features"}),
            batch_norm=BatchNorm.TRAIN,
        ),
        settles=True,
    ),
    Case("ResNet-18", images.ResNet18, lambda: tasks.colour(64), _settings(Optimizer.NESTEROV, 0.01, decay=1e-4)),
    Case("SqueezeNet 1.1", images.SqueezeNet, lambda: tasks.colour(64), _settings(Optimizer.ADAM, 1e-3)),
    Case("ShuffleNetV2", images.ShuffleNetV2, lambda: tasks.colour(96), _settings(Optimizer.SGD, 0.1)),
    Case("MobileNetV3-Small", images.MobileNetV3Small, lambda: tasks.colour(96), _settings(Optimizer.RMSPROP, 1e-3)),
    Case(
        "EfficientNet-B0", images.EfficientNetB0, lambda: tasks.colour(96), _settings(Optimizer.ADAMW, 1e-3, decay=0.01)
    ),
    Case(
        "DenseNet",
        lambda: images.DenseNet((4, 8, 8)),
        lambda: tasks.colour(64),
        _settings(Optimizer.NESTEROV, 0.02, decay=1e-4),
    ),
    Case("U-Net", pixels.UNet, lambda: tasks.masks(64), _settings(Optimizer.ADAM, 1e-3, Loss.SIGMOID)),
    Case("autoencoder", pixels.Autoencoder, lambda: tasks.itself(32), _settings(Optimizer.ADAM, 2e-3, Loss.SQUARED)),
    Case(
        "BERT-mini",
        lambda: sequences.Bert(tasks.VOCABULARY, tasks.LENGTH),
        tasks.tokens,
        _settings(Optimizer.ADAMW, 2e-4, decay=0.01, clip=1.0),
    ),
    Case(
        "ViT-Tiny",
        lambda: sequences.VisionTransformer(64, 8),
        lambda: tasks.colour(64),
        _settings(Optimizer.ADAMW, 2e-4, decay=0.05, clip=1.0, trained=frozenset({"chosen", "places"})),
    ),
    Case("text CNN", lambda: sequences.TextCNN(tasks.VOCABULARY), tasks.tokens, _settings(Optimizer.ADAGRAD, 0.02)),
    Case("LSTM", lambda: sequences.Recurrent(8), tasks.rows, _settings(Optimizer.ADAM, 5e-3, clip=1.0)),
)
