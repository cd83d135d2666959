"""The ranges of activations: samples, runs of the float model on them, and observers of what flows through it."""
