"""Writes a project: the C code of the models, MindSpore Lite's API, tests and build files for the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import jinja2

from mslite.codegen.boards import BOARDS
from mslite.codegen.core import Core
from mslite.codegen.emit.names import comment, short
from mslite.codegen.project.describe import CArray, ModelSummary, describe
from mslite.codegen.project.folder import write_folder
from mslite.codegen.project.naming import renamed
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
"""Template -> path in the project; for microcontrollers only."""
_ARDUINO = (
    "apollo3", "esp32", "esp8266", "mbed", "mbed_edge", "mbed_giga", "mbed_nano", "mbed_nicla", "mbed_opta", "mbed_portenta",
    "mbed_rp2040", "nrf52", "renesas", "renesas_portenta", "renesas_uno", "rp2040", "sam", "samd", "stm32", "zephyr",
)  # fmt: skip
"""Arduino's names of little-endian architectures with int of 32 bits (on avr, int has 16 bits)."""
_HEAP = ("shared", "heap")
_MICRO = ("shared", "micro")


@dataclass(frozen=True)
class ProjectOptions:
    """Settings of a project, besides the generated models."""

    name: str
    target: Target
    parallel: bool = False
    debug: bool = False
    origins: tuple[str, ...] = ()
    """A line about the source of each model: version of mslite, model file, hash."""
    prefix: str = ""
    """Prefix of all names that other code can see, if not empty."""
    files: tuple[str, ...] = ()
    """File names of the models."""


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


def headers() -> Path:
    """Returns the folder of the C API's headers, in the installed package or in the checkout. Raises
    FileNotFoundError."""
    for base in (Path(__file__).parents[2], Path(__file__).resolve().parents[2] / "lite_runtime"):
        if (base / "include" / "c_api" / "model_c.h").is_file():
            return base / "include" / "c_api"
    raise FileNotFoundError(
        "the C API's headers are missing from this installation of mslite; install the package again"
    )


def license_text() -> str | None:
    """Returns mslite's license, from the checkout or the installed package; None if it is not found."""
    path = Path(__file__).resolve().parents[2] / "LICENSE"
    if path.is_file():
        return path.read_text()
    try:
        files = metadata.files("mslite") or []
    except metadata.PackageNotFoundError:
        return None
    found = next((file for file in files if file.name == "LICENSE" and ".dist-info" in str(file)), None)
    return found.read_text() if found is not None else None


def static_files(name: str) -> dict[str, str]:
    """Returns the files of a folder below `static`, by path."""
    base = _HERE / "static" / name
    return {path.relative_to(base).as_posix(): path.read_text() for path in sorted(base.rglob("*.[ch]"))}


def _adapter(options: ProjectOptions, models: Sequence[ModelSummary]) -> dict[str, str]:
    """Returns the files of the MSModel functions, with their headers."""
    files: dict[str, str] = {}
    for part in _MICRO if options.target.is_micro else (*_HEAP, "parallel" if options.parallel else "serial"):
        files |= static_files(part)
    for header in sorted(headers().glob("*.h")):
        files[f"src/include/c_api/{header.name}"] = header.read_text()
    for model in models:
        files[f"src/model{model.i}/model{model.i}.c"] = _render(
            "model.c.j2", options, models, **vars(model), tensors=model.tensors
        )
    files["src/model_handle.h"] = _render("model_handle.h.j2", options, models)
    return files


def _render(template: str, options: ProjectOptions, models: Sequence[ModelSummary], **more: object) -> str:
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
                "debug": options.debug,
                "origins": options.origins or ("generated by mslite.",) * len(models),
                "maximum_threads": MAXIMUM_THREADS,
                "maximum_tensors": max((max(len(model.inputs), len(model.outputs)) for model in models), default=1),
                "has_weights": any(model.weights_size for model in models),
                "largest": max((tensor.size for tensor in tensors), default=1),
                **more,
            }
        )
    )


def _largest(models: Sequence[ModelSummary], role: str) -> dict[int, int]:
    """Returns the size of a test buffer for input or output k, in bytes: the largest tensor k of all models outside of
    its arena. Entries are missing if all are in the arena."""
    lists = [model.inputs if role == "input" else model.outputs for model in models]
    count = max((len(tensors) for tensors in lists), default=0)
    sizes = {
        k: max([tensors[k].size for tensors in lists if k < len(tensors) and not tensors[k].in_arena], default=0)
        for k in range(count)
    }
    return {k: size for k, size in sizes.items() if size}


