"""Runs a graph on samples and returns intermediate values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mslite.context import Context
from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value, numpy_type
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.quantized import is_quantized
from mslite.model import Model
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.precision.schemes import Scheme, stored
from mslite.types import ModelType

BUDGET_BYTES = 256 << 20
"""Largest size of the observed values of one run. If they are larger, the graph runs again for the rest."""

_UNKNOWN_SIZE = 64


class Runner:
    """Runs a module in the runtime, with the values in `watched` as outputs.

    Memory: the constants once, and at most BUDGET_BYTES (or the largest watched value) of results at a time.
    Raises RuntimeError with the runtime's message if it cannot run the module.
    """

    def __init__(self, module: Module, watched: Sequence[Value], threads: int = 0) -> None:
        self._chunks: list[tuple[list[Value], Model]] = []
        context = Context()
        if threads:
            context.cpu.thread_num = threads
        self._inputs = module.main.inputs
        entering = {id(value) for value in self._inputs}
        self._entering = [value for value in watched if id(value) in entering]
        for chunk in _chunks([value for value in watched if id(value) not in entering]):
            graph = Graph(module.main.name, module.main.inputs, chunk, _needed(module.main, chunk))
            part = Module([graph, *module.graphs[1:]], module.name, module.version, module.framework)
            with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
                path = Path(folder) / "watched.ms"
                save(part, path)
                model = Model()
                model.build_from_file(str(path), ModelType.MINDIR_LITE, context)
            self._chunks.append((chunk, model))

    def run(self, sample: Sample) -> Iterator[tuple[Value, Array]]:
        """Yields the watched values for one sample."""
        for value, array in zip(self._inputs, sample, strict=True):
            if value in self._entering:
                yield value, array
        for chunk, model in self._chunks:
            tensors = model.get_inputs()
            given = [_as_stored(value, array) for value, array in zip(self._inputs, sample, strict=True)]
            shapes = [list(array.shape) for array in given]
            if any(tensor.shape != shape for tensor, shape in zip(tensors, shapes, strict=True)):
                model.resize(tensors, shapes)
            outputs = model.predict(given)
            for value, tensor in zip(chunk, outputs, strict=True):
                yield value, tensor.get_data_to_numpy()


def _as_stored(value: Value, array: Array) -> Array:
    """Quantizes a float array if the model's input is quantized."""
    if is_quantized(value) and array.dtype.kind == "f":
        bits = 8 * numpy_type(value.dtype).itemsize
        scheme = Scheme(bits, unsigned=value.dtype in (DataType.UINT8, DataType.UINT16))
        return stored(array, value.quant, 0, scheme)
    return np.ascontiguousarray(array)


def _chunks(watched: Sequence[Value]) -> Iterator[list[Value]]:
    """Splits the values into groups of at most BUDGET_BYTES."""
    chunk: list[Value] = []
    size = 0
    for value in watched:
        bytes_of_value = numpy_type(value.dtype).itemsize
        for dim in value.shape or ():
            bytes_of_value *= dim if dim >= 0 else _UNKNOWN_SIZE
        if chunk and size + bytes_of_value > BUDGET_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(value)
        size += bytes_of_value
    if chunk:
        yield chunk


def _needed(graph: Graph, outputs: Sequence[Value]) -> list[Node]:
    """Returns the nodes that the outputs depend on, in order."""
    needed = {id(value) for value in outputs}
    nodes = []
    for node in reversed(graph.nodes):
        if any(id(value) in needed for value in node.outputs):
            needed.update(id(value) for value in node.inputs)
            nodes.append(node)
    return nodes[::-1]
