"""Makes a training graph from an inference graph: forward pass, loss, gradients, and an optimizer step for each
parameter.

Parameters and the state of the optimizer are variables (`ReadVariable`, `AssignVariable`), so that a training graph is
an ordinary graph; one run is one training step. The runtime runs it, and the code generator generates C for it.
"""

from mslite.converter.training.backbone import is_stored, real_behind
from mslite.converter.training.build import TrainingGraph, trainable_layers, training_graph
from mslite.converter.training.builder import Builder
from mslite.converter.training.gradients import shape_of
from mslite.converter.training.in_place import adopted_graph, is_training
from mslite.converter.training.losses import of_training
from mslite.converter.training.section import SECTION, settings_of_sections, train_settings
from mslite.converter.training.settings import (
    TRAINS_ALL,
    BatchNorm,
    LayerUpdate,
    Loss,
    Optimizer,
    Schedule,
    TrainSettings,
)
from mslite.converter.training.sparse import SECTION as SPARSE_SECTION
from mslite.converter.training.sparse import TrainableLayer, as_text
from mslite.converter.training.stored import fusions_to_leave_out, store_in_place, trained

__all__ = [
    "SECTION",
    "SPARSE_SECTION",
    "TRAINS_ALL",
    "BatchNorm",
    "Builder",
    "LayerUpdate",
    "Loss",
    "Optimizer",
    "Schedule",
    "TrainSettings",
    "TrainableLayer",
    "TrainingGraph",
    "adopted_graph",
    "as_text",
    "fusions_to_leave_out",
    "is_stored",
    "is_training",
    "of_training",
    "real_behind",
    "settings_of_sections",
    "shape_of",
    "store_in_place",
    "train_settings",
    "trainable_layers",
    "trained",
    "training_graph",
]
