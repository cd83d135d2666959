"""The machine code of the inner loops for 64-bit ARM, by every compiler that is installed: sums stay in registers, and
little is done beside the multiply-adds. (`test_gemm_code.py` reads what the build has made for x86.)"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("MSLITE_BUILD", ROOT / "build"))
OBJDUMP = "aarch64-linux-gnu-objdump"
COMPILERS = ["aarch64-linux-gnu-gcc", "clang-14", "clang-16", "clang-19", "clang-22"]
# As kernels/CMakeLists.txt has them.
FLAGS = ["-std=c99", "-O3", "-DNDEBUG", "-fPIC", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
GCC_FLAGS = ["-fno-schedule-insns"]


@dataclass(frozen=True)
class Loop:
    """A straight loop that multiplies and adds."""

    products: int
    length: int
    spills: int


@cache
def loops(compiler: str, source: str, isa: str, flags: tuple[str, ...], multiply: str) -> list[Loop]:
    """The innermost loops of a source that hold the instruction `multiply`."""
    if shutil.which(compiler) is None or shutil.which(OBJDUMP) is None:
        pytest.skip(f"{compiler} or {OBJDUMP} is not installed")
    if not (BUILD / "generated").is_dir():
        pytest.skip(f"{BUILD} has no generated headers")
    target = ["--target=aarch64-linux-gnu"] if compiler.startswith("clang") else GCC_FLAGS
    output = BUILD / f"arm64-code-{compiler}-{isa}-{Path(source).stem}.o"
    command = [
        compiler,
        *target,
        *FLAGS,
        *flags,
        f"-DMSLITE_ISA={isa}",
        "-I",
        "kernels",
        "-I",
        str(BUILD / "generated"),
    ]
    subprocess.run([*command, "-c", f"kernels/{source}", "-o", str(output)], check=True, cwd=ROOT)
    listing = subprocess.run(
        [OBJDUMP, "-d", "--no-show-raw-insn", str(output)], check=True, capture_output=True, text=True
    )
    output.unlink()
    found = []
    for function in listing.stdout.split("\n\n"):
        lines = [line.split(":", 1) for line in function.splitlines() if re.match(r"\s*[0-9a-f]+:\t", line)]
        code = [(int(address, 16), text.strip()) for address, text in lines]
        index = {address: i for i, (address, _) in enumerate(code)}
        for i, (_, text) in enumerate(code):
            jump = re.match(r"(?:b|b\.\w+|cbn?z\s+\w+,|tbn?z\s+\w+, #\d+,)\s+([0-9a-f]+)\b", text)
            start = index.get(int(jump[1], 16), len(code)) if jump else len(code)
            body = [entry for _, entry in code[start : i + 1]]
            products = sum(entry.startswith(multiply + "\t") for entry in body)
            if products and not any(re.match(r"(b|cb|tb)\S*\s", entry) for entry in body[:-1]):
                found.append(Loop(products, len(body), sum("[sp" in entry for entry in body)))
    return found


# source, instruction set, flags, multiply-add, rows and vectors of the whole tile, steps of k in one turn of its loop
TILES = [
    ("matmul/gemm_vector.c", "neon", (), "fmla", 6, 4, 4),
    ("matmul/gemm_vector.c", "neon_fp16", ("-march=armv8.2-a+fp16",), "fmla", 8, 2, 8),
    ("matmul/gemm_int8_dot.c", "neon_dot", ("-march=armv8.2-a+dotprod",), "sdot", 6, 4, 4),
]


@pytest.mark.parametrize(("source", "isa", "flags", "multiply", "rows", "vectors", "steps"), TILES)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_tile(
    compiler: str, source: str, isa: str, flags: tuple[str, ...], multiply: str, rows: int, vectors: int, steps: int
) -> None:
    found = loops(compiler, source, isa, flags, multiply)
    for height in range(2, rows + 1):
        products = height * vectors * steps
        whole = [loop for loop in found if loop.products == products and loop.spills == 0]
        assert whole, f"no loop of {products} without spills: {found}"
        # Two vectors of b in one load, one load of a per row for all steps; the rest is counting.
        assert min(loop.length for loop in whole) <= products + steps * vectors // 2 + height + 16, whole


@pytest.mark.parametrize(("isa", "flags"), [("neon", ()), ("neon_fp16", ("-march=armv8.2-a+fp16",))])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_depthwise(compiler: str, isa: str, flags: tuple[str, ...]) -> None:
    found = loops(compiler, "convolution/depthwise_vector.c", isa, flags, "fmla")
    # 3 x 3 at strides 1 and 2: a row of the window for four pixels of two vectors of channels.
    whole = [loop for loop in found if loop.products == 24]
    assert len(whole) >= 2
    assert all(loop.spills == 0 and loop.length <= 60 for loop in whole), whole
