"""Entry point of the parser for TensorFlow Lite models."""

from __future__ import annotations

import os
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Module
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.placeholder import blocked

from . import (  # noqa: F401  (each registers its converters)
    activation,
    arithmetic,
    assembly,
    control_flow,
    convolution,
    creation,
    custom,
    detection,
    dot_general,
    indexing,
    matmul,
    matrices,
    mediapipe,
    normalization,
    pooling,
    quantization,
    random_values,
    rearrange,
    recurrent,
    reduction,
    resize,
    segments,
    signals,
    stablehlo,
    stablehlo_gather,
    stablehlo_reduce,
    streaming,
    text,
    variables,
    volumes,
)
from .importer import GraphImporter
from .model import damaged, load
from .session import Session
from .signature_selection import with_signature

FRAMEWORK_TFLITE = 4


def parse(path: str | os.PathLike[str], signature: str = "") -> Module:
    """Reads a TensorFlow Lite model into a MindIR module.

    Activations are NHWC, weights are in mslite's layout, and constants are views of the file. `signature` selects the
    graph and the names of its inputs and outputs; without it, the first graph is read with the names of its tensors.
    Dynamic sizes of graph inputs become symbols. A dynamic batch gets the size in the file (1) at the end of the
    conversion.

    Raises ConversionError for a damaged file, and one for all unsupported nodes; UsageError if the signature does not
    exist, or if one is needed because the signatures are for different graphs.
    """
    model = load(Path(path))
    try:
        model, number = with_signature(model, signature)
        session = Session(model)
        importer = GraphImporter.begin(session, number, "main_graph")
        importer.run()
    except FlatBufferError as error:
        raise damaged(model.name, error) from None
    except Blocked as problem:
        message = f"{model.name}: {problem.reason}. {problem.remedy}"
        raise ConversionError(message, session.blockers, ReturnCode.NOT_SUPPORTED) from None
    if session.blockers:
        raise blocked(model.name, session.blockers, Module(session.graphs, framework=FRAMEWORK_TFLITE))
    if not importer.graph.outputs:
        raise damaged(model.name, FlatBufferError("the graph has no outputs"))
    return Module(
        session.graphs,
        name=model.graphs[number].name,
        framework=FRAMEWORK_TFLITE,
        depends_on_input_sizes=session.has_size_dependent_operators(),
        declared_sizes=session.declared_sizes,
    )
