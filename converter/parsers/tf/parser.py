"""The entry: a TensorFlow GraphDef in, a MindIR module out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.mindir.graph import Module, Value
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.stand_in import blocked

from . import (  # noqa: F401  (each registers its converters)
    activation,
    assembly,
    audio,
    block_lstm,
    colors,
    complex_numbers,
    control_flow,
    convolution,
    counting,
    creation,
    cudnn,
    detection,
    elementwise,
    functions,
    fused,
    indexing,
    matmul,
    matrices,
    morphology,
    normalization,
    passing,
    pooling,
    quantization,
    rearrange,
    recurrent,
    reduction,
    resampling,
    resize,
    sparse,
    tensor_arrays,
    tensor_lists,
    volumes,
)
from .importer import GraphImporter
from .inputs import bind_inputs
from .loops_v1 import raise_control_flow
from .model import Ref, SourceModel, damaged, load, read_bytes
from .outputs import output_names, results_of
from .saved_model import frozen, is_saved_model, needs_tensorflow
from .scope import Scope
from .session import Inference, Session

FRAMEWORK_TF = 0

_CHANNELS_FIRST = (b"NCHW", b"NCDHW")
_CHANNELS_LAST = (b"NHWC", b"NDHWC")


def parse(
    path: str | os.PathLike[str],
    inference: Inference,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    signature: str = "",
) -> Module:
    """Reads a frozen GraphDef, or a SavedModel folder or Keras file that TensorFlow freezes first.

    Images keep their layout, which `Module.layout` says; weights are in MindIR's.
    `inference` tells types and shapes of what is emitted. `input_shapes` fixes the dimensions of inputs. Dimensions that
    the model leaves open are symbols. The outputs are the nodes that nobody reads. Of a SavedModel it is the signature
    `signature`, without a name `serving_default` or the only one.

    Raises ConversionError for a file that is not a sound GraphDef, and for all nodes that cannot be expressed, at once;
    UsageError for a `signature` of what is no SavedModel.
    """
    file = Path(path)
    if signature and not is_saved_model(file):
        raise UsageError(f"INPUT ILLEGAL: signature: {path} is no SavedModel and has none. Leave --signature out")
    if needs_tensorflow(file):
        content, outputs = frozen(file, signature)
        return module_of(load(content, str(path)), inference, input_shapes, outputs)
    return module_of(load(read_bytes(file), str(path)), inference, input_shapes)


def module_of(
    model: SourceModel,
    inference: Inference,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    outputs: Sequence[str] = (),
) -> Module:
    """The module of a loaded model, whose outputs are these nodes, and inputs in the file's order; without names, both are
    told from the graph.

    Raises ConversionError.
    """
    is_ordered = bool(outputs)
    outputs = outputs or output_names(model)
    raise_control_flow(model)
    session = Session(model, inference, _layout(model), dict(input_shapes or {}))
    inference.use_layout(session.layout)
    session.values.reserve(*model.graph.nodes)
    graph, _ = session.new_graph("main_graph")
    importer = GraphImporter(session, model.graph, graph)
    refs = results_of(model, outputs)
    bind_inputs(session, importer, refs, is_ordered)
    try:
        values = importer.run(refs)
    except (Blocked, RecursionError) as error:
        reason = f"{error.reason}. {error.remedy}" if isinstance(error, Blocked) else "functions are nested too deeply"
        raise ConversionError(f"{model.name}: {reason}", session.blockers, ReturnCode.NOT_SUPPORTED) from None
    if session.blockers:
        module = Module(session.graphs, framework=FRAMEWORK_TF, layout=session.layout)
        raise blocked(model.name, session.blockers, module)
    for ref, value in zip(refs, values, strict=True):
        if value is None:
            raise damaged(model.name, f"the output '{ref.node}' cannot be computed")
        if value in session.pairs:
            reason = f"{model.name}: the output '{ref.node}' is complex. Make its real and imaginary parts the outputs"
            raise ConversionError(reason, code=ReturnCode.NOT_SUPPORTED)
        several = sum(other.node == ref.node for other in refs) > 1
        graph.outputs.append(_output(importer, ref, value, several))
    return Module(session.graphs, name=Path(model.name).stem, framework=FRAMEWORK_TF, layout=session.layout)


def _output(scope: Scope, ref: Ref, value: Value, several: bool) -> Value:
    """The output value under its name; one that has another name to keep gets a tensor of its own."""
    name = f"{ref.node}_o:{ref.output}" if several else ref.node
    taken = any(value is other for other in scope.graph.outputs)
    if value.producer is None or taken:
        if value.name == name and not taken and value in scope.graph.inputs:
            return value
        kind = scope.constant(np.asarray(int(value.dtype), np.int32), name)
        value = scope.emit(Cast(), (value, kind), 1)[0]
    value.name = name
    return value


def _layout(model: SourceModel) -> Format:
    """The layout of most of the model's images."""
    formats = [
        node.attributes["data_format"].s
        for graph in (model.graph, *model.functions.values())
        for node in graph.nodes.values()
        if "data_format" in node.attributes and node.operator != "BiasAdd"
    ]
    first = sum(text in _CHANNELS_FIRST for text in formats)
    return Format.NCHW if first > sum(text in _CHANNELS_LAST for text in formats) else Format.NHWC
