"""Names of layers and constants, as users write them."""

from __future__ import annotations

from fnmatch import fnmatchcase

_ENDS = ("/", ".", "_nhwc")
"""What follows a name in those of its parts, and in those that the converter gives to rearranged constants."""


def is_named(name: str, wanted: str) -> bool:
    """Whether `wanted` is the name, what it begins with up to a part of it, or a pattern with `*` for any characters."""
    name, wanted = name.lstrip("/"), wanted.lstrip("/")
    if name == wanted or fnmatchcase(name, wanted.replace("[", "[[]")):
        return True
    return name.startswith(tuple(wanted + end for end in _ENDS))


def module_name(name: str) -> str:
    """PyTorch's exporter calls a layer `a.0.b` of a network `/a/a.0/b/Conv`: this is `a.0.b.Conv` again."""
    before, found = "", list[str]()
    for part in name.lstrip("/").split("/"):
        if before and part.startswith(f"{before}."):
            found.pop()
        found.append(part)
        before = part
    return ".".join(found)
