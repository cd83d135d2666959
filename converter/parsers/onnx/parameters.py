"""Finds the trained parameters of models from PyTorch's exporters, and undoes changes that matter for training."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

from mslite.converter.mindir.graph import Array

from .tensors import TensorError

_KIND = "pkg.torch.export.graph_signature.InputSpec.kind"
_PARAMETER = "PARAMETER"
_ORIGIN = "pkg.torch.onnx.fx_node"
_BIAS = re.compile(r"args = \(%\w+, %p_\w+, %(p_\w+)")
_ROWS = re.compile(r"embedding(_\d+)?")
_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"
_NUMBER, _CALL = re.compile(r"\d+"), re.compile(r"@\d+")
_STATE = re.compile(r"(?!\d+$)\w+(\.\w+)*")


def recorded_parameters(graph: GraphProto) -> dict[str, bool]:
    """Returns initializer -> is a parameter, not a buffer or constant, as torch.onnx.export(dynamo=True) records it."""
    said = {
        value.name: entry.value == _PARAMETER
        for value in (*graph.value_info, *graph.input)
        for entry in value.metadata_props
        if entry.key == _KIND
    }
    if said:  # rows that the exporter took from a table of embeddings, such as positions
        said |= {tensor.name: True for tensor in graph.initializer if _ROWS.fullmatch(tensor.name)}
    return said


def parameters_are_initializers(producer: str, initializers: Iterable[str]) -> bool:
    """Returns whether all parameters are initializers, never Constant nodes: PyTorch's unless the model was frozen."""
    return producer.startswith("pytorch") and any(map(is_state, initializers))


def is_state(name: str) -> bool:
    """Returns whether it is a name of PyTorch's parameters or buffers. Computed constants have slashes or colons."""
    return _STATE.fullmatch(name) is not None


def separate_copies(graph: GraphProto) -> None:
    """Gives each module its own initializers if torch.onnx.export(dynamo=True) merged equal ones.

    Copies of a layer are equal at first, for example in nn.TransformerEncoder. A merged initializer has the name of the
    module that reads it first; a parameter that modules share in PyTorch has the name of the last. Initializers that
    the exporter computed do not have such a name; they are separated like the others of their modules.
    """
    stored = {
        tensor.name: tensor for tensor in graph.initializer if tensor.data_type == TensorProto.FLOAT and tensor.dims
    }
    readers: dict[str, list[tuple[NodeProto, int, str]]] = {}
    for node in graph.node:
        module = _module(node)
        for place, name in enumerate(node.input if module else ()):
            if name in stored:
                readers.setdefault(name, []).append((node, place, module or ""))
    copies = {
        _apart(found[0][2], module)
        for name, found in readers.items()
        for _, _, module in found
        if name.startswith(f"{found[0][2]}.")
    }
    kinds = recorded_parameters(graph)
    for name, found in readers.items():
        first, own = found[0][2], dict[str, str]()
        for node, place, module in found:
            pair = _apart(first, module)
            if pair is None or not (name.startswith(f"{first}.") or (name not in kinds and pair in copies)):
                continue
            if module not in own:
                own[module] = _copied(graph, stored[name], name.replace(f"{first}.", f"{module}.", 1), len(own))
            node.input[place] = own[module]


def reused_normalizations(graph: GraphProto, keeps_parameters: bool) -> frozenset[str]:
    """Returns the initializers that are parameters of one normalization that is applied several times.

    With dynamo=True, nodes have the names of the module and of the call in it. Without, Identity nodes give equal
    parameters separate names, so a name that is read several times is one parameter.
    """
    readers: dict[str, list[tuple[str, str] | None]] = {}
    for node in graph.node:
        call = _norm_call(node)
        for name in set(node.input):
            readers.setdefault(name, []).append(call)
    is_said = any(_said(node, _SCOPES) for node in graph.node)
    found = set()
    for tensor in graph.initializer:
        calls = readers.get(tensor.name, [])
        if tensor.data_type != TensorProto.FLOAT or len(calls) < 2:
            continue
        modules = {None if call is None else call[0] for call in calls}
        is_again = None not in modules and len(modules) == 1 and len(set(calls)) == len(calls)
        if is_again or (not is_said and keeps_parameters and is_state(tensor.name)):
            found.add(tensor.name)
    return frozenset(found)


def _norm_call(node: NodeProto) -> tuple[str, str] | None:
    """Returns the names of the normalization module of a node and of the function in it; None for other modules."""
    module = _module(node)
    if module is None:
        return None
    function, kind = str(ast.literal_eval(_said(node, _SCOPES))[-1]), "".join(_said(node, _CLASSES).split(",")[-2:-1])
    return (module, function) if "norm" in (kind + function).lower() else None


