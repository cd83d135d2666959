"""Measures the accuracy of quantized models, ranks layers by their loss, and searches for precisions within a
budget."""
