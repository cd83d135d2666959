"""Runs a TensorFlow model with TensorFlow and keeps the outputs of all nodes of its main graph."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Array
from mslite.converter.parsers.protobuf import parse_binary
from mslite.converter.parsers.tf.model import load
from mslite.converter.parsers.tf.outputs import output_names
from mslite.converter.parsers.tf.protos import GraphDef
from mslite.converter.parsers.tf.saved_model import frozen, needs_tensorflow
from mslite.converter.parsers.tf.unsafe_operators import unsafe_to_run

_NO_ARRAYS = ("resource", "variant", "string")


def run_tensorflow(tensorflow: Any, model: Path, inputs: Mapping[str, Array], signature: str = "") -> dict[str, Array]:
    """Returns name -> elements of the nodes' outputs. The name is that of the node, or `<node>_o:<i>` if it has
    several outputs.

    `tensorflow` is the package. For a graph with branches or loops, only the outputs of the model are returned.
    """
    v1 = tensorflow.compat.v1
    content, ends = frozen(model, signature) if needs_tensorflow(model) else (model.read_bytes(), [])
    _check_operators(content, str(model))
    ends = ends or output_names(load(content, str(model)))
    definition = v1.GraphDef()
    definition.ParseFromString(content)
    with tensorflow.Graph().as_default() as graph:
        tensorflow.import_graph_def(definition, name="")
        feeds = {graph.get_tensor_by_name(f"{name}:0"): array for name, array in inputs.items()}
        with v1.Session(graph=graph) as session:
            try:
                results = session.run(_tensors(graph, graph.get_operations()), feeds)
            except tensorflow.errors.OpError:  # a node in a loop, or in a branch that is not taken
                results = session.run(_tensors(graph, [graph.get_operation_by_name(name) for name in ends]), feeds)
    return {name: np.asarray(array) for name, array in results.items()}


def _check_operators(content: bytes, name: str) -> None:
    """Raises ConversionError for a graph with unsafe nodes, which access files, the network or Python: all nodes would
    run."""
    blockers = unsafe_to_run(parse_binary(GraphDef, content))
    if blockers:
        message = f"{name}: --verify does not run the source model, because it has {len(blockers)} unsafe nodes:"
        raise ConversionError(message, blockers, ReturnCode.NOT_SUPPORTED)


def _tensors(graph: Any, operations: Sequence[Any]) -> dict[str, Any]:
    """Returns the tensors that can be fetched, under the names that the converter uses."""
    wanted = {}
    for operation in operations:
        if not graph.is_fetchable(operation):
            continue
        for number, tensor in enumerate(operation.outputs):
            if tensor.dtype.base_dtype.name not in _NO_ARRAYS:
                several = len(operation.outputs) > 1
                wanted[f"{operation.name}_o:{number}" if several else operation.name] = tensor
    return wanted


@contextmanager
def quiet() -> Iterator[None]:
    """A context that suppresses the output of TensorFlow's libraries on stderr."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
