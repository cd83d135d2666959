"""The machine code of the inner loops for 64-bit ARM, by every compiler that is installed: sums stay in registers, and
little is done beside the multiply-adds. (`test_gemm_code.py` reads what the build has made for x86.)"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kernels.arm_code import ARM64, loops

# source, instruction set, flags, multiply-add, rows and vectors of the whole tile, steps of k in one turn of its loop
TILES = [
    ("matmul/gemm_vector.c", "neon", ("-DSIMD_ASSEMBLY=1",), "fmla", 5, 4, 4),
    ("matmul/gemm_vector.c", "neon", (), "fmla", 6, 4, 4),
    ("matmul/gemm_vector.c", "neon_fp16", ("-march=armv8.2-a+fp16", "-DSIMD_ASSEMBLY=1"), "fmla", 8, 2, 8),
    ("matmul/gemm_vector.c", "neon_fp16", ("-march=armv8.2-a+fp16",), "fmla", 8, 2, 8),
    ("matmul/gemm_int8_dot.c", "neon_dot", ("-march=armv8.2-a+dotprod",), "sdot", 6, 4, 4),
]


@pytest.mark.parametrize(("source", "isa", "flags", "multiply", "rows", "vectors", "steps"), TILES)
@pytest.mark.parametrize("compiler", ARM64.compilers)
def test_tile(
    compiler: str, source: str, isa: str, flags: tuple[str, ...], multiply: str, rows: int, vectors: int, steps: int
) -> None:
    found = loops(ARM64, compiler, source, isa, flags, multiply)
    for height in range(2, rows + 1):
        products = height * vectors * steps
        whole = [loop for loop in found if loop.products == products and loop.spills == 0]
        assert whole, f"no loop of {products} without spills: {found}"
        # Two vectors of b in one load, one load of a per row for all steps; the rest is counting.
        assert min(loop.length for loop in whole) <= products + steps * vectors // 2 + height + 16, whole


# instruction set, flags, what a product ends with, heights of tiles, and what a turn of their loops, two units of k, may
# take: multiplying, loading, counting
ARRANGED_TILES = [
    ("neon", (), "sadalp", (2, 3, 4), lambda rows: 2 * (3 * 4 * rows + 2 + rows) + 5),
    ("neon_i8mm", ("-march=armv8.2-a+dotprod+i8mm",), "smmla", (4, 6), lambda rows: 2 * (4 * rows + 4 + rows // 2) + 5),
]


@pytest.mark.parametrize(("isa", "flags", "multiply", "heights", "most"), ARRANGED_TILES)
@pytest.mark.parametrize("compiler", ARM64.compilers)
def test_arranged_tile(
    compiler: str,
    isa: str,
    flags: tuple[str, ...],
    multiply: str,
    heights: tuple[int, ...],
    most: Callable[[int], int],
) -> None:
    """Rows that are arranged before they are multiplied cost a load for each unit of k, or less."""
    found = loops(ARM64, compiler, "matmul/gemm_int8_dot.c", isa, flags, multiply)
    for rows in heights:
        products = 2 * 4 * rows  # units, vectors of sums of each row
        whole = [loop for loop in found if loop.products == products and loop.spills == 0]
        assert whole, f"no loop of {products} without spills: {found}"
        assert min(loop.length for loop in whole) <= most(rows), whole


@pytest.mark.parametrize("compiler", ARM64.compilers)
def test_depthwise_int8(compiler: str) -> None:
    """Sixteen channels of four pixels at once: 3 x 3 at strides 1 and 2, a row of the window in a turn of the loop."""
    found = loops(ARM64, compiler, "convolution/depthwise_int8_vector.c", "neon", (), "smlal2")
    whole = [loop for loop in found if loop.products == 24]
    assert len(whole) >= 2
    assert all(loop.spills == 0 and loop.length <= 95 for loop in whole), whole


@pytest.mark.parametrize(("isa", "flags"), [("neon", ()), ("neon_fp16", ("-march=armv8.2-a+fp16",))])
@pytest.mark.parametrize("compiler", ARM64.compilers)
def test_depthwise(compiler: str, isa: str, flags: tuple[str, ...]) -> None:
    found = loops(ARM64, compiler, "convolution/depthwise_vector.c", isa, flags, "fmla")
    # 3 x 3 at strides 1 and 2: a row of the window for four pixels of two vectors of channels.
    whole = [loop for loop in found if loop.products == 24]
    assert len(whole) >= 2
    assert all(loop.spills == 0 and loop.length <= 60 for loop in whole), whole
