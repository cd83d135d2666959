"""The table itself.

    @operator("Softplus", "Softsign")
    def activation(g: Builder, name: str) -> None:
        g.node(name, g.pick(FLOATS))

The function draws operands and attributes and adds the node; onnxruntime runs it at once, and a node that it refuses, or
whose results are of no use, is dropped: a function need not know every condition.
"""

from __future__ import annotations

from collections.abc import Callable

from ..builder import Builder

AddOperator = Callable[[Builder, str], None]

OPERATORS: dict[str, tuple[int, AddOperator]] = {}
"""Name -> the operator set from which on it is there, and what adds it to a graph."""


def operator(*names: str, since: int = 1) -> Callable[[AddOperator], AddOperator]:
    """Declares what adds the operators (or patterns) of these names."""

    def declare(function: AddOperator) -> AddOperator:
        for name in names:
            if name in OPERATORS:
                raise TypeError(f"{name} is in the table twice")
            OPERATORS[name] = (since, function)
        return function

    return declare
