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
from .importer import GraphImporter
from .model import damaged, load
from .session import Session

FRAMEWORK_TFLITE = 4


def parse(path: str | os.PathLike[str]) -> Module:
    """Reads a TensorFlow Lite model; activations are NHWC, weights in MindIR's layout, constants views of the file.

    Graph inputs have the shape that the file states (a dynamic batch is stated as 1); other sizes that may vary are
    symbols.

    Raises ConversionError for a file that is not a sound model, and for all nodes that cannot be expressed, at once.
    """
    model = load(Path(path))
    session = Session(model)
    importer = GraphImporter.begin(session, 0, "main_graph")
    try:
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
        name=model.graphs[0].name,
        framework=FRAMEWORK_TFLITE,
        reads_sizes=session.makes_constants_of_sizes(),
        stated_sizes=session.stated_sizes,
    )
