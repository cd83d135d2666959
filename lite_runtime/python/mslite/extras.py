"""What `pip install mslite` leaves out: the packages that the converter needs, which a program that only runs models does not."""

from __future__ import annotations

CONVERTER_PACKAGES = frozenset({"flatbuffers", "google", "jinja2", "onnx", "rich", "tflite"})
"""The modules of the extra `converter` of pyproject.toml, and nothing else."""


def remedy(error: ModuleNotFoundError) -> str | None:
    """What to say when a part of the converter is missing; None when `error` is about another module."""
    package = (error.name or "").split(".")[0]
    if package == "elftools":
        return "the Python package 'pyelftools' is not installed; what cropping needs comes with: pip install 'mslite[crop]'"
    if package not in CONVERTER_PACKAGES:
        return None
    return (
        f"the Python package '{package}' is not installed. Running models needs numpy alone; "
        "what the converter needs comes with: pip install 'mslite[converter]'"
    )
