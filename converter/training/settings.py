"""What a model is trained with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Loss(Enum):
    """The function that training makes small; the value is its name on the command line."""

    SPARSE_SOFTMAX = "SparseSoftmaxCrossEntropy"
    """Of logits (or of probabilities, whose Softmax is left out) and int32 labels, one for each row; the mean."""
    SOFTMAX = "SoftmaxCrossEntropy"
    """The same with a float distribution for each row."""
    SIGMOID = "SigmoidCrossEntropy"
    """Of logits (or of the sigmoid's results) and float labels; the mean over all elements."""
    SQUARED = "MeanSquaredError"
    SMOOTH_L1 = "SmoothL1"
    """Squares below a distance of 1, distances above; the mean."""


class Optimizer(Enum):
    """How parameters follow their gradients; the value is its name on the command line."""

    SGD = "SGD"
    MOMENTUM = "Momentum"
    NESTEROV = "Nesterov"
    ADAM = "Adam"
    ADAMW = "AdamW"
    ADAGRAD = "Adagrad"
    RMSPROP = "RMSProp"


class BatchNorm(Enum):
    """What batch normalisation computes in training; the value is its name in [train_param]."""

    TRAIN = "Train"
    """It divides by the statistics of the batch, and moves those of inference towards them."""
    FROZEN = "Frozen"
    """What it computes in inference, by the statistics of the model."""


@dataclass(frozen=True)
class TrainSettings:
    """Loss and optimiser, with the optimiser's numbers."""

    loss: Loss = Loss.SPARSE_SOFTMAX
    optimizer: Optimizer = Optimizer.SGD
    learning_rate: float = 0.01
    momentum: float = 0.9
    """Of MOMENTUM and NESTEROV."""
    weight_decay: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    alpha: float = 0.99
    """Of RMSPROP: how much of the mean of squares stays."""
    clip_norm: float | None = None
    """The largest norm of all gradients together: larger ones are made that long."""
    batch_norm: BatchNorm = BatchNorm.FROZEN
    dropout: bool = False
    """Whether Dropout drops in training."""
    batch: int | None = None
    """Rows of a step, where the model was made for another number."""
    output: str = ""
    """The output of which the loss is computed, where there are several."""
    frozen: frozenset[str] = frozenset()
    """Names of constants, or of layers, that stay as they are (`frozen.py`)."""
    trained: frozenset[str] = frozenset()
    """Names of the constants that are trained, and no others; those that look like parameters where there are none."""
    straight_through: bool = False
    """Whether rounding passes gradients on as they are (models that learn to be rounded); else it has none."""


TRAINS_ALL = TrainSettings(batch_norm=BatchNorm.TRAIN, dropout=True)
"""As the model was trained before."""
