"""Writes the quantized nodes of a model to separate files: in a deep network, a difference of one step is amplified."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mslite.converter.compatibility import Version
from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.enums import DataType

from .networks import save_operands


def _closed(value: Value, name: str) -> Value:
    shape = tuple(max(size, 1) for size in value.shape or ())
    return Value(name, value.dtype, shape, format=value.format, quant=value.quant)


def _drawn(value: Value, draw: np.random.Generator) -> Array:
    numbers = draw.standard_normal(value.shape)
    if value.dtype is DataType.INT8:
        return np.clip(np.round(value.quant[0].zeroPoint + 40 * numbers), -128, 127).astype(np.int8)
    return numbers.astype(np.float32)


def write_nodes(path: Path, folder: Path, seen: set[str]) -> dict[str, str]:
    """Writes `NAME.ms` and `NAME.npz` for each node of a file that reads or writes int8. Returns a description of each.

    Nodes like those in `seen`, which is extended, are skipped.
    """
    draw = np.random.default_rng(0)
    written = {}
    for index, node in enumerate(load(path).main.nodes):
        values = [value for value in (*node.inputs, *node.outputs) if value.dtype is DataType.INT8]
        fed = [value for value in node.inputs if not value.is_constant]
        if not values or not fed or any(value.dtype not in (DataType.INT8, DataType.FLOAT32) for value in fed):
            continue
        what = f"{node.op} {[value.shape for value in node.inputs]}"
        if what in seen:
            continue
        seen.add(what)
        inputs = [value if value.is_constant else _closed(value, f"x{k}") for k, value in enumerate(node.inputs)]
        outputs = [_closed(value, f"y{k}") for k, value in enumerate(node.outputs)]
        graph = Graph("main", [value for value in inputs if not value.is_constant], list(outputs))
        alone = Node(node.op, node.name, tuple(inputs), tuple(outputs))
        alone.quant_type = node.quant_type
        graph.nodes.append(alone)
        module = Module([graph])
        module.version = Version.V2_0.wire
        name = f"{path.stem}_{index}"
        save(module, folder / f"{name}.ms")
        save_operands(folder, name, [_drawn(value, draw) for value in graph.inputs])
        written[name] = f"{node.op.name} '{node.name}' of {path.stem}"
    return written
