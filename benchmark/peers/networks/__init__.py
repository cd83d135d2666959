"""The networks on which speed is quoted, as ONNX and TensorFlow Lite files in float32 and in int8; random weights, with a fixed seed."""
