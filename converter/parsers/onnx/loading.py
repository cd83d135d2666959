"""Loads an ONNX file: checks it, separates its weights, expands its functions and infers types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import GraphProto, ModelProto, OperatorSetIdProto, TensorProto, ValueInfoProto

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.input_shapes import check_shape, unknown_input
from mslite.converter.text_shortening import quoted

from .functions import FunctionError, expand_functions
from .known_types import known_types
from .model import DOMAINS, SourceModel, graph_error
from .parameters import (
    parameters_are_initializers,
    recorded_parameters,
    restore_biases,
    reused_normalizations,
    separate_copies,
    tie_tables,
)
from .protos import all_nodes, sub_graphs
from .quantized_movements import dequantize_movements
from .tensors import MAX_DIMENSION, TensorReader

_PLACEHOLDERS = frozenset({"none", "null", "unk", "unknown", "any", "dynamic"})
"""Exporters write these for unknown sizes, and names without a letter ("?", "-1")."""

_LARGE_BYTES = 4096
"""Initializers of this size or larger are not in the skeleton, which type inference copies."""


def load(
    source: str | Path | ModelProto, input_shapes: Mapping[str, Sequence[int]] | None = None, trains: bool = False
) -> SourceModel:
    """Reads and checks a model. `trains`: it is converted for training. Raises ConversionError."""
    if isinstance(source, ModelProto):
        proto, name, folder = source, source.graph.name or "model", None
    else:
        path = Path(source)
        proto, name, folder = _read_file(path), str(path), path.parent
    if not proto.HasField("graph"):
        raise graph_error(name, "this is not an ONNX model: it has no graph")
    _check_texts(proto, name)
    _check_sizes(proto.graph, name)
    if trains and not isinstance(source, ModelProto):  # the caller's model must not change
        separate_copies(proto.graph)
        restore_biases(proto.graph)
        tie_tables(proto.graph, TensorReader(folder).read)
    skeleton, initializers = _skeleton(proto, name)
    opsets = _operator_sets(skeleton, name)
    _clear_placeholders(skeleton.graph)
    inputs = {value.name: value for value in skeleton.graph.input if value.name not in initializers}
    _apply_shapes(inputs, input_shapes or {}, name)
    try:
        skeleton, unexpanded = expand_functions(skeleton, opsets, initializers)
    except FunctionError as error:
        raise graph_error(name, f"the functions of the model cannot be expanded: {error}") from None
    dequantize_movements(skeleton.graph, initializers)
    stored, numbers = list(initializers), set[str]()
    types = known_types(skeleton, initializers, numbers, trains)
    producer = f"{proto.producer_name} {proto.producer_version}".strip()
    keeps_parameters = parameters_are_initializers(producer, stored)
    return SourceModel(
        name=name,
        skeleton=skeleton,
        graph=skeleton.graph,
        initializers=initializers,
        opsets=_operator_sets(skeleton, name),
        reader=TensorReader(folder),
        producer=producer,
        types=types,
        unexpanded=unexpanded,
        keeps_parameters=keeps_parameters,
        reused_normalizations=reused_normalizations(proto.graph, keeps_parameters) if trains else frozenset(),
        parameters=recorded_parameters(proto.graph) | dict.fromkeys(numbers if keeps_parameters else (), False),
    )


def _read_file(path: Path) -> ModelProto:
    try:
        content = path.read_bytes()
    except OSError as error:
        message = f"{path}: the model file cannot be read: {error.strerror or error}"
        raise ConversionError(message, code=ReturnCode.FILE_ERROR) from None
    if not content:
        raise graph_error(str(path), "this is not an ONNX model: the file is empty")
    proto = ModelProto()
    try:
        proto.ParseFromString(content)
    except DecodeError:
        raise graph_error(str(path), "this is not an ONNX model, or the file is cut off or damaged") from None
    return proto


def _check_texts(proto: ModelProto, name: str) -> None:
    """Raises ConversionError for names that are not UTF-8. Protobuf returns them as bytes, or not at all."""
    for node in all_nodes(proto.graph.node):
        texts = [node.op_type, node.domain, node.name, *node.input, *node.output]
        if not all(isinstance(text, str) for text in texts):
            raise graph_error(name, f"a node has a name that is not UTF-8 ({node.op_type!r}); the file is damaged")


def _check_sizes(graph: GraphProto, name: str) -> None:
    """Raises ConversionError for negative sizes, on which onnx's inference crashes."""
    work = [graph]
    while work:
        inner = work.pop()
        for value in (*inner.input, *inner.output, *inner.value_info):
            kind = value.type
            while kind.WhichOneof("value") in ("sequence_type", "optional_type"):
                kind = kind.sequence_type.elem_type if kind.HasField("sequence_type") else kind.optional_type.elem_type
            wrong = [dim.dim_value for dim in kind.tensor_type.shape.dim if dim.dim_value < 0]
            if wrong:
                raise graph_error(name, f"{quoted(value.name)} has the invalid dimension {wrong[0]}")
        work.extend(body for node in inner.node for body in sub_graphs(node))


