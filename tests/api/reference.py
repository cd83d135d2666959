"""Reads the reference of MindSpore Lite's runtime API: functions of C++ classes, constants, C functions.

The reference is a page of condensed tables (`../shared/reference/runtime_api.md`). A name before parentheses in a code span is a
function of the class of the row, the table or the section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "runtime_api.md"

Arity = tuple[int, int] | None
"""Minimum and maximum number of parameters; None if the page omits some."""

_SECTION_CLASSES = {"4": ("MSTensor",), "5": ("Serialization",), "6": ("Model",)}
"""The class of a section's functions if a row names none."""

_DEVICES = "DeviceInfo"
_CLASS = re.compile(
    r"^`?(?:\[\S+\] )?(?:template<[^>]*>\s*)?(?:class\s+)?(?:\w+::)*((?:[A-Z]\w+(?:<T>)?/?)+)(?:`|\s*:\s|\s*$|\s\()"
)
_NOT_FUNCTIONS = {
    "function",
    "vec",
    "sp",
    "map",
    "pair",
    "default",
    "operator",
    "build",
    "value_as_Custom",
    "value_type",
    "bool",
}


@dataclass(frozen=True)
class Function:
    """A function of the reference. `scopes`: the classes that may have it; empty for a free function."""

    scopes: tuple[str, ...]
    name: str
    arity: Arity
    section: str

    def __str__(self) -> str:
        numbers = "" if self.arity is None else "/" + "..".join(str(number) for number in dict.fromkeys(self.arity))
        return "|".join(self.scopes) + "::" * bool(self.scopes) + self.name + numbers


