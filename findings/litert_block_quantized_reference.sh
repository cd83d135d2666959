#!/bin/sh
# LiteRT: BUILTIN_REF computes zeros for 4-bit weights that are quantized in blocks, without an error.
#
# Packages: tensorflow 2.21.0, ai-edge-litert 2.3.0, ai-edge-quantizer 0.10.0.
# Expected: the reference kernels, with which one checks others, compute a model or refuse it.
# Seen on 2026-11-28: a product of [1, 64] with [64, 8], quantized with the recipe dynamic_wi4b32_afp32 (4 bits, a scale for each 32
# weights), differs from the float result by at most 0.3 of 3.8 with the optimized built-in kernels and with the default (XNNPACK), which
# agree with each other. With BUILTIN_REF every output is 0; invoke() reports success. With the recipe dynamic_wi4c_afp32, a scale for
# each channel, all three agree.

set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check 'tensorflow==2.21.0' 'ai-edge-litert==2.3.0' 'ai-edge-quantizer==0.10.0'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import contextlib
import io
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from ai_edge_quantizer import quantizer, recipe

random = np.random.default_rng(0)
WEIGHTS = random.uniform(-1, 1, (64, 8)).astype(np.float32)
X = random.uniform(-1, 1, (1, 64)).astype(np.float32)

function = tf.function(lambda x: tf.matmul(x, WEIGHTS), input_signature=[tf.TensorSpec([1, 64])], autograph=False)
converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])
with open("float.tflite", "wb") as file:
    file.write(converter.convert())


def outputs(name):
    """The results of the model that is quantized by the recipe: reference kernels, optimized kernels, default."""
    one = quantizer.Quantizer("float.tflite")
    one.load_quantization_recipe(getattr(recipe, name)())
    with contextlib.redirect_stdout(io.StringIO()):
        model = bytes(one.quantize().quantized_model)
    results = []
    for kernels in (OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, OpResolverType.AUTO):
        interpreter = Interpreter(model_content=model, experimental_op_resolver_type=kernels)
        interpreter.allocate_tensors()
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], X)
        interpreter.invoke()
        results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return results


exact = X @ WEIGHTS
assert np.abs(exact).min() > 0.1, exact
for result in outputs("dynamic_wi4c_afp32"):
    assert np.abs(result - exact).max() < 0.6, (result, exact)
reference, optimized, default = outputs("dynamic_wi4b32_afp32")
assert np.abs(optimized - exact).max() < 0.6 and np.abs(default - optimized).max() < 0.05, (optimized, default, exact)
assert not reference.any(), reference
print("as recorded: 4-bit weights in blocks:", exact[0, :3].round(2), "is", reference[0, :3], "with BUILTIN_REF")
PYTHON