def _clear_placeholders(graph: GraphProto) -> None:
    """Removes dimension names without meaning: sizes with the same placeholder need not be equal."""
    work = [graph]
    while work:
        inner = work.pop()
        for value in (*inner.input, *inner.output, *inner.value_info):
            for dim in value.type.tensor_type.shape.dim if value.type.HasField("tensor_type") else ():
                name = dim.dim_param
                if name and (name.lower() in _PLACEHOLDERS or not any(letter.isalpha() for letter in name)):
                    dim.Clear()
        work.extend(body for node in inner.node for body in sub_graphs(node))


def _operator_sets(proto: ModelProto, name: str) -> dict[str, int]:
    opsets: dict[str, int] = {}
    for entry in proto.opset_import:
        domain = DOMAINS.get(entry.domain, entry.domain)
        opsets[domain] = max(opsets.get(domain, 0), entry.version)
    if not opsets:
        opsets[""] = 1  # old files without operator sets
    newest = onnx.defs.onnx_opset_version()
    version = opsets.get("", 1)
    if version > newest:
        raise graph_error(
            name,
            f"the model uses operator set {version}; the installed onnx package supports {newest}. "
            f"Export for opset {newest}, or update onnx",
        )
    for domain, asked in opsets.items():
        if not 1 <= asked < 2**31:
            where = f" of the domain '{domain}'" if domain else ""
            raise graph_error(name, f"the model uses operator set {asked}{where}, which does not exist")
    return opsets


def _sets_not_named(proto: ModelProto) -> list[OperatorSetIdProto]:
    """Returns the newest operator sets of the domains that nodes use and the file does not import.

    Inference needs all of them. onnxruntime accepts such files, and its transformer optimizer omits com.microsoft. The
    standard set is included, because expansions of other domains' operators support any version of it.
    """
    named = {DOMAINS.get(entry.domain, entry.domain) for entry in proto.opset_import}
    used = {DOMAINS.get(node.domain, node.domain) for node in all_nodes(proto.graph.node)} | {""}
    versions: dict[str, int] = {}
    for domain, version in onnx.helper.OP_SET_ID_VERSION_MAP:
        known = DOMAINS.get(domain, domain)
        versions[known] = max(version, versions.get(known, 1))
    return [onnx.helper.make_opsetid(domain, versions.get(domain, 1)) for domain in sorted(used - named)]


def _skeleton(proto: ModelProto, name: str) -> tuple[ModelProto, dict[str, TensorProto]]:
    """Returns the model without large weights, which become graph inputs for type inference, and all weights."""
    graph = proto.graph
    skeleton = ModelProto()
    skeleton.ir_version = max(proto.ir_version, 4)  # from 4 on an initializer need not be an input
    skeleton.opset_import.extend(proto.opset_import)
    if proto.opset_import:
        skeleton.opset_import.extend(_sets_not_named(proto))
    skeleton.functions.extend(proto.functions)
    target = skeleton.graph
    target.name = graph.name or "graph"
    target.node.extend(graph.node)
    target.output.extend(graph.output)
    target.value_info.extend(graph.value_info)
    if graph.sparse_initializer:
        raise graph_error(name, "sparse initializers are not supported; export dense weights")
    initializers: dict[str, TensorProto] = {}
    for tensor in graph.initializer:
        if not tensor.name:
            raise graph_error(name, "an initializer has no name")
        if tensor.name in initializers:
            raise graph_error(name, f"the initializer '{tensor.name}' is duplicated")
        initializers[tensor.name] = tensor
    target.input.extend(value for value in graph.input if value.name not in initializers)
    for tensor in graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL or tensor.ByteSize() >= _LARGE_BYTES:
            if all(0 <= dim <= MAX_DIMENSION for dim in tensor.dims):
                target.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
        else:
            target.initializer.append(tensor)
    return skeleton, initializers


def _apply_shapes(inputs: Mapping[str, ValueInfoProto], shapes: Mapping[str, Sequence[int]], name: str) -> None:
    """Sets the sizes of `--inputShape` in inputs, and in other inputs with the same symbolic sizes."""
    given: dict[str, int] = {}
    for key, dims in shapes.items():
        if key not in inputs:
            raise unknown_input(name, key, inputs)
        shape = inputs[key].type.tensor_type.shape
        if inputs[key].type.tensor_type.HasField("shape"):
            check_shape(name, key, [dim.dim_value if dim.HasField("dim_value") else -2 for dim in shape.dim], dims)
        old = [dim.dim_param for dim in shape.dim]
        del shape.dim[:]
        for index, dim in enumerate(dims):
            entry = shape.dim.add()
            if dim >= 0:
                entry.dim_value = dim
                if index < len(old) and old[index]:
                    given.setdefault(old[index], dim)
            elif index < len(old) and old[index]:
                entry.dim_param = old[index]
    for value in inputs.values() if given else ():
        for dim in value.type.tensor_type.shape.dim if value.type.HasField("tensor_type") else ():
            if dim.dim_param in given:
                dim.dim_value = given[dim.dim_param]
