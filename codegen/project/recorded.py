"""Inputs and the outputs that the runtime computes of them: what a generated project's tests compare with."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mslite
from mslite.codegen.lowering.weights import open_convolutions
from mslite.codegen.program import Array, Program, Tensor
from mslite.codegen.targets import target_named


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


class Reference:
    """The runtime on the `.ms` file that a program was made of, in its first state: what the program's outputs are compared
    with.

    Kernels of microcontrollers multiply and add. So does the runtime here for them, where it would otherwise transform
    float32 convolutions by Winograd's filtering, whose rounding errors are several times as large as theirs.
    """

    def __init__(self, model_file: Path, program: Program) -> None:
        self._model = mslite.Model()
        self._weights: dict[str, Array] = {}
        with tempfile.TemporaryDirectory(prefix="mslite-codegen-") as name:
            path = model_file
            opened = open_convolutions(model_file, Path(name)) if target_named(program.target).is_micro else None
            if opened is not None:
                path, self._weights = opened.path, opened.weights
            self._model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
        tensors = self._model.get_inputs()
        shapes = [list(tensor.shape) for tensor in program.inputs]
        shapes += [list(array.shape) for array in self._weights.values()]
        if [list(tensor.shape) for tensor in tensors] != shapes:
            self._model.resize(tensors, shapes)

    @property
    def dtypes(self) -> list[np.dtype[np.generic]]:
        """Of the program's inputs."""
        tensors = self._model.get_inputs()
        return [np.dtype(tensor.dtype.name.lower()) for tensor in tensors[: len(tensors) - len(self._weights)]]

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """The outputs. Raises RuntimeError where the model does not take these values."""
        tensors = self._model.get_inputs()
        for tensor, values in zip(tensors, [*inputs, *self._weights.values()], strict=True):
            tensor.set_data_from_numpy(values)
        return [np.array(output.get_data_to_numpy()) for output in self._model.predict(tensors)]


def record(model_file: Path, program: Program, count: int = 2, seed: int = 1, number: int = 0) -> list[Case]:
    """Runs the `.ms` file that the program was made of on `count` inputs by chance, each from its first state.

    `number`: of the program's shapes among those of its core.
    """
    generator = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        for plain in (False, True):
            reference = Reference(model_file, program)
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
