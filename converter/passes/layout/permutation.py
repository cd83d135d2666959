"""Arithmetic of permutations, which describe layouts.

A stored tensor in layout `perm` has `stored.shape[i] == source.shape[perm[i]]`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mslite.converter.mindir.graph import Shape, is_symbol

Perm = tuple[int, ...]


def channels_last(rank: int) -> Perm:
    """Returns the permutation from N, C, spatial... to N, spatial..., C."""
    return (0, *range(2, rank), 1)


def inverse(perm: Perm) -> Perm:
    result = [0] * len(perm)
    for position, axis in enumerate(perm):
        result[axis] = position
    return tuple(result)


def is_identity(perm: Perm) -> bool:
    return perm == tuple(range(len(perm)))


def permuted(items: Sequence[int], perm: Perm) -> tuple[int, ...]:
    return tuple(items[axis] for axis in perm)


def is_reshape(shape: Shape | None, perm: Perm) -> bool:
    """Returns whether a change to layout `perm` moves only dimensions of size 1, so that no element moves."""
    if shape is None:
        return is_identity(perm)
    order = [axis for axis in perm if shape[axis] != 1]
    return order == sorted(order)


def _groups(before: Shape, after: Shape) -> list[tuple[list[int], list[int]]] | None:
    """Splits two shapes of equal volume into the smallest matching runs of dimensions, without dimensions of size 1."""
    left = [axis for axis, size in enumerate(before) if size != 1]
    right = [axis for axis, size in enumerate(after) if size != 1]
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        a, b = before[left[i]], after[right[j]]
        run: tuple[list[int], list[int]] = ([left[i]], [right[j]])
        i, j = i + 1, j + 1
        while a != b:
            if is_symbol(a) or is_symbol(b) or a == 0 or b == 0:
                return None
            if a < b:
                if i == len(left) or is_symbol(before[left[i]]):
                    return None
                a *= before[left[i]]
                run[0].append(left[i])
                i += 1
            else:
                if j == len(right) or is_symbol(after[right[j]]):
                    return None
                b *= after[right[j]]
                run[1].append(right[j])
                j += 1
        groups.append(run)
    return groups if i == len(left) and j == len(right) else None


def propagate_through_reshape(before: Shape, perm: Perm, after: Shape) -> list[int] | None:
    """Propagates a layout through a reshape.

    Returns an order of the dimensions of `after` that are not 1: reshaping a tensor that is stored in layout `perm`
    gives the reshaped tensor, stored in this order. None if there is no such order.
    """
    groups = _groups(before, after)
    if groups is None:
        return None
    order = [axis for axis in perm if before[axis] != 1]
    result: list[int] = []
    position = 0
    by_first = {run[0][0]: run for run in groups}
    while position < len(order):
        run = by_first.get(order[position])
        if run is None or order[position : position + len(run[0])] != run[0]:
            return None
        result.extend(run[1])
        position += len(run[0])
    return result


def complete_layout(order: Sequence[int], shape: Shape) -> Perm:
    """Returns a layout with the dimensions that are not 1 in `order`; channels last if possible."""
    wish = channels_last(len(shape)) if len(shape) > 2 else tuple(range(len(shape)))
    if [axis for axis in wish if shape[axis] != 1] == list(order):
        return wish
    if list(order) == sorted(order):
        return tuple(range(len(shape)))
    result: list[int] = [axis for axis in range(len(shape)) if shape[axis] == 1 and axis < min(order)]
    for axis in order:
        result.append(axis)
        follower = axis + 1
        while follower < len(shape) and shape[follower] == 1:
            result.append(follower)
            follower += 1
    return tuple(result)
