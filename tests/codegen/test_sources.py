"""The C text of kernels in generated projects: complete, minimal, and what the library's kernels are."""

from __future__ import annotations

import ctypes
import random
import re
import struct
import subprocess
from pathlib import Path

import pytest

from mslite import _codegen, _native
from mslite.codegen import sources
from mslite.codegen.sources import layout
from mslite.codegen.sources.layout import Array, Layout, Scalar, Struct, Union
from tests.codegen.kernel_sources import Collection, found_compiler

HOST_ONLY = re.compile(
    r"\b(mslite_node|mslite_schedule|mslite_shape_context|mslite_kernel|MSLITE_ISA\w*|SIMD_EMULATED)\b"
)


def compiler(name: str) -> str:
    path = found_compiler(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def test_knows_every_portable_kernel_of_the_library() -> None:
    library = {name for name, _, isa, _ in _native.kernels() if isa == "scalar"}
    assert set(sources.kernels("scalar")) == library


@pytest.mark.parametrize("isa", ["micro", "dsp", "mve"])
def test_knows_every_kernel_of_microcontrollers(isa: str) -> None:
    """One without `run` is in the host's table for other instruction sets, and never chosen."""
    targets = {name for name, _, other, _ in _codegen.kernels() if other == isa}
    assert {name for name in sources.kernels(isa) if name.endswith(f"_{isa}")} <= targets
    assert set(sources.kernels("scalar")) <= set(sources.kernels(isa))


def test_unknown_kernel() -> None:
    with pytest.raises(sources.UnknownKernel, match="no kernel is named conv2d_f64 for the instruction set scalar"):
        sources.kernel_files(["conv2d_f64"], "scalar")


def test_carries_nothing_of_the_host() -> None:
    for path, text in sources.kernel_files(sources.kernels("scalar"), "scalar").items():
        assert not HOST_ONLY.search(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)), path
        body = text.split("\n#define ", 1)[-1] if path.endswith(".h") else text
        asked = re.findall(r"^#(?:el)?if.*", body, re.MULTILINE)
        assert all("__clang__" in line for line in asked), f"{path}: {asked}"


def test_of_one_type_only_what_it_needs() -> None:
    names = sources.kernel_files(["conv2d_int8"], "scalar")
    text = "".join(names.values())
    assert "dot_int8" in text
    assert "dot_int16" not in text
    assert "conv2d_support" not in text
    assert "math.h" not in text


@pytest.mark.parametrize(
    ("name", "own", "other"), [("binary_AddFusion", "add", "mul"), ("compare_Less", "less", "equal")]
)
def test_of_one_operation_only_its_functions(name: str, own: str, other: str) -> None:
    """A table of all of them would keep each one, whatever the linker leaves out."""
    text = "".join(sources.kernel_files([f"{name}_scalar"], "scalar").values())
    assert f"{own}_i32" in text
    assert f"{other}_i32" not in text


def test_same_text_in_any_order() -> None:
    chosen = ["conv2d_int8", "softmax_int8_scalar", "unary_Tan_scalar", "conv2d_gemm_f32_scalar"]
    first = sources.kernel_files(chosen, "scalar")
    assert first == sources.kernel_files(reversed(chosen), "scalar")
    assert list(first) == sorted(first)


def test_run_functions_have_names_of_their_own() -> None:
    places = {name: (kernel.path, kernel.run) for name, kernel in sources.kernels("scalar").items()}
    functions: dict[str, set[tuple[str, str]]] = {}
    for name, place in places.items():
        header, function = sources.run_function(name, "scalar")
        assert function.startswith("mslite_")
        functions.setdefault(function, set()).add(place if not place[1].startswith("mslite_") else ("", place[1]))
        assert function in sources.kernel_files([name], "scalar")[header]
    assert all(len(found) == 1 for found in functions.values())


def _random_bytes(of: Layout, drawn: random.Random) -> bytes:
    """Numbers in all fields, zeros between them."""
    match of:
        case Scalar(name, code):
            if name == "bool":
                return bytes([drawn.randrange(2)])
            if code in ("<f", "<d"):
                value = drawn.choice([0.0, -1.5, 0.1, 3e38, float("inf"), drawn.gauss(0, 1)])
                return struct.pack(code, struct.unpack("<f", struct.pack("<f", value))[0] if code == "<f" else value)
            return drawn.choice([bytes(of.size), drawn.randbytes(of.size), b"\x80".rjust(of.size, b"\0")])
        case Array(element, count):
            return b"".join(_random_bytes(element, drawn) for _ in range(count))
        case Union():
            return drawn.randbytes(of.size - of.size % 2)
        case Struct(_, fields, size, _):
            data = bytearray(size)
            for _, offset, inner in fields:
                piece = _random_bytes(inner, drawn)
                data[offset : offset + len(piece)] = piece
            return bytes(data)


