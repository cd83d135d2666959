"""Records the test cases of generated projects: random inputs, and the outputs that the runtime computes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mslite
from mslite import _native
from mslite.codegen.program import Array, Program, Tensor
from mslite.codegen.targets import target_named
from mslite.converter.mindir.graph import numpy_type


@dataclass(frozen=True)
class Case:
    """Inputs and outputs of one run."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    """Empty if the runtime has no kernel for a custom operator of the model."""
    shapes: int = 0
    """Index of the shapes among those of the model."""


def _values(tensor: Tensor, dtype: np.dtype[np.generic], generator: np.random.Generator, plain: bool) -> Array:
    """Returns random values for an input, zeros if `plain` is set (random values may be invalid, such as indices)."""
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


class Reference:
    """Runs the `.ms` file of a program with the runtime, to get the expected outputs. Variables have their initial
    values."""

    def __init__(self, model_file: Path, program: Program) -> None:
        self._model = mslite.Model()
        with _kernels_like(program.target):
            self._model.build_from_file(str(model_file), mslite.ModelType.MINDIR_LITE, mslite.Context())
        tensors = self._model.get_inputs()
        shapes = [list(tensor.shape) for tensor in program.inputs]
        if [list(tensor.shape) for tensor in tensors] != shapes:
            self._model.resize(tensors, shapes)

    @property
    def dtypes(self) -> list[np.dtype[np.generic]]:
        """Data types of the inputs."""
        return [np.dtype(tensor.dtype.name.lower()) for tensor in self._model.get_inputs()]

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Returns the outputs. Raises RuntimeError if the values are invalid for the model."""
        tensors = self._model.get_inputs()
        for tensor, values in zip(tensors, inputs, strict=True):
            tensor.set_data_from_numpy(values)
        return [np.array(output.get_data_to_numpy()) for output in self._model.predict(tensors)]


_VARIABLE = "MSLITE_ISA"
"""Environment variable that limits the instruction sets of the runtime's kernels."""


@contextmanager
def _kernels_like(target: str) -> Iterator[None]:
    """Context in which models are built with kernels that add floats in the same order as the target's kernels: vector
    kernels for targets with vector kernels, otherwise portable ones.

    This matters for dynamic quantization, where a difference in the last bit of a float can change a quantized value.
    It also makes the recorded outputs independent of the machine."""
    vectors = {"avx2", "neon", "neon_dot"}.intersection(target_named(target).isas)
    here = [isa for isa in ("avx2", "neon") if isa in _native.isas()]
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = here[0] if vectors and here else "scalar"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


_NO_KERNEL = "no kernel is registered for this type in this process"
"""The runtime's message for a custom operator without a plug-in."""


def _random_inputs(program: Program, generator: np.random.Generator) -> tuple[Array, ...]:
    return tuple(_values(tensor, numpy_type(tensor.dtype), generator, False) for tensor in program.inputs)


def record(model_file: Path, program: Program, count: int = 2, seed: int = 1, number: int = 0) -> list[Case]:
    """Runs the `.ms` file of a program on `count` random inputs, each time with the initial values of variables.

    `number`: index of the program's shapes among those of its model. If the runtime has no kernel for a custom
    operator, the result is one case without outputs.
    """
    generator = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        for plain in (False, True):
            try:
                reference = Reference(model_file, program)
            except RuntimeError as error:
                if _NO_KERNEL not in str(error):
                    raise
                return [Case(_random_inputs(program, generator), (), number)]
            inputs = tuple(
                _values(tensor, dtype, generator, plain)
                for tensor, dtype in zip(program.inputs, reference.dtypes, strict=True)
            )
            try:
                outputs = reference.run(inputs)
            except RuntimeError:
                if plain:
                    raise
                continue
            cases.append(Case(inputs, tuple(outputs), number))
            break
    return cases
