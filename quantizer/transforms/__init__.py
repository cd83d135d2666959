"""Transforms a float graph to an equivalent one that is easier to quantize (equalization, SmoothQuant)."""
