"""Entry point of the parser for Caffe models."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mslite.converter.mindir.graph import Module
from mslite.converter.parsers.emitted_types import Inference
from mslite.converter.parsers.placeholder import blocked

from . import (  # noqa: F401  (each registers its converters)
    activation,
    arithmetic,
    assembly,
    convolution,
    detection,
    matmul,
    normalization,
    pooling,
    position_sensitive,
    proposals,
    rearrange,
    recurrent,
    reduction,
    resize,
    unpooling,
)
from .importer import Importer
from .prototxt import damaged, read_network
from .weights import read_weights

FRAMEWORK_CAFFE = 1


def parse(
    model: str | os.PathLike[str],
    weights: str | os.PathLike[str],
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    inference: Inference | None = None,
) -> Module:
    """Reads a prototxt file and the caffemodel with its weights into a MindIR module; only layers of the TEST phase are
    kept.

    Activations stay NCHW, weights are in mslite's layout. `input_shapes` replaces the shapes of inputs. The outputs are
    the blobs that no layer reads, in alphabetical order, as in Caffe. `inference` infers the shapes of nodes of
    plug-ins.

    Raises ConversionError for damaged files, and one for all unsupported layers.
    """
    network = read_network(Path(model))
    importer = Importer(network, read_weights(Path(weights)), input_shapes or {}, inference)
    graph = importer.run()
    if importer.blockers:
        module = Module([graph], name=network.name, framework=FRAMEWORK_CAFFE)
        raise blocked(str(network.file), importer.blockers, module, "layer")
    if not graph.outputs:
        raise damaged(network.file, "the network has no outputs")
    return Module(
        [graph],
        name=network.name,
        framework=FRAMEWORK_CAFFE,
        notes=importer.notes,
        depends_on_input_sizes=importer.depends_on_input_sizes,
    )
