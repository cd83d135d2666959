"""Constants that several nodes read. In training they stay one parameter, whatever rules make of their readers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Node, Value
from mslite.converter.passes.context import Context
from mslite.converter.passes.pattern import Match
from mslite.converter.passes.rules._common import float_value

REFUSAL = "a constant is another layer's, too, and is trained as one"


def is_shared(value: Value) -> bool:
    """Whether several nodes read a constant of several numbers, or did before a rule."""
    return value.data is not None and value.data.size > 1 and (len(set(value.users)) > 1 or bool(value.made))


def shares(values: Iterable[Value], context: Context) -> bool:
    """Whether a rule must leave its match alone, because it would make a parameter of its own of one of these constants."""
    return context.settings.training and any(is_shared(value) for value in values)


def splits(value: Value, context: Context, alike: Callable[[Node], bool]) -> bool:
    """Whether a constant would be trained twice if `made_once` made something of it: another reader than these is not `alike`, so
    that it would keep the constant itself."""
    return shares((value,), context) and not all(alike(user) for user in set(value.users))


def made_once(value: Value, what: Hashable, name: str, data: npt.ArrayLike, match: Match) -> Value:
    """A constant that is made of `value` alone. In training all readers of that get one."""
    if not match.training:
        return float_value(name, data)
    if what not in value.made:
        made = value.made[what] = float_value(name, data)
        made.is_parameter, made.of_one_layer = value.is_parameter, value.of_one_layer
    return value.made[what]


def is_neutral(value: Value, number: float) -> bool:
    """Whether a constant that is no parameter holds this number alone."""
    return not value.is_parameter and bool(np.all(value.array() == np.float32(number)))
