"""The reached parts of the kernels as C files that read as if they had been written for the program."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from . import locate, names
from .items import Item, Unit, load
from .reach import Kernel, Reached, aliases, headers, reach, used_macros, used_names, visible
from .tokens import Token, join, significant, tokenise

_COMMENTS = {
    "kernel.h": "/* What the kernels of this program and the code that calls them have in common. */",
    locate.PARAMETERS: "/* The numbers that stand for operators, element types and modes. */",
}
_SYSTEM = (
    ("<float.h>", re.compile(r"(FLT|DBL)_\w+")),
    ("<math.h>", re.compile(
        r"(sqrt|floor|ceil|rint|round|fmod|fabs|nearbyint|trunc|exp|expm1|log|log1p|log2|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh"
        r"|tanh|erf|erfc|ldexp|frexp|scalbn|fma|fmax|fmin|hypot|copysign|lrint|llrint|lround|llround|cbrt)f?|INFINITY|NAN|HUGE_VALF?"
        r"|isnan|isinf|isfinite|signbit")),
    ("<stdbool.h>", re.compile(r"bool|true|false")),
    ("<stddef.h>", re.compile(r"NULL|size_t|ptrdiff_t|offsetof")),
    ("<stdint.h>", re.compile(r"u?int(8|16|32|64|ptr)_t|U?INT(8|16|32|64)_(MAX|MIN|C)")),
    ("<stdlib.h>", re.compile(r"qsort|bsearch|l?labs|abs|strto\w+")),
    ("<stdio.h>", re.compile(r"snprintf")),
    ("<ctype.h>", re.compile(r"isalpha|isdigit|isspace|isalnum|isupper|islower|tolower|toupper")),
    ("<string.h>", re.compile(r"mem(cpy|set|move|cmp|chr)|str(len|cmp|ncmp|chr|str)")),
    ("<arm_neon.h>", re.compile(r"(u?int|float|poly)\d+x\d+(x\d)?_t|v[a-z0-9]+(_[a-z0-9]+)*_[suf](8|16|32|64)|float16_t")),
    ("<arm_mve.h>", re.compile(r"(u?int|float)\d+x\d+(x\d)?_t|mve_pred16_t|v[a-z0-9]+q(_[a-z0-9]+)*")),
    ("<arm_acle.h>", re.compile(r"__(?!attribute__)[a-z]\w+")),
    ("<immintrin.h>", re.compile(r"_mm\w+|__m\d+\w*")),
)  # fmt: skip
_PLAIN = ("<stdbool.h>", "<stddef.h>", "<stdint.h>")
"""What kernel.h brings along."""
_OPTIONAL = ("<arm_neon.h>", "<arm_mve.h>", "<arm_acle.h>", "<immintrin.h>")
"""Of processors: only where the source includes them, too."""


@dataclass
class Piece:
    """Text that is written as it stands."""

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
    """Types that come from the .c file of this header."""
    wrappers: list[str] = field(default_factory=list)
    """Functions that are written for the program."""
    runs: list[str] = field(default_factory=list)
    """Functions that it declares for the program."""
    extra: set[str] = field(default_factory=set)
    """Headers that it includes for those who include it."""


class Writer:
    def __init__(self, kernels: Iterable[Kernel], isa: str) -> None:
        self.isa = isa
        self.kernels = sorted(kernels, key=lambda kernel: kernel.name)
        roots = [(kernel.path, kernel.run) for kernel in self.kernels]
        roots += [
            ("kernel.h", "mslite_run"),
            *((kernel.path, kernel.derived) for kernel in self.kernels if kernel.derived),
        ]
        self.reached: Reached = reach(roots, isa)
        self.files: dict[str, File] = {}
        self.renames: dict[str, dict[str, str]] = {}
        """Of each source file."""
        self.exported: set[Item] = set()

    def texts(self) -> dict[str, str]:
        """Path, relative to the folder of the kernels -> text."""
        for path, unit in sorted(self.reached.units.items()):
            self.files[path] = File(path, unit, self._pieces(unit))
            self.renames[path] = {}
        for kernel in self.kernels:
            self._export(kernel)
        self._keep_macros()
        bodies = {path: self._whole_body(file) for path, file in self.files.items()}
        self.included = {path: self._project(self.files[path], _words(body)) for path, body in bodies.items()}
        return {path: self._text(file, bodies[path]) for path, file in sorted(self.files.items())}

    # ---- what is written of a file

    def _pieces(self, unit: Unit) -> list[Piece]:
        """Kept declarations in their order. A macro that several of them are made with stays; others are written out."""
        chosen: list[tuple[Item, Item]] = []  # the top-level item that a piece came from
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
        """True for a macro call that defines a function with an external name."""
        runs = {kernel.run for kernel in self.kernels if kernel.path == unit.path}
        return any(runs.intersection(leaf.names) for leaf in item.leaves())

    def _whole(self, item: Item) -> list[Item]:
        """The item, or those of its parts that are needed, as large as they are needed whole."""
        if item.kind == "include":
            return [item]
        if item.kind != "call":
            return [item] if item in self.reached.items else []
        leaves = list(item.leaves())
        if leaves and all(leaf in self.reached.items for leaf in leaves):
            return [item]
        return [piece for part in item.parts for piece in self._whole(part)]

    # ---- what the program calls

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
            elif name not in file.runs:  # it stands in a header
                self._wrap(unit, kernel.run, name)
            if name not in file.runs:
                file.runs.append(name)
        if kernel.derived:
            home, struct = names.derived_place(kernel, unit)
            if home.path.endswith(".c"):
                self.renames[home.path][kernel.derived] = names.derived_name(kernel)
                self._move(struct, self.files[home.path], self.files[names.header_of(home.path)])
                if names.header_of(home.path) != header:
                    file.extra.add(names.header_of(home.path))
            elif home.path != header:
                file.extra.add(home.path)

    def _wrap(self, unit: Unit, run: str, name: str) -> None:
        """Gives a static function of a header an external name, in the file that includes it."""
        text = f"void {name}(const mslite_run *run, int32_t phase, int32_t part) {{\n  {run}(run, phase, part);\n}}"
        file = self.files.setdefault(unit.path, File(unit.path, unit))
        self.renames.setdefault(unit.path, {})
        self.reached.units[unit.path] = unit
        file.wrappers.append(text)

    def _move(self, struct: Item, source: File, header: File) -> None:
        """Moves a type to the header, and what its text needs of the same file before it."""
        needed, queue = {struct}, [struct]
        while queue:
            for name in used_names(queue.pop()):
                for unit, item in visible(source.path, self._isa(source)).get(name, ()):
                    if unit.path == source.path and item not in needed:
                        needed.add(item)
                        queue.append(item)
        for piece in [piece for piece in source.pieces if piece.item in needed]:
            source.pieces.remove(piece)
            header.moved.append(piece)
            for name in piece.item.names:
                self.renames[source.path].setdefault(name, names.moved_name(source.path, name))

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
        return f"/* The kernels of {stem}.c, and the numbers that they are given. */"

    def _body(self, pieces: list[Piece], renames: Mapping[str, str], unit: Unit | None) -> str:
        lines: list[str] = []
        state: tuple[tuple[int, int], ...] = ()
        for piece in pieces:
            directives, state = _steps(state, piece.item.opened, unit)
            text = piece.item.text
            if piece.item.kind in ("enum", "type") and unit is not None and unit.path in _COMMENTS:
                text = self._fewer(piece.item, text)
            exported = any(leaf in self.exported for leaf in piece.item.leaves())
            text = _renamed(text, renames)
            if exported:
                text = re.sub(r"\bstatic void\b", "void", text)
            _add(lines, directives, piece.spaced or "\n" in text)
            if piece.comment:
                lines.append(piece.comment)
            lines.append(text)
        _add(lines, _steps(state, (), unit)[0], False)
        return "\n".join(lines) + "\n" if lines else ""

    def _fewer(self, item: Item, text: str) -> str:
        """An enumeration without the constants that nobody uses."""
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
        words = _words(body)
        project = self.included[file.path]
        closure = self._closure(file.path, set())
        origin = self._origin(file)
        present = set(origin.system)
        for header in headers(origin.path, origin.isa):
            present |= set(load(header, origin.isa).system)
        system = []
        for name, pattern in _SYSTEM:
            if not any(pattern.fullmatch(word) for word in words) and not (file.path == "kernel.h" and name in _PLAIN):
                continue
            if name in _OPTIONAL and name not in present:
                continue
            if name in _PLAIN and "kernel.h" in closure:
                continue
            system.append(name)
        own = names.header_of(file.path) if file.path.endswith(".c") else ""
        if own in project:
            project = {header for header in project if header == own or header not in self._closure(own, set())}
        groups = [
            [own] if own in project else [],
            [],
            sorted(header for header in project if header != own),
        ]
        folder = posixpath.dirname(file.path)
        lines: list[str] = []
        for index, group in enumerate(groups):
            found = [f'#include "{posixpath.relpath(header, folder or ".")}"' for header in group]
            if index == 1:
                found = [f"#include {name}" for name in sorted(system)]
            if found:
                lines += ([""] if lines else []) + found
        return lines

    def _closure(self, path: str, seen: set[str]) -> set[str]:
        for header in self.included[path] - seen:
            seen.add(header)
            self._closure(header, seen)
        return seen

    def _origin(self, file: File) -> Unit:
        return file.unit or self.reached.units[file.path.removesuffix(".h") + ".c"]

    def _project(self, file: File, words: frozenset[str]) -> set[str]:
        """The written headers that define what a file's text names."""
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


