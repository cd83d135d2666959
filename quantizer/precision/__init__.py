"""What can be quantized, in which precision and by which scheme: operators, devices, and the choice for each node."""
