"""Passes of plug-ins: a store of them by name, and the lists of names that run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, overload

from mslite.converter.mindir.graph import Module
from mslite.converter.registry.entries import Entry, PassPosition
from mslite.converter.registry.tables import active, caller_file

BUILT_IN = ("ConstFoldPass", "DecreaseTransposeAlgo", "DumpGraph", "ToNHWCFormat")
"""Passes of mslite's that the lists may name. `ToNCHWFormat` is refused: kernels compute on NHWC."""

RunPass = Callable[[Module], object]


class PassBase:
    """Base of passes that are classes; a plain function does as well."""

    def execute(self, module: Module) -> bool:
        """Rewrites the graphs of a module in place. The result is not looked at: what the pass left is checked, put into
        an order in which it can run, and its types and shapes are inferred again."""
        raise NotImplementedError


class PassRegistry:
    """`PassRegistry(name, pass)` stores a pass; `PassRegistry(position, names)` lets passes run, in that order.

    There is one list per position: a later one takes its place. Raises ValueError for a name of mslite's own passes.
    """

    @overload
    def __init__(self, first: str, second: RunPass | PassBase) -> None: ...

    @overload
    def __init__(self, first: PassPosition, second: Sequence[str]) -> None: ...

    def __init__(self, first: str | PassPosition, second: RunPass | PassBase | Sequence[str]) -> None:
        if isinstance(first, PassPosition):
            if isinstance(second, str) or not isinstance(second, Sequence):
                raise TypeError("a schedule is a list of names of passes")
            active().schedules[first] = tuple(second)
            return
        if not first or first in BUILT_IN:
            raise ValueError(f"'{first}' cannot be the name of a plug-in's pass")
        if isinstance(second, PassBase):
            second = second.execute
        if not callable(second):
            raise TypeError(f"the pass '{first}' is no function and no PassBase")
        active().passes[first] = Entry(second, caller_file())

    @staticmethod
    def get_pass_from_store_room(name: str) -> RunPass | None:
        entry = active().passes.get(name)
        return None if entry is None else entry.call

    @staticmethod
    def get_outer_schedule_task(position: PassPosition) -> tuple[str, ...]:
        """The names of the passes that run there."""
        return active().schedules.get(position, ())


_Pass = TypeVar("_Pass", bound=RunPass)


def scheduled_pass(position: PassPosition, name: str) -> Callable[[_Pass], _Pass]:
    """Decorates a function: stores it as a pass of that name, and lets it run after those that are scheduled already."""

    def register(run: _Pass) -> _Pass:
        PassRegistry(name, run)
        PassRegistry(position, [*PassRegistry.get_outer_schedule_task(position), name])
        return run

    return register
