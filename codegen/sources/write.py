"""Writes the needed parts of the kernels' sources as readable C files."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from . import locate, names
from .directives import OpenConditions, add_directives, directives_between
from .includes import BASIC, include_lines, system_headers
from .items import Item
from .needed_items import Kernel, NeededItems, aliases, headers, reach, referenced_names, used_macros, visible
from .parsed_file import Unit, load
from .text import renamed
from .tokens import significant, tokenize

_COMMENTS = {
    "kernel.h": "/* The interface between the kernels and the code that calls them. */",
    locate.PARAMETERS: "/* Identifiers of operators, data types and modes. */",
}


@dataclass
class Piece:
    """An item to write, with its comment. `spaced`: whether a blank line precedes it."""

    item: Item
    comment: str
    spaced: bool


@dataclass
class File:
    """A file to write."""

    path: str
    unit: Unit | None
    pieces: list[Piece] = field(default_factory=list)
    moved: list[Piece] = field(default_factory=list)
    """Types that are moved here from the .c file of this header."""
    wrappers: list[str] = field(default_factory=list)
    """Additional functions with external names, which call static ones."""
    runs: list[str] = field(default_factory=list)
    """Kernel functions that it declares for the program."""
    extra: set[str] = field(default_factory=set)
    """Headers that it includes for files that include it."""


class Writer:
    def __init__(self, kernels: Iterable[Kernel], isa: str) -> None:
        self.isa = isa
        self.kernels = sorted(kernels, key=lambda kernel: kernel.name)
        roots = [(kernel.path, kernel.run) for kernel in self.kernels]
        roots += [
            ("kernel.h", "mslite_run"),
            *((kernel.path, kernel.derived) for kernel in self.kernels if kernel.derived),
        ]
        self.reached: NeededItems = reach(roots, isa)
        self.files: dict[str, File] = {}
        self.renames: dict[str, dict[str, str]] = {}
        """Source file -> old name -> new name."""
        self.exported: set[Item] = set()

    def texts(self) -> dict[str, str]:
        """Returns path relative to the kernels' folder -> text."""
        for path, unit in sorted(self.reached.units.items()):
            self.files[path] = File(path, unit, self._pieces(unit))
            self.renames[path] = {}
        for kernel in self.kernels:
            self._export(kernel)
        self._keep_macros()
        bodies = {path: self._whole_body(file) for path, file in self.files.items()}
        self.included = {
            path: self._project(self.files[path], self._named(path, body)) for path, body in bodies.items()
        }
        return {path: self._text(file, bodies[path]) for path, file in sorted(self.files.items())}

    # ---- the pieces of a file

    def _pieces(self, unit: Unit) -> list[Piece]:
        """Returns the needed items of a file in order. Macro calls are kept if several needed items use the macro;
        others are expanded."""
        chosen: list[tuple[Item, Item]] = []  # (top-level item, part of it)
        for item in unit.items:
            chosen += [(item, part) for part in self._whole(item)]
        while True:
            uses = Counter(part.macro for _, part in chosen if part.kind == "call")
            single = {name for name, count in uses.items() if count == 1}
            single |= {part.macro for _, part in chosen if part.kind == "call" and self._has_run(unit, part)}
            if not single:
                break
            chosen = [
                (top, piece)
                for top, part in chosen
                for piece in (part.parts if part.kind == "call" and part.macro in single else [part])
            ]
        found: list[Piece] = []
        last: Item | None = None
        for top, part in chosen:
            first = top is not last
            found.append(Piece(part, top.comment if first else "", top.spaced if first else part is not top))
            last = top
        return found

    def _has_run(self, unit: Unit, item: Item) -> bool:
        """Returns whether a macro call defines a kernel's function, which needs an external name."""
        runs = {kernel.run for kernel in self.kernels if kernel.path == unit.path}
        return any(runs.intersection(leaf.names) for leaf in item.leaves())

    def _whole(self, item: Item) -> list[Item]:
        """Returns the item if all of it is needed, otherwise the largest parts that are needed as a whole."""
        if item.kind == "include":
            return [item]
        if item.kind != "call":
            return [item] if item in self.reached.items else []
        leaves = list(item.leaves())
        if leaves and all(leaf in self.reached.items for leaf in leaves):
            return [item]
        return [piece for part in item.parts for piece in self._whole(part)]

    # ---- functions and types for the program

    def _export(self, kernel: Kernel) -> None:
        unit = names.own_unit(kernel, self.isa)
        where, item = names.run_place(kernel, unit, self.isa)
        header = names.run_header(kernel, unit, self.isa)
        if header not in self.files:
            existing = self.reached.units.get(header)
            self.files[header] = File(header, existing)
            self.renames[header] = {}
        file = self.files[header]
        if item.is_static:
            name = names.run_name(kernel, self.isa)
            if where is unit:
                self.renames[where.path][kernel.run] = name
                self.exported.add(item)
            elif name not in file.runs:  # it is defined in a header
                self._wrap(unit, kernel.run, name)
            if name not in file.runs:
                file.runs.append(name)
        if kernel.derived:
            home, struct = names.derived_place(kernel, unit)
            if home.path.endswith(".c"):
                self.renames[home.path][kernel.derived] = names.derived_name(kernel, unit)
                self._move(struct, self.files[home.path], self.files[names.header_of(home.path)])
                if names.header_of(home.path) != header:
                    file.extra.add(names.header_of(home.path))
            elif home.path != header:
                file.extra.add(home.path)

    def _wrap(self, unit: Unit, run: str, name: str) -> None:
        """Adds a function with an external name that calls a static function of a header."""
        text = f"void {name}(const mslite_run *run, int32_t phase, int32_t part) {{\n  {run}(run, phase, part);\n}}"
        file = self.files.setdefault(unit.path, File(unit.path, unit))
        self.renames.setdefault(unit.path, {})
        self.reached.units[unit.path] = unit
        file.wrappers.append(text)

    def _move(self, struct: Item, source: File, header: File) -> None:
        """Moves a type, and the items of the same file that it needs, to the header."""
        needed, queue = {struct}, [struct]
        while queue:
            for name in referenced_names(queue.pop()):
                for unit, item in visible(source.path, self._isa(source)).get(name, ()):
                    if unit.path == source.path and item not in needed:
                        needed.add(item)
                        queue.append(item)
        for piece in [piece for piece in source.pieces if piece.item in needed]:
            source.pieces.remove(piece)
            header.moved.append(piece)
            for name in piece.item.names:
                self.renames[source.path].setdefault(name, names.exported_name(source.path, name))

    @staticmethod
    def _isa(file: File) -> str:
        assert file.unit is not None
        return file.unit.isa

    # ---- macros

    def _keep_macros(self) -> None:
        """Adds the definitions of the macros that the written text uses."""
        needed: dict[str, set[str]] = {}  # file -> macros
        for file in list(self.files.values()):
            used: set[str] = set()
            for piece in (*file.pieces, *file.moved):
                used |= used_macros(piece.item)
            needed[file.path] = used
        for path, used in needed.items():
            origin = path if self.files[path].unit is not None else path.removesuffix(".h") + ".c"
            home = self.reached.units.get(origin) or load(origin, self.reached.units[origin].isa)
            for unit in (home, *(load(header, home.isa) for header in headers(home.path, home.isa))):
                self._keep_from(unit, used)

    def _keep_from(self, unit: Unit, used: set[str]) -> None:
        new = [
            item
            for item in unit.items
            if item.kind in ("define", "undef") and item.names[0] in used and item.names[0] not in aliases()
        ]
        if not new:
            return
        file = self.files.get(unit.path)
        if file is None or file.unit is None:
            file = self.files.setdefault(unit.path, File(unit.path, unit))
            file.unit = unit
            self.renames.setdefault(unit.path, {})
        present = {id(piece.item) for piece in file.pieces}
        file.pieces += [Piece(item, item.comment, item.spaced) for item in new if id(item) not in present]
        order = {id(part): index for index, item in enumerate(unit.items) for part in item.all()}
        file.pieces.sort(key=lambda piece: order[id(piece.item)])

    # ---- text

    def _whole_body(self, file: File) -> str:
        renames = {**aliases(), **self._renames_of(file)}
        moved = self._body(file.moved, renames, None)
        body = self._body(file.pieces, renames, file.unit)
        if file.runs:
            declared = [f"void {name}(const mslite_run *run, int32_t phase, int32_t part);" for name in file.runs]
            moved = "\n\n".join(part for part in (moved.strip("\n"), "\n".join(declared)) if part) + "\n"
        return "\n".join(part for part in (body, moved, *file.wrappers) if part)

    def _text(self, file: File, body: str) -> str:
        lines = [comment] if (comment := self._comment(file)) else []
        guard = "MSLITE_" + re.sub(r"\W", "_", file.path).upper()
        if file.path.endswith(".h"):
            lines += [f"#ifndef {guard}", f"#define {guard}", ""]
        includes = self._includes(file, body)
        if includes:
            lines += [*includes, ""]
        lines.append(body.strip("\n"))
        if file.path.endswith(".h"):
            lines += ["", "#endif"]
        return "\n".join(lines) + "\n"

    def _renames_of(self, file: File) -> Mapping[str, str]:
        if file.path.endswith(".h"):
            return {**self.renames.get(file.path.removesuffix(".h") + ".c", {}), **self.renames.get(file.path, {})}
        return self.renames[file.path]

    def _comment(self, file: File) -> str:
        if file.path in _COMMENTS:
            return _COMMENTS[file.path]
        if file.unit is not None:
            return file.unit.comment
        stem = posixpath.basename(file.path).rsplit(".", 1)[0]
        return f"/* The kernels of {stem}.c and their parameters. */"

    def _body(self, pieces: list[Piece], renames: Mapping[str, str], unit: Unit | None) -> str:
        lines: list[str] = []
        state: OpenConditions = ()
        for piece in pieces:
            directives, state = directives_between(state, piece.item.opened, unit)
            text = piece.item.text
            if piece.item.kind in ("enum", "type") and unit is not None and unit.path in _COMMENTS:
                text = self._fewer(piece.item, text)
            exported = any(leaf in self.exported for leaf in piece.item.leaves())
            text = renamed(text, renames)
            if exported:
                text = re.sub(r"\bstatic void\b", "void", text)
            add_directives(lines, directives, piece.spaced or "\n" in text)
            if piece.comment:
                lines.append(piece.comment)
            lines.append(text)
        add_directives(lines, directives_between(state, (), unit)[0], False)
        return "\n".join(lines) + "\n" if lines else ""

    def _fewer(self, item: Item, text: str) -> str:
        """Returns an enumeration without unused constants."""
        if "enum" not in text.split("{", 1)[0]:
            return text
        head, rest = text.split("{", 1)
        inside, tail = rest.rsplit("}", 1)
        used = self.reached.names
        kept = [line for line in inside.split("\n") if (word := re.match(r"\s*(\w+)", line)) and word[1] in used]
        kept[-1] = re.sub(r",(\s*(/\*.*)?)$", r"\1", kept[-1])
        name = tail.strip().rstrip(";").strip()
        if name and name not in used:
            head, tail = "enum ", ";"
        return head + "{\n" + "\n".join(line.rstrip() for line in kept) + "\n}" + tail

    # ---- includes

    def _includes(self, file: File, body: str) -> list[str]:
        words = self._named(file.path, body)
        project = set(self.included[file.path])
        origin = self._origin(file)
        in_source = set(origin.system)
        for header in headers(origin.path, origin.isa):
            in_source |= set(load(header, origin.isa).system)
        system = system_headers(words, in_source)
        if file.path == "kernel.h":
            system = sorted({*system, *BASIC})
        elif "kernel.h" in self._closure(file.path, set()):
            system = [name for name in system if name not in BASIC]
        own = names.header_of(file.path) if file.path.endswith(".c") else ""
        if own not in project:
            return include_lines(file.path, None, system, project)
        return include_lines(file.path, own, system, project - {own} - self._closure(own, set()))

    def _closure(self, path: str, seen: set[str]) -> set[str]:
        for header in self.included[path] - seen:
            seen.add(header)
            self._closure(header, seen)
        return seen

    def _origin(self, file: File) -> Unit:
        return file.unit or self.reached.units[file.path.removesuffix(".h") + ".c"]

    def _named(self, path: str, body: str) -> frozenset[str]:
        """Returns the names that a file's text uses, including those from macro expansions."""
        made = (piece.item for piece in self.files[path].pieces if piece.item.kind == "call")
        return _words(body).union(*(referenced_names(leaf) for item in made for leaf in item.leaves()))

    def _project(self, file: File, words: frozenset[str]) -> set[str]:
        """Returns the generated headers that a file needs."""
        found = set(file.extra)
        origin = self._origin(file)
        for header in headers(origin.path, origin.isa):
            other = self.files.get(header)
            if other is None or header == file.path:
                continue
            defined = {name for piece in other.pieces for leaf in piece.item.leaves() for name in leaf.names}
            defined |= {aliases().get(name, name) for name in defined}
            if defined & words:
                found.add(header)
        own = self.files.get(names.header_of(file.path)) if file.path.endswith(".c") else None
        if own is not None and (own.runs or own.moved):
            found.add(own.path)
        if file.runs:
            found.add("kernel.h")
        found.discard(file.path)
        return found


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(token.text for token in significant(tokenize(text)) if token.kind == "name")
