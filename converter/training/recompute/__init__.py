"""Activation checkpointing: recomputes values of the forward pass in the backward pass, to save memory."""
