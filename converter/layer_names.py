"""Compares names of layers and constants with those that users write."""

from __future__ import annotations

from fnmatch import fnmatchcase

_ENDS = ("/", ".", "_nhwc")
"""Separators and suffixes after the name of a layer: of its parts, and of constants that the converter rearranged."""


def is_named(name: str, wanted: str) -> bool:
    """Returns whether `wanted` is the name, a prefix of it that ends at a separator, or a pattern in which `*` matches
    anything."""
    name, wanted = name.lstrip("/"), wanted.lstrip("/")
    if name == wanted or fnmatchcase(name, wanted.replace("[", "[[]")):
        return True
    return name.startswith(tuple(wanted + end for end in _ENDS))


def module_name(name: str) -> str:
    """Converts a node name of PyTorch's ONNX exporter, `/a/a.0/b/Conv`, to the name of the module and node,
    `a.0.b.Conv`."""
    before, found = "", list[str]()
    for part in name.lstrip("/").split("/"):
        if before and part.startswith(f"{before}."):
            found.pop()
        found.append(part)
        before = part
    return ".".join(found)
