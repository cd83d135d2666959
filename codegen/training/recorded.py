"""Records training steps with the runtime, for the test of a generated project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mslite
from mslite.codegen.program import Array, Program
from mslite.converter.mindir.graph import numpy_type


@dataclass(frozen=True)
class Recorded:
    """`steps`: (inputs, outputs) of each training step; `results`: outputs of inference on the inputs of the first
    step, after the last step."""

    steps: tuple[tuple[tuple[Array, ...], tuple[Array, ...]], ...]
    results: tuple[Array, ...]


def _values(shape: tuple[int, ...], dtype: np.dtype[np.generic], generator: np.random.Generator) -> Array:
    """Returns random values in [0, 1). Integers are 0 or 1, which are valid labels for any classifier."""
    if np.issubdtype(dtype, np.integer):
        return generator.integers(0, 2, shape).astype(dtype)
    return generator.uniform(0, 1, shape).astype(dtype)


def record(training: Path, program: Program, losses: int, count: int, seed: int = 1) -> Recorded:
    """Runs `count` training steps of the `.ms` file on random inputs. The results of one more step are those of
    inference."""
    model = mslite.Model()
    model.build_from_file(str(training), mslite.ModelType.MINDIR_LITE, mslite.Context())
    generator = np.random.default_rng(seed)
    steps = []
    for _ in range(count):
        inputs = tuple(_values(one.shape, numpy_type(one.dtype), generator) for one in program.inputs)
        steps.append((inputs, _run(model, inputs)))
    return Recorded(tuple(steps), _run(model, steps[0][0])[losses:])


def _run(model: mslite.Model, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
    tensors = model.get_inputs()
    for given, values in zip(tensors, inputs, strict=True):
        given.set_data_from_numpy(values)
    return tuple(np.array(output.get_data_to_numpy()) for output in model.predict(tensors))
