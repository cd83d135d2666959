"""Rewrites a float graph to a quantized graph, and back: quantization parameters of activations, quantized
constants."""
