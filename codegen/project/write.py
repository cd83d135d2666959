"""Writes a project: the cores, and around them what the target can use."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from mslite.codegen.boards import BOARDS
from mslite.codegen.core import Core
from mslite.codegen.emit.names import comment, short
from mslite.codegen.project.describe import CArray, ModelFacts, describe
from mslite.codegen.project.recorded import Case
from mslite.codegen.targets import MAXIMUM_THREADS, Target

_HERE = Path(__file__).parent
_BOARDS = _HERE.parent / "boards" / "runtime"
_MICRO_BUILD_FILES = {
    "build.sh.j2": "build.sh",
    "zephyr_module.yml.j2": "zephyr/module.yml",
    "zephyr_CMakeLists.txt.j2": "zephyr/CMakeLists.txt",
    "zephyr_Kconfig.j2": "zephyr/Kconfig",
    "idf_component.yml.j2": "idf_component.yml",
    "library.properties.j2": "library.properties",
    "stm32.md.j2": "stm32/README.md",
    "stm32.mk.j2": "stm32/sources.mk",
}
"""Template -> file; for microcontrollers only."""
_HEAP = ("shared", "heap")
_MICRO = ("shared", "micro")


@dataclass(frozen=True)
class ProjectOptions:
    """What a project is to have besides the cores."""

    name: str
    target: Target
    parallel: bool = False


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    environment.filters["comment"] = comment
    return environment


def _headers() -> Path:
    """The folder of the C API's headers: in the package, or in the checkout."""
    for base in (Path(__file__).parents[2], Path(__file__).resolve().parents[2] / "lite_runtime"):
        if (base / "include" / "c_api" / "model_c.h").is_file():
            return base / "include" / "c_api"
    raise FileNotFoundError(
        "the C API's headers are missing from this installation of mslite; install the package again"
    )


def _static(name: str) -> dict[str, str]:
    base = _HERE / "static" / name
    return {path.relative_to(base).as_posix(): path.read_text() for path in sorted(base.rglob("*.[ch]"))}


def _adapter(options: ProjectOptions, models: Sequence[ModelFacts]) -> dict[str, str]:
    """The MSModel functions, with their headers."""
    files: dict[str, str] = {}
    for part in _MICRO if options.target.is_micro else (*_HEAP, "parallel" if options.parallel else "serial"):
        files |= _static(part)
    for header in sorted(_headers().glob("*.h")):
        files[f"src/include/c_api/{header.name}"] = header.read_text()
    for model in models:
        files[f"src/model{model.i}/model{model.i}.c"] = _render(
            "model.c.j2", options, models, **vars(model), tensors=model.tensors
        )
    files["src/model_handle.h"] = _render("model_handle.h.j2", options, models)
    return files


def _render(template: str, options: ProjectOptions, models: Sequence[ModelFacts], **more: object) -> str:
    tensors = [tensor for model in models for tensor in model.tensors]
    return (
        _templates()
        .get_template(template)
        .render(
            {
                "project": options.name,
                "target": options.target,
                "micro": options.target.is_micro,
                "models": models,
                "several": len(models) > 1,
                "maximum_threads": MAXIMUM_THREADS,
                "maximum_tensors": max((max(len(model.inputs), len(model.outputs)) for model in models), default=1),
                "has_weights": any(model.weights_size for model in models),
                "largest": max((tensor.size for tensor in tensors), default=1),
                **more,
            }
        )
    )


def _largest(models: Sequence[ModelFacts], role: str) -> dict[int, int]:
    """Bytes of the largest first, second, … tensor of that role that has no place in its arena; none where all have."""
    lists = [model.inputs if role == "input" else model.outputs for model in models]
    count = max((len(tensors) for tensors in lists), default=0)
    sizes = {
        k: max([tensors[k].size for tensors in lists if k < len(tensors) and not tensors[k].in_arena], default=0)
        for k in range(count)
    }
    return {k: size for k, size in sizes.items() if size}


