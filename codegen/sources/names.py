"""Makes the names of kernels in generated code. They are unique in the program; many names in the sources are
static."""

from __future__ import annotations

from functools import lru_cache

from .items import Item
from .needed_items import Kernel, definition, kernels, visible
from .parsed_file import Unit, isa_of, load


def _joined(stem: str, base: str) -> str:
    """Returns `stem`, followed by the words of `base` that it does not contain."""
    words = stem.split("_")
    return "_".join([*words, *(word for word in base.split("_") if word and word not in words)])


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".c")


@lru_cache(maxsize=16)
def _runs(isa: str) -> dict[tuple[str, str], str]:
    """Returns (file, function) -> name in generated code."""
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
    """Returns the name of a kernel's function in generated code."""
    return _runs(isa)[kernel.path, kernel.run]


def derived_name(kernel: Kernel, unit: Unit) -> str:
    """Returns the type of a kernel's parameters. A type from a .c file moves to a header and gets a unique name."""
    if kernel.derived.startswith("mslite_") or derived_place(kernel, unit)[0].path.endswith(".h"):
        return kernel.derived
    return f"mslite_{_joined(_stem(kernel.path), kernel.derived.removesuffix('_derived'))}_derived"


def exported_name(path: str, name: str) -> str:
    """Returns the new name of an item that moves from a file to its header, because a program includes many headers."""
    if name.lower().startswith("mslite_"):
        return name
    stem = f"mslite_{_stem(path)}_"
    return (stem.upper() if name.isupper() else stem) + name


def header_of(path: str) -> str:
    """Returns the header with the declarations of a file that generated code needs."""
    return path.removesuffix(".c") + ".h"


def run_place(kernel: Kernel, unit: Unit, isa: str) -> tuple[Unit, Item]:
    """Returns the definition of a kernel's function. Raises ValueError if there is none."""
    for where, item in visible(unit.path, unit.isa).get(kernel.run, ()):
        if item.kind == "function":
            return where, item
    found = definition(kernel.run, isa)
    if found is None:
        raise ValueError(f"{kernel.path} has no function {kernel.run}")
    return found


def run_header(kernel: Kernel, unit: Unit, isa: str) -> str:
    """Returns the header that declares a kernel's function."""
    where, item = run_place(kernel, unit, isa)
    if not item.is_static:
        if where.path.endswith(".h"):
            return where.path
        for other, leaf in visible(unit.path, unit.isa).get(kernel.run, ()):
            if leaf.kind == "declaration":
                return other.path
    return header_of(unit.path)


def derived_place(kernel: Kernel, unit: Unit) -> tuple[Unit, Item]:
    """Returns the definition of the type of a kernel's parameters. Raises ValueError if there is none."""
    for where, item in visible(unit.path, unit.isa).get(kernel.derived, ()):
        if item.kind == "type":
            return where, item
    raise ValueError(f"{kernel.path} has no type {kernel.derived}")


def own_unit(kernel: Kernel, isa: str) -> Unit:
    """Returns the file of a kernel, as compiled for the kernel's instruction set."""
    return load(kernel.path, isa_of(kernel.path, isa))
