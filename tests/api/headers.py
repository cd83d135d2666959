"""Reads the declarations of the public headers from their text: functions by class with the number of parameters, constants."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .reference import Arity, arity, calls

INCLUDE = Path(__file__).parents[2] / "lite_runtime" / "include"
CPP_FOLDERS = ("api", "registry", "kernel_interface.h", "errorcode.h", "schema")
C_FOLDERS = ("c_api",)

_OPENING = re.compile(
    r"\b(class|struct|enum(?:\s+class)?|union|namespace)\s+(?:MS_API\s+)?([\w:]*)"
    r"(?:\s+final)?\s*(?::\s*(?P<bases>[^{;]*))?\{"
)


@dataclass
class Declarations:
    functions: dict[str, dict[str, list[Arity]]] = field(default_factory=dict)
    """Class ("" for free functions) -> name -> number of parameters of each overload."""
    bases: dict[str, list[str]] = field(default_factory=dict)
    constants: dict[str, int | None] = field(default_factory=dict)
    """Values of enumerators and constants; None if the value is an expression."""

    def overloads(self, scope: str, name: str) -> list[Arity]:
        """Returns the functions of the class and its base classes."""
        own = self.functions.get(scope, {}).get(name, [])
        for base in self.bases.get(scope, ()):
            own = own + self.overloads(base, name)
        return own


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def _closing(text: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return place
    raise ValueError("a brace is not closed")


def _value(text: str) -> int | None:
    text = re.sub(r"(?<=[0-9A-Fa-f])u\b", "", text.strip())
    try:
        return int(text, 0)
    except ValueError:
        return None


def _read_enumerators(body: str, found: Declarations) -> None:
    following: int | None = 0
    for part in body.split(","):
        match = re.match(r"\s*(\w+)\s*(?:=\s*(.*))?$", part.strip(), re.DOTALL)
        if match is None:
            continue
        if match.group(2):
            lite = re.match(r"(\w+) \| (.*)$", match.group(2).strip())
            value = _value(match.group(2))
            if lite and lite.group(1) in found.constants:
                base, rest = found.constants[lite.group(1)], lite.group(2)
                masked = re.match(r"\(0x0FFFFFFF & (-\d+)\)", rest)
                number = 0x0FFFFFFF & int(masked.group(1)) if masked else _value(rest)
                value = None if base is None or number is None else base | number
            following = found.constants.get(match.group(2).strip(), value)
        found.constants[match.group(1)] = following
        following = None if following is None else following + 1


def _read(text: str, scope: str, found: Declarations) -> None:
    plain, place = [], 0
    while match := _OPENING.search(text, place):
        end = _closing(text, match.end() - 1)
        plain.append(text[place : match.start()])
        kind, name = match.group(1), match.group(2).split("::")[-1]
        body = text[match.end() : end]
        if kind.startswith("enum"):
            _read_enumerators(body, found)
        else:
            inner = scope if kind == "namespace" else name
            if kind != "namespace":
                found.functions.setdefault(name, {})
                found.bases[name] = re.findall(r"public\s+(?:\w+::)*(\w+)", match.group("bases") or "")
            _read(body, inner, found)
        place = end + 1
    rest = "".join([*plain, text[place:]])
    # Function bodies are removed.
    rest = re.sub(r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", ";", rest)
    functions = found.functions.setdefault(scope, {})
    for name, value in re.findall(r"constexpr\s+\w+\s+(\w+)\s*=\s*(-?\w+)\s*;", rest):
        found.constants[name] = _value(value)
    for statement in rest.split(";"):
        if statement.lstrip().startswith("typedef"):
            continue
        for _, name, parameters in calls(statement.split(") :")[0] + ")" * (") :" in statement)):
            functions.setdefault(name, []).append(arity(parameters))
    for name in re.findall(r"using\s+(\w+)\s*=", rest):
        functions.setdefault(name, [])
    for name, old in re.findall(r"using\s+(\w+)\s*=\s*(\w+)\s*;", rest):
        found.bases.setdefault(name, [old])


def read_headers(folders: Iterable[str]) -> Declarations:
    """Returns the declarations of all headers in these folders (or files) of the include folder."""
    found = Declarations()
    paths = [path for name in folders for path in sorted((INCLUDE / name).glob("*.h")) or [INCLUDE / name]]
    for path in sorted(paths, key=lambda path: path.name != "status.h"):
        if path.name == "model_generated.h":
            continue
        text = _without_comments(path.read_text())
        for macro, parameters in re.findall(r"#define (\w+)\(([^)]*)\)", text):
            found.functions.setdefault("", {}).setdefault(macro, []).append(arity(parameters))
        text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
        _read(text.replace('extern "C" {', ""), "", found)
    return found
