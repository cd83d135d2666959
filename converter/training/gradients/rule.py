"""The interface and the table of gradient rules."""

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
    """Raised by a rule for a node without a gradient, with reason and remedy."""

    def __init__(self, reason: str, remedy: str = "Use other operators for it, or train a part without it") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass
class Call:
    """The node whose gradients a rule computes."""

    node: Node
    build: Builder
    wanted: tuple[bool, ...]
    """For each input, whether its gradient is needed."""

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
        """Adds a reduction over `axes` with keep_dims."""
        shape = tuple(1 if i in axes else size for i, size in enumerate(shape_of(value)))
        places = self.build.sizes(self.name(f"{what}/axes"), tuple(axes))
        return self.add(ReduceFusion(mode=mode, keep_dims=True, coeff=1.0), what, [value, places], shape)

    def product(self, what: str, a: Value, b: Value) -> Value:
        """Adds an element-wise operator of `a` and `b`, which is broadcast to the shape of `a`."""
        return self.add(MulFusion(), what, [a, b], shape_of(a))

    def difference(self, what: str, a: Value, b: Value) -> Value:
        """Adds an element-wise operator of `a` and `b`, which is broadcast to the shape of `a`."""
        return self.add(SubFusion(), what, [a, b], shape_of(a))

    def gathered(self, value: Value, shape: Shape, what: str) -> Value:
        """Sums a value over the dimensions that were broadcast from `shape`."""
        whole = shape_of(value)
        kept = (1,) * (len(whole) - len(shape)) + shape
        axes = [axis for axis, (own, all_of) in enumerate(zip(kept, whole, strict=True)) if own != all_of]
        total = self.reduced(ReduceMode.ReduceSum, f"{what}/sum", value, axes) if axes else value
        return self.build.reshaped(total, shape, self.name(what))


def shape_of(value: Value) -> Shape:
    """Returns the shape of a value, which must be known."""
    assert value.shape is not None
    return value.shape


Gradients = list[Value | None]
Rule = Callable[[Call, Value], Gradients]
RuleOfSeveral = Callable[[Call, Sequence[Value | None]], Gradients]
"""A rule for an operator with several outputs; the gradient of an output that is not read is None."""
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
