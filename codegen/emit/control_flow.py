"""Writes loops and branches as C functions, which run rows of the table of steps and copy values between blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mslite.codegen.emit.names import comment
from mslite.codegen.program import Choice, ControlFlowNest, Jump, Next, Tensor, jumps_of
from mslite.converter.mindir.graph import numpy_type


@dataclass(frozen=True)
class MemoryAccess:
    """C text for accessing memory in the functions of a model."""

    parameter: str
    """Declaration of the parameter with the base addresses."""
    given: str
    """The argument for this parameter."""
    spot: Callable[[int], str]
    """Returns the address of a byte of the arena."""
    macro: str
    """Prefix of macros, such as MODEL0."""


@dataclass(eq=False)
class CodeBlock:
    """A block of a nest. `parts`: ranges of rows of the table (first, end), or inner nests, in order."""

    name: str
    parts: list[tuple[int, int] | ControlFlowCode] = field(default_factory=list)


@dataclass(eq=False)
class ControlFlowCode:
    """A nest as a C function `name`.

    `places`: C text of the location of each tensor that is copied from or selects the next block; `offsets`: offset in
    the arena of each tensor that is copied to.
    """

    name: str
    comment: str
    nest: ControlFlowNest
    blocks: list[CodeBlock]
    places: dict[Tensor, str]
    offsets: dict[Tensor, int]

    def inner(self) -> Iterator[ControlFlowCode]:
        """Yields the inner nests, then this one."""
        for block in self.blocks:
            for part in block.parts:
                if isinstance(part, ControlFlowCode):
                    yield from part.inner()
        yield self

    @property
    def chooses_by_index(self) -> bool:
        followings = [self.nest.entry, *(block.following for block in self.nest.blocks)]
        return any(choice.by_index for following in followings for choice in _choices(following))


def _choices(following: Next) -> list[Choice]:
    if isinstance(following, Jump):
        return []
    return [following, *(choice for target in following.targets for choice in _choices(target))]


def function(code: ControlFlowCode, dialect: MemoryAccess) -> str:
    """Returns the C text of a nest's function."""
    return _Writer(code, dialect).text()


class _Writer:
    def __init__(self, code: ControlFlowCode, dialect: MemoryAccess) -> None:
        self.code, self.dialect = code, dialect
        self.lines: list[str] = []
        self.is_inside = False
        """Whether the text is inside of the loop, which ends with `return`, because nothing follows it in the
        function."""
        self.header = _header(code.nest)
        self.is_tree = self.header is not None
        if self.header == -1:
            self.header = None

    def text(self) -> str:
        code = self.code
        runs = any(block.parts for block in code.blocks)
        self.add(0, f"/* {code.comment} */")
        self.add(0, f"static int {code.name}({self.dialect.parameter}) {{")
        if runs:
            self.add(1, f"int status = {self.dialect.macro}_OK;")
        if self.is_tree:
            self.following(1, code.nest.entry)
        else:
            self.machine()
        endless = self.is_tree and isinstance(code.nest.entry, Jump) and code.nest.entry.block == self.header
        if not endless or self.header is None:
            self.add(1, f"return {self.dialect.macro}_OK;")
        self.add(0, "}")
        return "\n".join(self.lines) + "\n"

    def add(self, depth: int, line: str) -> None:
        self.lines.append("  " * depth + line)

    def machine(self) -> None:
        """Writes a state machine, for any control flow."""
        count = len(self.code.blocks)
        self.add(1, f"size_t block = {count};")
        self.following(1, self.code.nest.entry)
        self.add(1, f"while (block < {count}) {{")
        self.add(2, "switch (block) {")
        for number, block in enumerate(self.code.blocks):
            self.add(3, f"case {number}: /* {comment(block.name)} */" if number + 1 < count else "default:")
            self.steps(4, block)
            self.following(4, self.code.nest.blocks[number].following)
            self.add(4, "break;")
        self.add(2, "}")
        self.add(1, "}")

    def steps(self, depth: int, block: CodeBlock) -> None:
        for part in block.parts:
            call = (
                f"{part.name}({self.dialect.given})"
                if isinstance(part, ControlFlowCode)
                else f"run_steps({self.dialect.given}, {part[0]}, {part[1]})"
            )
            self.add(depth, f"status = {call};")
            self.add(depth, f"if (status != {self.dialect.macro}_OK) return status;")

    def following(self, depth: int, one: Next) -> None:
        if isinstance(one, Choice):
            self.choice(depth, one)
            return
        for move in one.passes:
            target = self.dialect.spot(self.code.offsets[move.target])
            if move.source is None:
                self.add(depth, f"memset({target}, 0, {move.target.size});")
            else:
                source = f"source({self.dialect.given}, {self.code.places[move.source]})"
                self.add(depth, f"memcpy({target}, {source}, {move.target.size});")
        if not self.is_tree:
            self.add(depth, f"block = {len(self.code.blocks) if one.block is None else one.block};")
        elif one.block is None:
            if self.is_inside:
                self.add(depth, f"return {self.dialect.macro}_OK;")
        elif one.block == self.header:
            if not self.is_inside:  # otherwise the loop continues with its next iteration
                self.is_inside = True
                self.add(depth, "for (;;) {")
                self.block(depth + 1, one.block)
                self.add(depth, "}")
                self.is_inside = False
        else:
            self.block(depth, one.block)

    def block(self, depth: int, number: int) -> None:
        self.add(depth, f"/* {comment(self.code.blocks[number].name)} */")
        self.steps(depth, self.code.blocks[number])
        self.following(depth, self.code.nest.blocks[number].following)

    def choice(self, depth: int, one: Choice) -> None:
        element = numpy_type(one.selector.dtype)
        ctype = {4: "int32_t", 8: "int64_t"}.get(element.itemsize, "uint8_t")
        value = f"*(const {ctype} *)source({self.dialect.given}, {self.code.places[one.selector]})"
        if not one.by_index:
            self.add(depth, f"if ({value} != 0) {{")
            self.following(depth + 1, one.targets[0])
            self.add(depth, "} else {")
            self.following(depth + 1, one.targets[1])
            self.add(depth, "}")
            return
        for number, target in enumerate(one.targets):
            self.add(depth, f"{'} else ' if number else ''}if ({value} == {number}) {{")
            self.following(depth + 1, target)
        self.add(depth, "} else {")
        self.add(depth + 1, f"return {self.dialect.macro}_BAD_VALUE;")
        self.add(depth, "}")


def _header(nest: ControlFlowNest) -> int | None:
    """Returns the loop header if the control flow is a tree with at most one loop header, -1 if there is no loop, and
    None if it is not such a tree.

    Each block must be reached by a single jump, apart from jumps back to the header."""
    later = [[jump.block for jump in jumps_of(block.following)] for block in nest.blocks]
    first = [jump.block for jump in jumps_of(nest.entry)]
    headers: set[int] = set()
    ways = [0] * len(nest.blocks)

    def visit(number: int | None, above: tuple[int, ...]) -> bool:
        if number is None:
            return True
        if number in above:
            headers.add(number)
            return True
        ways[number] += 1
        return ways[number] == 1 and all(visit(one, (*above, number)) for one in later[number])

    if not all(visit(one, ()) for one in first) or len(headers) > 1:
        return None
    return headers.pop() if headers else -1
