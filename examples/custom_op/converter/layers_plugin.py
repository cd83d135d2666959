"""Adds a source format to converter_lite: a network as a list of layers in a text file (net.layers).

    input x 1 8             name and shape
    dense w1.npy b1.npy     matrix [inputs, outputs] and vector, files in the same folder
    maxout 2 0.25           pieces and scale
    output y

Blank lines and text after # are ignored.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mslite.converter.registry import ConverterParameters, GraphBuilder, Module, Value, custom, model_parser, ops


@model_parser("LAYERS", ".layers")
def parse_layers(parameters: ConverterParameters) -> Module:
    """Reads such a file. Raises ValueError for errors, which the converter reports with the file name."""
    path = parameters.model_file
    graph = GraphBuilder(path.stem)
    value: Value | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            value = add_layer(graph, value, words, path.parent)
        except (ValueError, IndexError) as error:
            raise ValueError(f"line {number}, '{line.strip()}': {error}") from None
    return graph.module()


def add_layer(graph: GraphBuilder, value: Value | None, words: list[str], folder: Path) -> Value:
    kind, *details = words
    if kind == "input":
        return graph.input(details[0], [int(size) for size in details[1:]])
    if value is None:
        raise ValueError("the first line must be the input")
    match kind:
        case "dense":
            weight, bias = (graph.const(np.load(folder / name), name=Path(name).stem) for name in details)
            return graph.emit(ops.matmul.MatMulFusion(), value, weight, bias, name=f"dense_{weight.name}")
        case "maxout":
            return graph.emit(custom("Maxout", pieces=int(details[0]), scale=float(details[1])), value, name="maxout")
        case "output":
            graph.output(value, details[0])
            return value
    raise ValueError(f"unknown layer '{kind}'")
