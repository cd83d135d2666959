"""The table of expansions: (domain, operator) -> function that creates standard nodes."""

from __future__ import annotations

from collections.abc import Callable

from .body import Body

Expander = Callable[[Body], None]

MICROSOFT = "com.microsoft"
STANDARD = "ai.onnx"
"""The key for expansions of standard operators."""

EXPANDERS: dict[tuple[str, str], Expander] = {}


def expands(*names: str, domain: str = MICROSOFT) -> Callable[[Expander], Expander]:
    """Registers the expansion of these operators."""

    def register(expander: Expander) -> Expander:
        for name in names:
            if (domain, name) in EXPANDERS:
                raise TypeError(f"the operator {domain}.{name} has two expansions")
            EXPANDERS[(domain, name)] = expander
        return expander

    return register
