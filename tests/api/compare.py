"""Compares the public C++ and C headers with the reference of MindSpore Lite's API.

    python -m tests.api.compare

Prints missing functions, different parameters or values, and omissions with their reasons. The exit code is 1 if a function is missing
that `left_out.yaml` does not list.
"""

from __future__ import annotations

import fnmatch
import sys
from pathlib import Path

import yaml

from .headers import C_FOLDERS, CPP_FOLDERS, read_headers
from .reference import REFERENCE, Function, c_functions, constants, cpp_functions

LEFT_OUT = Path(__file__).with_name("left_out.yaml")


def left_out() -> dict[str, str]:
    """Pattern -> reason."""
    return {pattern: entry["reason"] for entry in yaml.safe_load(LEFT_OUT.read_text()) for pattern in entry["names"]}


def absent_cpp(text: str) -> list[str]:
    found = read_headers(CPP_FOLDERS)

    def is_declared(function: Function) -> bool:
        # A row without a class belongs to the class of a row above it, or is a free function.
        scopes = (
            function.scopes if function.scopes and function.scopes[0] in found.functions else tuple(found.functions)
        )
        if function.scopes and function.scopes[0] not in found.functions:
            return False
        overloads = [item for scope in scopes for item in found.overloads(scope, function.name)]
        names = any(function.name in found.functions.get(scope, {}) for scope in scopes)
        return (
            function.arity in overloads or None in overloads or (function.arity is None and (bool(overloads) or names))
        )

    return [str(function) for function in cpp_functions(text) if not is_declared(function)]


def absent_constants(text: str) -> list[str]:
    found = read_headers(CPP_FOLDERS).constants
    result = []
    for name, value in constants(text).items():
        if name not in found:
            result.append(f"{name}={value}")
        elif found[name] is not None and (found[name] or 0) & 0xFFFFFFFF != value & 0xFFFFFFFF:
            base = {"kME": 0x20000000, "kMC": 0x30000000}.get(name[:3], 0)  # the page counts within the family
            if (found[name] or 0) != base | value:
                result.append(f"{name}={value} (here {found[name]})")
    return result


def absent_c(text: str) -> list[str]:
    found = read_headers(C_FOLDERS).functions[""]
    return [name for name in c_functions(text) if name not in found]


def judge(absent: list[str]) -> tuple[list[str], dict[str, list[str]], list[str]]:
    """Returns what is missing without a reason, what is omitted by reason, and patterns without a match."""
    reasons, unused = left_out(), set(left_out())
    missing, out = [], dict[str, list[str]]()
    for name in absent:
        pattern = next((pattern for pattern in reasons if fnmatch.fnmatchcase(name, pattern)), None)
        if pattern is None:
            missing.append(name)
        else:
            unused.discard(pattern)
            out.setdefault(reasons[pattern], []).append(name)
    return missing, out, sorted(unused)


def main() -> int:
    text = REFERENCE.read_text()
    absent = absent_cpp(text) + absent_constants(text) + absent_c(text)
    missing, out, unused = judge(absent)
    for reason, names in out.items():
        print(f"Left out: {reason}\n  {', '.join(names)}")
    for pattern in unused:
        print(f"left_out.yaml: nothing is absent that '{pattern}' names")
    for name in missing:
        print(f"ABSENT: {name}")
    print(
        f"{len(cpp_functions(text))} C++ functions, {len(constants(text))} constants, {len(c_functions(text))} C functions compared."
    )
    return 1 if missing or unused else 0


if __name__ == "__main__":
    sys.exit(main())
