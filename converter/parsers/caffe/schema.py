"""Declares Caffe's protobuf messages: nets, layers of both formats, blobs."""

from __future__ import annotations

from mslite.converter.parsers.protobuf import Enums, Messages, declare

from .fork_parameters import FORK_ENUMS, FORK_FIELDS, FORK_MESSAGES
from .layer_parameters import LAYER_ENUMS, LAYER_MESSAGES

_FIRST_FORK_NUMBER = 100_000

_LAYER_NUMBERS = {
    "transform": 100, "loss": 101, "accuracy": 102, "argmax": 103, "concat": 104, "contrastive_loss": 105,
    "convolution": 106, "data": 107, "dropout": 108, "dummy_data": 109, "eltwise": 110, "exp": 111, "hdf5_data": 112,
    "hdf5_output": 113, "hinge_loss": 114, "image_data": 115, "infogain_loss": 116, "inner_product": 117, "lrn": 118,
    "memory_data": 119, "mvn": 120, "pooling": 121, "power": 122, "relu": 123, "sigmoid": 124, "softmax": 125,
    "slice": 126, "tanh": 127, "threshold": 128, "window_data": 129, "python": 130, "prelu": 131, "spp": 132,
    "reshape": 133, "log": 134, "flatten": 135, "reduction": 136, "embed": 137, "tile": 138, "batch_norm": 139,
    "elu": 140, "bias": 141, "scale": 142, "input": 143, "crop": 144, "parameter": 145, "recurrent": 146,
    "swish": 147, "clip": 148,
}  # fmt: skip
"""Field numbers of `<name>_param` in LayerParameter."""

_V1_NUMBERS = {
    "concat": 9, "convolution": 10, "data": 11, "dropout": 12, "hdf5_data": 13, "hdf5_output": 14, "image_data": 15,
    "infogain_loss": 16, "inner_product": 17, "lrn": 18, "pooling": 19, "window_data": 20, "power": 21,
    "memory_data": 22, "argmax": 23, "eltwise": 24, "threshold": 25, "dummy_data": 26, "accuracy": 27,
    "hinge_loss": 29, "relu": 30, "slice": 31, "mvn": 34, "transform": 36, "tanh": 37, "sigmoid": 38, "softmax": 39,
    "contrastive_loss": 40, "exp": 41, "loss": 42,
}  # fmt: skip
"""Field numbers of `<name>_param` in V1LayerParameter."""

_V1_TYPES = {
    "NONE": (0, ""), "ACCURACY": (1, "Accuracy"), "BNLL": (2, "BNLL"), "CONCAT": (3, "Concat"),
    "CONVOLUTION": (4, "Convolution"), "DATA": (5, "Data"), "DROPOUT": (6, "Dropout"),
    "EUCLIDEAN_LOSS": (7, "EuclideanLoss"), "FLATTEN": (8, "Flatten"), "HDF5_DATA": (9, "HDF5Data"),
    "HDF5_OUTPUT": (10, "HDF5Output"), "IM2COL": (11, "Im2col"), "IMAGE_DATA": (12, "ImageData"),
    "INFOGAIN_LOSS": (13, "InfogainLoss"), "INNER_PRODUCT": (14, "InnerProduct"), "LRN": (15, "LRN"),
    "MULTINOMIAL_LOGISTIC_LOSS": (16, "MultinomialLogisticLoss"), "POOLING": (17, "Pooling"), "RELU": (18, "ReLU"),
    "SIGMOID": (19, "Sigmoid"), "SOFTMAX": (20, "Softmax"), "SOFTMAX_LOSS": (21, "SoftmaxWithLoss"),
    "SPLIT": (22, "Split"), "TANH": (23, "TanH"), "WINDOW_DATA": (24, "WindowData"), "ELTWISE": (25, "Eltwise"),
    "POWER": (26, "Power"), "SIGMOID_CROSS_ENTROPY_LOSS": (27, "SigmoidCrossEntropyLoss"),
    "HINGE_LOSS": (28, "HingeLoss"), "MEMORY_DATA": (29, "MemoryData"), "ARGMAX": (30, "ArgMax"),
    "THRESHOLD": (31, "Threshold"), "DUMMY_DATA": (32, "DummyData"), "SLICE": (33, "Slice"), "MVN": (34, "MVN"),
    "ABSVAL": (35, "AbsVal"), "SILENCE": (36, "Silence"), "CONTRASTIVE_LOSS": (37, "ContrastiveLoss"),
    "EXP": (38, "Exp"), "DECONVOLUTION": (39, "Deconvolution"),
}  # fmt: skip

V1_TYPE_NAMES = dict(_V1_TYPES.values())
"""Number of V1LayerParameter.LayerType -> the current type of the layer."""

