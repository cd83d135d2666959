"""Weights that can be replaced at run time: kernels read them in the layout of the `.ms` file, without packing.

For the planner, these weights are made inputs of a copy of the model, so that it selects kernels that do not pack them.
Then they become constants of the program again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite import _codegen
from mslite.codegen.lowering.errors import LoweringError
from mslite.codegen.program import Array, Program, Storage
from mslite.converter.errors import ReturnCode
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.serialization import MindirFormatError


@dataclass(frozen=True)
class ExposedWeights:
    """A copy of a model with replaceable weights as inputs."""

    path: Path
    weights: dict[str, Array]
    """Values by name, in the order of net<i>.bin."""
    signature: int
    """Hash of their names and shapes, which follows them in net<i>.bin."""


def expose_weights(model: Path, folder: Path, wanted: Sequence[str], source: str) -> ExposedWeights:
    """Writes the copy to `folder`. `wanted`: names of weights, or their beginnings up to a '/'; empty: all float32
    weights.

    Raises LoweringError for names that are not weights, and for a model without float32 weights.
    """
    try:
        module = load(model)
    except MindirFormatError as error:
        raise LoweringError(str(error), code=ReturnCode.GRAPH_FILE_ERROR) from None
    try:
        names, signature = _codegen.replaceable_weights(model, wanted)
    except _codegen.ModelError as error:
        raise LoweringError(f"{source}: {error}", code=ReturnCode.INPUT_PARAMETER_INVALID) from None
    values = {value.name: value for node in module.main.nodes for value in node.inputs if value is not None}
    weights = {}
    for name in names:
        value = values[name]
        weights[name] = value.array().copy()
        value.data = None
        value.encoding = None
        module.main.inputs.append(value)
    return ExposedWeights(save(module, folder / "open.ms")[0], weights, signature)


def restore_weights(program: Program, weights: dict[str, Array]) -> None:
    """Turns the inputs for replaceable weights into constants again."""
    closed = [tensor for tensor in program.inputs if tensor.name in weights]
    for tensor in closed:
        tensor.storage = Storage.CONSTANT
        tensor.data = weights[tensor.name].reshape(tensor.shape)
    program.inputs = [tensor for tensor in program.inputs if tensor.name not in weights]