@pytest.mark.parametrize("isa", ["scalar", "micro", "dsp", "mve"])
def test_derived_numbers_are_printed_to_the_byte(isa: str, tmp_path: Path) -> None:
    gcc = compiler("gcc")
    drawn = random.Random(5)
    names = [name for name in sources.kernels(isa) if name.endswith(f"_{isa}") or isa == "scalar"]
    names = [name for name in names if sources.derived_size(name, isa)]
    for path, text in sources.kernel_files(names, isa).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    headers = sorted({sources.run_function(name, isa)[0] for name in names})
    lines = ["#include <math.h>", *(f'#include "{header}"' for header in headers)]
    wanted = []
    for number, name in enumerate(names):
        kernel = sources.kernels(isa)[name]
        data = _random_bytes(layout.layout_of(kernel.derived, kernel.path, isa), drawn)
        ctype, text = sources.derived_initializer(name, data, isa)
        lines.append(f"extern const {ctype} v{number};\nconst {ctype} v{number} = {text};")
        wanted.append(data)
    (tmp_path / "all.c").write_text("\n".join(lines) + "\n")
    library = tmp_path / "all.so"
    options = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-shared", "-fPIC"]
    options += ["-O1"]  # leaves out the headers' functions, which call others that are not here
    done = subprocess.run(
        [gcc, *options, "-o", library, tmp_path / "all.c"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:2000]
    loaded = ctypes.CDLL(str(library))
    for number, (name, data) in enumerate(zip(names, wanted, strict=True)):
        found = bytes((ctypes.c_char * len(data)).in_dll(loaded, f"v{number}"))
        assert found == data, name


def test_derived_numbers_leave_zeros_out() -> None:
    size = sources.derived_size("conv2d_int8", "scalar")
    assert sources.derived_initializer("conv2d_int8", bytes(size), "scalar")[1] == "{.geometry = {.batch = 0}}"
    assert (
        sources.derived_initializer("conv2d_int8", b"\2" + bytes(size - 1), "scalar")[1] == "{.geometry = {.batch = 2}}"
    )
    with pytest.raises(sources.LayoutError, match=f"3 bytes for a struct of {size}"):
        sources.derived_initializer("conv2d_int8", b"abc", "scalar")


# ---- compilers


@pytest.fixture(scope="module")
def each_portable_kernel(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """The files of every portable kernel alone, of two that are rows of one macro, and of all together."""
    collection = Collection(tmp_path_factory.mktemp("portable"))
    for name in sources.kernels("scalar"):
        collection.add(name, [name], "scalar")
    collection.add("rows", ["unary_Acos_scalar", "unary_Asin_scalar"], "scalar")
    collection.add("all", sources.kernels("scalar"), "scalar")
    return collection


@pytest.mark.parametrize("name", ["gcc", "clang"])
@pytest.mark.slow
def test_every_portable_kernel_alone_compiles_without_a_warning(name: str, each_portable_kernel: Collection) -> None:
    assert each_portable_kernel.complaints(compiler(name)) == ""


CROSS = [
    ("scalar", "arm-none-eabi-gcc", ("-mthumb", "-mcpu=cortex-m0plus"), "_scalar"),
    ("micro", "arm-none-eabi-gcc", ("-mthumb", "-mcpu=cortex-m3"), "_micro"),
    pytest.param("micro", "clang", (), "_micro", marks=pytest.mark.slow),
    pytest.param("dsp", "arm-none-eabi-gcc", ("-mthumb", "-mcpu=cortex-m4"), "_dsp", marks=pytest.mark.slow),
    pytest.param("dsp", "clang", (), "_dsp", marks=pytest.mark.slow),
    ("mve", "arm-none-eabi-gcc", ("-mthumb", "-mcpu=cortex-m55", "-mfloat-abi=hard"), "_mve"),
    pytest.param("mve", "gcc", (), "_mve", marks=pytest.mark.slow),
    pytest.param(
        "neon",
        "arm-linux-gnueabihf-gcc",
        ("-march=armv7-a", "-mfpu=neon", "-mfloat-abi=hard"),
        "_neon",
        marks=pytest.mark.slow,
    ),
    ("neon_dot", "aarch64-linux-gnu-gcc", ("-march=armv8.2-a+dotprod",), "_dot"),
    pytest.param("neon", "aarch64-linux-gnu-gcc", (), "_neon", marks=pytest.mark.slow),
    ("avx2", "gcc", ("-mavx2", "-mfma", "-mf16c"), "gemm_int8_avx2"),
]


@pytest.mark.parametrize(("isa", "name", "options", "suffix"), CROSS, ids=lambda value: str(value).replace("/", ""))
def test_kernels_of_other_machines_compile_without_a_warning(
    isa: str, name: str, options: tuple[str, ...], suffix: str, tmp_path: Path
) -> None:
    path = compiler(name)
    collection = Collection(tmp_path)
    chosen = [kernel for kernel in sources.kernels(isa) if kernel.endswith(suffix)]
    assert chosen
    collection.add("all", chosen, isa)
    if isa in ("micro", "dsp", "mve"):
        for kernel in chosen:
            collection.add(kernel, [kernel], isa)
    assert collection.complaints(path, options) == ""
