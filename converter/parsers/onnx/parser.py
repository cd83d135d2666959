"""The entry: an ONNX model in, a MindIR module out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from onnx import ModelProto

from mslite.converter.mindir.graph import Module
from mslite.converter.parsers.emitted import Inference
from mslite.converter.parsers.stand_in import blocked

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
    integer_products,
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
    """Reads an ONNX model.

    `input_shapes` fixes the dimensions of graph inputs (-1 leaves one as it is). Activations keep the NCHW layout, weights
    are in MindIR's. Dimensions that the model leaves open are symbols; equal names are equal symbols.
    `inference` tells the types of what plug-ins emit, for the nodes behind. `trains`: the result is trained; Dropout and batch
    normalization that were exported in training mode are what they are in inference.

    Raises ConversionError for a file that is not a sound model, and for all nodes that cannot be expressed, at once.
    """
    name = source.graph.name or "model" if isinstance(source, ModelProto) else str(source)
    try:
        model = load(source, input_shapes, trains)
        session = Session(model, inference, trains)
        GraphImporter(session, model.graph, "main_graph").run()
    except RecursionError:
        raise graph_error(name, "subgraphs are nested too deeply") from None
    except UnicodeDecodeError:
        raise graph_error(name, "the file holds a name that is not UTF-8; it is damaged") from None
    if session.blockers:
        module = Module(session.graphs, name=model.graph.name, framework=FRAMEWORK_ONNX)
        raise blocked(model.name, session.blockers, module)
    if not session.graphs[0].outputs:
        raise graph_error(model.name, "the graph has no outputs")
    module = Module(session.graphs, name=model.graph.name, framework=FRAMEWORK_ONNX)
    folded = folded_norms(model.graph) if trains else 0
    if folded:
        module.notes.append(
            f"PyTorch's exporter has made {folded} batch normalization(s) part of convolutions, which are trained as such: to train them "
            "by the statistics of the batch, export with optimize=False, or convert a .pt2 program"
        )
    return module
