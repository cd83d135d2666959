"""Finds the items in the kernels' sources that a program needs: its kernels' functions and all that they use, directly
or indirectly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from . import locate
from .items import Item
from .macros import expand, read_define
from .parsed_file import MICRO, Unit, isa_of, lines_of, load
from .tokens import KEYWORDS, Token, matching, significant, tokenize

_ALIAS = re.compile(r"#define (\w+) MSLITE_ISA_NAME\((\w+)\)")


class UnknownKernel(KeyError):
    """Raised if there is no kernel with a name for an instruction set."""


@dataclass(frozen=True)
class Kernel:
    """An entry of the kernel table. `path`: its source file; `run`: its function."""

    name: str
    path: str
    run: str
    derived: str
    """Type of the parameters that `prepare` fills; empty if there are none."""


@lru_cache(maxsize=16)
def kernels(isa: str) -> dict[str, Kernel]:
    """Returns the kernels for a program with the instruction set `isa` (`scalar` for portable C), by name."""
    found: dict[str, Kernel] = {}
    for path in locate.files():
        if path.endswith("_half.c"):  # generated C does not support float16
            continue
        if path.endswith("_micro.c") and isa not in MICRO:
            continue
        if path.endswith("_dot.c") and isa in (*MICRO, "scalar"):
            continue
        if "mslite_kernel" not in locate.read(path) and "_KERNEL(" not in locate.read(path):
            continue
        for leaf in load(path, isa_of(path, isa)).leaves():
            if leaf.kind == "variable" and leaf.names[0].startswith("mslite_kernel_"):
                kernel = _entry(path, leaf)
                if kernel.run:
                    found[kernel.name] = kernel
    return found


def kernel_named(name: str, isa: str) -> Kernel:
    """Returns the kernel with this name. Raises UnknownKernel."""
    entry = kernels(isa).get(name)
    if entry is None:
        raise UnknownKernel(f"no kernel is named {name} for the instruction set {isa}")
    return entry


def _entry(path: str, leaf: Item) -> Kernel:
    tokens = significant(expand(tokenize(leaf.text), leaf.table))
    fields: dict[str, list[Token]] = {}
    at = next(index for index, token in enumerate(tokens) if token.text == "{") + 1
    while at < len(tokens) and tokens[at].text == ".":
        start = end = at + 3
        while tokens[end].text not in (",", "}"):
            end = matching(tokens, end) + 1 if tokens[end].text == "(" else end + 1
        fields[tokens[at + 1].text] = tokens[start:end]
        at = end + 1
    name = "".join(token.text[1:-1] for token in fields["name"])
    size = fields.get("derived_size", [])
    derived = size[2].text if len(size) == 4 and size[0].text == "sizeof" else ""
    run = fields["run"][0].text if "run" in fields else ""  # the kernel does not support this instruction set
    return Kernel(name, path, run, derived)


@lru_cache(maxsize=1)
def aliases() -> dict[str, str]:
    """Returns the aliases in the sources for names that differ by instruction set: alias -> name."""
    found: dict[str, str] = {}
    for path in sorted(locate.folder().glob("*/*.[ch]")):
        found.update(_ALIAS.findall(path.read_text(encoding="utf-8")))
    return found


@lru_cache(maxsize=1)
def _words() -> dict[str, frozenset[str]]:
    return {path: frozenset(re.findall(r"\w+", locate.read(path))) for path in locate.files()}


@lru_cache(maxsize=8192)
def definition(name: str, isa: str) -> tuple[Unit, Item] | None:
    """Returns the non-static function or variable with this name, or None."""
    others = [alias for alias, real in aliases().items() if real == name]
    paths = [path for path, words in _words().items() if name in words or words & set(others)]
    for path in paths:
        if path.endswith("_half.c"):  # generated C does not support float16
            continue
        if path.endswith("_micro.c") and isa not in MICRO:
            continue
        if path.endswith("_dot.c") and isa in (*MICRO, "scalar"):
            continue
        unit = load(path, isa_of(path, isa))
        for leaf in unit.leaves():
            if name in leaf.names and leaf.kind in ("function", "variable") and not leaf.is_static:
                return unit, leaf
    return None


@dataclass
class NeededItems:
    """The items that a program needs, and the files that contain them."""

    isa: str
    units: dict[str, Unit] = field(default_factory=dict)
    items: set[Item] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    """All names that the items use."""


def reach(roots: Iterable[tuple[str, str]], isa: str) -> NeededItems:
    """Returns everything that `roots` (path, name) need. Raises ValueError."""
    result = NeededItems(isa)
    queue = [(load(path, isa_of(path, isa)), name) for path, name in roots]
    done: set[tuple[str, str]] = set()
    while queue:
        unit, name = queue.pop()
        if (unit.path, name) in done:
            continue
        done.add((unit.path, name))
        for where, item in visible(unit.path, unit.isa).get(name, ()):
            _keep(result, where, item, queue)
            if item.kind == "declaration":
                other = definition(name, isa)
                if other is None:
                    raise ValueError(f"{where.path} declares {name}, but no file of the kernels defines it")
                _keep(result, *other, queue)
    return result


def _keep(result: NeededItems, unit: Unit, item: Item, queue: list[tuple[Unit, str]]) -> None:
    if item in result.items:
        return
    known = result.units.setdefault(unit.path, unit)
    if known is not unit:
        raise ValueError(f"{unit.path} is needed for two instruction sets in one program")
    result.items.add(item)
    names = referenced_names(item)
    for which, _ in item.opened:
        names |= {token.text for text in unit.branches[which] for token in significant(tokenize(text))}
    result.names |= names
    queue.extend((unit, name) for name in sorted(names))


@lru_cache(maxsize=1024)
def headers(path: str, isa: str) -> tuple[str, ...]:
    """Returns all headers that a file includes, directly or indirectly."""
    found: dict[str, None] = {}
    for header in load(path, isa).headers:
        found[header] = None
        found.update(dict.fromkeys(headers(header, isa)))
    return tuple(found)


@lru_cache(maxsize=1024)
def visible(path: str, isa: str) -> dict[str, list[tuple[Unit, Item]]]:
    """Returns the items that are visible in a file, by name, without macros."""
    found: dict[str, list[tuple[Unit, Item]]] = {}
    for unit in (load(path, isa), *(load(header, isa) for header in headers(path, isa))):
        for leaf in unit.leaves():
            if leaf.kind not in ("define", "undef") or (leaf.kind == "define" and leaf.opened):
                for name in leaf.names:
                    found.setdefault(name, []).append((unit, leaf))
    return found


@lru_cache(maxsize=65536)
def referenced_names(item: Item) -> frozenset[str]:
    """Returns the names in an item that may refer to other items."""
    macros: set[str] = set()
    if item.kind == "define":  # one of several definitions under open conditions
        macro = read_define(item.text)
        tokens = significant(expand(macro.body, item.table, macros))
    else:
        tokens = significant(expanded(item, macros))
    if item.kind == "type":
        return frozenset({*_of_type(tokens), *macros} - set(item.names))
    found, local = macros, set()
    for at, token in enumerate(tokens):
        if token.kind != "name" or token.text in KEYWORDS:
            continue
        before = tokens[at - 1].text if at > 0 else ""
        if before in (".", "->"):
            continue
        if item.kind in ("function", "declaration") and _declares(tokens, at):
            local.add(token.text)
        found.add(token.text)
    return frozenset(found - local - set(item.names))


@lru_cache(maxsize=65536)
def used_macros(item: Item) -> frozenset[str]:
    """Returns the macros that an item's text uses."""
    found: set[str] = set()
    expanded(item, found)
    return frozenset(found)


