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


class Schedule(Enum):
    """What becomes of the learning rate (`schedules.py`); the value is its name in [train_param]."""

    CONSTANT = "Constant"
    COSINE = "Cosine"
    STEP = "Step"
    EXPONENTIAL = "Exponential"
    POLYNOMIAL = "Polynomial"
    ONE_CYCLE = "OneCycle"


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
    schedule: Schedule = Schedule.CONSTANT
    warmup_steps: int = 0
    decay_steps: int = 1
    decay_rate: float = 0.1
    """Of STEP and EXPONENTIAL."""
    power: float = 1.0
    """Of POLYNOMIAL."""
    batch_norm: BatchNorm = BatchNorm.FROZEN
    dropout: bool = False
    """Whether Dropout drops in training."""
    batch: int | None = None
    """Rows of a step, where the model was made for another number."""
    output: str = ""
    """The output of which the loss is computed, where there are several."""
    frozen: frozenset[str] = frozenset()
    """Names of constants, or of layers, that stay as they are (`frozen.py`)."""


TRAINS_ALL = TrainSettings(batch_norm=BatchNorm.TRAIN, dropout=True)
"""As the model was trained before."""
