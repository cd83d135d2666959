"""What a gradient rule is given and returns, and the table of rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mslite.converter.mindir.graph import Node, Shape, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.arithmetic import MulFusion, SubFusion
from mslite.converter.mindir.ops.enums import ReduceMode
from mslite.converter.mindir.ops.reduction import ReduceFusion
from mslite.converter.training.builder import Builder


class NoGradientError(Exception):
    """A node that no gradient can be computed of: reason and remedy."""

    def __init__(
        self, reason: str, remedy: str = "Write it in operators that have one, or train a part without it"
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass
class Call:
    """A node whose gradient is asked for."""

    node: Node
    build: Builder
    wanted: tuple[bool, ...]
    """For each operand, whether its gradient is used."""

    @property
    def op(self) -> Operator:
        return self.node.op

    def shape(self, operand: int) -> Shape:
        return shape_of(self.node.inputs[operand])

    def name(self, what: str) -> str:
        return f"Gradients/{self.node.name}/{what}"

    def add(self, op: Operator, what: str, inputs: list[Value], shape: Shape) -> Value:
        return self.build.node(op, self.name(what), inputs, shape)

    def reduced(self, mode: ReduceMode, what: str, value: Value, axes: Sequence[int]) -> Value:
        """Over these dimensions, whose size becomes 1."""
        shape = tuple(1 if i in axes else size for i, size in enumerate(shape_of(value)))
        places = self.build.sizes(self.name(f"{what}/axes"), tuple(axes))
        return self.add(ReduceFusion(mode=mode, keep_dims=True, coeff=1.0), what, [value, places], shape)

    def product(self, what: str, a: Value, b: Value) -> Value:
        """Of `a` and what repeats to its shape."""
        return self.add(MulFusion(), what, [a, b], shape_of(a))

    def difference(self, what: str, a: Value, b: Value) -> Value:
        """Of `a` and what repeats to its shape."""
        return self.add(SubFusion(), what, [a, b], shape_of(a))

    def gathered(self, value: Value, shape: Shape, what: str) -> Value:
        """The sum of what repeats along a shape."""
        whole = shape_of(value)
        kept = (1,) * (len(whole) - len(shape)) + shape
        axes = [axis for axis, (own, all_of) in enumerate(zip(kept, whole, strict=True)) if own != all_of]
        total = self.reduced(ReduceMode.ReduceSum, f"{what}/sum", value, axes) if axes else value
        return self.build.reshaped(total, shape, self.name(what))


def shape_of(value: Value) -> Shape:
    """The shape of a value that has one."""
    assert value.shape is not None
    return value.shape


Gradients = list[Value | None]
Rule = Callable[[Call, Value], Gradients]
RuleOfSeveral = Callable[[Call, Sequence[Value | None]], Gradients]
"""Of an operator with several results: their gradients, None where nobody reads one."""
RULES: dict[str, Rule] = {}
RULES_OF_SEVERAL: dict[str, RuleOfSeveral] = {}


def rule(*operators: str) -> Callable[[Rule], Rule]:
    def declare(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(operators, function))
        return function

    return declare


def rule_of_several(*operators: str) -> Callable[[RuleOfSeveral], RuleOfSeveral]:
    def declare(function: RuleOfSeveral) -> RuleOfSeveral:
        RULES_OF_SEVERAL.update(dict.fromkeys(operators, function))
        return function

    return declare
