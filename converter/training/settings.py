"""The settings of training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any


class Loss(Enum):
    """The function that training minimizes; the value is its name on the command line."""

    SPARSE_SOFTMAX = "SparseSoftmaxCrossEntropy"
    """Mean over rows, of logits (or probabilities, whose Softmax is removed) and int32 labels, one for each row."""
    SOFTMAX = "SoftmaxCrossEntropy"
    """The same, with a float distribution for each row as labels."""
    SIGMOID = "SigmoidCrossEntropy"
    """Mean over elements, of logits (or outputs of a sigmoid) and float labels."""
    SQUARED = "MeanSquaredError"
    ABSOLUTE = "MeanAbsoluteError"
    SMOOTH_L1 = "SmoothL1"
    """Mean of squares for differences below 1, of absolute values above."""


class Optimizer(Enum):
    """The optimizer; the value is its name on the command line."""

    SGD = "SGD"
    MOMENTUM = "Momentum"
    NESTEROV = "Nesterov"
    ADAM = "Adam"
    ADAMW = "AdamW"
    ADAGRAD = "Adagrad"
    RMSPROP = "RMSProp"
    ADAM_WEIGHT_DECAY = "AdamWeightDecay"
    """MindSpore's variant of AdamW without bias correction."""


class BatchNorm(Enum):
    """The mode of batch normalization in training; the value is its name in [train_param]."""

    TRAIN = "Train"
    """Normalizes with the statistics of the batch, and updates the running statistics."""
    FROZEN = "Frozen"
    """Normalizes with the running statistics, as in inference."""


class Schedule(Enum):
    """The schedule of the learning rate (`schedules.py`); the value is its name in [train_param]."""

    CONSTANT = "Constant"
    COSINE = "Cosine"
    STEP = "Step"
    EXPONENTIAL = "Exponential"
    POLYNOMIAL = "Polynomial"
    ONE_CYCLE = "OneCycle"


@dataclass(frozen=True)
class LayerUpdate:
    """The part of a layer that is trained."""

    share: Fraction = Fraction(0)
    """Share of the input channels of its weights."""
    channels: int = 0
    """Number of these channels, if given as a number."""
    bias: bool = False

    @property
    def trains_weights(self) -> bool:
        return bool(self.share or self.channels)


@dataclass(frozen=True)
class Lora:
    """Low-rank adapters: two low-rank matrices are trained instead of a weight (`adapters.py`)."""

    rank: int
    alpha: float | None = None
    """The scale of adapters is alpha / rank; None: 1."""
    layers: frozenset[str] = frozenset()
    """Names of weights or layers that get adapters; empty: all matmuls."""
    trained: frozenset[str] = frozenset()
    """Names of constants or layers that are trained in full, such as a new head."""

    @property
    def scale(self) -> float:
        return 1.0 if self.alpha is None else self.alpha / self.rank


@dataclass(frozen=True)
class TrainSettings:
    """Loss, optimizer and all other settings of training."""

    loss: Loss = Loss.SPARSE_SOFTMAX
    optimizer: Optimizer = Optimizer.SGD
    learning_rate: float = 0.01
    momentum: float = 0.9
    """For MOMENTUM and NESTEROV."""
    weight_decay: float = 0.0
    undecayed: frozenset[str] = frozenset()
    """Names of constants without weight decay."""
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    alpha: float = 0.99
    """For RMSPROP: smoothing factor of the mean of squares."""
    clip_norm: float | None = None
    """Limit of the global norm of the gradients."""
    schedule: Schedule = Schedule.CONSTANT
    warmup_steps: int = 0
    decay_steps: int = 1
    decay_rate: float = 0.1
    """For STEP and EXPONENTIAL."""
    power: float = 1.0
    """For POLYNOMIAL."""
    gradient_scale: float = 1.0
    """Factor of the gradient of the loss; the reported loss does not change."""
    batch_norm: BatchNorm = BatchNorm.FROZEN
    dropout: bool = False
    """Whether Dropout is active in training."""
    batch: int | None = None
    """Batch size of a step, if it differs from the model's."""
    output: str = ""
    """The output that the loss uses, if there are several."""
    memory: int | None = None
    """Bytes that training may use: weights, optimizer state, and the arena of a step."""
    frozen: frozenset[str] = frozenset()
    """Names of constants or layers that are not trained (`constants_by_name.py`)."""
    trained: frozenset[str] = frozenset()
    """Names of constants that are trained although they cannot be recognized as parameters."""
    sparse: tuple[tuple[str, LayerUpdate], ...] = ()
    """The layers that are trained, and which part of them (`sparse.py`); empty: all."""
    sparse_embeddings: bool = False
    """Whether a step updates only those rows of tables that were read."""
    lora: Lora | None = None
    """The adapters; None: all parameters are trained."""
    only: frozenset[str] = frozenset()
    """Names of the constants that are trained, exclusively; empty: those that are recognized as parameters."""
    straight_through: bool = False
    """Whether rounding passes gradients through unchanged, for quantization-aware training; else it has no gradient."""
    stated: frozenset[str] = frozenset()
    """Names of the settings that the user has given."""

    def completed(self, found: Mapping[str, Any]) -> TrainSettings:
        """Returns the settings, with those `found` in the model for settings that the user has not given."""
        return replace(self, **{name: value for name, value in found.items() if name not in self.stated})

    @property
    def trains_batch_norm(self) -> bool:
        """Whether batch normalization uses the statistics of the batch; not with adapters."""
        return self.batch_norm is BatchNorm.TRAIN and self.lora is None


TRAINS_ALL = TrainSettings(batch_norm=BatchNorm.TRAIN, dropout=True)
"""The defaults of --trainModel: batch normalization and Dropout as in the original training."""
