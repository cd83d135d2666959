"""Writes the bytes of a kernel's parameter struct as a C initializer. The layout is read from the definition of the
struct."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .items import Item
from .needed_items import expanded, visible
from .parsed_file import Unit
from .tokens import Token, matching, significant

_SCALARS = {
    "bool": "<?", "int8_t": "<b", "uint8_t": "<B", "int16_t": "<h", "uint16_t": "<H", "int32_t": "<i", "uint32_t": "<I",
    "int64_t": "<q", "uint64_t": "<Q", "float": "<f", "double": "<d", "int": "<i", "char": "<b",
}  # fmt: skip
_WIDTH = 120


class LayoutError(ValueError):
    """Raised for a struct that cannot be written as an initializer."""


@dataclass(frozen=True)
class Scalar:
    name: str
    code: str

    @property
    def size(self) -> int:
        return struct.calcsize(self.code)

    @property
    def alignment(self) -> int:
        return self.size


@dataclass(frozen=True)
class Array:
    element: Layout
    count: int

    @property
    def size(self) -> int:
        return self.element.size * self.count

    @property
    def alignment(self) -> int:
        return self.element.alignment


@dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple[tuple[str, int, Layout], ...]
    """(name, offset, layout) of each field."""
    size: int
    alignment: int


@dataclass(frozen=True)
class Union:
    members: tuple[tuple[str, Layout], ...]

    @property
    def size(self) -> int:
        widest = max(layout.size for _, layout in self.members)
        return widest + -widest % self.alignment

    @property
    def alignment(self) -> int:
        return max(layout.alignment for _, layout in self.members)

    def member(self, data: bytes) -> tuple[str, Layout]:
        """Returns the smallest member that contains all nonzero bytes. It gives the same bytes as any other member."""
        length = len(data.rstrip(b"\0"))
        return min((entry for entry in self.members if entry[1].size >= length), key=lambda entry: entry[1].size)


Layout = Scalar | Array | Struct | Union


def initializer(layout: Layout, data: bytes, indent: str = "") -> str:
    """Returns a braced C initializer without zero fields. `indent`: indentation of its first line.

    Raises LayoutError if the size of `data` differs from that of the struct."""
    if len(data) != layout.size:
        raise LayoutError(f"{len(data)} bytes for a struct of {layout.size}")
    return _text(layout, data, indent) or _zero(layout)


def _zero(layout: Layout) -> str:
    match layout:
        case Scalar():
            return "0"
        case Array():
            return "{" + _zero(layout.element) + "}"
        case Struct():
            name, _, inner = layout.fields[0]
            return f"{{.{name} = {_zero(inner)}}}"
        case Union():
            name, inner = layout.members[0]
            return f"{{.{name} = {_zero(inner)}}}"


def _text(layout: Layout, data: bytes, indent: str) -> str:
    """Returns the initializer, or "" if all bytes are zero."""
    if isinstance(layout, Scalar):
        return _number(layout, data)
    if isinstance(layout, Array):
        size = layout.element.size
        parts = [_text(layout.element, data[at : at + size], indent + "  ") for at in range(0, layout.size, size)]
        while parts and not parts[-1]:
            parts.pop()
        return _braced([part or _zero(layout.element) for part in parts], indent, isinstance(layout.element, Scalar))
    if isinstance(layout, Union):
        member, inner = layout.member(data)
        text = _text(inner, data[: inner.size], indent + "  ")
        return _braced([f".{member} = {text}"], indent, False) if text else ""
    parts = []
    for name, offset, inner in layout.fields:
        text = _text(inner, data[offset : offset + inner.size], indent + "  ")
        if text:
            parts.append(f".{name} = {text}")
    return _braced(parts, indent, False)


def _braced(parts: list[str], indent: str, flowing: bool) -> str:
    if not parts:
        return ""
    line = "{" + ", ".join(parts) + "}"
    if "\n" not in line and len(indent) + len(line) <= _WIDTH - 40:
        return line
    inner = indent + "  "
    if not flowing:
        return "{\n" + "".join(f"{inner}{part},\n" for part in parts) + indent + "}"
    lines, current = [], inner
    for part in parts:
        if len(current) + len(part) + 2 > _WIDTH:
            lines.append(current.rstrip())
            current = inner
        current += part + ", "
    return "{\n" + "\n".join([*lines, current.rstrip()]) + "\n" + indent + "}"


def _number(layout: Scalar, data: bytes) -> str:
    if not any(data):
        return ""
    value = struct.unpack(layout.code, data)[0]
    if isinstance(value, bool):
        return "true" if value else ""
    if isinstance(value, float):
        return _real(value, layout.code == "<f")
    if value == -(2 ** (8 * layout.size - 1)) and layout.size >= 4:
        return f"INT{8 * layout.size}_MIN"
    suffix = "U" if layout.code.isupper() and layout.size >= 4 else ""
    if not -(2**31) < value < 2**31:
        suffix += "LL" if layout.size == 8 else ""
    return f"{value}{suffix}"


def _real(value: float, single: bool) -> str:
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = repr(value) if not single else str(np.float32(value))
    return text + ("F" if single else "")


def whole_numbers(layout: Layout, data: bytes) -> dict[str, int]:
    """Returns the integer fields of a struct and of its inner structs, by names such as `layer.terms`."""
    found: dict[str, int] = {}
    for name, offset, inner in layout.fields if isinstance(layout, Struct) else ():
        if isinstance(inner, Struct):
            below = whole_numbers(inner, data[offset : offset + inner.size])
            found.update({f"{name}.{field}": value for field, value in below.items()})
        elif isinstance(inner, Scalar) and inner.code not in ("<f", "<d"):
            found[name] = int(struct.unpack(inner.code, data[offset : offset + inner.size])[0])
    return found


# ---- layouts of C types


@lru_cache(maxsize=1024)
def layout_of(name: str, path: str, isa: str) -> Layout:
    """Returns the layout of a type that is visible in `path`, with natural alignment of 64-bit machines.

    Raises LayoutError."""
    if name in _SCALARS:
        return Scalar(name, _SCALARS[name])
    for unit, item in visible(path, isa).get(name, ()):
        if item.kind == "type" and item.names[0] == name:
            return _definition(unit, item)
    raise LayoutError(f"{path}: the layout of {name} is unknown")


def _definition(unit: Unit, item: Item) -> Layout:
    tokens = significant(expanded(item))
    words = [token.text for token in tokens]
    if words[1] == "enum":
        return Scalar("int32_t", "<i")
    if "{" not in words:
        return layout_of(words[1], unit.path, unit.isa)
    return _compound(tokens[1:-2], item.names[0], unit)


def _compound(tokens: list[Token], name: str, unit: Unit) -> Layout:
    """Returns the layout of `struct { ... }` or `union { ... }`."""
    opening = next(at for at, token in enumerate(tokens) if token.text == "{")
    fields = _fields(tokens[opening + 1 : matching(tokens, opening)], unit)
    if tokens[0].text == "union":
        return Union(tuple(fields))
    placed, at, widest = [], 0, 1
    for field, layout in fields:
        at += -at % layout.alignment
        placed.append((field, at, layout))
        at += layout.size
        widest = max(widest, layout.alignment)
    return Struct(name, tuple(placed), at + -at % widest, widest)


def _fields(tokens: list[Token], unit: Unit) -> list[tuple[str, Layout]]:
    found: list[tuple[str, Layout]] = []
    at = 0
    while at < len(tokens):
        end = at
        while tokens[end].text != ";":
            end = matching(tokens, end) + 1 if tokens[end].text in ("{", "(", "[") else end + 1
        line = [token for token in tokens[at:end] if token.text != "const"]
        at = end + 1
        place = 1
        if line[0].text in ("struct", "union") and line[1].text == "{":
            place = matching(line, 1) + 1
            base = _compound(line[:place], "", unit)
        else:
            base = layout_of(line[0].text, unit.path, unit.isa)
        if any(token.text in ("*", ":", "(") for token in line[place:]):
            raise LayoutError(f"{unit.path}: {' '.join(token.text for token in line)} cannot be printed")
        while place < len(line):
            name = line[place].text
            place += 1
            counts = []
            while place < len(line) and line[place].text == "[":
                close = matching(line, place)
                counts.append(constant(line[place + 1 : close], unit))
                place = close + 1
            layout: Layout = base
            for count in reversed(counts):
                layout = Array(layout, count)
            found.append((name, layout))
            place += 1  # the comma
    return found


def constant(tokens: list[Token], unit: Unit) -> int:
    """Returns the value of a constant expression. Raises LayoutError."""
    texts = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "number":
            texts.append(str(int(token.text.rstrip("uUlL"), 0)))
        elif token.text == "sizeof":
            texts.append(str(layout_of(tokens[at + 2].text, unit.path, unit.isa).size))
            at += 3
        elif (
            token.text == "("
            and at + 2 < len(tokens)
            and tokens[at + 1].text in _SCALARS
            and tokens[at + 2].text == ")"
        ):
            at += 2
        elif token.kind == "name":
            texts.append(str(_enumerator(token.text, unit)))
        elif token.text in ("+", "-", "*", "/", "%", "<<", ">>", "(", ")", "|", "&", "~"):
            texts.append("//" if token.text == "/" else token.text)
        else:
            raise LayoutError(f"{unit.path}: {token.text} in a constant expression")
        at += 1
    return int(eval(" ".join(texts), {"__builtins__": {}}))  # only numbers and operators, from the kernels' sources


@lru_cache(maxsize=4096)
def _enumerator(name: str, unit: Unit) -> int:
    for where, item in visible(unit.path, unit.isa).get(name, ()):
        if item.kind not in ("enum", "type"):
            continue
        tokens = significant(expanded(item))
        opening = next(at for at, token in enumerate(tokens) if token.text == "{")
        value, at, end = -1, opening + 1, matching(tokens, opening)
        while at < end:
            entry, stop = tokens[at].text, at + 1
            while stop < end and tokens[stop].text != ",":
                stop = matching(tokens, stop) + 1 if tokens[stop].text == "(" else stop + 1
            value = constant(tokens[at + 2 : stop], where) if tokens[at + 1].text == "=" else value + 1
            if entry == name:
                return value
            at = stop + 1
    raise LayoutError(f"{unit.path}: {name} is not a constant")
