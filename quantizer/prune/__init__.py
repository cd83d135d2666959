"""Pruning: removes the least important weights or channels from the float model before quantization."""
