"""The table of operators.

    @operator("Softplus", "Softsign")
    def activation(g: Builder, name: str) -> None:
        g.node(name, g.pick(FLOATS))

The function draws operands and attributes and adds the node. onnxruntime runs the node immediately. A node that it rejects, or with
results that are not suitable, is removed, so a function does not have to know every condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..builder import Builder

AddOperator = Callable[[Builder, str], None]


@dataclass(frozen=True)
class Entry:
    """A function that adds an operator to a graph, and the opsets with the operator."""

    add: AddOperator
    since: int
    until: int

    def there(self, opset: int) -> bool:
        return self.since <= opset <= self.until


OPERATORS: dict[str, Entry] = {}
"""Functions by name of the operator or pattern; `com.microsoft.<Name>` for onnxruntime's operators with a name of the standard."""


def operator(*names: str, since: int = 1, until: int = 99) -> Callable[[AddOperator], AddOperator]:
    """Registers the function that adds these operators (or patterns)."""

    def declare(function: AddOperator) -> AddOperator:
        for name in names:
            if name in OPERATORS:
                raise TypeError(f"{name} is in the table twice")
            OPERATORS[name] = Entry(function, since, until)
        return function

    return declare
