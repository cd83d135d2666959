"""The table of expansions: (domain, name) -> a function that writes standard nodes."""

from __future__ import annotations

from collections.abc import Callable

from .body import Body

Expander = Callable[[Body], None]

MICROSOFT = "com.microsoft"
STANDARD = "ai.onnx"
"""The key of expansions that replace operators of the standard."""

EXPANDERS: dict[tuple[str, str], Expander] = {}


def expands(*names: str, domain: str = MICROSOFT) -> Callable[[Expander], Expander]:
    """Registers the expansion of operators of these names."""

    def register(expander: Expander) -> Expander:
        for name in names:
            if (domain, name) in EXPANDERS:
                raise TypeError(f"the operator {domain}.{name} has two expansions")
            EXPANDERS[(domain, name)] = expander
        return expander

    return register
