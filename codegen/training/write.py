"""Writes a training project: the C code of both programs, the MSModel functions, an example program and a test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path

import jinja2
import numpy as np

from mslite.codegen.boards import BOARDS
from mslite.codegen.core import Core
from mslite.codegen.emit.names import c_string, comment, short
from mslite.codegen.program import Program, Tensor
from mslite.codegen.project import write as project_files
from mslite.codegen.project.folder import write_folder
from mslite.codegen.targets import Target
from mslite.codegen.training.programs import Programs
from mslite.codegen.training.recorded import Recorded
from mslite.converter.mindir.ops.enums import DataType

_TYPES = {DataType.FLOAT32: "Float32", DataType.INT32: "Int32", DataType.INT64: "Int64", DataType.BOOL: "Bool"}
_SHARED = ("src/tensor.c", "src/tensor.h", "src/allocator.c", "src/allocator.h", "src/context.c")
"""Files that are the same as in inference projects."""
_TEMPLATES = {
    "training.h.j2": "src/training.h",
    "training.c.j2": "src/training.c",
    "model.c.j2": "src/model.c",
    "train.c.j2": "benchmark/train.c",
    "test.c.j2": "test/test.c",
    "Makefile.j2": "Makefile",
    "CMakeLists.txt.j2": "CMakeLists.txt",
    "README.md.j2": "README.md",
}
"""Template -> path in the project."""
_MICRO_TEMPLATES = {
    "training.h.j2": "src/training.h",
    "training.c.j2": "src/training.c",
    "test.c.j2": "test/test.c",
    "Makefile_micro.j2": "Makefile",
    "CMakeLists_micro.txt.j2": "CMakeLists.txt",
    "README_micro.md.j2": "README.md",
}
"""Same for microcontrollers, without the MSModel functions, which need files and a heap."""
_WORDS = 10
"""Number of 32-bit words of the state in a line of C."""


@dataclass(frozen=True)
class Project:
    """Data of a training project. `losses`: number of losses; `cores`: inference and training step; `inference`: `.ms`
    file of the inference graph."""

    name: str
    target: Target
    losses: int
    programs: Programs
    cores: tuple[Core, ...]
    recorded: Recorded
    inference: Path


@dataclass(frozen=True)
class Operand:
    """An input or output for the templates. `size`: bytes; `count`: elements."""

    name: str
    type: str
    shape: tuple[int, ...]
    size: int
    count: int
    is_float: bool


def _operand(tensor: Tensor) -> Operand:
    return Operand(
        c_string(tensor.name),
        f"kMSDataTypeNumberType{_TYPES.get(tensor.dtype, 'Float32')}",
        tensor.shape,
        tensor.size,
        prod(tensor.shape),
        tensor.dtype is DataType.FLOAT32,
    )


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    environment.filters.update(comment=comment, c_string=c_string)
    return environment


def write_training_project(project: Project, folder: Path, report: Mapping[str, str]) -> None:
    """Writes the project and the files of `report` to `folder`. Files of the same names are overwritten.

    Raises OSError if a file cannot be written; the folder is then unchanged."""
    files: dict[str, str | bytes] = {}
    for core in project.cores:
        files |= core.files
    sources = {"core": [*sorted(name for name in files if name.endswith(".c")), "src/training.c"]}
    if not project.target.is_micro:
        adapter = _adapter()
        sources["adapter"] = ["src/model.c", *sorted(name for name in adapter if name.endswith(".c"))]
        files |= adapter
    else:
        files |= project_files.for_board(project.target) | project_files.toolchain(project.target)
    tests = project_files.static_files("test")
    files |= {f"test/{name}": tests[name] for name in ("platform.c", "platform.h")}
    context = _context(project, sources)
    for template, name in (_MICRO_TEMPLATES if project.target.is_micro else _TEMPLATES).items():
        files[name] = _templates().get_template(template).render(context)
    files |= _data(project)
    write_folder(folder, {**files, **report})


def _adapter() -> dict[str, str]:
    """Returns the static files of the MSModel functions, with their headers."""
    shared = {**project_files.static_files("heap"), **project_files.static_files("shared")}
    files = {name: text for name, text in shared.items() if name in _SHARED or "context" in name}
    for header in sorted(project_files.headers().glob("*.h")):
        files[f"src/include/c_api/{header.name}"] = header.read_text()
    return files


def _state_lines(state: bytes) -> list[str]:
    """Returns the lines of a C array of 32-bit words. All targets are little-endian."""
    words = [f"0x{word:08x}u," for word in np.frombuffer(state, "<u4")]
    return [" ".join(words[first : first + _WORDS]) for first in range(0, len(words), _WORDS)]


def _context(project: Project, sources: dict[str, list[str]]) -> dict[str, object]:
    inference, training = (core.program for core in project.cores)
    places = [_place(one, training) for one in inference.inputs]
    return {
        "project": project.name,
        "identifier": short(project.name, "net"),
        "target": project.target,
        "micro": project.target.is_micro,
        "board": BOARDS.get(project.target.board or ""),
        "state_lines": _state_lines(project.programs.state) if project.target.is_micro else [],
        "sources": sources,
        "libm": any(core.needs_libm for core in project.cores),
        "variables": project.programs.variables,
        "state_size": len(project.programs.state),
        "arena_size": max(core.arena_size for core in project.cores),
        "alignment": max(core.arena_alignment for core in project.cores),
        "inputs": [_operand(one) for one in training.inputs],
        "outputs": [_operand(one) for one in training.outputs],
        "losses": project.losses,
        "places": places,
        "labels": [number for number in range(len(training.inputs)) if number not in places],
        "steps": len(project.recorded.steps),
        "rate": next((one for one in project.programs.variables if one.name == "learning_rate"), None),
    }


def _place(tensor: Tensor, training: Program) -> int:
    """Returns the index that an input of inference has among the inputs of the training step."""
    return [one.name for one in training.inputs].index(tensor.name)


def _data(project: Project) -> dict[str, str | bytes]:
    variables = [
        {"name": one.name, "shape": list(one.shape), "offset": one.offset, "is_parameter": one.is_parameter}
        for one in project.programs.variables
    ]
    known = {"size": len(project.programs.state), "losses": project.losses, "variables": variables}
    files: dict[str, str | bytes] = {
        "src/net0.bin": project.programs.state,
        "training/parameters.json": json.dumps(known, indent=1) + "\n",
        "training/inference.ms": project.inference.read_bytes(),
    }
    license = project_files.license_text()
    if license is not None:
        files["LICENSE"] = license
    for number, (inputs, outputs) in enumerate(project.recorded.steps):
        for role, arrays in (("input", inputs), ("output", outputs)):
            for k, array in enumerate(arrays):
                files[f"test/data/step{number}_{role}{k}.bin"] = array.tobytes()
    for k, array in enumerate(project.recorded.results):
        files[f"test/data/result{k}.bin"] = array.tobytes()
    return files
