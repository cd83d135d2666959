"""What `pip install .` leaves out: packages that only some programs need, and what to type to get them."""

from __future__ import annotations

import os

CONVERTER_PACKAGES = frozenset({"flatbuffers", "google", "jinja2", "onnx", "rich", "tflite"})
"""The modules of the extra `converter` of pyproject.toml, and nothing else."""


def install(extra: str) -> str:
    """What to type for the packages of an extra. No package index has mslite: an installation names the packages, a checkout itself."""
    packages = _missing(extra)
    if not packages:
        return f"pip install '.[{extra}]' in the checkout of mslite"
    return " ".join(["pip install", *(f"'{package}'" for package in packages)])


def remedy(error: ModuleNotFoundError) -> str | None:
    """What to say when a part of the converter or the code generator is missing; None when `error` is about another module."""
    if error.name == "mslite._codegen":
        return "this mslite was built without the code generator, as `make demo` builds it; `make install` builds all of it"
    package = (error.name or "").split(".")[0]
    if package == "elftools":
        return f"the Python package 'pyelftools' is not installed; what cropping needs comes with: {install('crop')}"
    if package not in CONVERTER_PACKAGES:
        return None
    return (
        f"the Python package '{package}' is not installed. Running models needs numpy alone; "
        f"what the converter needs comes with: {install('converter')}"
    )


def _missing(extra: str) -> list[str]:
    """The packages of an extra as pip takes them, without those that are installed; none where mslite is no installed distribution."""
    from importlib.metadata import (
        PackageNotFoundError,
        distribution,
    )  # here: importing it takes longer than all the rest

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
        return []  # another one: this is a checkout's
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
    """The name of the distribution that a requirement is about."""
    for i, letter in enumerate(requirement):
        if not (letter.isalnum() or letter in "-_."):
            return requirement[:i]
    return requirement
