"""Computes constant shapes: replaces small chains of nodes after Shape by constants.

Exporters write reshape targets, pads and sizes as Shape -> Gather -> Concat. If the shapes are known, converters get
these values as constants, and type inference finds more shapes.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from math import prod

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto
from onnx.reference import ReferenceEvaluator

from mslite.converter.mindir.graph import Array
from mslite.converter.mindir.verifier import MAX_RANK

from .branches import inline_branch
from .parameters import recorded_parameters

_LARGEST = 64
"""Elements of the largest tensor that is folded."""

_OPERATORS = frozenset(
    [
        "Abs",
        "Add",
        "And",
        "Cast",
        "Ceil",
        "Clip",
        "Concat",
        "ConstantOfShape",
        "Div",
        "Equal",
        "Expand",
        "Floor",
        "Gather",
        "Greater",
        "GreaterOrEqual",
        "Identity",
        "Less",
        "LessOrEqual",
        "Max",
        "Min",
        "Mod",
        "Mul",
        "Neg",
        "Not",
        "Or",
        "Pow",
        "ReduceMax",
        "ReduceMin",
        "ReduceProd",
        "ReduceSum",
        "Reshape",
        "Round",
        "Slice",
        "Sqrt",
        "Squeeze",
        "Sub",
        "Transpose",
        "Unsqueeze",
        "Where",
    ]
)


def fold_shapes(
    model: ModelProto,
    types: Mapping[str, TypeProto],
    initializers: dict[str, TensorProto],
    numbers: set[str],
    trains: bool = False,
) -> bool:
    """Folds constant nodes of the main graph; returns whether there were any.

    `numbers` gets the names of folded tensors that do not depend on an initializer. If the model `trains`, a
    float initializer with several readers is not folded, because it may be a shared parameter.
    """
    graph = model.graph
    known = _constants(graph, trains)
    stored = {tensor.name for tensor in graph.initializer} - numbers
    partial: dict[str, list[int | None]] = {}
    kept: list[NodeProto] = []
    folded: list[TensorProto] = []
    inlined: list[TensorProto] = []
    changed = False
    taken = {name for node in graph.node for name in node.output} | set(initializers)
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    for node in graph.node:
        if node.op_type == "If" and node.domain in ("", "ai.onnx") and node.input and node.input[0] in known:
            branch = inline_branch(node, known[node.input[0]], initializers, taken)
            if branch is not None:
                kept.extend(branch[0])
                inlined.extend(branch[1])
                changed = True
                continue
        result = _evaluate(node, known, types, opsets)
        if result is None and node.output:
            result = _part_of_shape(node, known, partial, types)
        if result is None or len(node.output) != 1 or np.asarray(result).dtype.hasobject:
            kept.append(node)
            continue
        known[node.output[0]] = result
        (numbers if stored.isdisjoint(node.input) else stored).add(node.output[0])
        if node.op_type != "Constant":
            folded.append(onnx.numpy_helper.from_array(np.asarray(result, order="C"), node.output[0]))
        else:
            kept.append(node)
    if not folded and not changed:
        return False
    nodes = [NodeProto.FromString(node.SerializeToString()) for node in kept]
    del graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.extend([*folded, *inlined])
    initializers.update((tensor.name, tensor) for tensor in folded)
    return True


def _constants(graph: GraphProto, trains: bool) -> dict[str, Array]:
    """Returns the small initializers, without parameters and shared floats (if `trains`). Skips malformed ones."""
    known: dict[str, Array] = {}
    kinds = recorded_parameters(graph)
    readers = Counter(name for node in graph.node for name in set(node.input)) if trains else Counter[str]()
    for tensor in graph.initializer:
        count = prod(tensor.dims)
        is_shared = readers[tensor.name] > 1 and tensor.data_type == TensorProto.FLOAT and count > 1
        if kinds.get(tensor.name) or is_shared:
            continue
        if 0 <= count <= _LARGEST and all(dim >= 0 for dim in tensor.dims):
            array = _array(tensor)
            if array is not None:
                known[tensor.name] = array
    return known


def _array(tensor: TensorProto) -> Array | None:
    kinds = (TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT, TensorProto.BOOL)
    if tensor.data_type not in kinds or tensor.data_location == TensorProto.EXTERNAL:
        return None
    try:
        array: Array = onnx.numpy_helper.to_array(tensor)
    except (ValueError, TypeError):
        return None
    return array


def _evaluate(
    node: NodeProto, known: Mapping[str, Array], types: Mapping[str, TypeProto], opsets: Mapping[str, int]
) -> Array | None:
    if node.domain not in ("", "ai.onnx") or not node.output:
        return None
    if node.op_type == "Constant":
        for attribute in node.attribute:
            if attribute.name == "value" and prod(attribute.t.dims) <= _LARGEST:
                return _array(attribute.t)
            if attribute.name == "value_int":
                return np.array(attribute.i, np.int64)
            if attribute.name == "value_ints" and len(attribute.ints) <= _LARGEST:
                return np.array(attribute.ints, np.int64)
        return None
    if node.op_type in ("Shape", "Size"):
        return _shape(node, types)
    if node.op_type == "Gather" and node.input and node.input[0] not in known:
        return None
    if node.op_type not in _OPERATORS or not node.input:
        return None
    inputs = {name: known[name] for name in node.input if name in known}
    if any(name and name not in inputs for name in node.input) or _too_large(node, known):
        return None
    if node.op_type == "Slice" and _goes_back(node, known):  # NumPy clamps the start differently
        return None
    axes = next((tuple(a.ints) for a in node.attribute if a.name == "axes"), None)
    try:
        if axes is not None and node.op_type == "Unsqueeze":  # the evaluator does not support this older form
            return np.expand_dims(inputs[node.input[0]], axes)
        if axes is not None and node.op_type == "Squeeze":
            return np.squeeze(inputs[node.input[0]], axes)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            (result,) = ReferenceEvaluator(node, opsets=dict(opsets)).run(None, inputs)
    except Exception:  # the converter reports errors of this node
        return None
    if not isinstance(result, np.ndarray | np.generic) or result.size > _LARGEST or result.ndim > MAX_RANK:
        return None
    return np.asarray(result)


def _goes_back(node: NodeProto, known: Mapping[str, Array]) -> bool:
    """Returns whether a step of a Slice is negative."""
    return (
        len(node.input) > 4 and bool(node.input[4]) and any(int(step) < 0 for step in known[node.input[4]].reshape(-1))
    )


def _too_large(node: NodeProto, known: Mapping[str, Array]) -> bool:
    """Returns whether the node would create a large tensor from small ones."""
    place = {"ConstantOfShape": 0, "Expand": 1}.get(node.op_type)
    if place is not None:
        if place >= len(node.input) or node.input[place] not in known:
            return True
        least = 1 if node.op_type == "Expand" else 0
        return prod(max(least, int(size)) for size in known[node.input[place]].reshape(-1)) > _LARGEST
    return sum(known[name].size for name in node.input if name) > 4 * _LARGEST


def _part_of_shape(
    node: NodeProto, known: Mapping[str, Array], partial: dict[str, list[int | None]], types: Mapping[str, TypeProto]
) -> Array | None:
    """Folds Gather of known sizes from a partly known shape. Stores the outputs of Shape in `partial`."""
    if node.op_type == "Shape" and node.input:
        dims = _dims(node.input[0], types)
        if dims is not None and not node.attribute:
            partial[node.output[0]] = dims
    if node.op_type != "Gather" or len(node.input) != 2 or node.input[0] not in partial or node.input[1] not in known:
        return None
    dims, indices = partial[node.input[0]], known[node.input[1]]
    if indices.dtype.kind != "i" or any(not -len(dims) <= int(index) < len(dims) for index in indices.reshape(-1)):
        return None
    chosen = [dims[int(index)] for index in indices.reshape(-1)]
    if None in chosen:
        return None
    return np.array(chosen, np.int64).reshape(indices.shape)


def _dims(name: str, types: Mapping[str, TypeProto]) -> list[int | None] | None:
    kind = types.get(name)
    if kind is None or not kind.tensor_type.HasField("shape"):
        return None
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.tensor_type.shape.dim]
    return [size if size is not None and size >= 0 else None for size in sizes]


def _shape(node: NodeProto, types: Mapping[str, TypeProto]) -> Array | None:
    dims = _dims(node.input[0], types) if node.input else None
    if dims is None:
        return None
    bounds = {attribute.name: attribute.i for attribute in node.attribute}
    chosen = dims[bounds.get("start") : bounds.get("end")]
    if None in chosen:
        return None
    sizes = np.array(chosen, np.int64)
    return np.array(sizes.prod(), np.int64) if node.op_type == "Size" else sizes
