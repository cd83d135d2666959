"""Packed weights come out as they went in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Encoding, Graph, Module, Node, Value
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import DataType, QuantType, WeightQuantCompressType
from mslite.converter.mindir.ops.tables import QuantParam
from tests.models.packing import bit_packed, entropy_coded, huffman, indexed, sparse

Array = npt.NDArray[Any]
Compression = WeightQuantCompressType


def loaded(folder: Path, weight: Value) -> Array:
    """What the runtime reads: the sum with zeros."""
    shape = weight.shape or ()
    x, y = Value("x", DataType.FLOAT32, shape), Value("y", DataType.FLOAT32, shape)
    node = Node(AddFusion(), "add", (x, weight), (y,), quant_type=QuantType.QUANT_WEIGHT)
    path = folder / "packed.ms"
    path.unlink(missing_ok=True)
    module_io.save(Module([Graph("main", [x], [y], [node])]), path)
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    inputs = model.get_inputs()
    inputs[0].set_data_from_numpy(np.zeros(shape, np.float32))
    return np.asarray(model.predict(inputs)[0].get_data_to_numpy())


def packed(
    data: bytes,
    shape: tuple[int, ...],
    dtype: DataType,
    compression: Compression = Compression.NONE,
    bits: int = 8,
    zeros: Sequence[int] = (0,),
    huffman_coded: bool = False,
    clusters: tuple[float, ...] | None = None,
) -> Value:
    records = tuple(QuantParam(scale=1.0, zeroPoint=zero, numBits=bits) for zero in zeros)
    return Value("w", dtype, shape, raw=data, quant=records, encoding=Encoding(compression, huffman_coded, clusters))


def draw(width: int, *shape: int, few: int = 0) -> Array:
    limit = 1 << (width - 1)
    q = np.random.default_rng(width).integers(-limit, limit, shape)
    if few:
        q = np.random.default_rng(few).choice(q.reshape(-1)[:few], shape)
    return q.astype(np.int8 if width <= 8 else np.int16)


def type_of(q: Array) -> DataType:
    return DataType.INT8 if q.dtype == np.int8 else DataType.INT16


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.BITPACKING])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15])
def test_bit_packed(width: int, compression: Compression, tmp_path: Path) -> None:
    q = draw(width, 5, 7)
    np.testing.assert_array_equal(
        loaded(tmp_path, packed(bit_packed(q, width), q.shape, type_of(q), compression, width)), q
    )


@pytest.mark.parametrize("width", [2, 4, 7, 8, 10, 16])
@pytest.mark.parametrize("few", [0, 1, 2, 5])
def test_indexed(width: int, few: int, tmp_path: Path) -> None:
    q = draw(width, 6, 11, few=few)
    weight = packed(indexed(q, width), q.shape, type_of(q), Compression.INDEXING, width)
    np.testing.assert_array_equal(loaded(tmp_path, weight), q)


def test_indexed_with_every_value(tmp_path: Path) -> None:
    """A count of 0 stands for all values."""
    q = np.random.default_rng(1).permutation(np.repeat(np.arange(-8, 8), 3)).astype(np.int8)
    weight = packed(indexed(q, 4), q.shape, DataType.INT8, Compression.INDEXING, 4)
    np.testing.assert_array_equal(loaded(tmp_path, weight), q)


@pytest.mark.parametrize("gap_width", [2, 3, 10])
@pytest.mark.parametrize("zeros", [(0,), (3, -2, 0, 1)])
@pytest.mark.parametrize("width", [4, 8, 12])
def test_sparse(width: int, zeros: tuple[int, ...], gap_width: int, tmp_path: Path) -> None:
    q = draw(width, 4, 30)
    empty = np.random.default_rng(3).random(q.shape) < 0.8
    q[empty] = np.broadcast_to(np.array(zeros, q.dtype).reshape(-1, 1), q.shape)[empty]
    weight = packed(sparse(q, width, zeros, gap_width), q.shape, type_of(q), Compression.SPARSE, width, zeros)
    wanted = q - np.array(zeros).reshape(-1, 1)
    np.testing.assert_array_equal(loaded(tmp_path, weight), wanted)


def test_huffman(tmp_path: Path) -> None:
    q = draw(4, 9, 5)
    weight = packed(huffman(q), q.shape, DataType.INT8, huffman_coded=True)
    np.testing.assert_array_equal(loaded(tmp_path, weight), q)


@pytest.mark.parametrize("compression", [Compression.FSE, Compression.FSE_INFER])
@pytest.mark.parametrize(("symbols", "count"), [(1, 5), (2, 100), (9, 1000), (200, 3000)])
def test_entropy_coded_floats(compression: Compression, symbols: int, count: int, tmp_path: Path) -> None:
    generator = np.random.default_rng(symbols)
    centroids = generator.standard_normal(symbols).astype(np.float32)
    values = generator.choice(centroids, count, p=generator.dirichlet(np.ones(symbols)))
    data = entropy_coded(values, "f", compression is Compression.FSE_INFER)
    weight = packed(data, values.shape, DataType.FLOAT32, compression)
    np.testing.assert_array_equal(loaded(tmp_path, weight), values)


@pytest.mark.parametrize("width", [6, 8, 12])
def test_entropy_coded_integers(width: int, tmp_path: Path) -> None:
    q = draw(width, 40, 25)
    weight = packed(entropy_coded(q, "i"), q.shape, type_of(q), Compression.FSE_INT, width)
    np.testing.assert_array_equal(loaded(tmp_path, weight), q)


def test_code_book(tmp_path: Path) -> None:
    clusters = tuple(np.random.default_rng(1).standard_normal(16).astype(np.float32).tolist())
    indices = np.random.default_rng(2).integers(-128, -112, (4, 5)).astype(np.int8)
    weight = packed(indices.tobytes(), indices.shape, DataType.INT8, zeros=(), clusters=clusters)
    np.testing.assert_array_equal(
        loaded(tmp_path, weight), np.array(clusters, np.float32)[indices.astype(np.int32) + 128]
    )


def test_a_code_book_too_short_is_refused(tmp_path: Path) -> None:
    indices = np.full((4, 5), -111, np.int8)
    weight = packed(indices.tobytes(), indices.shape, DataType.INT8, zeros=(), clusters=(0.0,) * 17)
    with pytest.raises(RuntimeError, match="entry 17 of a code book of 17"):
        loaded(tmp_path, weight)


def every_packing() -> list[Any]:
    q, floats = draw(4, 6, 10), np.random.default_rng(1).integers(0, 5, 60).astype(np.float32)
    kinds = [
        (bit_packed(q, 4), DataType.INT8, Compression.BITPACKING, False),
        (indexed(q, 4), DataType.INT8, Compression.INDEXING, False),
        (sparse(q, 4, (0,)), DataType.INT8, Compression.SPARSE, False),
        (huffman(q), DataType.INT8, Compression.NONE, True),
        (entropy_coded(floats, "f"), DataType.FLOAT32, Compression.FSE, False),
        (entropy_coded(q, "i"), DataType.INT8, Compression.FSE_INT, False),
    ]
    return [pytest.param(*kind, id="HUFFMAN" if kind[3] else kind[2].name) for kind in kinds]


@pytest.mark.parametrize(("data", "dtype", "compression", "is_huffman"), every_packing())
def test_truncated_bytes_are_refused(
    data: bytes, dtype: DataType, compression: Compression, is_huffman: bool, tmp_path: Path
) -> None:
    for size in range(1, len(data) - 1, max(len(data) // 20, 1)):
        weight = packed(data[:size], (6, 10), dtype, compression, 4, huffman_coded=is_huffman)
        with pytest.raises(RuntimeError, match="constant 'w'"):
            loaded(tmp_path, weight)


@pytest.mark.parametrize(("data", "dtype", "compression", "is_huffman"), every_packing())
def test_damaged_bytes_do_no_harm(
    data: bytes, dtype: DataType, compression: Compression, is_huffman: bool, tmp_path: Path
) -> None:
    generator = np.random.default_rng(5)
    refused = 0
    for _ in range(60):
        spoiled = bytearray(data)
        for at in generator.integers(0, len(data), 3):
            spoiled[at] = generator.integers(0, 256)
        try:
            got = loaded(tmp_path, packed(bytes(spoiled), (6, 10), dtype, compression, 4, huffman_coded=is_huffman))
            assert got.shape == (6, 10)
        except RuntimeError:
            refused += 1
    assert refused > 0 or compression is Compression.BITPACKING


def test_a_packed_constant_too_large_is_refused(tmp_path: Path) -> None:
    """One symbol takes no bits: a few bytes could ask for any size."""
    data = entropy_coded(np.ones(3, np.float32), "f")
    with pytest.raises(RuntimeError, match="2 GiB or more when unpacked"):
        loaded(tmp_path, packed(data, (1 << 15, 1 << 15), DataType.FLOAT32, Compression.FSE))
