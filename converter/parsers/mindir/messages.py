"""Declares the protobuf messages of `.mindir` files (proto2, package `mind_ir`) with their published field numbers."""

from __future__ import annotations

from enum import IntEnum

from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.parsers.protobuf import declare

_ATTRIBUTE = {
    "name": (1, "string"),
    "f": (2, "float"),
    "i": (3, "int64"),
    "d": (4, "double"),
    "s": (5, "bytes"),
    "t": (6, "TensorProto"),
    "g": (7, "GraphProto"),
    "floats": (8, "repeated float"),
    "doubles": (9, "repeated double"),
    "ints": (10, "repeated int64"),
    "strings": (11, "repeated bytes"),
    "tensors": (12, "repeated TensorProto"),
    "graphs": (13, "repeated GraphProto"),
    "doc_string": (14, "string"),
    "ref_attr_name": (15, "string"),
    "type": (16, "int32"),
    "values": (17, "repeated AttributeProto"),
    "seq_info": (18, "bytes"),
    "functor": (19, "bytes"),
}

_TENSOR = {
    "dims": (1, "repeated int64"),
    "data_type": (2, "int32"),
    "float_data": (3, "repeated float"),
    "int32_data": (4, "repeated int32"),
    "string_data": (5, "repeated bytes"),
    "int64_data": (6, "repeated int64"),
    "name": (7, "string"),
    "doc_string": (8, "string"),
    "raw_data": (9, "bytes"),
    "double_data": (10, "repeated double"),
    "uint64_data": (11, "repeated uint64"),
    "external_data": (12, "TensorProto.ExternalDataProto"),
    "ref_key": (13, "string"),
    "min_dims": (14, "repeated int64"),
    "max_dims": (15, "repeated int64"),
    "compression_type": (16, "int32"),
    "quant_params": (17, "repeated TensorProto.QuantParamProto"),
}

_MESSAGES = declare(
    "mind_ir",
    {
        "AttributeProto": _ATTRIBUTE,
        "TensorProto": _TENSOR,
        "TensorProto.ExternalDataProto": {
            "location": (1, "string"),
            "offset": (2, "int64"),
            "length": (3, "int64"),
            "checksum": (4, "string"),
        },
        "TensorProto.QuantParamProto": {
            "quant_algo_name": (1, "string"),
            "attribute": (2, "repeated AttributeProto"),
        },
        "ValueInfoProto": {
            "name": (1, "string"),
            "tensor": (2, "repeated TensorProto"),
            "doc_string": (3, "string"),
            "denotation": (4, "string"),
            "attr_info": (5, "AttributeProto"),
        },
        "NodeProto": {
            "input": (1, "repeated string"),
            "output": (2, "repeated string"),
            "name": (3, "string"),
            "op_type": (4, "string"),
            "attribute": (5, "repeated AttributeProto"),
            "doc_string": (6, "string"),
            "domain": (7, "string"),
            "node_attr": (8, "repeated AttributeProto"),
            "primal_attr": (9, "repeated AttributeProto"),
        },
        "GraphProto": {
            "node": (1, "repeated NodeProto"),
            "name": (2, "string"),
            "parameter": (3, "repeated TensorProto"),
            "doc_string": (4, "string"),
            "input": (5, "repeated ValueInfoProto"),
            "output": (6, "repeated ValueInfoProto"),
            "bprop_hash": (7, "string"),
            "attribute": (8, "repeated AttributeProto"),
            "bprop_filepath": (9, "string"),
            "map_parameter": (10, "repeated bytes"),
        },
        "PrimitiveProto": {
            "name": (1, "string"),
            "op_type": (2, "string"),
            "attribute": (3, "repeated AttributeProto"),
            "instance_name": (4, "string"),
            "prim_type": (5, "int32"),
        },
        "ModelProto.UserInfoEntry": {"key": (1, "string"), "value": (2, "string")},
        "ModelProto": {
            "ir_version": (1, "string"),
            "producer_name": (2, "string"),
            "producer_version": (3, "string"),
            "domain": (4, "string"),
            "model_version": (5, "string"),
            "doc_string": (6, "string"),
            "graph": (7, "GraphProto"),
            "functions": (8, "repeated GraphProto"),
            "preprocessor": (9, "bytes"),
            "little_endian": (10, "bool"),
            "parallel": (11, "bytes"),
            "primitives": (12, "repeated PrimitiveProto"),
            "mind_ir_version": (13, "int64"),
            "user_info": (14, "repeated ModelProto.UserInfoEntry"),
        },
    },
)

AttributeProto = _MESSAGES["AttributeProto"]
TensorProto = _MESSAGES["TensorProto"]
ValueInfoProto = _MESSAGES["ValueInfoProto"]
NodeProto = _MESSAGES["NodeProto"]
GraphProto = _MESSAGES["GraphProto"]
ModelProto = _MESSAGES["ModelProto"]


class AttributeType(IntEnum):
    """Values of `AttributeProto.type`: the field that holds the value."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    TENSORS = 19
    TUPLE = 20
    LIST = 21
    DICT = 22
    UMONAD = 23
    IOMONAD = 24
    NONE = 25
    TYPE_NULL = 36
    SCALAR = 39


INTEGER_TYPES = frozenset(
    (
        *(AttributeType.UINT8, AttributeType.INT8, AttributeType.UINT16, AttributeType.INT16),
        *(AttributeType.INT32, AttributeType.INT64, AttributeType.UINT32, AttributeType.UINT64),
    )
)

TENSOR_TYPES: dict[int, DataType] = {
    1: DataType.FLOAT32,
    2: DataType.UINT8,
    3: DataType.INT8,
    4: DataType.UINT16,
    5: DataType.INT16,
    6: DataType.INT32,
    7: DataType.INT64,
    8: DataType.STRING,
    9: DataType.BOOL,
    10: DataType.FLOAT16,
    11: DataType.FLOAT64,
    12: DataType.UINT32,
    13: DataType.UINT64,
    14: DataType.COMPLEX64,
    15: DataType.COMPLEX128,
    16: DataType.BFLOAT16,
    17: DataType.FLOAT64,
}
"""`TensorProto.data_type` -> data type."""

LINEAR_QUANTIZATION = "linear_quant"
"""`QuantParamProto.quant_algo_name` of quantization with scale and zero point."""

QUANTIZATION_LISTS = {
    "scale_list": "scale",
    "zero_point_list": "zeroPoint",
    "min_list": "min",
    "max_list": "max",
    "var_corr_list": "varCorr",
    "mean_corr_list": "meanCorr",
    "num_bit_list": "numBits",
    "narrow_range_list": "narrowRange",
    "dst_dtype_list": "dstDtype",
    "round_type_list": "roundType",
    "multiplier_list": "multiplier",
}
"""Attribute of a linear `QuantParamProto` -> field of `QuantParam`."""

RESULT_QUANTIZATION = "quant_param"
"""Attribute of a node: a tensor for each result; its `quant_params` are the quantization parameters of the result."""

INPUT_QUANTIZATION = "graph_input_quant_param"
"""Attribute of a graph: quantization parameters of its inputs, in the same form."""

INPUT_SIZES = "mslite_input_sizes"
"""Attribute of the main graph: the input sizes that the model was made for, packed (`mindir/input_sizes.py`)."""

QUANTIZATION_KIND = "quant_type"
"""Attribute of a node: its QuantType, as an integer."""

PRODUCER_VERSION = "mslite"
"""`ModelProto.producer_version` of files that mslite writes."""
