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
class Lora:
    """Low-rank adapters: instead of a weight, two thin matrices beside it are trained (`adapters.py`)."""

    rank: int
    alpha: float | None = None
    """What they add is multiplied by alpha / rank; None: by one."""
    layers: frozenset[str] = frozenset()
    """Names of weights, or of layers, that get adapters; none: all products."""
    trained: frozenset[str] = frozenset()
    """Those that are trained in full, as a new head."""

    @property
    def scale(self) -> float:
        return 1.0 if self.alpha is None else self.alpha / self.rank


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
    lora: Lora | None = None
    """Adapters; without them all parameters are trained."""

    @property
    def trains_batch_norm(self) -> bool:
        """Whether it takes the statistics of the batch; beside adapters it stays."""
        return self.batch_norm is BatchNorm.TRAIN and self.lora is None


TRAINS_ALL = TrainSettings(batch_norm=BatchNorm.TRAIN, dropout=True)
"""As the model was trained before."""