def _add(lines: list[str], directives: list[str], spaced: bool) -> None:
    """Directives, and the blank lines around them and before what follows."""
    for text in directives:
        opens = text.split("\n")[-1].startswith("#if")
        if lines and lines[-1] and (opens or lines[-1] == "#endif") and not text.startswith("#endif"):
            lines.append("")
        lines.append(text)
    if lines and lines[-1] and (directives[-1] == "#endif" if directives else spaced):
        lines.append("")


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(token.text for token in significant(tokenise(text)) if token.kind == "name")


def _steps(
    now: tuple[tuple[int, int], ...], wanted: tuple[tuple[int, int], ...], unit: Unit | None
) -> tuple[list[str], tuple[tuple[int, int], ...]]:
    """The directives that lead from one place between open conditions to another."""
    if now == wanted or unit is None:
        return [], wanted
    common = 0
    while common < min(len(now), len(wanted)) and now[common] == wanted[common]:
        common += 1
    lines: list[str] = []
    if common < len(now) and common < len(wanted) and now[common][0] == wanted[common][0]:
        lines += ["#endif"] * (len(now) - common - 1)
        which, branch = wanted[common]
        lines += unit.branches[which][now[common][1] + 1 : branch + 1]
        common += 1
    else:
        lines += ["#endif"] * (len(now) - common)
    for which, branch in wanted[common:]:
        lines += unit.branches[which][: branch + 1]
    return lines, wanted


def _renamed(text: str, renames: Mapping[str, str]) -> str:
    tokens = [
        Token(token.kind, renames[token.text]) if token.kind == "name" and token.text in renames else token
        for token in tokenise(text)
    ]
    changed = re.sub(r"MSLITE_ISA_NAME\((\w+)\)", r"\1", join(tokens))
    return _aligned(changed) if "\\\n" in changed else changed


def _aligned(text: str) -> str:
    """Puts the backslashes of a macro under each other."""
    lines = text.split("\n")
    bare = [line[:-1].rstrip() if line.endswith("\\") else line for line in lines]
    width = max(len(line) for line, full in zip(bare, lines, strict=True) if full.endswith("\\"))
    return "\n".join(
        f"{line:<{width}} \\" if full.endswith("\\") else line for line, full in zip(bare, lines, strict=True)
    )
