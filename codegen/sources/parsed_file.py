"""Parses a source file of the kernels, as it is compiled for one instruction set."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from . import locate
from .conditions import evaluate, simplified
from .items import Item, code_end, make_item, offsets
from .macros import Macro, Table, read_define
from .tokens import tokenize

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)[ \t]*(.*)", re.DOTALL)
_ALIAS = re.compile(r"#define (\w+) MSLITE_ISA_NAME\((\w+)\)$")
MICRO = ("micro", "dsp", "mve")
_SIMD_NAMES = ("MSLITE_ISA", "MSLITE_ISA_NAME", "MSLITE_ISA_STRING", "SIMD_ASSEMBLY", "SIMD_EMULATED")
"""Macros that the build defines; definitions in files are ignored."""
_DOT_PRODUCTS = ("_dot.c", "convolution/depthwise_int8_vector.c")
"""Files that are also compiled for the dot product extension: DOT and FOURS in kernels/CMakeLists.txt."""


@dataclass(eq=False)
class Unit:
    """A parsed file. `headers`: project headers that it includes directly; `system`: other headers."""

    path: str
    isa: str
    comment: str
    items: list[Item]
    headers: list[str]
    system: list[str]
    table: Table
    open_names: set[str]
    """Macros that are defined under open conditions."""
    branches: dict[int, list[str]]
    """Directives of each open condition, without #endif."""

    def leaves(self) -> Iterator[Item]:
        """Yields the declarations and definitions of the file."""
        for item in self.items:
            yield from item.leaves()


def load(path: str, isa: str) -> Unit:
    """Returns the file `path`, relative to the kernels' folder, as compiled with MSLITE_ISA=`isa`.

    On microcontrollers, vectors of simd/simd.h have one lane, as in portable C, so both use the same headers.
    """
    if path.endswith(".c") or (_is_for_micro(path) if isa in MICRO else _is_sensitive(path)):
        return _load(path, isa)
    return _load(path, "scalar")


@lru_cache(maxsize=1024)
def _load(path: str, isa: str) -> Unit:
    return _Reader(path, isa).read()


@lru_cache(maxsize=1024)
def _is_sensitive(path: str) -> bool:
    """Returns whether a header's contents depend on the instruction set."""
    text = locate.read(path)
    if re.search(r"\bMSLITE_ISA\b|\b(SIMD|MICRO)_", text):
        return True
    return any(_is_sensitive(header) for header in re.findall(r'#include "([^"]+\.h)"', text))


@lru_cache(maxsize=1024)
def _is_for_micro(path: str) -> bool:
    """Returns whether a header's contents depend on the kind of microcontroller."""
    text = locate.read(path)
    if re.search(r"\bMICRO_", text):
        return True
    return any(_is_for_micro(header) for header in re.findall(r'#include "([^"]+\.h)"', text))


def isa_of(path: str, isa: str) -> str:
    """Returns the instruction set that a file is compiled for in a program for `isa`."""
    if isa in MICRO:
        return isa if path.endswith("_micro.c") else "scalar"
    return isa


@dataclass
class _Condition:
    """An #if while it is read. `taken`: whether the current branch is compiled, None if this is open; `is_decided`:
    whether no later branch can be compiled; `is_written`: whether its directives are written to the output."""

    taken: bool | None
    is_decided: bool
    is_written: bool


