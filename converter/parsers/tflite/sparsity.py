"""Sparse tensors: a tree with a level for each dimension, dense or compressed, in any order.

The levels are in the order `order`. Dimension `rank + k` in `order` is the position in blocks of dimension
`block_map[k]`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.flatbuffer import FlatBufferError, Table
from mslite.converter.mindir.graph import Array

_LARGEST = 1 << 31
"""Largest size in bytes of a sparse tensor after expansion."""

_VECTOR_TYPES = {1: "int", 2: "ushort", 3: "ubyte"}

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Level:
    """One level of the tree. In compressed levels, the children of node i are `indices[segments[i] : segments[i +
    1]]`."""

    size: int
    segments: Indices | None = None
    indices: Indices | None = None


@dataclass(frozen=True)
class Sparsity:
    """The storage format of a sparse tensor."""

    order: tuple[int, ...]
    block_map: tuple[int, ...]
    levels: tuple[Level, ...]

    def dense(self, values: Array, shape: tuple[int, ...], name: str) -> Array:
        """Returns the dense tensor: the stored values, else zeros. Raises FlatBufferError."""
        total = math.prod(shape)
        if total * values.itemsize > _LARGEST:
            raise FlatBufferError(f"tensor '{name}' is sparse and has {total} elements, which is too many")
        block = [1] * len(shape)
        for number, dimension in enumerate(self.order):
            if dimension >= len(shape):
                block[self.block_map[dimension - len(shape)]] *= self.levels[number].size
        places: list[Indices] = []
        nodes = np.zeros(1, np.int64)
        for level in self.levels:
            parents, numbers, nodes = _children(level, nodes, total, name)
            places = [place[parents] for place in places]
            places.append(numbers)
        if len(nodes) > len(values) or (len(nodes) and int(nodes.max()) >= len(values)):
            raise FlatBufferError(f"tensor '{name}' has {len(values)} values, but its sparse form needs more")
        index = [np.zeros(len(nodes), np.int64) for _ in shape]
        for dimension, place in zip(self.order, places, strict=True):
            if dimension < len(shape):
                index[dimension] += place * block[dimension]
            else:
                index[self.block_map[dimension - len(shape)]] += place
        for place, size in zip(index, shape, strict=True):
            if len(place) and (int(place.min()) < 0 or int(place.max()) >= size):
                raise FlatBufferError(f"tensor '{name}' has elements outside its shape {shape}")
        result = np.zeros(shape, values.dtype)
        result[tuple(index)] = values[nodes]
        return result


def _children(level: Level, nodes: Indices, limit: int, name: str) -> tuple[Indices, Indices, Indices]:
    """Returns three arrays for all children of `nodes`: index of the parent in `nodes`, index in the dimension, node.

    Raises FlatBufferError.
    """
    if level.segments is None or level.indices is None:
        counts = np.full(len(nodes), level.size, np.int64)
        first = nodes * level.size
    else:
        if len(nodes) and int(nodes.max()) + 1 >= len(level.segments):
            raise FlatBufferError(f"tensor '{name}' has too few segments of a sparse dimension")
        first = level.segments[nodes]
        counts = level.segments[nodes + 1] - first
        if len(nodes) and (int(counts.min()) < 0 or int(first.min()) < 0):
            raise FlatBufferError(f"tensor '{name}' has descending segments of a sparse dimension")
        if len(nodes) and int((first + counts).max()) > len(level.indices):
            raise FlatBufferError(f"tensor '{name}' has too few indices of a sparse dimension")
    if int(counts.astype(np.float64).sum()) > limit:
        raise FlatBufferError(f"tensor '{name}' has more sparse elements than its shape")
    parents = np.repeat(np.arange(len(nodes)), counts)
    within = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
    children = first[parents] + within
    return parents, within if level.indices is None else level.indices[children], children


def read_sparsity(table: Table | None, rank: int, name: str) -> Sparsity | None:
    """Reads the sparse format of a tensor, and checks it as far as possible without the values. Raises
    FlatBufferError."""
    if table is None:
        return None
    order = tuple(int(number) for number in table.numbers(0, "int") or ())
    block_map = tuple(int(number) for number in table.numbers(1, "int") or ())
    levels = tuple(_level(item, name) for item in table.tables(2) or ())
    if sorted(order) != list(range(rank + len(block_map))) or len(levels) != len(order):
        raise FlatBufferError(f"tensor '{name}' has an invalid order of sparse dimensions")
    if any(not 0 <= dimension < rank for dimension in block_map):
        raise FlatBufferError(f"tensor '{name}' has blocks in dimensions that do not exist")
    for level, dimension in zip(levels, order, strict=True):
        if dimension >= rank and level.segments is not None:
            raise FlatBufferError(f"tensor '{name}' has blocks that are sparse inside")
    return Sparsity(order, block_map, levels)


def _level(table: Table, name: str) -> Level:
    if int(table.scalar(0, "byte")) == 0:
        size = int(table.scalar(1, "int"))
        if size < 0:
            raise FlatBufferError(f"tensor '{name}' has a dimension of size {size}")
        return Level(size)
    return Level(0, _vector(table, 2, name), _vector(table, 4, name))


def _vector(table: Table, slot: int, name: str) -> Indices:
    """Reads a union of a type number and a table with one vector. Raises FlatBufferError."""
    kind, inner = _VECTOR_TYPES.get(int(table.scalar(slot, "ubyte"))), table.table(slot + 1)
    values = None if kind is None or inner is None else inner.array(0, kind)
    if values is None:
        raise FlatBufferError(f"tensor '{name}' has a sparse dimension without segments or indices")
    return values.astype(np.int64)
