"""Generates C projects that train on the device: inference and a training step as two programs with the same variables.

Parameters and optimizer state are at the beginning of the arena. net0.bin contains exactly these bytes, so exporting
and loading weights is a copy.
"""

from mslite.codegen.training.generate import TrainSource, generate_training

__all__ = ["TrainSource", "generate_training"]
