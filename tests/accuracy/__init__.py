"""Measures the accuracy loss of quantization: mslite's FULL_QUANT compared with onnxruntime's and TFLite's quantizers.

`python -m tests.accuracy` repeats all measurements and writes docs/developers/quantization_accuracy.md. All tools get the same float
model and the same calibration data, and are evaluated on the same held-out samples.
"""
