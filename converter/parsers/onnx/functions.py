"""Expands functions: those in the model, and operators that the standard defines by other operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, TensorProto, TypeProto

from .branches import inline_branch
from .expansion import expand_nodes, is_expandable
from .function_defaults import fill_defaults
from .function_versions import align_versions, use_version
from .known_types import known_types
from .plugin import plugin_converter
from .protos import all_nodes
from .registry import KNOWN_OPSET, find_converter
from .types import infer_types
from .unexpanded import Unexpanded

_DOMAIN = "mslite.expanded"
_MAX_ROUNDS = 16
_MENDED = frozenset({"AffineGrid"})
"""Operators whose definition is wrong: it squeezes the batch dimension too if its size is 1."""
_IS_FLAT = "condition_is_2d"
"""Name in AffineGrid's definition of the condition for 2-D grids."""
_FAILURES = (RuntimeError, ValueError, TypeError, DecodeError, EncodeError, onnx.defs.SchemaError)


class FunctionError(Exception):
    """The model's functions cannot be expanded."""


def expand_functions(
    model: ModelProto, opsets: Mapping[str, int], constants: dict[str, TensorProto]
) -> tuple[ModelProto, Unexpanded]:
    """Replaces each node without converter but with a definition by the nodes of its definition.

    A node whose definition cannot be instantiated stays; it is reported later, with the reason in the second result.
    Raises FunctionError.
    """
    _leave_to_plugins(model)
    if model.functions:
        align_versions(model)
        fill_defaults(model)
        try:
            model = onnx.inliner.inline_local_functions(model)
        except _FAILURES as error:
            raise FunctionError(next(iter(str(error).strip().splitlines()), "")) from None
    unexpanded = Unexpanded()
    refused: set[str] = set()
    for _ in range(_MAX_ROUNDS):
        changed = _expand_nonstandard(model, opsets, constants, unexpanded)
        nodes = [
            (node, schema)
            for node in all_nodes(model.graph.node)
            if (schema := _definition(node, opsets)) is not None and _key(node) not in refused
        ]
        if nodes:
            model = _expand_standard(model, nodes, opsets, refused)
        elif not changed:
            break
    return model, unexpanded


def _leave_to_plugins(model: ModelProto) -> None:
    """Removes the functions whose calls a plug-in parses."""
    kept = [one for one in model.functions if plugin_converter(one.domain, one.name) is None]
    if len(kept) < len(model.functions):
        kept = [FunctionProto.FromString(one.SerializeToString()) for one in kept]
        del model.functions[:]
        model.functions.extend(kept)


def _expand_nonstandard(
    model: ModelProto, opsets: Mapping[str, int], constants: dict[str, TensorProto], unexpanded: Unexpanded
) -> bool:
    """Expands nonstandard operators; returns whether there were any."""
    version = opsets.get("", 1)
    if not any(is_expandable(node, version) and unexpanded.is_open(node) for node in all_nodes(model.graph.node)):
        return False
    if expand_nodes(model, version, infer_types(model), constants, unexpanded):
        return True
    return bool(unexpanded.waiting) and expand_nodes(
        model, version, known_types(model, constants, set()), constants, unexpanded
    )


def _expand_standard(
    model: ModelProto, nodes: Sequence[tuple[NodeProto, Any]], opsets: Mapping[str, int], refused: set[str]
) -> ModelProto:
    plain = {(node.domain, node.op_type) for node, schema in nodes if _is_plain(schema)}
    for node, schema in nodes:
        _fill_defaults(node, schema)
    if not all(_is_plain(schema) for _, schema in nodes):
        types = infer_types(model)
        for node, schema in nodes:
            if not _is_plain(schema) and not _instantiate(model, node, schema, types, opsets):
                refused.add(_key(node))
    try:
        if model.functions:
            model = onnx.inliner.inline_local_functions(model)
        if plain:
            model = onnx.inliner.inline_selected_functions(model, sorted(plain), inline_schema_functions=True)
    except _FAILURES:
        refused.update(_key(node) for node, _ in nodes)
    return model


def _is_plain(schema: Any) -> bool:
    """Returns whether the onnx package can inline the definition without changes."""
    return bool(schema.has_function) and schema.name not in _MENDED


def _key(node: NodeProto) -> str:
    return f"{node.domain}.{node.op_type}.{node.name}.{list(node.output)}"


