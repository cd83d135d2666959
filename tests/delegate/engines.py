"""The backends that the tests run with. A backend that is added here gets the tests of operators and models."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import mslite
from mslite.model import Placement


@dataclass(frozen=True)
class Engine:
    """A backend, and its settings for the tests."""

    name: str
    """Prefix of its name in placements."""
    target: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    provider: str = ""
    """Provider in the CPU's settings, if it selects the backend."""
    is_half: bool = False
    """Whether it stores float values as float16."""
    has_images: bool = False
    """Whether it stores tensors in images if possible."""

    @property
    def label(self) -> str:
        """The name with its settings."""
        return self.name + " float16" * self.is_half + " images" * self.has_images

    def context(self) -> mslite.Context:
        """Returns a context with which models run on the backend, or fail."""
        context = mslite.Context()
        context.target = list(self.target)
        context.cpu.provider = self.provider
        context.gpu.precision_mode = "preferred_fp16" if self.is_half else "enforce_fp32"
        context.fallback = False
        return context

    @contextmanager
    def chosen(self, **more: str) -> Iterator[None]:
        """Sets the environment variables of the backend."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**self.environment, **more}.items():
                patch.setenv(name, value)
            yield

    def built(self, path: Path) -> mslite.Model:
        """Builds the model on the backend. Raises RuntimeError if it is missing or fails."""
        model = mslite.Model()
        model.build_from_file(path, mslite.ModelType.MINDIR_LITE, self.context())
        return model

    def has(self, placement: Placement) -> bool:
        """Returns whether the backend runs the node."""
        return placement.engine.startswith(self.name)

    def share(self, placements: list[Placement]) -> float:
        """Returns the share of floating-point operations on the backend; 1 for a model without any."""
        total = sum(placement.flops for placement in placements)
        return sum(placement.flops for placement in placements if self.has(placement)) / total if total else 1.0


OPENCL = Engine(
    "OpenCL",
    ("gpu", "cpu"),
    # PoCL compiles each kernel again for each work-group size, which takes most of the time.
    {"MSLITE_OPENCL_DEVICE": "Portable Computing Language", "POCL_WORK_GROUP_SPECIALIZATION": "0"},
)
BUILD = Path(os.environ.get("MSLITE_BUILD", Path(__file__).resolve().parents[2] / "build")).resolve()


def _phone(name: str) -> Engine:
    """A backend for phones, with a test double of its library that computes with mslite's kernels."""
    library = BUILD / f"tests/delegate/libfake_{name.lower()}.so"
    return Engine(name, ("cpu",), {f"MSLITE_{name}_LIBRARY": str(library)}, provider=name.lower())


NNAPI, NNRT = _phone("NNAPI"), _phone("NNRT")
OPENCL_HALF = replace(OPENCL, is_half=True)
OPENCL_IMAGES, OPENCL_HALF_IMAGES = (
    replace(engine, has_images=True, environment={**engine.environment, "MSLITE_OPENCL_STORAGE": "image"})
    for engine in (OPENCL, OPENCL_HALF)
)
ENGINES = (OPENCL, OPENCL_HALF, OPENCL_IMAGES, OPENCL_HALF_IMAGES, NNAPI, NNRT)
SLOW = frozenset({OPENCL_IMAGES.label})
"""Backends that CI omits, because they differ little from others."""
