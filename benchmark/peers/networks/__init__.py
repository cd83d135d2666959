"""Writes the benchmark's networks as ONNX and TensorFlow Lite files, in float32 and int8, with random weights of a fixed seed."""