def _definition(node: NodeProto, opsets: Mapping[str, int]) -> Any | None:
    domain = "" if node.domain == "ai.onnx" else node.domain
    version = opsets.get(domain, 1)
    if find_converter(domain, node.op_type, version) is not None:
        return None
    try:
        schema: Any = onnx.defs.get_schema(node.op_type, version, domain)
    except onnx.defs.SchemaError:
        return None
    defined = schema.has_function or schema.has_context_dependent_function
    return schema if defined and schema.since_version <= KNOWN_OPSET else None


def _fill_defaults(node: NodeProto, schema: Any) -> None:
    """Adds default attributes to the node. A definition refers to them, and the inliner leaves missing ones empty."""
    present = {attribute.name for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in present and attribute.default_value.type != AttributeProto.UNDEFINED:
            node.attribute.append(attribute.default_value)


def _instantiate(
    model: ModelProto, node: NodeProto, schema: Any, types: Mapping[str, TypeProto], opsets: Mapping[str, int]
) -> bool:
    """Adds the definition for this node's attributes and types as a function, and turns the node into a call of it."""
    kinds = [types.get(name, TypeProto()).SerializeToString() if name else b"" for name in node.input]
    function = _body(node, schema, kinds, opsets.get("", 1))
    if function is None:
        return False
    function.domain, function.name = _DOMAIN, f"{node.op_type}_{len(model.functions)}"
    if not any(entry.domain == _DOMAIN for entry in model.opset_import):
        model.opset_import.add(domain=_DOMAIN, version=1)
    model.functions.append(function)
    node.domain, node.op_type = function.domain, function.name
    return True


def _body(node: NodeProto, schema: Any, kinds: Sequence[bytes], version: int) -> FunctionProto | None:
    """Returns the definition for these types and attributes, in this operator set.

    The onnx package has definitions for some operator sets only. An older one is used if its operators did not change.
    """
    if schema.name in _MENDED:
        function = _mended(schema.function_body, TypeProto.FromString(kinds[1]) if len(kinds) > 1 else TypeProto())
        return function if use_version(function, version) else None
    for asked in range(version, schema.since_version - 1, -1):
        function = FunctionProto()
        try:
            function.ParseFromString(
                schema.get_context_dependent_function_with_opset_version(asked, node.SerializeToString(), kinds)
            )
        except _FAILURES:
            continue
        if function.node and (asked == version or use_version(function, version)):
            if schema.name == "CenterCropPad":
                _widen(function, 1)
            return function
    return None


def _widen(function: FunctionProto, index: int) -> None:
    """Casts an input to int64: the definition of CenterCropPad compares it with int64 sizes, but it may be int32."""
    name = function.input[index]
    for node in all_nodes(function.node):
        for place, operand in enumerate(node.input):
            if operand == name:
                node.input[place] = f"{name}/wide"
    cast = onnx.helper.make_node("Cast", [name], [f"{name}/wide"], to=onnx.TensorProto.INT64)
    function.node.insert(0, cast)


def _numbers(node: NodeProto) -> list[NodeProto]:
    """Replaces the Split of the sizes by slices, which can be folded; returns other nodes unchanged."""
    if node.op_type != "Split" or node.input[0] != "size":
        return [node]
    nodes = []
    for index, name in enumerate(node.output):
        bounds = [f"{name}/begin", f"{name}/end"]
        nodes += [
            onnx.helper.make_node("Constant", [], [bound], value_ints=[index + place])
            for place, bound in enumerate(bounds)
        ]
        nodes.append(onnx.helper.make_node("Slice", [node.input[0], *bounds], [name]))
    return nodes


def _mended(definition: FunctionProto, size: TypeProto) -> FunctionProto:
    """Returns a correct definition of AffineGrid: Squeeze gets its axis, 1.

    If the type of `size` shows whether the grid is 2-D or 3-D, only that branch is kept; else both would be converted.
    """
    function = FunctionProto()
    function.CopyFrom(definition)
    axis = onnx.helper.make_node("Constant", [], ["squeezed_axis"], value_ints=[1])
    for node in all_nodes(function.node):
        if node.op_type == "Squeeze" and len(node.input) == 1:
            node.input.append("squeezed_axis")
    nodes = [axis]
    dims = size.tensor_type.shape.dim
    is_flat = np.array(dims[0].dim_value == 4) if len(dims) == 1 and dims[0].HasField("dim_value") else None
    taken = {name for node in function.node for name in node.output}
    for node in function.node:
        branch = None
        if is_flat is not None and node.op_type == "If" and node.input[0] == _IS_FLAT:
            branch = inline_branch(node, is_flat, {}, taken)
        nodes.extend([node] if branch is None else (part for inner in branch[0] for part in _numbers(inner)))
    nodes = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del function.node[:]
    function.node.extend(nodes)
    return function