def _tests(options: ProjectOptions, models: Sequence[ModelSummary], cases: Sequence[Sequence[Case]]) -> dict[str, str]:
    files = {f"test/{name}": text for name, text in static_files("test").items()}
    files["test/test.c"] = _render(
        "test.c.j2",
        options,
        models,
        arena_size=max(model.arena_size for model in models),
        alignment=max(model.alignment for model in models),
        weights_size=max(model.weights_size for model in models),
        input_sizes=_largest(models, "input"),
        output_sizes=_largest(models, "output"),
        case_shapes=[[case.shapes for case in own] for own in cases],
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
    return files | for_board(options.target)


def for_board(target: Target) -> dict[str, str]:
    """Returns the startup code and linker script for the target's emulated board, if it has one."""
    if target.board is None:
        return {}
    own = [path for path in sorted(_BOARDS.iterdir()) if path.suffix in (".c", ".h", ".ld")]
    return {f"test/board/{path.name}": path.read_text() for path in own}


def toolchain(target: Target) -> dict[str, str]:
    """Returns the CMake toolchain file of a microcontroller."""
    text = _templates().get_template("toolchain.cmake.j2").render({"target": target})
    return {f"{target.name}.toolchain.cmake": text}


def _build_files(
    options: ProjectOptions, models: Sequence[ModelSummary], sources: Mapping[str, list[str]], cores: Sequence[Core]
) -> dict[str, str]:
    board = BOARDS.get(options.target.board or "")
    more = {
        "sources": sources,
        "libm": any(core.needs_libm for core in cores),
        "math": any("<math.h>" in text for core in cores for text in core.files.values()),
        "moves": any("memmove(" in text for core in cores for text in core.files.values()),
        "cmsis_nn": any("<arm_nnfunctions.h>" in text for core in cores for text in core.files.values()),
        "ethosu": any("<ethosu_driver.h>" in text for core in cores for text in core.files.values()),
        "custom": any("src/registered_kernel.h" in core.files for core in cores),
        "board": board,
        "arduino": _ARDUINO,
        "identifier": short(options.name, "net"),
    }
    names = {
        "CMakeLists.txt.j2": "CMakeLists.txt",
        "src.CMakeLists.txt.j2": "src/CMakeLists.txt",
        "net.cmake.j2": "src/net.cmake",
        "Makefile.j2": "Makefile",
        "README.md.j2": "README.md",
    }
    if options.target.is_micro:
        names |= _MICRO_BUILD_FILES
        names["library.h.j2"] = f"src/{more['identifier']}.h"
    files = {name: _render(template, options, models, **more) for template, name in names.items()}
    return files | toolchain(options.target) if options.target.is_micro else files


def _benchmark(
    options: ProjectOptions, models: Sequence[ModelSummary], cases: Sequence[Sequence[Case]]
) -> dict[str, str | bytes]:
    if not options.target.is_micro:
        return {"benchmark/benchmark.c": _render("benchmark.c.j2", options, models)}
    arrays = []
    for model, own in zip(models, cases, strict=True):
        case = own[0]
        tensors = model.tensors if case.outputs else model.inputs
        for tensor, values in zip(tensors, (*case.inputs, *case.outputs), strict=True):
            arrays.append(CArray.of(f"calib_{model.prefix}{tensor.symbol}_data", values))
    return {
        "benchmark/benchmark.h": _render("benchmark_micro.h.j2", options, models),
        "benchmark/benchmark.c": _render("benchmark_micro.c.j2", options, models),
        "benchmark/data.h": _render("data.h.j2", options, models, arrays=arrays),
        "benchmark/data.c": _render("data.c.j2", options, models, arrays=arrays),
    }


def write_project(
    cores: Sequence[Core],
    cases: Sequence[Sequence[Case]],
    options: ProjectOptions,
    folder: Path,
    report: Mapping[str, str] | None = None,
) -> None:
    """Writes the project and the files of `report` to `folder`. `cases`: recorded test cases of each core.

    Raises OSError if a file cannot be written; the folder is then unchanged."""
    models = [describe(core, options.parallel, own) for core, own in zip(cores, cases, strict=True)]
    core_files: dict[str, str] = {}
    for core in cores:
        core_files |= core.files
    adapter = _adapter(options, models)
    sources = {
        "core": sorted(name for name in core_files if name.endswith(".c")),
        "adapter": sorted(name for name in adapter if name.startswith("src/") and name.endswith(".c")),
        "benchmark": sorted(name for name in adapter if name.startswith("benchmark/") and name.endswith(".c")),
    }
    files: dict[str, str | bytes] = {**core_files, **adapter, **_tests(options, models, cases)}
    files |= _benchmark(options, models, cases)
    sources["benchmark"] = sorted(name for name in files if name.startswith("benchmark/") and name.endswith(".c"))
    files |= _build_files(options, models, sources, cores)
    for core, own in zip(cores, cases, strict=True):
        if core.weights is not None:
            files[f"src/model{core.index}/net{core.index}.bin"] = core.weights
        for number, case in enumerate(own):
            for role, arrays in (("input", case.inputs), ("output", case.outputs)):
                for k, array in enumerate(arrays):
                    files[f"test/data/model{core.index}_case{number}_{role}{k}.bin"] = array.tobytes()
    text = license_text()
    if text is not None:
        files["LICENSE"] = text
    files |= report or {}
    if options.prefix:
        files = renamed(files, options.prefix, options.files)
    write_folder(folder, files, executable=("build.sh",))
