"""Reports a random graph: its text form, and files to run it again."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.printer
from onnx import ModelProto

from .graphs import RandomGraph
from .values import WORLDS, Value

FOLDER = Path(os.environ.get("MSLITE_BUILD", "build")) / "random_graphs"
"""Folder for graphs with problems."""


def text_of(model: ModelProto) -> str:
    """Returns ONNX's text form without the values of large constants."""
    text = onnx.printer.to_text(model)
    return "\n".join(line if len(line) < 400 else f"{line[:400]} ..." for line in text.splitlines())


def save(graph: RandomGraph, folder: Path) -> Path:
    """Writes model.onnx, and worlds.npz with the values of its inputs and outputs. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(graph.model, folder / "model.onnx")
    arrays: dict[str, Any] = {}
    for number, name in enumerate(_boundary(graph.model)):
        arrays |= {f"{number}.{world}": array for world, array in enumerate(graph.values[name].worlds)}
    np.savez(folder / "worlds.npz", **arrays)
    return folder


def load(folder: Path) -> RandomGraph:
    """Reads a saved graph."""
    model = onnx.load(folder / "model.onnx")
    with np.load(folder / "worlds.npz") as arrays:
        values = {
            name: Value(name, tuple(arrays[f"{number}.{world}"] for world in range(WORLDS)))
            for number, name in enumerate(_boundary(model))
        }
    return RandomGraph(model, values)


def _boundary(model: ModelProto) -> list[str]:
    """Returns the names of inputs and outputs."""
    return sorted({info.name for info in (*model.graph.input, *model.graph.output)})


def kind_of(graph: RandomGraph, text: str) -> str:
    """Returns operators and problem without numbers and names, which are equal for graphs with the same cause."""
    plain = re.sub(r"/\S+|'[^']*'|output \w+|-?\d+(\.\d+)?(e-?\d+)?|\[[^]]*\]|\([^)]*\)", "*", text)
    operators = ", ".join(sorted({node.op_type for node in graph.model.graph.node} - {"Constant"}))
    return f"{operators}: {plain[:150]}"


def failure(graph: RandomGraph, text: str, folder: Path) -> str:
    """Returns the message of a test: problem, graph, and folder. The result of hypothesis's shrinking is written last."""
    save(graph, folder)
    return f"{text}\n{text_of(graph.model)}\nsaved in {folder}; run it again with --replay {folder}"
