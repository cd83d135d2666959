"""The table itself.

    @operator("Softplus", "Softsign")
    def activation(g: Builder, name: str) -> None:
        g.node(name, g.pick(FLOATS))

The function draws operands and attributes and adds the node; onnxruntime runs it at once, and a node that it refuses, or
whose results are of no use, is dropped: a function need not know every condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..builder import Builder

AddOperator = Callable[[Builder, str], None]


@dataclass(frozen=True)
class Entry:
    """What adds an operator to a graph, and the operator sets that have it."""

    add: AddOperator
    since: int
    until: int

    def there(self, opset: int) -> bool:
        return self.since <= opset <= self.until


OPERATORS: dict[str, Entry] = {}
"""By name of the operator or pattern; operators of onnxruntime are `com.microsoft.<Name>` where the standard has the name, too."""


def operator(*names: str, since: int = 1, until: int = 99) -> Callable[[AddOperator], AddOperator]:
    """Declares what adds the operators (or patterns) of these names."""

    def declare(function: AddOperator) -> AddOperator:
        for name in names:
            if name in OPERATORS:
                raise TypeError(f"{name} is in the table twice")
            OPERATORS[name] = Entry(function, since, until)
        return function

    return declare
