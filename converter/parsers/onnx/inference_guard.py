"""Works around crashes and errors of onnx's type inference, which a model file could otherwise trigger."""

from __future__ import annotations

import re

from onnx import GraphProto, ModelProto, NodeProto, helper

from .protos import all_nodes, sub_graphs

_UNSEEN = {
    "RegexFullMatch": "",
    "DictVectorizer": "ai.onnx.ml",
    "LabelEncoder": "ai.onnx.ml",
    "TreeEnsemble": "ai.onnx.ml",
}
"""Unsupported operators and their domains. Inference reads the type of an input without checking that it is known."""

_TERM = r"[A-Za-z]*(\.\.\.)?[A-Za-z]*"
_EQUATION = re.compile(rf"{_TERM}(,{_TERM})*(->{_TERM})?".encode())
"""Valid equations of Einsum, without blanks. Inference does not end on some invalid ones."""

_FROM_END = 11
"""Inference supports negative axes of these operators since this operator set; onnxruntime also in older ones."""
_FROM_END_OPERATORS = frozenset({"Concat", "Split", "Squeeze", "Unsqueeze"})
_UNTOLD_BEFORE_11 = frozenset({"Compress", "NonMaxSuppression"})
"""Operators with incomplete inference before operator set 11."""

_DROPS_WINDOWS = 22
"""Since this operator set, inference drops windows of these operators that ceil_mode would start past the input."""
_POOLS = frozenset({"AveragePool", "LpPool", "MaxPool"})

_DOMAINS = {later: f"mslite.set_{later}" for later in (_FROM_END, _DROPS_WINDOWS)}
"""Domains of nodes that are inferred as a later operator set defines them."""
_SETS = {domain: later for later, domain in _DOMAINS.items()}


def inference_opset(node: NodeProto) -> int | None:
    """Returns the later operator set by which a node is inferred, None for the model's operator set."""
    return _SETS.get(node.domain)


def safe_for_inference(model: ModelProto) -> ModelProto:
    """Returns the model, or a copy for type inference in which such nodes are replaced or removed."""
    known = {value.name: value.type for value in model.graph.input}
    for tensor in model.graph.initializer:
        if all(size >= 0 for size in tensor.dims):
            known.setdefault(tensor.name, helper.make_tensor_type_proto(tensor.data_type, tensor.dims))
    version = max((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), default=1)
    returned = any(value.name in known for value in model.graph.output)
    if not returned and not any(
        _crashes(node, version) or _errs(node) or _forgets(node) or _later_set(node, version)
        for node in all_nodes(model.graph.node)
    ):
        return model
    copy = ModelProto()
    copy.CopyFrom(model)
    _replace(copy.graph, version)
    for later, domain in _DOMAINS.items():
        copy.opset_import.add(domain=domain, version=later)
    for value in copy.graph.output:  # inference uses the declared type of an output, even if less specific
        if value.name in known:
            value.type.CopyFrom(known[value.name])
    return copy


def _replace(graph: GraphProto, version: int, is_body: bool = False) -> None:
    kept = []
    for node in graph.node:
        for inner in sub_graphs(node):
            _replace(inner, version, True)
        if _errs(node):
            node.attribute.append(helper.make_attribute("onesided", 1))
        later = _later_set(node, version)
        if later == _FROM_END or (later and not is_body):  # pooling in bodies would lose its rank
            node.domain = _DOMAINS[later]
        if _forgets(node):
            kept.append(_with_shape(node))
        elif not _crashes(node, version):
            kept.append(node)
        elif node.op_type == "EyeLike":  # Cast has the same output type: the shape of x, and the attribute's type
            kind = next(attribute.i for attribute in node.attribute if attribute.name == "dtype")
            kept.append(helper.make_node("Cast", node.input, node.output, to=kind))
    nodes = [NodeProto.FromString(node.SerializeToString()) for node in kept]
    del graph.node[:]
    graph.node.extend(nodes)


def _crashes(node: NodeProto, version: int) -> bool:
    """Returns whether inference crashes, fails or infers a wrong shape for a valid node."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    if node.op_type in _UNSEEN and domain == _UNSEEN[node.op_type]:
        return True
    if domain:
        return False
    names = [attribute.name for attribute in node.attribute]
    if node.op_type == "EyeLike":
        return "dtype" in names
    if node.op_type == "Einsum":
        return not all(
            _EQUATION.fullmatch(one.s.replace(b" ", b"")) for one in node.attribute if one.name == "equation"
        )
    if node.op_type == "Split" and "num_outputs" in names:
        count = int(next(attribute.i for attribute in node.attribute if attribute.name == "num_outputs"))
        return count != len(node.output)
    return False


def _later_set(node: NodeProto, version: int) -> int | None:
    """Returns the first operator set with a correct inference for a node if it is newer than the model's, or None."""
    if node.domain not in ("", "ai.onnx"):
        return None
    if version < _FROM_END and node.op_type in _UNTOLD_BEFORE_11:
        return _FROM_END
    if version < _FROM_END and node.op_type in _FROM_END_OPERATORS:
        axes = [axis for one in node.attribute if one.name in ("axis", "axes") for axis in (one.i, *one.ints)]
        return _FROM_END if any(axis < 0 for axis in axes) else None
    if version < _DROPS_WINDOWS and node.op_type in _POOLS:
        return _DROPS_WINDOWS if any(one.name == "ceil_mode" and one.i for one in node.attribute) else None
    return None


def _forgets(node: NodeProto) -> bool:
    """Returns whether inference finds no shape.

    The reasons: a definition with Reshape (GroupNormalization), a shape that is an input (MaxUnpool), an operator of
    onnxruntime (Inverse).
    """
    if (node.domain, node.op_type) == ("com.microsoft", "Inverse"):
        return len(node.input) > 0
    if node.domain not in ("", "ai.onnx"):
        return False
    return (node.op_type == "GroupNormalization" and len(node.input) > 0) or (
        node.op_type == "MaxUnpool" and len(node.input) == 3 and node.input[2] != ""
    )


def _with_shape(node: NodeProto) -> NodeProto:
    """Returns a replacement node with the same output shape that inference supports."""
    if node.op_type == "MaxUnpool":
        return helper.make_node("Reshape", [node.input[0], node.input[2]], node.output)
    return helper.make_node("Identity", node.input[:1], node.output)


def _errs(node: NodeProto) -> bool:
    """Returns whether the node is an STFT without `onesided`. Inference uses a wrong default: all frequencies."""
    return (
        node.op_type == "STFT"
        and node.domain in ("", "ai.onnx")
        and all(one.name != "onesided" for one in node.attribute)
    )
