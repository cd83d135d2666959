"""Small TensorFlow models, one per operator or idiom: `CASES` maps a name to its function and its inputs."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

raw = tf.raw_ops


@dataclass
class Case:
    """`function` takes one tensor per entry of `inputs` (arrays); `shapes` are the shapes in the model."""

    function: Callable[..., Any]
    inputs: list[Any]
    shapes: list[Any] = field(default_factory=list)


CASES: dict[str, Case] = {}


def rng(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def normal(name: str, *shape: int) -> Any:
    return rng(name).standard_normal(shape).astype(np.float32)


def case(
    name: str, *inputs: Any, shapes: list[Any] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function; an input given as a tuple is a shape for normally distributed values."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        arrays = [
            normal(f"{name}{n}", *spec) if isinstance(spec, tuple) else np.asarray(spec)
            for n, spec in enumerate(inputs)
        ]
        assert name not in CASES, name
        CASES[name] = Case(function, arrays, shapes or [array.shape for array in arrays])
        return function

    return register


def weight(*shape: int) -> Any:
    return tf.constant(normal(str(shape), *shape) * 0.5)


IMAGE = (1, 7, 6, 3)