class _Reader:
    def __init__(self, path: str, isa: str) -> None:
        self.path, self.isa = path, isa
        # Files without dot products are in the library for plain NEON only.
        label = "neon" if isa == "neon_dot" and not path.endswith(_DOT_PRODUCTS) else isa
        self.table: dict[str, Macro] = {
            "MSLITE_ISA": read_define(f"#define MSLITE_ISA {isa}"),
            "MSLITE_ISA_NAME": read_define("#define MSLITE_ISA_NAME(name) name"),
            "MSLITE_ISA_STRING": read_define(f'#define MSLITE_ISA_STRING(name) #name "_{label}"'),
            "SIMD_ASSEMBLY": read_define("#define SIMD_ASSEMBLY 0"),
            "SIMD_EMULATED": read_define("#define SIMD_EMULATED 0"),
        }
        self.headers: list[str] = []
        self.system: list[str] = []
        self.branches: dict[int, list[str]] = {}
        self.open_names: set[str] = set()

    def read(self) -> Unit:
        self.start = dict(self.table)
        text = self._decided(locate.read(self.path))
        comment, items = self._items(text, dict(self.start))
        return Unit(
            self.path, self.isa, comment, items, self.headers, self.system, self.table, self.open_names, self.branches
        )

    # ---- preprocessor conditions

    def _decided(self, text: str) -> str:
        """Returns the text without include guards, includes and branches that are not compiled."""
        kept: list[str] = []
        at, first_code = 0, _first_code(text)
        stack: list[_Condition] = []
        for line, is_directive in lines_of(text):
            match = _DIRECTIVE.match(line) if is_directive else None
            word, rest = (match[1], match[2].strip()) if match else ("", "")
            live = all(one.taken is not False for one in stack)
            at += len(line)
            if word in ("if", "ifdef", "ifndef"):
                condition = {"if": rest, "ifdef": f"defined({rest})", "ifndef": f"!defined({rest})"}[word]
                value = evaluate(condition, self.table, self.open_names) if live else 0
                stack.append(_Condition(None if value is None else bool(value), bool(value), value is None))
                if value is None:
                    kept.append(f"#if {simplified(condition, self.table, self.open_names)}\n")
            elif word in ("elif", "else"):
                self._branch(word, rest, stack, kept)
            elif word == "endif":
                if stack.pop().is_written:
                    kept.append("#endif\n")
            elif live and word == "include":
                if any(one.taken is None for one in stack):
                    kept.append(line)
                elif at > first_code and rest.startswith('"'):  # an included part of this file
                    kept.append(self._decided(locate.read(rest.strip('"'))) + "\n")
                else:
                    self._include(rest)
            elif live:
                if word in ("define", "undef"):
                    line = self._define(word, line, any(one.taken is None for one in stack))
                kept.append(line)
        return "".join(kept)

    def _branch(self, word: str, rest: str, stack: list[_Condition], kept: list[str]) -> None:
        """Reads #elif or #else. Of an open condition, branches that may be compiled are kept; a branch that is
        certainly compiled if it is reached is the last one."""
        now = stack[-1]
        can_be = not now.is_decided and all(one.taken is not False for one in stack[:-1])
        value = 0 if not can_be else 1 if word == "else" else evaluate(rest, self.table, self.open_names)
        if value is None:
            kept.append(f"#{'elif' if now.is_written else 'if'} {simplified(rest, self.table, self.open_names)}\n")
            now.is_written = True
        elif value and now.is_written:
            kept.append("#else\n")
        now.taken = False if value == 0 else None if now.is_written else True
        now.is_decided |= bool(value)

    def _include(self, name: str) -> None:
        if name.startswith("<"):
            self.system.append(name)
            return
        path = name.strip('"')
        if path.endswith(".inc"):
            raise ValueError(f"{self.path}: cannot take {path} apart")
        unit = load(path, self.isa)
        self.headers.append(path)
        table = {name: macro for name, macro in unit.table.items() if name not in _SIMD_NAMES}
        self.table.update(table)
        self.start.update(table)
        self.open_names |= unit.open_names

    def _define(self, word: str, line: str, is_open: bool) -> str:
        """Records a macro definition. Returns the line, or "" for include guards and macros that the build defines."""
        name = line.split(word, 1)[1].split()[0].split("(")[0]
        if name in _SIMD_NAMES or (name.endswith("_H") and self.path.endswith(".h")):
            return ""
        if word == "undef":
            self.table.pop(name, None)
        else:
            self.table[name] = read_define(line.strip())
            if is_open:
                self.open_names.add(name)
        return line

    # ---- items at the top level

    def _items(self, text: str, table: Table) -> tuple[str, list[Item]]:
        items: list[Item] = []
        all_tokens = list(tokenize(text))
        starts = {at: index for index, at in enumerate(offsets(all_tokens))}
        comment = file_comment = ""
        spaced = False
        opened: list[tuple[int, int]] = []
        at = 0
        while at < len(text):
            blank = re.compile(r"\s+").match(text, at)
            if blank is not None:
                spaced |= blank.group().count("\n") > 0
                at = blank.end()
                if comment and spaced:  # a comment followed by a blank line
                    if not file_comment and not items:
                        file_comment, comment = comment, ""
                    elif not comment.endswith("\n"):
                        comment += "\n"
                if at >= len(text):
                    break
            if text.startswith(("/*", "//"), at):
                end = text.index("*/", at) + 2 if text.startswith("/*", at) else text.index("\n", at)
                comment += ("\n" if comment else "") + text[at:end]
                at = end + (1 if text[end : end + 1] == "\n" else 0)
                continue
            if not items and not file_comment and comment:
                file_comment, comment = comment, ""
            is_directive = text[at] == "#"
            end = _directive_end(text, at) if is_directive else code_end(text, at, all_tokens[starts[at] :], table)
            piece = text[at:end].rstrip()
            at = end
            new, table = self._item(piece, table, opened)
            if new is not None:
                new.comment, new.spaced = comment, spaced
                for part in new.all():
                    part.opened = tuple(opened)
                items.append(new)
                if _ALIAS.match(piece):  # its comment is for the declaration after it
                    new.comment = ""
                    continue
            elif comment and opened:  # a comment on all branches
                self.branches[opened[-1][0]][-1] = f"{comment}\n{piece}"
            comment, spaced = "", False
        return file_comment, items

    def _item(self, text: str, table: Table, opened: list[tuple[int, int]]) -> tuple[Item | None, Table]:
        match = _DIRECTIVE.match(text)
        if match is None:
            return make_item(text, table), table
        word = match[1]
        if word == "define":
            macro = read_define(text)
            return Item("define", text, table, names=(macro.name,)), {**table, macro.name: macro}
        if word == "undef":
            name = match[2].split()[0]
            return Item("undef", text, table, names=(name,)), {k: v for k, v in table.items() if k != name}
        if word == "include":
            return Item("include", text, table), table
        if word == "if":
            opened.append((len(self.branches), 0))
            self.branches[len(self.branches)] = [text]
        elif word in ("elif", "else"):
            which, branch = opened.pop()
            opened.append((which, branch + 1))
            self.branches[which].append(text)
        elif word == "endif":
            opened.pop()
        else:
            raise ValueError(f"{self.path}: cannot take {text} apart")
        return None, table


def _first_code(text: str) -> int:
    """Returns the offset of the first semicolon or brace: the first declaration or definition."""
    bare = re.sub(r"/\*.*?\*/", lambda match: " " * len(match.group()), text, flags=re.DOTALL)
    bare = re.sub(r"^[ \t]*#(?:\\\n|.)*", lambda match: " " * len(match.group()), bare, flags=re.MULTILINE)
    return next((match.start() for match in re.finditer("[;{}]", bare)), len(text))


def lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yields logical lines (continued lines are joined), and whether each is a directive outside of comments."""
    position, in_comment, pending = 0, False, ""
    for line in text.splitlines(keepends=True):
        pending += line
        if pending.rstrip("\n").endswith("\\"):
            continue
        before = in_comment
        for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|/\*|\*/|//[^\n]*', pending):
            if match.group() == "/*" and not in_comment:
                in_comment = True
            elif match.group() == "*/":
                in_comment = False
        yield pending, not before and pending.lstrip().startswith("#")
        position += len(pending)
        pending = ""
    if pending:
        yield pending, False


def _directive_end(text: str, at: int) -> int:
    while True:
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        if text[end - 1] != "\\":
            return end + 1
        at = end + 1
