"""Calibration: runs the float model on samples and observes the ranges of its activations."""
