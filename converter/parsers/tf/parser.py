"""Entry point of the parser for TensorFlow models."""

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
from mslite.converter.parsers.placeholder import blocked

from . import (  # noqa: F401  (each registers its converters)
    activation,
    assembly,
    audio,
    bincount,
    block_lstm,
    colors,
    complex_numbers,
    control_flow,
    convolution,
    creation,
    cudnn,
    detection,
    elementwise,
    functions,
    fused,
    identity,
    indexing,
    matmul,
    matrices,
    morphology,
    normalization,
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
from .loops_v1 import replace_v1_control_flow
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
    """Reads a frozen GraphDef, or a SavedModel folder or Keras file (frozen by TensorFlow first), into a MindIR module.

    Images keep their layout, which is in `Module.layout`; weights are in mslite's layout.
    `inference` infers types and shapes of emitted nodes. `input_shapes` sets the dimensions of inputs; dynamic
    dimensions become symbols. The outputs are the nodes without readers. `signature` selects a signature of a
    SavedModel; the default is `serving_default` or the only signature.

    Raises ConversionError for a damaged file, and one for all unsupported nodes; UsageError for a `signature` if the
    model is not a SavedModel.
    """
    file = Path(path)
    if signature and not is_saved_model(file):
        raise UsageError(
            f"INPUT ILLEGAL: signature: {path} is not a SavedModel and has no signatures. Remove --signature"
        )
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
    """Returns the module of a loaded model with these output nodes, and with inputs in the order of the file. Without
    `outputs`, both are derived from the graph.

    Raises ConversionError.
    """
    is_ordered = bool(outputs)
    outputs = outputs or output_names(model)
    replace_v1_control_flow(model)
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
            reason = f"{model.name}: the output '{ref.node}' is complex. Use its real and imaginary part as outputs"
            raise ConversionError(reason, code=ReturnCode.NOT_SUPPORTED)
        several = sum(other.node == ref.node for other in refs) > 1
        graph.outputs.append(_output(importer, ref, value, several))
    return Module(session.graphs, name=Path(model.name).stem, framework=FRAMEWORK_TF, layout=session.layout)


def _output(scope: Scope, ref: Ref, value: Value, several: bool) -> Value:
    """Returns an output value with its name; a copy, if the value must keep another name."""
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
    """Returns the layout of most image nodes of the model."""
    formats = [
        node.attributes["data_format"].s
        for graph in (model.graph, *model.functions.values())
        for node in graph.nodes.values()
        if "data_format" in node.attributes and node.operator != "BiasAdd"
    ]
    first = sum(text in _CHANNELS_FIRST for text in formats)
    return Format.NCHW if first > sum(text in _CHANNELS_LAST for text in formats) else Format.NHWC