def sections(text: str) -> dict[str, str]:
    """Section number -> text."""
    parts = re.split(r"^## (\d+)\..*$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _spans(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def split(text: str, at: str) -> list[str]:
    """Splits at separators outside of all brackets."""
    depth, parts = 0, [""]
    for character in text.replace("->", "  "):
        depth += (character in "(<{[") - (character in ")>}]")
        if character == at and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def arity(parameters: str) -> Arity:
    if "…" in parameters or "[" in parameters or "..." in parameters:
        return None
    if parameters.strip() in ("", "void"):
        return 0, 0
    parts = split(parameters, ",")
    return sum("=" not in part for part in parts), len(parts)


def calls(text: str) -> Iterator[tuple[str, str, str]]:
    """Returns the text before the name, the name and the parameters of each function that is not a parameter of another one."""
    end = 0
    for match in re.finditer(r"(~?\w+)\s*\(", text):
        if match.start() < end:
            continue
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        yield text[: match.start()].rstrip(), match.group(1), text[match.end() : end - (depth == 0)] + "…" * (depth > 0)


def _functions_of(scopes: tuple[str, ...], span: str, section: str) -> Iterator[Function]:
    last = ""
    pieces = split(span, "/") if "/" in span and "(" in span else [span]
    for piece in pieces:
        found = list(calls(piece))
        for before, name, parameters in found:
            if name in _NOT_FUNCTIONS or before.endswith(("std", "->")):
                continue
            owner = re.search(r"(\w+)::$", before)
            where = (owner.group(1),) if owner else scopes
            last = where[-1] if name == "explicit" and where else name
            yield Function(where, last, arity(parameters), section)
        bare = re.search(r"([A-Za-z_]\w+)\s*$", piece)
        if not found and bare and bare.group(1) != "nullptr" and len(pieces) > 1:
            last = "Get" + last[3:] if bare.group(1) == "Get" else bare.group(1)
            yield Function(scopes, last, None, section)


def _device_properties(scopes: tuple[str, ...], cell: str) -> Iterator[Function]:
    """Reads a table of devices with setters, and properties without the prefix Set."""
    for span in _spans(cell):
        for part in split(span, ","):
            match = re.match(r"\s*([A-Z]\w+)", part)
            for name in match.groups() if match else ():
                stem = re.sub("^(Set|Get)", "", name)
                yield Function(scopes, "Get" + stem, (0, 0), "3")
                if not name.startswith("Get"):
                    yield Function(scopes, "Set" + stem, (1, 1), "3")


def cpp_functions(text: str) -> list[Function]:
    """Returns the functions of C++ classes and free functions in sections 2 to 8."""
    found: list[Function] = []
    for number, section in sections(text).items():
        if number not in "2345678":
            continue
        table = _SECTION_CLASSES.get(number, ())
        for line in section.split("### Config file")[0].splitlines():
            cells = _cells(line) if line.startswith("|") else [line]
            heading = re.match(r"### (Status)$", line)
            match = heading if line.startswith("###") else _CLASS.match(cells[0])
            named = tuple(name.removesuffix("<T>") for name in match.group(1).split("/")) if match else None
            if named and (line.startswith("###") or re.match(r"\|\s*`class", line)):
                table = named
            if named is None and line.startswith(("| Item", "###")):
                table = _SECTION_CLASSES.get(number, ())
            scopes = named or table
            if number == "3" and scopes and scopes[0].endswith(_DEVICES):
                found += _device_properties(scopes, cells[1] if len(cells) > 1 else "")
                continue
            for cell in cells[1:] if named and len(cells) > 1 else cells:
                for span in _spans(cell):
                    found += _functions_of(() if "Version()" in span else scopes, span, number)
    return list(dict.fromkeys(found))


def constants(text: str) -> dict[str, int]:
    """Returns the constants of section 2 that have a value, by name; the first value if releases differ."""
    section = sections(text)["2"].replace("−", "-")
    found: dict[str, int] = {}
    for line in section.splitlines():
        cells = _cells(line) if line.startswith("|") else [line]
        kind = cells[0].strip("`").split()[0] if cells[0] else ""
        prefix = "kNumberType" if kind == "DataType" else ""
        objects = {"List": "kObjectTypeList", "Tuple": "kObjectTypeTuple", "Tensor": "kObjectTypeTensorType"}
        body = re.sub(r"\([^()]*\)", "", cells[1] if len(cells) > 1 and not re.match(r"-?\d+$", cells[0]) else line)
        body = re.split(r"\[(?:2\.8\+|1\.3)\]|older|internal|Internal|→|/ QT_", body)[0]
        for name, value in re.findall(r"\b([A-Za-z_]\w*) (-?\d+|0x[0-9A-F]+)\b", body):
            known = (
                name
                if re.match(r"k[A-Z]|RET_|SCHEMA_|[A-Z]+_", name) or name in ("NCHW", "NHWC")
                else objects.get(name, prefix + name)
            )
            found.setdefault(known, int(value, 0))
        for value, name in re.findall(r"\| (-\d+) \| (kLite\w+)\b(?! \[)", line.replace("| |", "|")):
            found.setdefault(name, 0xF0000000 | (0x0FFFFFFF & int(value)))
    return found


def c_functions(text: str) -> list[str]:
    """Returns the functions of the C API, with abbreviated names expanded."""
    section = sections(text)["11"].split("Ownership:")[0]
    rows = [_cells(line) for line in section.splitlines() if line.startswith("|")][2:]
    names: list[str] = []
    for column in range(3):
        last = prefix = ""
        for span in (span for row in rows if column < len(row) for span in _spans(row[column])):
            span = re.sub(r"Get/Set(\w+)", r"Get\1/…Set\1", span)
            for part in re.findall(r"…?[A-Z]\w*…?", re.sub(r"\([^()]*\)", "", span)):
                word = part.strip("…")
                is_type = re.match(r"MS\w*(Handle|HandleArray|Status|Type|Format)$", word) and f"{word}*" not in span
                if is_type and not re.search(rf"{word}\(|{word}/|/{word}$", span):
                    continue  # type of a result
                if word.startswith("MS") and not part.startswith("…"):
                    last = word
                elif part.startswith("…") and part.endswith("…") and word == "Output":
                    last = last.replace("Input", "Output")
                elif word in ("Get", "Set"):
                    last = prefix + word + re.sub(r"^(Get|Set)", "", last.removeprefix(prefix))
                else:
                    last = prefix + word
                if match := re.match(r"MS(Context|DeviceInfo|Model|Tensor|TrainCfg|Train)", last):
                    prefix = match.group()
                names.append(last)
    return list(dict.fromkeys(names))
