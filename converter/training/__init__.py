"""From an inference graph to a training graph: forward pass, loss, gradients, and an optimiser's step on every parameter.

Parameters and the optimiser's state are variables (`ReadVariable`, `AssignVariable`), so that a training graph is an ordinary
graph whose every run is one step; the runtime runs it, and the code generator writes it as C.
"""

from mslite.converter.training.build import TrainingGraph, training_graph
from mslite.converter.training.in_place import adopted_graph, is_training
from mslite.converter.training.settings import Loss, Optimizer, TrainSettings

__all__ = [
    "Loss",
    "Optimizer",
    "TrainSettings",
    "TrainingGraph",
    "adopted_graph",
    "is_training",
    "training_graph",
]
