"""The entry: a TensorFlow Lite model in, a MindIR module out."""

from __future__ import annotations

import os
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Module
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.stand_in import blocked

from . import (  # noqa: F401  (each registers its converters)
    activation,
    arithmetic,
    assembly,
    chance,
    contractions,
    control_flow,
    convolution,
    creation,
    custom,
    detection,
    indexing,
    matmul,
    matrices,
    mediapipe,
    normalization,
    places,
    pooling,
    quantization,
    rearrange,
    recurrent,
    reduction,
    regions,
    resize,
    segments,
    signals,
    stablehlo,
    streaming,
    text,
    variables,
    volumes,
)
from .entry import with_signature
from .importer import GraphImporter
from .model import damaged, load
from .session import Session

FRAMEWORK_TFLITE = 4


def parse(path: str | os.PathLike[str], signature: str = "") -> Module:
    """Reads a TensorFlow Lite model; activations are NHWC, weights in MindIR's layout, constants views of the file.

    `signature` names the one whose graph is read, and gives inputs and outputs their names; without it the first graph is
    read, whose tensors have the names.

    Sizes of graph inputs that may vary are symbols. A batch that may vary gets the size that the file states (1) at the
    end of the conversion.

    Raises ConversionError for a file that is not a sound model, and for all nodes that cannot be expressed, at once;
    UsageError for a signature that is not there, or that is missing where signatures are of different graphs.
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
        reads_sizes=session.makes_constants_of_sizes(),
        stated_sizes=session.stated_sizes,
    )
