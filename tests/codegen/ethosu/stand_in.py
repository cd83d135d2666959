"""Test doubles of vela, and of the driver and the NPU for a generated project."""

from __future__ import annotations

import importlib.metadata
import shutil
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.ethosu.node import NpuCall, call_of
from mslite.converter.ethosu.settings import NpuSettings
from mslite.converter.ethosu.vela import Compiled, UnsupportedOperations
from mslite.converter.mindir.flatbuffer import Source
from mslite.converter.mindir.graph import Module, Node, Value
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.custom import Custom
from mslite.converter.options import Options

Array = npt.NDArray[Any]
_HERE = Path(__file__).parent
_ALIGNMENT = 16
_OPTIMIZER_CONFIG, _COMMAND_STREAM, _NOP = 1, 2, 5


def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulates a machine without vela."""

    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", version)


def actions(words: int) -> bytes:
    """Returns driver actions with a stream of that many meaningless commands."""
    head = b"COP1" + struct.pack("<BBHII", _OPTIMIZER_CONFIG, 0, 16, 0x1807, 0x10066001)
    while (len(head) + 4) % _ALIGNMENT:
        head += struct.pack("<BBH", _NOP, 0, 0)
    return head + struct.pack("<BBH", _COMMAND_STREAM, words >> 16, words & 0xFFFF) + bytes(4 * words)


def compile_file(
    data: bytes, settings: NpuSettings, refused: Sequence[str] = (), fast_scratch: int = 0
) -> Compiled | UnsupportedOperations:
    """Places tensors one after the other; rejects operations with a name from `refused` in their results' names."""
    (graph,) = Source(data).root().tables(2) or ()
    tensors = graph.tables(0) or []
    written = {int(index) for table in graph.tables(3) or () for index in table.numbers(2, "int") or ()}
    reasons = {
        name: "it is not built"
        for index, name in ((index, tensors[index].text(3) or "") for index in written)
        if any(part in name for part in refused)
    }
    if reasons:
        return UnsupportedOperations(reasons)
    places: dict[str, int] = {}
    end = 0
    for index in (*(graph.numbers(1, "int") or ()), *(graph.numbers(2, "int") or ())):
        shape = tensors[int(index)].numbers(0, "int") or ()
        places[tensors[int(index)].text(3) or ""] = end
        end += -(-int(np.prod(shape)) // _ALIGNMENT) * _ALIGNMENT
    count = len(graph.tables(3) or ())
    return Compiled(actions(7 + count), bytes(range(100 + count)), end + 64, fast_scratch, places, 1234, 5678, end, 5e8)


@dataclass(frozen=True)
class NpuNode:
    """Returns a node on the NPU of a converted model."""

    node: Node
    call: NpuCall

    @property
    def inputs(self) -> tuple[Value, ...]:
        return self.node.inputs[2:]


def npu_nodes(module: Module) -> list[NpuNode]:
    found = []
    for node in module.main.nodes:
        if isinstance(node.op, Custom):
            attributes = node.op.attr or ()
            found.append(NpuNode(node, call_of(attributes, len(node.inputs) - 2 + len(node.outputs))))
    return found


def values_of(model: Path, names: Sequence[str], inputs: Sequence[Array], folder: Path) -> dict[str, Array]:
    """Returns values within a model on the CPU, by name."""
    module = load(convert(Options(model, folder / "plain", float32_scales=True)).files[0])
    known = {value.name: value for value in module.main.values()}
    wanted = [known[name] for name in names]
    module.main.outputs += [value for value in wanted if value not in (*module.main.outputs, *module.main.inputs)]
    path = save(module, folder / "all.ms")[0]
    runtime = mslite.Model()
    runtime.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
    tensors = runtime.get_inputs()
    for tensor, array in zip(tensors, inputs, strict=True):
        tensor.set_data_from_numpy(array)
    found = {tensor.name: np.array(tensor.get_data_to_numpy()) for tensor in runtime.predict(tensors)}
    return found | {tensor.name: array for tensor, array in zip(tensors, inputs, strict=True)}


def write_driver(folder: Path, nodes: Sequence[NpuNode], runs: Sequence[dict[str, Array]]) -> None:
    """Writes a driver whose NPU computes these nodes in these runs: include/ethosu_driver.h, driver.c and recorded.h."""
    shutil.copytree(_HERE / "include", folder / "include", dirs_exist_ok=True)
    shutil.copy(_HERE / "driver.c", folder)
    lines = ["#include <stddef.h>", f"#define BASES {3 if any(one.call.fast_scratch for one in nodes) else 2}"]
    lines.append("struct piece { size_t at, bytes; const unsigned char *data; };")
    lines.append("struct call { int command_bytes; size_t constant_bytes, scratch_bytes, fast_bytes;")
    lines.append("  const struct piece *inputs, *outputs; };")
    rows = []
    for number, (run, one) in enumerate((run, one) for run in runs for one in nodes):
        places = list(one.call.places)
        for role, values in (("in", one.inputs), ("out", one.node.outputs)):
            pieces = ""
            for index, value in enumerate(values):
                data = run[value.name].tobytes()
                lines.append(f"static const unsigned char {role}{number}_{index}[] = {{{', '.join(map(str, data))}}};")
                pieces += f"{{{places.pop(0)}, {len(data)}, {role}{number}_{index}}}, "
            lines.append(f"static const struct piece {role}{number}[] = {{{pieces}{{0, 0, NULL}}}};")
        commands, constants = (len(one.node.inputs[index].array().tobytes()) for index in range(2))
        sizes = f"{commands}, {constants}, {one.call.scratch}, {one.call.fast_scratch}"
        rows.append(f"{{{sizes}, in{number}, out{number}}}")
    lines.append(f"static const struct call calls[] = {{{', '.join(rows)}}};")
    (folder / "recorded.h").write_text("\n".join(lines) + "\n")