def _apart(first: str, second: str) -> tuple[str, str] | None:
    """Returns two module names up to the number in which they differ; None if equal or if more than numbers differ."""
    if first == second or _NUMBER.sub("", first) != _NUMBER.sub("", second):
        return None
    ours, others = first.split("."), second.split(".")
    count = next(at for at, pair in enumerate(zip(ours, others, strict=True), 1) if pair[0] != pair[1])
    return ".".join(ours[:count]), ".".join(others[:count])


def restore_biases(graph: GraphProto) -> None:
    """Adds biases of zeros that torch.onnx.export(dynamo=True) removed; the node's metadata contains their names.

    Training would change them.
    """
    stored = {tensor.name: tensor for tensor in graph.initializer if tensor.data_type == TensorProto.FLOAT}
    for node in graph.node:
        if node.op_type not in ("Conv", "ConvTranspose", "Gemm") or len(node.input) != 2 or node.input[1] not in stored:
            continue
        named = _BIAS.search(_said(node, _ORIGIN))
        weight = stored[node.input[1]]
        if named is None or len(weight.dims) < 2:
            continue
        values = {attribute.name: attribute.i for attribute in node.attribute}
        if node.op_type == "ConvTranspose":
            channels = weight.dims[1] * values.get("group", 1)
        else:
            channels = weight.dims[1 if node.op_type == "Gemm" and not values.get("transB") else 0]
        name = re.sub(r"weight$", "bias", weight.name) if weight.name.endswith("weight") else named[1]
        if name in stored:
            name = f"{name}/{node.name}"
        graph.initializer.append(numpy_helper.from_array(np.zeros(channels, np.float32), name))
        stored[name] = graph.initializer[-1]
        said = graph.value_info.add()
        said.CopyFrom(helper.make_tensor_value_info(name, TensorProto.FLOAT, [channels]))
        said.metadata_props.add(key=_KIND, value=_PARAMETER)
        node.input.append(name)


def tie_tables(graph: GraphProto, read: Callable[[TensorProto], Array]) -> None:
    """Replaces the matrix of a MatMul by Transpose of an embedding table if it is the table's transpose.

    An exporter has stored the transpose of tied weights; training must update them together.
    """
    stored = {tensor.name: tensor for tensor in graph.initializer if tensor.data_type == TensorProto.FLOAT}
    tables = {
        name: stored[name]
        for node in graph.node
        for name in node.input[:1]
        if node.op_type == "Gather" and name in stored and len(stored[name].dims) == 2
    }
    for node in list(graph.node):
        matrix = stored.get(node.input[1]) if node.op_type == "MatMul" and len(node.input) == 2 else None
        if matrix is None:
            continue
        for name, table in tables.items():
            if _is_transpose(table, matrix, read):
                place = list(graph.node).index(node)
                turned = helper.make_node(
                    "Transpose", [name], [f"{node.output[0]}/table"], f"{node.name}/table", perm=[1, 0]
                )
                node.input[1] = turned.output[0]
                graph.node.insert(place, turned)
                break


def _is_transpose(table: TensorProto, matrix: TensorProto, read: Callable[[TensorProto], Array]) -> bool:
    if list(table.dims) != list(matrix.dims)[::-1] or 0 in table.dims:
        return False
    try:
        ours, others = read(table), read(matrix)
    except TensorError:
        return False  # reported when the importer reads the tensor
    return bool((others == ours.T).all()) and bool((ours != ours.reshape(-1)[0]).any())


def folded_norms(graph: GraphProto) -> int:
    """Returns how many batch normalizations torch.onnx.export(dynamo=True) folded into convolutions."""
    return sum("batch_norm" in _said(node, _ORIGIN) for node in graph.node if node.op_type in ("Conv", "ConvTranspose"))


def _said(node: NodeProto, key: str) -> str:
    return next((entry.value for entry in node.metadata_props if entry.key == key), "")


def _module(node: NodeProto) -> str | None:
    """Returns the name of a node's module; repeated calls of a module have the same name here."""
    try:
        scopes = ast.literal_eval(_said(node, _SCOPES) or "[]")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    known = isinstance(scopes, list) and len(scopes) > 1 and isinstance(scopes[-2], str)
    return _CALL.sub("", scopes[-2]) if known else None


def _copied(graph: GraphProto, tensor: TensorProto, name: str, number: int) -> str:
    """Adds a copy of an initializer with its metadata, and returns the copy's name."""
    if name == tensor.name:
        name = f"{name}/copy_{number}"
    copy = graph.initializer.add()
    copy.CopyFrom(tensor)
    copy.name = name
    for info in list(graph.value_info):
        if info.name == tensor.name:
            said = graph.value_info.add()
            said.CopyFrom(info)
            said.name = name
    return name
