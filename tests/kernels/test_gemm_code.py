"""The machine code of the GEMMs: their inner loops multiply and add out of registers, whatever the compiler."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("MSLITE_BUILD", Path(__file__).parents[2] / "build"))

# ISA -> (vector register, rows and vectors of the register tile)
TILES = {"avx2": ("ymm", 6, 2), "avx512": ("zmm", 14, 2)}


# ISA -> (vector register, heights of the register tile, its vectors, what multiplies)
DOT_TILES = {
    "avx2": ("ymm", (1, 2, 3, 4, 5, 6), 2, "vpmaddwd"),
    "avx512": ("zmm", (1, 2, 4, 6, 8, 10, 12), 2, "vpmaddwd"),
    "vnni": ("zmm", (1, 2, 4, 6, 8, 10, 12), 2, "vpdpbusd"),
}


def instructions(isa: str, source: str = "gemm_vector", function: str = "gemm_one_panel") -> list[tuple[int, str]]:
    """(address, text) of a function in the object of a source of the GEMMs."""
    if shutil.which("objdump") is None:
        pytest.skip("objdump is not installed")
    objects = [
        path
        for path in BUILD.glob(f"kernels/CMakeFiles/mslite_kernels_{isa}.dir/matmul/{source}.c.o")
        if path.is_file()
    ]
    if not objects:
        pytest.skip(f"{BUILD} holds no object for {isa}: another processor, or not built there")
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(objects[0])], check=True, capture_output=True, text=True
    ).stdout
    # gcc names a function otherwise when it leaves out an argument that is always the same.
    body = re.split(rf"<{function}(?:\.constprop\.\d+)?>:\n", text, maxsplit=1)[-1]
    lines = body.split("\n\n")[0].splitlines()
    return [(int(address, 16), code.strip()) for address, code in (line.split(":", 1) for line in lines if ":" in line)]


def loops(code: list[tuple[int, str]]) -> list[list[str]]:
    """The bodies of the innermost loops: straight code that ends in a jump back to its beginning."""
    index = {address: i for i, (address, _) in enumerate(code)}
    bodies = []
    for i, (_, text) in enumerate(code):
        jump = re.match(r"j\w+\s+([0-9a-f]+)\b", text)
        start = index.get(int(jump[1], 16)) if jump else None
        if start is not None and start < i:
            body = [entry for _, entry in code[start : i + 1]]
            if not any(entry.startswith("j") for entry in body[:-1]):
                bodies.append(body)
    return bodies


@pytest.mark.parametrize("isa", TILES)
def test_inner_loop(isa: str) -> None:
    register, rows, vectors = TILES[isa]
    fused = {}
    for body in loops(instructions(isa)):
        count = sum(bool(re.match(rf"vfn?madd\d+ps\s.*%{register}", text)) for text in body)
        if count:
            fused[count] = body
            assert not any(re.match(r"v(mul|add)p?s", text) for text in body), "a product and a sum apart"
    assert sorted(fused) == [row * vectors for row in range(1, rows + 1)], "one loop for each height of the tile"
    whole = fused[rows * vectors]
    moved = [text for text in whole if re.match(rf"vmov\S+\s+.*%{register}\d+,.*\(%rsp\)", text)]
    assert not moved, f"sums are spilled to memory: {moved}"
    # Per row one broadcast and its multiply-adds, per vector one load; the rest is counting.
    assert len(whole) <= rows * (vectors + 1) + vectors + (6 if isa == "avx2" else 24), "\n".join(whole)


@pytest.mark.parametrize("isa", DOT_TILES)
def test_inner_loop_on_stored_integers(isa: str) -> None:
    register, heights, vectors, multiply = DOT_TILES[isa]
    products = {}
    for body in loops(instructions(isa, "gemm_int8_dot", "run_tile")):
        count = sum(bool(re.match(rf"{multiply}\s.*%{register}", text)) for text in body)
        if count:
            products[count] = body
            # 16-bit saturation would change sums.
            assert not any(text.startswith("vpmaddubsw") for text in body)
    # Few rows take several chains of sums, of together 8 vectors.
    assert set(products) == {8 if height * vectors < 6 else height * vectors for height in heights}
    whole = products[heights[-1] * vectors]
    assert not [text for text in whole if "(%rsp)" in text], "sums are spilled to memory"
    additions = 0 if multiply == "vpdpbusd" else 1
    # Per row one broadcast and its products, per vector one load; the rest is counting.
    assert len(whole) <= heights[-1] * (vectors * (1 + additions) + 1) + vectors + 10, "\n".join(whole)
