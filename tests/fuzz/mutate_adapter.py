"""Structured mutations of adapter files: missing matrices, or other names, ranks, sizes and data types."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from copy import copy

from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ms_writer import ms_bytes
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import MetaGraph, QuantParam, Tensor
from mslite.converter.training.adapters import A, B

from . import mutate_ms

RANKS = (1, 2, 3, 5, 64, 300)
VALUES = (0.0, 0.5, -1.0, 1e38, -1e-40, float("inf"), float("nan"))

Change = Callable[[MetaGraph, list[Tensor], random.Random], None]
"""Functions that get the adapter and the constants of its model."""


def _resize(tensor: Tensor, dims: tuple[int, ...]) -> None:
    """Other dimensions, with data of matching size."""
    old = bytes(tensor.data or b"\0\0\0\0")
    size = 4 * math.prod(dims)
    tensor.dims, tensor.data = dims, (old * (size // len(old) + 1))[:size]


def _of(meta: MetaGraph, end: str) -> list[Tensor]:
    return [tensor for tensor in meta.allTensors or [] if (tensor.name or "").endswith(end)]


def _any(meta: MetaGraph, rng: random.Random) -> Tensor:
    return rng.choice(meta.allTensors or [Tensor()])


def _rank(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    """Removes one or both matrices of a pair."""
    rank, alone = rng.choice(RANKS), rng.random() < 0.3
    for first in _of(meta, A)[: rng.choice((1, 9))]:
        if not alone or rng.random() < 0.5:
            _resize(first, (rank, *(first.dims or ())[1:]))
        for second in _of(meta, B):
            if second.name == (first.name or "").removesuffix(A) + B and not alone:
                _resize(second, (*(second.dims or ())[:1], rank))


def _shape(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    tensor = _any(meta, rng)
    dims = tensor.dims or ()
    other = (
        dims[: len(dims) // 2],
        dims[::-1],
        (*dims, 1),
        (1, *dims),
        (math.prod(dims),),
        tuple(dim + 1 for dim in dims),
        (0, *dims[1:]),
    )
    _resize(tensor, rng.choice(other))


def _missing(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    tensors = meta.allTensors = list(meta.allTensors or [])
    for _ in range(min(rng.choice((1, 1, 2)), len(tensors))):
        tensors.pop(rng.randrange(len(tensors)))


def _twice(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    tensors = meta.allTensors = list(meta.allTensors or [])
    if tensors:
        tensors.insert(rng.randrange(len(tensors)), copy(rng.choice(tensors)))


def _rename(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    """Renames to names of the model or of the adapter, with the suffixes of adapters, or metadata of another adapter."""
    names = [tensor.name or "" for tensor in [*(meta.allTensors or []), *model]]
    name = rng.choice([*names, "", "\0", A, B, "lora_scale", "no such tensor", "x" * 5000, "w.lora_A[2, 4]\nw.lora_B"])
    _any(meta, rng).name = name.removesuffix(A).removesuffix(B) + rng.choice(("", A, B, A + B, "\n"))


def _contents(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    """Other data for a constant of the model, or a pair of matrices for it."""
    tensors = meta.allTensors = list(meta.allTensors or [])
    own = rng.choice(model)
    dims = tuple(own.dims or ())
    if rng.random() < 0.3:
        dims = (*dims, 1) if rng.random() < 0.5 else dims[::-1]
    shapes = {"": dims}
    if rng.random() < 0.5 and len(dims) >= 2:
        rank, turned = rng.choice(RANKS), rng.random() < 0.5
        shapes = {A: (rank, dims[0 if turned else 1]), B: (dims[1 if turned else 0], rank)}
    for end, shape in shapes.items():
        tensor = Tensor(
            name=(own.name or "") + end, dataType=DataType.FLOAT32, data=struct.pack("<f", rng.choice(VALUES))
        )
        _resize(tensor, shape)
        if rng.random() < 0.8:  # replaces an existing tensor
            tensors[:] = [other for other in tensors if other.name != tensor.name]
        tensors.append(tensor)


def _type(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    """Another data type with data of matching size, sometimes quantized."""
    tensor = _any(meta, rng)
    kind, size = rng.choice(
        ((DataType.INT8, 1), (DataType.FLOAT16, 2), (DataType.INT32, 4), (DataType.FLOAT64, 8), (DataType.BOOL, 1))
    )
    count = math.prod(tensor.dims or ())
    tensor.dataType = kind
    if rng.random() < 0.8:
        tensor.data = (bytes(tensor.data or b"\0") * (2 * size))[: count * size]
    if rng.random() < 0.5:
        tensor.quantParams = [
            QuantParam(scale=rng.choice(VALUES), zeroPoint=rng.choice((0, 3, -128)), numBits=rng.choice((0, 1, 4, 8)))
        ]


def _values(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    tensor = _any(meta, rng)
    tensor.data = struct.pack("<f", rng.choice(VALUES)) * math.prod(tensor.dims or ())


def _packing(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    """Changes dimensions, bytes, quantization parameters, packing and format of a tensor."""
    if meta.allTensors:
        mutate_ms.change_tensor(rng.choice(meta.allTensors), rng)


def _kind(meta: MetaGraph, model: list[Tensor], rng: random.Random) -> None:
    meta.name = rng.choice((None, "", "adapter ", "graph", meta.name))
    meta.version = rng.choice((None, "", "MindSpore Lite 1.2.0", "MindSpore Lite 99.0.0", meta.version))


CHANGES: tuple[Change, ...] = (
    _rank, _rank, _shape, _missing, _twice, _rename, _rename, _contents, _contents, _contents, _type, _values, _packing, _packing, _kind,
)  # fmt: skip


def mutate(data: bytes, model: bytes, rng: random.Random) -> bytes:
    """Returns an adapter for `model` with one to three changes; every sixth one has a general change of `.ms` files."""
    if rng.randrange(6) == 0:
        return mutate_ms.mutate(data, rng)
    meta = read_ms(data)
    constants = [tensor for tensor in read_ms(model).allTensors or [] if tensor.data]
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice(CHANGES)(meta, constants, rng)
    return ms_bytes(meta)
