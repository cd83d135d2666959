"""Runs a model on a file of float32 values and prints the predicted class: classify.py MODEL INPUT.bin"""

import sys

import mindspore_lite as mslite
import numpy as np

context = mslite.Context()
context.target = ["cpu"]
context.cpu.thread_num = 2
context.cpu.inter_op_parallel_num = 1
context.cpu.thread_affinity_mode = 0
context.cpu.precision_mode = "enforce_fp32"

model = mslite.Model()
model.build_from_file(sys.argv[1], mslite.ModelType.MINDIR_LITE, context)

inputs = model.get_inputs()
data = np.fromfile(sys.argv[2], dtype=np.float32)
inputs[0].set_data_from_numpy(data)
print(inputs[0].name, inputs[0].dtype, inputs[0].shape, inputs[0].element_num, inputs[0].data_size)

for output in model.predict(inputs):
    scores = output.get_data_to_numpy()
    print(output.dtype, output.shape, scores.argmax(axis=-1).tolist())

# The same with output tensors of the program.
targets = [mslite.Tensor(shape=meta.shape, dtype=meta.dtype) for meta in model.get_outputs()]
model.predict(inputs, targets)
print(targets[0].get_data_to_numpy().argmax(axis=-1).tolist())
