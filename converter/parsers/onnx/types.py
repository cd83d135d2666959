"""Type inference for a whole model."""

from __future__ import annotations

import contextlib

import onnx
import onnx.shape_inference
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from onnx import GraphProto, ModelProto, TypeProto
from onnx.shape_inference import infer_shapes

from .data_propagation import propagated_size
from .inference_guard import safe_for_inference
from .newer_operators import infer_with_newer
from .protos import sub_graphs


def _common(first: TypeProto, other: TypeProto) -> TypeProto:
    """Returns the common type of two values with one name in two graphs, often in a loop's body and outputs."""
    one, two = first.tensor_type, other.tensor_type
    if first == other or one.elem_type != two.elem_type or not one.HasField("shape"):
        return first
    sizes = None
    if two.HasField("shape") and len(one.shape.dim) == len(two.shape.dim):
        pairs = zip(one.shape.dim, two.shape.dim, strict=True)
        sizes = [a.dim_value if a == b and a.HasField("dim_value") else None for a, b in pairs]
    return onnx.helper.make_tensor_type_proto(one.elem_type, sizes)


def infer_types(model: ModelProto) -> dict[str, TypeProto]:
    """Returns inferred types and shapes by name. Values without an inferred type are missing."""
    # Errors of the model are reported by the converter or the shape inference of the node.
    with contextlib.suppress(RuntimeError, ValueError, DecodeError, EncodeError, onnx.shape_inference.InferenceError):
        safe = safe_for_inference(model)
        model = infer_shapes(safe)
        model = infer_with_newer(safe, propagated_size(safe, _collected(model)))
    return _collected(model)


def _collected(model: ModelProto) -> dict[str, TypeProto]:
    """Returns the types in a model, for the values of all graphs."""
    types: dict[str, TypeProto] = {}

    def collect(graph: GraphProto) -> None:
        own: dict[str, TypeProto] = {}
        for value in [*graph.value_info, *graph.input, *graph.output]:
            own.setdefault(value.name, value.type)
        for name, kind in own.items():
            types[name] = _common(types[name], kind) if name in types else kind
        for tensor in graph.initializer:
            if tensor.name not in types and all(dim >= 0 for dim in tensor.dims):
                types[tensor.name] = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
        for node in graph.node:
            for inner in sub_graphs(node):
                collect(inner)

    collect(model.graph)
    return types
