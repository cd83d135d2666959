"""Restores the order of a function's arguments and results from numbers in their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBERED = re.compile(r"(.*?)_?(\d*)")


def in_numbered_order(names: Sequence[str]) -> list[str]:
    """Returns names such as `x`, `x_1`, `x_2` sorted by number; other names unchanged.

    The nodes of a frozen function are sorted by their dependencies, not by the order of the arguments.
    """
    matches = [_NUMBERED.fullmatch(name) for name in names]
    stems = {match.group(1) for match in matches if match is not None}
    numbers = [int(match.group(2) or -1) for match in matches if match is not None]
    if len(stems) != 1 or len(set(numbers)) != len(names):
        return list(names)
    return [name for _, name in sorted(zip(numbers, names, strict=True))]
