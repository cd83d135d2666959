"""The names by which generated code knows a kernel: unique in the whole program, where those in the sources are static."""

from __future__ import annotations

from functools import lru_cache

from .items import Item
from .reach import Kernel, definition, kernels, visible
from .units import Unit, isa_of, load


def _joined(stem: str, base: str) -> str:
    """`stem`, then the words of `base` that it does not have."""
    words = stem.split("_")
    return "_".join([*words, *(word for word in base.split("_") if word and word not in words)])


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".c")


@lru_cache(maxsize=16)
def _runs(isa: str) -> dict[tuple[str, str], str]:
    """(file, function) -> external name."""
    found: dict[tuple[str, str], str] = {}
    for kernel in kernels(isa).values():
        base = kernel.run.removesuffix("_part").removesuffix("run").removesuffix("_")
        name = f"mslite_{_joined(_stem(kernel.path), base)}_run"
        key = (kernel.path, kernel.run)
        if name in (other for place, other in found.items() if place != key):
            name = f"mslite_{_stem(kernel.path)}_{base}_run"
        found[key] = kernel.run if kernel.run.startswith("mslite_") else name
    return found


def run_name(kernel: Kernel, isa: str) -> str:
    return _runs(isa)[kernel.path, kernel.run]


def derived_name(kernel: Kernel, unit: Unit) -> str:
    """The type of the derived numbers; one of a .c file moves to its header and gets a name of its own."""
    if kernel.derived.startswith("mslite_") or derived_place(kernel, unit)[0].path.endswith(".h"):
        return kernel.derived
    return f"mslite_{_joined(_stem(kernel.path), kernel.derived.removesuffix('_derived'))}_derived"


def moved_name(path: str, name: str) -> str:
    """Of what moves from a file to its header: programs include many headers."""
    if name.lower().startswith("mslite_"):
        return name
    stem = f"mslite_{_stem(path)}_"
    return (stem.upper() if name.isupper() else stem) + name


def header_of(path: str) -> str:
    """The header that declares what generated code needs of a file."""
    return path.removesuffix(".c") + ".h"


def run_place(kernel: Kernel, unit: Unit, isa: str) -> tuple[Unit, Item]:
    """Where `run` is defined."""
    for where, item in visible(unit.path, unit.isa).get(kernel.run, ()):
        if item.kind == "function":
            return where, item
    found = definition(kernel.run, isa)
    if found is None:
        raise ValueError(f"{kernel.path} has no function {kernel.run}")
    return found


def run_header(kernel: Kernel, unit: Unit, isa: str) -> str:
    """The header that declares `run` to the program."""
    where, item = run_place(kernel, unit, isa)
    if not item.is_static:
        if where.path.endswith(".h"):
            return where.path
        for other, leaf in visible(unit.path, unit.isa).get(kernel.run, ()):
            if leaf.kind == "declaration":
                return other.path
    return header_of(unit.path)


def derived_place(kernel: Kernel, unit: Unit) -> tuple[Unit, Item]:
    """Where the type of the derived numbers is defined."""
    for where, item in visible(unit.path, unit.isa).get(kernel.derived, ()):
        if item.kind == "type":
            return where, item
    raise ValueError(f"{kernel.path} has no type {kernel.derived}")


def own_unit(kernel: Kernel, isa: str) -> Unit:
    return load(kernel.path, isa_of(kernel.path, isa))