_MESSAGE_OF = {
    "argmax": "ArgMaxParameter", "batch_norm": "BatchNormParameter", "elu": "ELUParameter", "lrn": "LRNParameter",
    "mvn": "MVNParameter", "prelu": "PReLUParameter", "relu": "ReLUParameter", "spp": "SPPParameter",
    "tanh": "TanHParameter", "transform": "TransformationParameter", "hdf5_data": "HDF5DataParameter",
    "hdf5_output": "HDF5OutputParameter",
}  # fmt: skip


def _message_of(parameter: str) -> str:
    return _MESSAGE_OF.get(parameter, "".join(word.capitalize() for word in parameter.split("_")) + "Parameter")


def _parameters(numbers: dict[str, int]) -> dict[str, tuple[int, str]]:
    return {f"{name}_param": (number, _message_of(name)) for name, number in numbers.items()}


_CORE: Messages = {
    "BlobShape": {"dim": (1, "repeated int64 packed")},
    # The values are read as little-endian bytes of the packed form.
    "BlobProto": {
        "num": (1, "int32"),
        "channels": (2, "int32"),
        "height": (3, "int32"),
        "width": (4, "int32"),
        "data": (5, "repeated bytes"),
        "diff": (6, "repeated bytes"),
        "shape": (7, "BlobShape"),
        "double_data": (8, "repeated bytes"),
        "double_diff": (9, "repeated bytes"),
    },
    "NetState": {"phase": (1, "Phase = TEST"), "level": (2, "int32"), "stage": (3, "repeated string")},
    "NetStateRule": {
        "phase": (1, "Phase"),
        "min_level": (2, "int32"),
        "max_level": (3, "int32"),
        "stage": (4, "repeated string"),
        "not_stage": (5, "repeated string"),
    },
    "ParamSpec": {
        "name": (1, "string"),
        "share_mode": (2, "ParamSpec.DimCheckMode"),
        "lr_mult": (3, "float = 1"),
        "decay_mult": (4, "float = 1"),
    },
    "LayerParameter": {
        "name": (1, "string"),
        "type": (2, "string"),
        "bottom": (3, "repeated string"),
        "top": (4, "repeated string"),
        "loss_weight": (5, "repeated float"),
        "param": (6, "repeated ParamSpec"),
        "blobs": (7, "repeated BlobProto"),
        "include": (8, "repeated NetStateRule"),
        "exclude": (9, "repeated NetStateRule"),
        "phase": (10, "Phase"),
        "propagate_down": (11, "repeated bool"),
        **_parameters(_LAYER_NUMBERS),
        **{field: (_FIRST_FORK_NUMBER + index, message) for index, (field, message) in enumerate(FORK_FIELDS.items())},
    },
    "V0LayerParameter": {"name": (1, "string"), "type": (2, "string")},
    "V1LayerParameter": {
        "layer": (1, "V0LayerParameter"),
        "bottom": (2, "repeated string"),
        "top": (3, "repeated string"),
        "name": (4, "string"),
        "type": (5, "V1LayerParameter.LayerType"),
        "blobs": (6, "repeated BlobProto"),
        "blobs_lr": (7, "repeated float"),
        "weight_decay": (8, "repeated float"),
        "include": (32, "repeated NetStateRule"),
        "exclude": (33, "repeated NetStateRule"),
        "loss_weight": (35, "repeated float"),
        "param": (1001, "repeated string"),
        "blob_share_mode": (1002, "repeated ParamSpec.DimCheckMode"),
        **_parameters(_V1_NUMBERS),
    },
    "NetParameter": {
        "name": (1, "string"),
        "layers": (2, "repeated V1LayerParameter"),
        "input": (3, "repeated string"),
        "input_dim": (4, "repeated int32"),
        "force_backward": (5, "bool"),
        "state": (6, "NetState"),
        "debug_info": (7, "bool"),
        "input_shape": (8, "repeated BlobShape"),
        "layer": (100, "repeated LayerParameter"),
    },
}

_CORE_ENUMS: Enums = {
    "Phase": {"TRAIN": 0, "TEST": 1},
    "ParamSpec.DimCheckMode": {"STRICT": 0, "PERMISSIVE": 1},
    "V1LayerParameter.LayerType": {name: number for name, (number, _) in _V1_TYPES.items()},
}

MESSAGES = declare("caffe", {**_CORE, **LAYER_MESSAGES, **FORK_MESSAGES}, {**_CORE_ENUMS, **LAYER_ENUMS, **FORK_ENUMS})
"""Published name -> message class."""

NetParameter = MESSAGES["NetParameter"]
LayerParameter = MESSAGES["LayerParameter"]
V1LayerParameter = MESSAGES["V1LayerParameter"]
