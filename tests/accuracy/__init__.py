"""What quantization costs, measured: our FULL_QUANT compared with onnxruntime's static quantizer and TFLite's converter.

`python -m tests.accuracy` measures everything again and writes docs/developers/quantization_accuracy.md. All three are given the
same float model and the same calibration samples, and are measured on the same other samples.
"""
