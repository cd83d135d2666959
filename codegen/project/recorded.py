"""Inputs and the outputs that the runtime computes of them: what a generated project's tests compare with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mslite
from mslite.codegen.program import Array, Program, Tensor


@dataclass(frozen=True)
class Case:
    """The inputs of one run, and its outputs."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    shapes: int = 0
    """The number of the shapes that the core was run with."""


def _values(tensor: Tensor, dtype: np.dtype[np.generic], generator: np.random.Generator, plain: bool) -> Array:
    """Whatever the type can hold; where that may be an index that points nowhere, zeros (`plain`)."""
    if plain:
        return np.zeros(tensor.shape, dtype)
    if dtype == np.bool_:
        return generator.integers(0, 2, tensor.shape).astype(np.bool_)
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype.name)
        narrow = dtype.itemsize > 2
        low, high = (0, 1) if narrow else (int(limits.min), int(limits.max))
        return generator.integers(low, high, tensor.shape, dtype=np.int64, endpoint=True).astype(dtype)
    return generator.standard_normal(tensor.shape).astype(dtype)


def record(model_file: Path, program: Program, count: int = 2, seed: int = 1, number: int = 0) -> list[Case]:
    """Runs the `.ms` file that the program was made of on `count` inputs by chance, each from its first state.

    `number`: of the program's shapes among those of its core.
    """
    generator = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        for plain in (False, True):
            model = mslite.Model()
            model.build_from_file(str(model_file), mslite.ModelType.MINDIR_LITE, mslite.Context())
            tensors = model.get_inputs()
            shapes = [list(tensor.shape) for tensor in program.inputs]
            if [list(tensor.shape) for tensor in tensors] != shapes:
                model.resize(tensors, shapes)
                tensors = model.get_inputs()
            inputs = tuple(
                _values(tensor, np.dtype(tensor.dtype.name.lower()), generator, plain) for tensor in program.inputs
            )
            for given, values in zip(tensors, inputs, strict=True):
                given.set_data_from_numpy(values)
            try:
                outputs = model.predict(tensors)
            except RuntimeError:
                if plain:
                    raise
                continue
            cases.append(Case(inputs, tuple(np.array(output.get_data_to_numpy()) for output in outputs), number))
            break
    return cases
