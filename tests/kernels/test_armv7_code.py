"""The machine code of the inner loops for 32-bit ARM, which has 16 vector registers, by every compiler that is installed:
sums stay in registers, and little is done beside the multiply-adds."""

from __future__ import annotations

import pytest

from tests.kernels.arm_code import ARMV7, loops


@pytest.mark.parametrize("height", [2, 3])
@pytest.mark.parametrize("compiler", ARMV7.compilers)
def test_float_tile(compiler: str, height: int) -> None:
    products = height * 4 * 2  # vectors of columns, steps of k
    found = loops(ARMV7, compiler, "matmul/gemm_vector.c", "neon", (), "vmla.f32")
    whole = [loop for loop in found if loop.products == products and loop.spills == 0]
    assert whole, f"no loop of {products} without spills: {found}"
    # Two steps of b in four loads (clang: eight), one load of a per row for both, one fetch ahead for each; the rest is
    # counting and addresses.
    assert min(loop.length for loop in whole) <= products + 8 + height + 2 + 6, whole


@pytest.mark.parametrize("compiler", ARMV7.compilers)
def test_int8_tile(compiler: str) -> None:
    products = 2 * 2 * 4  # units of k, rows, vectors of columns; each multiplies twice, and adds
    found = loops(ARMV7, compiler, "matmul/gemm_int8_dot.c", "neon", (), "vmull.s8")
    whole = [loop for loop in found if loop.products == products and loop.spills == 0]
    assert whole, f"no loop of {products} without spills: {found}"
    # Eight loads of b, four of a; the rest is counting and addresses.
    assert min(loop.length for loop in whole) <= 3 * products + 8 + 4 + 10, whole


@pytest.mark.parametrize("compiler", ["clang-14", "clang-22"])
def test_depthwise(compiler: str) -> None:
    found = loops(ARMV7, compiler, "convolution/depthwise_vector.c", "neon", (), "vmla.f32")
    # 3 x 3 at strides 1 and 2: a row of the window for four pixels of one vector of channels. (gcc adds a jump to it.)
    whole = [loop for loop in found if loop.products == 12]
    assert len(whole) >= 2
    assert all(loop.spills == 0 and loop.length <= 44 for loop in whole), whole
