"""What a model is trained with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any


class Loss(Enum):
    """The function that training makes small; the value is its name on the command line."""

    SPARSE_SOFTMAX = "SparseSoftmaxCrossEntropy"
    """Of logits (or of probabilities, whose Softmax is left out) and int32 labels, one for each row; the mean."""
    SOFTMAX = "SoftmaxCrossEntropy"
    """The same with a float distribution for each row."""
    SIGMOID = "SigmoidCrossEntropy"
    """Of logits (or of the sigmoid's results) and float labels; the mean over all elements."""
    SQUARED = "MeanSquaredError"
    ABSOLUTE = "MeanAbsoluteError"
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
    ADAM_WEIGHT_DECAY = "AdamWeightDecay"
    """MindSpore's: as AdamW, but nothing corrects that the moments begin with 0."""


class BatchNorm(Enum):
    """What batch normalization computes in training; the value is its name in [train_param]."""

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
class LayerUpdate:
    """What of a layer is trained, where not everything is."""

    share: Fraction = Fraction(0)
    """Of the input channels of its weights."""
    channels: int = 0
    """The number of these channels, where it is said so."""
    bias: bool = False

    @property
    def trains_weights(self) -> bool:
        return bool(self.share or self.channels)


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
    """Loss and optimizer, with the optimizer's numbers."""

    loss: Loss = Loss.SPARSE_SOFTMAX
    optimizer: Optimizer = Optimizer.SGD
    learning_rate: float = 0.01
    momentum: float = 0.9
    """Of MOMENTUM and NESTEROV."""
    weight_decay: float = 0.0
    undecayed: frozenset[str] = frozenset()
    """Names of constants that weight decay leaves out."""
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
    gradient_scale: float = 1.0
    """What the gradient of the loss is multiplied by; the loss that is shown stays."""
    batch_norm: BatchNorm = BatchNorm.FROZEN
    dropout: bool = False
    """Whether Dropout drops in training."""
    batch: int | None = None
    """Rows of a step, where the model was made for another number."""
    output: str = ""
    """The output of which the loss is computed, where there are several."""
    memory: int | None = None
    """Bytes that training may take: weights, what the optimizer keeps, and all that a step computes."""
    frozen: frozenset[str] = frozenset()
    """Names of constants, or of layers, that stay as they are (`named.py`)."""
    trained: frozenset[str] = frozenset()
    """Names of constants that are trained although nothing else says that they are parameters."""
    sparse: tuple[tuple[str, LayerUpdate], ...] = ()
    """The layers that are trained, and what of them (`sparse.py`); none: all of all."""
    sparse_embeddings: bool = False
    """Whether a step changes the rows of tables that were read, and touches no others."""
    lora: Lora | None = None
    """Adapters; without them all parameters are trained."""
    only: frozenset[str] = frozenset()
    """Names of the constants that are trained, and no others; none: those that look like parameters."""
    straight_through: bool = False
    """Whether rounding passes gradients on as they are (models that learn to be rounded); else it has none."""
    stated: frozenset[str] = frozenset()
    """The settings that the user has given."""

    def completed(self, found: Mapping[str, Any]) -> TrainSettings:
        """These, and what was `found` in the model where the user has given nothing."""
        return replace(self, **{name: value for name, value in found.items() if name not in self.stated})

    @property
    def trains_batch_norm(self) -> bool:
        """Whether it takes the statistics of the batch; beside adapters it stays."""
        return self.batch_norm is BatchNorm.TRAIN and self.lora is None


TRAINS_ALL = TrainSettings(batch_norm=BatchNorm.TRAIN, dropout=True)
"""As the model was trained before."""
