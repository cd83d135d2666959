"""Chooses the smallest encoding for a quantized constant in the file."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Encoding, Value, data_type_of
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.enums import WeightQuantCompressType as Compression
from mslite.quantizer.precision.stored_weight import StoredWeight
from mslite.quantizer.weights.entropy import entropy_coded
from mslite.quantizer.weights.packing import bit_packed, bit_packed_size, huffman, indexed, indexed_size, sparse
from mslite.quantizer.weights.stored_weight import constant_of


def packed_constant(weight: StoredWeight, source: Value, name: str, *, use_huffman: bool = False) -> Value:
    """Returns a constant with `weight` that replaces `source`, in the smallest encoding.

    Weights of 8 and 16 bits stay plain arrays unless an encoding is smaller. `numBits` of the quantization parameters
    is the number of bits of an element; decoding needs it.
    """
    bits = weight.records[0].numBits
    if use_huffman and weight.data.dtype == np.int8:
        coded = huffman(weight.data)
        if len(coded) < weight.data.nbytes:
            return _packed(weight, source, name, coded, Encoding(huffman=True))
    count = weight.data.size
    plain = bit_packed_size(count, bits) if bits not in (8, 16) else weight.data.nbytes
    unique = np.unique(weight.data).size
    candidates: list[tuple[int, Compression]] = [(plain, Compression.NONE)]
    if count:
        candidates.append((indexed_size(count, unique, bits), Compression.INDEXING))
    gaps = sparse(weight.data, bits, [record.zeroPoint for record in weight.records]) if count else None
    if gaps is not None:
        candidates.append((len(gaps), Compression.SPARSE))
    form = min(candidates, key=lambda candidate: candidate[0])[1]
    if form is Compression.SPARSE and gaps is not None:
        return _packed(weight, source, name, gaps, Encoding(form))
    if form is Compression.INDEXING:
        return _packed(weight, source, name, indexed(weight.data, bits), Encoding(form))
    if bits in (8, 16):
        return constant_of(weight, source, name)
    return _packed(weight, source, name, bit_packed(weight.data, bits), Encoding(Compression.BITPACKING))


def _packed(weight: StoredWeight, source: Value, name: str, data: bytes, encoding: Encoding) -> Value:
    return Value(
        name,
        data_type_of(weight.data),
        tuple(weight.data.shape),
        format=source.format,
        quant=weight.records,
        raw=data,
        encoding=encoding,
    )


def entropy_constant(
    integers: Array, scale: float, source: Value, name: str, *, zero_point: int = 0, entry_points: bool = False
) -> Value | None:
    """Returns a float32 constant with the values scale * (integers - zero_point) in entropy coding.

    Returns None if there are too many different values. `entry_points` selects the FSE_INFER format, which has a table
    of positions where decoding may start.
    """
    values, places = np.unique(integers, return_inverse=True)
    centroids: npt.NDArray[np.float32] = ((values.astype(np.float64) - zero_point) * scale).astype(np.float32)
    try:
        data = entropy_coded(places, centroids, entry_points)
    except ValueError:
        return None
    form = Compression.FSE_INFER if entry_points else Compression.FSE
    shape = tuple(integers.shape)
    return Value(name, DataType.FLOAT32, shape, format=source.format, raw=data, encoding=Encoding(form))
