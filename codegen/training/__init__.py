"""Training on the device: two programs over one set of variables, inference and a step of training, and a project around them.

Parameters and the optimizer's state lie at the beginning of the arena; those bytes are what net0.bin holds, so that the weights
are exported and loaded again by copying them.
"""

from mslite.codegen.training.generate import TrainSource, generate_training

__all__ = ["TrainSource", "generate_training"]
