"""Modules import each other in one direction: no circles, not by imports for type checking or within functions either.

Those may hide a circle from Python and from import-linter's contracts, not from whoever reads the modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

PACKAGES = ("mslite.quantizer",)


def imports_within(package: str) -> dict[str, set[str]]:
    """Each module of a package, and those of the package that it imports."""
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph("mslite", exclude_type_checking_imports=False, cache_dir=None)
    modules = graph.find_descendants(package)
    return {module: graph.find_modules_directly_imported_by(module) & modules for module in modules}


def circle_in(imports: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle, in order; none where there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


@pytest.mark.parametrize("package", PACKAGES)
def test_neither_modules_nor_rooms_import_in_circles(package: str) -> None:
    modules = imports_within(package)
    assert len(modules) > 1
    circle = circle_in(modules)
    assert not circle, " imports ".join(circle)
    depth = package.count(".") + 2
    rooms: dict[str, set[str]] = {}
    for module, imported in modules.items():
        room = ".".join(module.split(".")[:depth])
        rooms.setdefault(room, set()).update({".".join(other.split(".")[:depth]) for other in imported} - {room})
    circle = circle_in(rooms)
    assert not circle, " imports ".join(circle)


def test_a_circle_is_found() -> None:
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})[0] in {"a", "b", "c"}
    assert not circle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()})