def _tests(options: ProjectOptions, models: Sequence[ModelFacts]) -> dict[str, str]:
    files = {f"test/{name}": text for name, text in _static("test").items()}
    files["test/test.c"] = _render(
        "test.c.j2",
        options,
        models,
        arena_size=max(model.arena_size for model in models),
        alignment=max(model.alignment for model in models),
        weights_size=max(model.weights_size for model in models),
        input_sizes=_largest(models, "input"),
        output_sizes=_largest(models, "output"),
        expected_size=max(tensor.size for model in models for tensor in model.outputs),
    )
    if options.target.is_micro:
        files["test/replay.c"] = _render(
            "replay.c.j2",
            options,
            models,
            arena_size=max(model.arena_size for model in models),
            alignment=max(model.alignment for model in models),
            input_bytes=max(sum(-(-tensor.size // 16) * 16 for tensor in model.inputs) for model in models),
            output_bytes=max(sum(-(-tensor.size // 16) * 16 for tensor in model.outputs) for model in models),
        )
        files["tools/replay.py"] = _render("replay.py.j2", options, models)
    else:
        del files["test/replay.h"]
    if options.target.board is not None:
        for path in sorted(_BOARDS.iterdir()):
            if path.suffix in (".c", ".h", ".ld"):
                files[f"test/board/{path.name}"] = path.read_text()
    return files


def _build_files(
    options: ProjectOptions, models: Sequence[ModelFacts], sources: Mapping[str, list[str]], libm: bool
) -> dict[str, str]:
    board = BOARDS.get(options.target.board or "")
    more = {"sources": sources, "libm": libm, "board": board, "identifier": short(options.name, "net")}
    names = {
        "CMakeLists.txt.j2": "CMakeLists.txt",
        "src.CMakeLists.txt.j2": "src/CMakeLists.txt",
        "net.cmake.j2": "src/net.cmake",
        "Makefile.j2": "Makefile",
        "README.md.j2": "README.md",
    }
    if options.target.is_micro:
        names["toolchain.cmake.j2"] = f"{options.target.name}.toolchain.cmake"
        names |= _MICRO_BUILD_FILES
        names["library.h.j2"] = f"src/{more['identifier']}.h"
    return {name: _render(template, options, models, **more) for template, name in names.items()}


def _benchmark(
    options: ProjectOptions, models: Sequence[ModelFacts], cases: Sequence[Sequence[Case]]
) -> dict[str, str | bytes]:
    if not options.target.is_micro:
        return {"benchmark/benchmark.c": _render("benchmark.c.j2", options, models)}
    arrays = []
    for model, own in zip(models, cases, strict=True):
        case = own[0]
        for tensor, values in zip(model.tensors, (*case.inputs, *case.outputs), strict=True):
            arrays.append(CArray.of(f"calib_{model.prefix}{tensor.symbol}_data", values))
    return {
        "benchmark/benchmark.h": _render("benchmark_micro.h.j2", options, models),
        "benchmark/benchmark.c": _render("benchmark_micro.c.j2", options, models),
        "benchmark/data.h": _render("data.h.j2", options, models, arrays=arrays),
        "benchmark/data.c": _render("data.c.j2", options, models, arrays=arrays),
    }


def write_project(
    cores: Sequence[Core], cases: Sequence[Sequence[Case]], options: ProjectOptions, folder: Path
) -> None:
    """Writes the project to `folder`, over files of the same names; `cases` are those of each core.

    Raises OSError when a file cannot be written."""
    models = [describe(core, options.parallel, len(own)) for core, own in zip(cores, cases, strict=True)]
    core_files: dict[str, str] = {}
    for core in cores:
        core_files |= core.files
    adapter = _adapter(options, models)
    sources = {
        "core": sorted(name for name in core_files if name.endswith(".c")),
        "adapter": sorted(name for name in adapter if name.startswith("src/") and name.endswith(".c")),
        "benchmark": sorted(name for name in adapter if name.startswith("benchmark/") and name.endswith(".c")),
    }
    files: dict[str, str | bytes] = {**core_files, **adapter, **_tests(options, models)}
    files |= _benchmark(options, models, cases)
    sources["benchmark"] = sorted(name for name in files if name.startswith("benchmark/") and name.endswith(".c"))
    files |= _build_files(options, models, sources, any(core.needs_libm for core in cores))
    for core, own in zip(cores, cases, strict=True):
        if core.weights is not None:
            files[f"src/model{core.index}/net{core.index}.bin"] = core.weights
        for number, case in enumerate(own):
            for role, arrays in (("input", case.inputs), ("output", case.outputs)):
                for k, array in enumerate(arrays):
                    files[f"test/data/model{core.index}_case{number}_{role}{k}.bin"] = array.tobytes()
    for name, content in files.items():
        _write(folder / name, content)
    script = folder / "build.sh"
    if script.exists():
        script.chmod(0o755)


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(content.encode() if isinstance(content, str) else content)
    os.replace(beside, path)
