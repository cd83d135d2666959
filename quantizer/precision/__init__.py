"""Which operators can be quantized, with which schemes, and the precision of each node."""
