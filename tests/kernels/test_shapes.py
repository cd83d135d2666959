"""The shape rules against the NumPy references, with all sizes known and with some of them replaced by symbols."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from mslite import _native
from mslite.converter.mindir.graph import data_type_of, is_symbol
from mslite.converter.mindir.reference import CASES, Array, Case
from mslite.converter.mindir.serialization import primitive_bytes

from .calls import FIRST_SYMBOL, expected, info, inputs_of


def contradiction(outputs: list[_native.TensorInfo], wanted: tuple[Array, ...], sizes: dict[int, int]) -> str:
    """Empty when inferred outputs can be the wanted ones, where `sizes` says what the input symbols stand for."""
    sizes = dict(sizes)

    def fits(inferred: int, actual: int) -> bool:
        return sizes.setdefault(inferred, actual) == actual if is_symbol(inferred) else inferred == actual

    for i, (output, array) in enumerate(zip(outputs, wanted, strict=True)):
        if output.dtype != data_type_of(array):
            return f"output {i}: type {output.dtype}, not {array.dtype}"
        if output.dims is not None and len(output.dims) != array.ndim:
            return f"output {i}: dimensions {output.dims}, not {array.shape}"
        if not all(map(fits, output.dims or (), array.shape)):
            return f"output {i}: dimensions {output.dims}, not {array.shape}"
        if output.known is not None and len(output.known) != array.size:
            return f"output {i}: contents {output.known}, not {array}"
        if not all(map(fits, output.known or (), (int(x) for x in array.flat if output.known is not None))):
            return f"output {i}: contents {output.known}, not {array}"
    return ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_known_shapes(case: Case) -> None:
    """With every input known, the rule gives the reference's types and shapes."""
    wanted = expected(case.name)
    infos = [info(array) for array in inputs_of(case)]
    outputs, _ = _native.infer(primitive_bytes(case.op), infos, len(wanted), FIRST_SYMBOL)
    assert contradiction(outputs, wanted, {}) == ""


def hide(array: Array, kind: int, rng: np.random.Generator, sizes: dict[int, int]) -> _native.TensorInfo:
    """A tensor of which less is known: no contents (0), nor all sizes (1), nor some sizes (2), nor the rank (3)."""
    dtype = int(data_type_of(array))
    if kind == 3:
        return _native.TensorInfo(dtype)
    dims = []
    for size in array.shape:
        if kind == 1 or (kind == 2 and rng.random() < 0.5):
            symbol = FIRST_SYMBOL + 1 + len(sizes)
            sizes[symbol] = size
            dims.append(symbol)
        else:
            dims.append(size)
    return _native.TensorInfo(dtype, dims)


@pytest.mark.parametrize("kind", range(4), ids=("contents", "sizes", "some-sizes", "rank"))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_unknown_shapes_never_contradict(case: Case, kind: int) -> None:
    """With less known of the inputs that are not constant, the rule says less, and nothing wrong."""
    wanted = expected(case.name)
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    sizes: dict[int, int] = {}
    infos = [
        info(array) if i in case.constants else hide(array, kind, rng, sizes) for i, array in enumerate(inputs_of(case))
    ]
    outputs, _ = _native.infer(primitive_bytes(case.op), infos, len(wanted), FIRST_SYMBOL)
    assert contradiction(outputs, wanted, sizes) == ""


def test_a_wrong_shape_is_seen() -> None:
    row = (np.zeros((2, 3), np.float32),)
    number = int(data_type_of(row[0]))
    for dims, wrong in (([2, 3], False), (None, False), ([2, 4], True), ([2], True), ([2, 3, 1], True)):
        assert bool(contradiction([_native.TensorInfo(number, dims)], row, {})) == wrong
    assert contradiction([_native.TensorInfo(number, [FIRST_SYMBOL, FIRST_SYMBOL])], row, {}) != ""
    assert contradiction([_native.TensorInfo(number, [FIRST_SYMBOL, 3])], row, {FIRST_SYMBOL: 5}) != ""
    assert contradiction([_native.TensorInfo(number, [2, 3], [1] * 6)], row, {}) != ""
