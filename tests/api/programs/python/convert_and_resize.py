"""Converts a model and runs it on batches of several sizes: convert_and_resize.py SOURCE.onnx OUTPUT"""

import sys

import mindspore_lite as mslite
import numpy as np

converter = mslite.Converter()
converter.optimize = "general"
converter.input_format = mslite.Format.NHWC
converter.weight_fp16 = False
converter.save_type = mslite.ModelType.MINDIR_LITE
converter.convert(fmk_type=mslite.FmkType.ONNX, model_file=sys.argv[1], output_file=sys.argv[2])

model = mslite.Model()
model.build_from_file(sys.argv[2] + ".ms", mslite.ModelType.MINDIR_LITE)
inputs = model.get_inputs()
for batch in (1, 4, 2):
    shape = [batch, *inputs[0].shape[1:]]
    model.resize(inputs, [shape])
    image = mslite.Tensor(np.ones(shape, np.float32))
    image.name = inputs[0].name
    outputs = model.predict([image])
    print(batch, inputs[0].shape, outputs[0].shape, outputs[0].get_data_to_numpy().argmax(axis=1).tolist())
try:
    model.resize(inputs, [[1, 2, 3]])
except RuntimeError:
    print("still", model.get_inputs()[0].shape)
