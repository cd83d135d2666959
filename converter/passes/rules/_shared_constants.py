"""Constants that several nodes read. If the result is trained, rules must keep them one parameter."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match
from mslite.converter.passes.rules._common import float_value

REFUSAL = "a constant is shared with another layer and trained"


def is_shared(value: Value) -> bool:
    """Returns whether several nodes read a constant with several elements, or did before a rule replaced it."""
    return value.data is not None and value.data.size > 1 and (len(set(value.users)) > 1 or bool(value.made))


def are_shared(values: Iterable[Value], context: Context) -> bool:
    """Returns whether a rule must not rewrite a match because it would duplicate one of these shared parameters."""
    return context.settings.training and any(is_shared(value) for value in values)


def would_split(value: Value, context: Context, alike: Callable[[Node], bool]) -> bool:
    """Returns whether replacing a shared parameter by `shared_replacement` would split it, because a reader is not `alike` and
    would keep it."""
    return are_shared((value,), context) and not all(alike(user) for user in set(value.users))


def shared_replacement(value: Value, what: Hashable, name: str, data: npt.ArrayLike, match: Match) -> Value:
    """Returns a constant that is computed from `value` only. If the result is trained, all readers share the same new
    constant."""
    if not match.training:
        return float_value(name, data)
    if what not in value.made:
        made = value.made[what] = float_value(name, data)
        made.is_parameter, made.of_one_layer = value.is_parameter, value.of_one_layer
    return value.made[what]


def is_neutral(value: Value, number: float) -> bool:
    """Returns whether all elements of a constant are `number`, and it is not a trainable parameter."""
    return not value.is_parameter and bool(np.all(value.array() == np.float32(number)))
