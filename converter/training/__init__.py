"""From an inference graph to a training graph: forward pass, loss, gradients, and an optimiser's step on every parameter.

Parameters and the optimiser's state are variables (`ReadVariable`, `AssignVariable`), so that a training graph is an ordinary
graph whose every run is one step; the runtime runs it, and the code generator writes it as C.
"""

from mslite.converter.training.build import TrainingGraph, training_graph
from mslite.converter.training.in_place import adopted_graph, is_training
from mslite.converter.training.losses import of_training
from mslite.converter.training.section import SECTION, train_settings
from mslite.converter.training.settings import TRAINS_ALL, BatchNorm, Loss, Optimizer, Schedule, TrainSettings
from mslite.converter.training.stored import fusions_to_leave_out, store_in_place, trained

__all__ = [
    "SECTION",
    "TRAINS_ALL",
    "BatchNorm",
    "Loss",
    "Optimizer",
    "Schedule",
    "TrainSettings",
    "TrainingGraph",
    "adopted_graph",
    "fusions_to_leave_out",
    "is_training",
    "of_training",
    "store_in_place",
    "train_settings",
    "trained",
    "training_graph",
]
