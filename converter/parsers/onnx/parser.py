"""Converts an ONNX model to a MindIR module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from onnx import ModelProto

from mslite.converter.mindir.graph import Module
from mslite.converter.parsers.emitted_types import Inference
from mslite.converter.parsers.placeholder import blocked

from . import (  # noqa: F401  (each registers its converters)
    activation,
    assembly,
    casting,
    control_flow,
    convolution,
    creation,
    detection,
    dropout,
    einsum,
    elementwise,
    indexing,
    integer_matmul,
    linear_algebra,
    matmul,
    normalization,
    optional,
    pooling,
    quantization,
    rearrange,
    recurrent,
    reduction,
    resize,
    scan,
    sequences,
    signal,
    windows,
)
from .importer import GraphImporter
from .loading import load
from .model import graph_error
from .parameters import folded_norms
from .session import Session

FRAMEWORK_ONNX = 2


def parse(
    source: str | Path | ModelProto,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    inference: Inference | None = None,
    trains: bool = False,
) -> Module:
    """Reads an ONNX model and returns it as a MindIR module.

    `input_shapes` sets the dimensions of graph inputs (-1 keeps a dimension). Activations keep the layout NCHW; weights
    get MindIR's layout. Dynamic dimensions are symbols; dimensions with the same name are the same symbol. `inference`
    infers the output types of nodes that plug-ins emit. `trains`: the result is for training; Dropout and
    batch normalization that were exported in training mode are converted as in inference mode.

    Raises ConversionError for a malformed file, and for unsupported nodes, with all of them.
    """
    name = source.graph.name or "model" if isinstance(source, ModelProto) else str(source)
    try:
        model = load(source, input_shapes, trains)
        session = Session(model, inference, trains)
        GraphImporter(session, model.graph, "main_graph").run()
    except RecursionError:
        raise graph_error(name, "subgraphs are nested too deeply") from None
    except UnicodeDecodeError:
        raise graph_error(name, "the file is damaged: it contains a name that is not UTF-8") from None
    if session.blockers:
        module = Module(session.graphs, name=model.graph.name, framework=FRAMEWORK_ONNX)
        raise blocked(model.name, session.blockers, module)
    if not session.graphs[0].outputs:
        raise graph_error(model.name, "the graph has no outputs")
    module = Module(session.graphs, name=model.graph.name, framework=FRAMEWORK_ONNX)
    folded = folded_norms(model.graph) if trains else 0
    if folded:
        module.notes.append(
            f"PyTorch's exporter folded {folded} batch normalization(s) into convolutions, which are trained instead. To train them "
            "with batch statistics, export with optimize=False, or convert a .pt2 program"
        )
    return module
