"""method=QAT: trains weights, biases and scales on the calibration data so that the quantized model reproduces the
float model (knowledge distillation)."""
