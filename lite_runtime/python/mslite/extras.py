"""Optional packages of the converter and other programs, and the commands that install them."""

from __future__ import annotations

import os

CONVERTER_PACKAGES = frozenset({"flatbuffers", "google", "jinja2", "onnx", "rich", "tflite"})
"""The Python modules of the extra `converter` in pyproject.toml."""


def install(extra: str) -> str:
    """Returns the command that installs the packages of an extra. mslite is not on a package index, so the command names the
    packages, or in a checkout the checkout."""
    packages = _missing(extra)
    if not packages:
        return f"pip install '.[{extra}]' in the checkout of mslite"
    return " ".join(["pip install", *(f"'{package}'" for package in packages)])


def install_hint(error: ModuleNotFoundError) -> str | None:
    """Returns a message if a module of the converter or the code generator is missing; None for other modules."""
    if error.name == "mslite._codegen":
        return "this mslite was built without the code generator, for example by `make demo`; use `make install`"
    package = (error.name or "").split(".")[0]
    if package == "elftools":
        return f"the Python package 'pyelftools' is not installed; install the packages of mslite-crop with: {install('crop')}"
    if package not in CONVERTER_PACKAGES:
        return None
    return (
        f"the Python package '{package}' is not installed. Running models only needs numpy; "
        f"install the packages of the converter with: {install('converter')}"
    )


def _missing(extra: str) -> list[str]:
    """Returns the requirements of an extra that are not installed; empty if mslite is not an installed distribution."""
    from importlib.metadata import (
        PackageNotFoundError,
        distribution,
    )  # imported here because it takes longer than the rest of the module

    def is_installed(name: str) -> bool:
        try:
            distribution(name)
        except PackageNotFoundError:
            return False
        return True

    try:
        own = distribution("mslite")
    except PackageNotFoundError:
        return []
    here = os.path.realpath(__file__)
    if os.path.realpath(str(own.locate_file("mslite/extras.py"))) != here:
        return []  # another mslite is installed: this module is in a checkout
    needed: dict[str, None] = {}
    wanted = [extra]
    for name in wanted:
        for line in own.requires or ():
            requirement, _, marker = line.partition(";")
            if marker.replace("'", '"').replace(" ", "") != f'extra=="{name}"':
                continue
            requirement = requirement.strip()
            if requirement.startswith("mslite["):
                wanted += [part for part in requirement[7:].partition("]")[0].split(",") if part not in wanted]
            elif not is_installed(_name(requirement)):
                needed[requirement] = None
    return list(needed)


def _name(requirement: str) -> str:
    """Returns the name of the distribution in a requirement."""
    for i, letter in enumerate(requirement):
        if not (letter.isalnum() or letter in "-_."):
            return requirement[:i]
    return requirement
