"""Makes a training graph from an inference graph: forward pass, loss, gradients, and an optimizer step for each
parameter.

Parameters and the state of the optimizer are variables (`ReadVariable`, `AssignVariable`), so that a training graph is
an ordinary graph; one run is one training step. The runtime runs it, and the code generator generates C for it.
"""

from mslite.converter.training.builder import Builder
from mslite.converter.training.config_section import SECTION, settings_of_sections, train_settings
from mslite.converter.training.differentiation import TrainingGraph, trainable_layers, training_graph
from mslite.converter.training.gradients import shape_of
from mslite.converter.training.losses import of_training
from mslite.converter.training.mindspore_graphs import is_training, with_variables_for_constants
from mslite.converter.training.quantized_backbone import dequantize_trained_part, has_quantized_nodes
from mslite.converter.training.settings import (
    TRAINS_ALL,
    BatchNorm,
    LayerUpdate,
    Loss,
    Optimizer,
    Schedule,
    TrainSettings,
)
from mslite.converter.training.sparse_update import SECTION as SPARSE_SECTION
from mslite.converter.training.sparse_update import TrainableLayer, as_text
from mslite.converter.training.training_file import disabled_in_training, store_in_place, trained

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
    "as_text",
    "dequantize_trained_part",
    "disabled_in_training",
    "has_quantized_nodes",
    "is_training",
    "of_training",
    "settings_of_sections",
    "shape_of",
    "store_in_place",
    "train_settings",
    "trainable_layers",
    "trained",
    "training_graph",
    "with_variables_for_constants",
]