def expanded(item: Item, used: set[str] | None = None) -> list[Token]:
    """Returns an item's text with all macros expanded, including those that are defined inside of it."""
    if "#" not in item.text:
        return expand(tokenize(item.text), item.table, used)
    table = dict(item.table)
    result: list[Token] = []
    pending = ""
    for line, is_directive in lines_of(item.text):
        word = line.split("#", 1)[1].split()[0] if is_directive else ""
        if not is_directive:
            pending += line
            continue
        result += expand(tokenize(pending), table, used)
        pending = ""
        if word == "define":
            macro = read_define(line.strip())
            table[macro.name] = macro
        elif word == "undef":
            table.pop(line.split()[1], None)
    return result + expand(tokenize(pending), table, used)


def _declares(tokens: list[Token], at: int) -> bool:
    """Returns whether the name at `at` is declared there, as a parameter or local variable."""
    before = tokens[at - 1] if at > 0 else None
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if before is None or after not in ("=", ";", ",", ")", "["):
        return False
    if before.kind == "name":
        return before.text not in KEYWORDS or before.text in _TYPES
    if before.text == "*" and at >= 2:
        earlier = at - 2
        while tokens[earlier].text in ("*", "const", "restrict"):
            earlier -= 1
        return _is_type(tokens[earlier].text) or tokens[earlier - 1].text in ("const", ";", "{", "}")
    return before.text == "," and after in ("=", ";", "[")


_TYPES = frozenset(
    ["void", "bool", "char", "short", "int", "long", "float", "double", "unsigned", "signed", "const", "restrict"]
)


def _is_type(name: str) -> bool:
    return name in _TYPES or name.endswith("_t")


def _of_type(tokens: list[Token]) -> Iterator[str]:
    """Yields the types and constants that a struct uses, without its field names."""
    square = round_ = 0
    for at, token in enumerate(tokens):
        square += (token.text == "[") - (token.text == "]")
        round_ += (token.text == "(") - (token.text == ")")
        after = tokens[at + 1].text if at + 1 < len(tokens) else ";"
        if token.kind != "name" or token.text in KEYWORDS:
            continue
        is_type = after not in (";", ",", "[", ":", ")") or (round_ and tokens[at - 1].text in ("(", ","))
        if square or is_type:
            yield token.text
