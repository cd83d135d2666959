"""Registers passes of plug-ins by name, and the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, overload

from mslite.converter.mindir.graph import Module
from mslite.converter.registry.entries import Entry, PassPosition
from mslite.converter.registry.registrations import active, caller_file

BUILT_IN = ("ConstFoldPass", "DecreaseTransposeAlgo", "DumpGraph", "ToNHWCFormat")
"""mslite's passes that a schedule may name. `ToNCHWFormat` is not allowed: kernels compute in NHWC."""

RunPass = Callable[[Module], object]


class PassBase:
    """Base class of passes. A function can be registered instead."""

    def execute(self, module: Module) -> bool:
        """Rewrites the graphs of a module in place. The return value is ignored.

        The converter then verifies the module, sorts the nodes into an executable order, and infers data types and
        shapes again."""
        raise NotImplementedError


class PassRegistry:
    """`PassRegistry(name, pass)` registers a pass; `PassRegistry(position, names)` sets the passes that run there, in
    order.

    Each position has one list, which a later call replaces. Raises ValueError for the name of one of mslite's passes.
    """

    @overload
    def __init__(self, first: str, second: RunPass | PassBase) -> None: ...

    @overload
    def __init__(self, first: PassPosition, second: Sequence[str]) -> None: ...

    def __init__(self, first: str | PassPosition, second: RunPass | PassBase | Sequence[str]) -> None:
        if isinstance(first, PassPosition):
            if isinstance(second, str) or not isinstance(second, Sequence):
                raise TypeError("a schedule must be a list of pass names")
            active().schedules[first] = tuple(second)
            return
        if not first or first in BUILT_IN:
            raise ValueError(f"'{first}' is not allowed as the name of a plug-in's pass")
        if isinstance(second, PassBase):
            second = second.execute
        if not callable(second):
            raise TypeError(f"the pass '{first}' must be a function or a PassBase")
        active().passes[first] = Entry(second, caller_file())

    @staticmethod
    def get_pass_from_store_room(name: str) -> RunPass | None:
        entry = active().passes.get(name)
        return None if entry is None else entry.call

    @staticmethod
    def get_outer_schedule_task(position: PassPosition) -> tuple[str, ...]:
        """Returns the names of the passes that run at this position."""
        return active().schedules.get(position, ())


_Pass = TypeVar("_Pass", bound=RunPass)


def scheduled_pass(position: PassPosition, name: str) -> Callable[[_Pass], _Pass]:
    """Decorates a function: registers it as a pass, which runs after those that are already scheduled at the
    position."""

    def register(run: _Pass) -> _Pass:
        PassRegistry(name, run)
        PassRegistry(position, [*PassRegistry.get_outer_schedule_task(position), name])
        return run

    return register
