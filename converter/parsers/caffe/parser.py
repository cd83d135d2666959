"""The entry: a Caffe network and its weights in, a MindIR module out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mslite.converter.mindir.graph import Module
from mslite.converter.parsers.emitted import Inference
from mslite.converter.parsers.stand_in import blocked

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
    """Reads a prototxt file and the caffemodel with its weights; layers of the TEST phase are kept.

    Activations keep the NCHW layout, weights are in MindIR's. `input_shapes` replaces the shapes of inputs. The outputs are
    the blobs that no layer reads, in alphabetical order, as in Caffe. `inference` tells the shapes of what plug-ins emit.

    Raises ConversionError for files that are not sound, and for all layers that cannot be expressed, at once.
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
        reads_sizes=importer.reads_sizes,
    )
