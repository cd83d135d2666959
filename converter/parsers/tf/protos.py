"""Declares the protobuf messages of TensorFlow graphs with their published field numbers."""

from __future__ import annotations

from mslite.converter.parsers.protobuf import Message, declare

_MESSAGES = {
    "VersionDef": {"producer": (1, "int32"), "min_consumer": (2, "int32"), "bad_consumers": (3, "repeated int32")},
    "TensorShapeProto": {"dim": (2, "repeated TensorShapeProto.Dim"), "unknown_rank": (3, "bool")},
    "TensorShapeProto.Dim": {"size": (1, "int64"), "name": (2, "bytes")},
    "TensorProto": {
        "dtype": (1, "int32"),
        "tensor_shape": (2, "TensorShapeProto"),
        "version_number": (3, "int32"),
        "tensor_content": (4, "bytes"),
        "float_val": (5, "repeated float packed"),
        "double_val": (6, "repeated double packed"),
        "int_val": (7, "repeated int32 packed"),
        "string_val": (8, "repeated bytes"),
        "scomplex_val": (9, "repeated float packed"),
        "int64_val": (10, "repeated int64 packed"),
        "bool_val": (11, "repeated bool packed"),
        "dcomplex_val": (12, "repeated double packed"),
        "half_val": (13, "repeated int32 packed"),
        "uint32_val": (16, "repeated uint32 packed"),
        "uint64_val": (17, "repeated uint64 packed"),
    },
    "AttrValue": {
        "list": (1, "AttrValue.ListValue"),
        "s": (2, "bytes"),
        "i": (3, "int64"),
        "f": (4, "float"),
        "b": (5, "bool"),
        "type": (6, "int32"),
        "shape": (7, "TensorShapeProto"),
        "tensor": (8, "TensorProto"),
        "placeholder": (9, "string"),
        "func": (10, "NameAttrList"),
    },
    "AttrValue.ListValue": {
        "s": (2, "repeated bytes"),
        "i": (3, "repeated int64 packed"),
        "f": (4, "repeated float packed"),
        "b": (5, "repeated bool packed"),
        "type": (6, "repeated int32 packed"),
        "shape": (7, "repeated TensorShapeProto"),
        "tensor": (8, "repeated TensorProto"),
        "func": (9, "repeated NameAttrList"),
    },
    "AttrEntry": {"key": (1, "string"), "value": (2, "AttrValue")},
    "TextEntry": {"key": (1, "string"), "value": (2, "string")},
    "NameAttrList": {"name": (1, "string"), "attr": (2, "repeated AttrEntry")},
    "NodeDef": {
        "name": (1, "string"),
        "op": (2, "string"),
        "input": (3, "repeated string"),
        "device": (4, "bytes"),
        "attr": (5, "repeated AttrEntry"),
    },
    "OpDef": {
        "name": (1, "string"),
        "input_arg": (2, "repeated OpDef.ArgDef"),
        "output_arg": (3, "repeated OpDef.ArgDef"),
    },
    "OpDef.ArgDef": {
        "name": (1, "string"),
        "type": (3, "int32"),
        "type_attr": (4, "string"),
        "number_attr": (5, "string"),
        "type_list_attr": (6, "string"),
        "is_ref": (16, "bool"),
    },
    "FunctionDef": {
        "signature": (1, "OpDef"),
        "node_def": (3, "repeated NodeDef"),
        "ret": (4, "repeated TextEntry"),
        "attr": (5, "repeated AttrEntry"),
    },
    "FunctionDefLibrary": {"function": (1, "repeated FunctionDef")},
    "GraphDef": {
        "node": (1, "repeated NodeDef"),
        "library": (2, "FunctionDefLibrary"),
        "versions": (4, "VersionDef"),
    },
    "SavedModel": {"schema_version": (1, "int64"), "meta_graphs": (2, "repeated MetaGraphDef")},
    "MetaGraphDef": {
        "graph_def": (2, "GraphDef"),
        "collection_def": (4, "repeated CollectionEntry"),
        "signature_def": (5, "repeated SignatureEntry"),
    },
    "CollectionEntry": {"key": (1, "string"), "value": (2, "CollectionDef")},
    "CollectionDef": {"node_list": (1, "CollectionDef.NodeList")},
    "CollectionDef.NodeList": {"value": (1, "repeated string")},
    "SignatureEntry": {"key": (1, "string"), "value": (2, "SignatureDef")},
    "SignatureDef": {"outputs": (2, "repeated OutputEntry")},
    "OutputEntry": {"key": (1, "string"), "value": (2, "TensorInfo")},
    "TensorInfo": {"name": (1, "string")},
}

_CLASSES = declare("mslite_tensorflow", _MESSAGES)

GraphDef: type[Message] = _CLASSES["GraphDef"]
NodeDef: type[Message] = _CLASSES["NodeDef"]
FunctionDef: type[Message] = _CLASSES["FunctionDef"]
AttrValue: type[Message] = _CLASSES["AttrValue"]
TensorProto: type[Message] = _CLASSES["TensorProto"]
TensorShapeProto: type[Message] = _CLASSES["TensorShapeProto"]
SavedModel: type[Message] = _CLASSES["SavedModel"]
