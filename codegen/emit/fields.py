"""Fields of constants as C text: arrays, and arrays of structs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mslite.codegen.emit.c_values import Numbers, wrapped


@dataclass(frozen=True, eq=False)
class Field:
    """An array of values, or a single value."""

    name: str
    """Empty for the only field of a constant."""
    numbers: Numbers
    comment: str = ""
    is_single: bool = False

    @property
    def width(self) -> int:
        """Bytes of the widest element."""
        return self.numbers.width

    def declaration(self, indent: str) -> str:
        count = "" if self.is_single else f"[{len(self.numbers)}]"
        return f"{indent}{self.numbers.ctype} {self.name}{count};{_comment(self.comment)}"

    def initializer(self, indent: str) -> str:
        if self.is_single:
            return self.numbers.texts[0]
        line = "{" + ", ".join(self.numbers.texts) + "}"
        if len(line) <= 60:
            return line
        return f"{{\n{wrapped(self.numbers.texts, indent + '  ')}\n{indent}}}"


@dataclass(frozen=True, eq=False)
class Group:
    """An array of structs; all entries have the same fields."""

    name: str
    entries: tuple[tuple[Field, ...], ...]
    comment: str = ""

    @property
    def width(self) -> int:
        return max(field.width for field in self.entries[0])

    def declaration(self, indent: str) -> str:
        fields = "\n".join(field.declaration(indent + "  ") for field in self.entries[0])
        return f"{indent}struct {{\n{fields}\n{indent}}} {self.name}[{len(self.entries)}];{_comment(self.comment)}"

    def initializer(self, indent: str) -> str:
        inner = indent + "  "
        entries = "".join(f"{inner}[{number}] = {braced(entry, inner)},\n" for number, entry in enumerate(self.entries))
        return f"{{\n{entries}{indent}}}"


def braced(fields: Sequence[Field | Group], indent: str) -> str:
    """Returns the initializer of a struct."""
    inner = indent + "  "
    parts = "".join(f"{inner}.{field.name} = {field.initializer(inner)},\n" for field in fields)
    return f"{{\n{parts}{indent}}}"


def _comment(text: str) -> str:
    return f" /* {text} */" if text else ""
