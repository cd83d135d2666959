"""Weights that can be replaced at run time: kernels read them as the `.ms` file has them, and prepare nothing of them.

The planner is given a copy of the model in which these weights are inputs, so that it chooses kernels that take any numbers;
then they become constants of the program again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.codegen.lowering.errors import LoweringError
from mslite.codegen.program import Array, Program, Storage
from mslite.converter.errors import ReturnCode
from mslite.converter.mindir.graph import Module, Value
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.wire import MindirFormatError

_WEIGHTS = {
    "Conv2DFusion": (1, 2), "Conv2dTransposeFusion": (1, 2), "MatMulFusion": (0, 1, 2), "FullConnection": (1, 2),
    "BiasAdd": (1,), "Gather": (0,), "PReLUFusion": (1,), "ScaleFusion": (1, 2), "LayerNormFusion": (1, 2),
    "InstanceNorm": (1, 2), "ChannelsLastInstanceNorm": (1, 2), "BatchNorm": (1, 2), "FusedBatchNorm": (1, 2, 3, 4),
    "LSTM": (1, 2, 3), "GRU": (1, 2, 3, 4),
    "AddFusion": (0, 1), "SubFusion": (0, 1), "MulFusion": (0, 1), "DivFusion": (0, 1),
}  # fmt: skip
"""Operator -> operands that are weights when they are float32 constants."""


@dataclass(frozen=True)
class OpenWeights:
    """A model whose weights are inputs."""

    path: Path
    weights: dict[str, Array]
    """By name."""


def open_weights(model: Path, folder: Path, wanted: Sequence[str], source: str) -> OpenWeights:
    """Writes the copy to `folder`. `wanted` are names of weights, or their beginnings up to a '/'; none: all of them.

    Raises LoweringError for a name of no weight, and for a model without weights of float32.
    """
    try:
        module = load(model)
    except MindirFormatError as error:
        raise LoweringError(str(error), code=ReturnCode.GRAPH_FILE_ERROR) from None
    found = _weights(module)
    chosen = {name: value for name, value in found.items() if not wanted or _is_named(name, wanted)}
    unknown = [name for name in wanted if not any(_is_named(one, [name]) for one in found)]
    if unknown or not chosen:
        what = (
            f"changeable_weights_name: {', '.join(unknown)} is no" if unknown else "keep_original_weight: there is no"
        )
        names = ", ".join(sorted(found)) or "none; stored integers are not replaceable"
        raise LoweringError(
            f"{source}: {what} float32 weight of the model; its weights are {names}",
            code=ReturnCode.INPUT_PARAMETER_INVALID,
        )
    weights = {}
    for name, value in chosen.items():
        weights[name] = value.array().copy()
        value.data = None
        value.encoding = None
        module.main.inputs.append(value)
    return OpenWeights(save(module, folder / "open.ms")[0], weights)


def close_weights(program: Program, weights: dict[str, Array]) -> None:
    """Turns those inputs into constants again."""
    closed = [tensor for tensor in program.inputs if tensor.name in weights]
    for tensor in closed:
        tensor.storage = Storage.CONSTANT
        tensor.data = weights[tensor.name].reshape(tensor.shape)
    program.inputs = [tensor for tensor in program.inputs if tensor.name not in weights]


def _weights(module: Module) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for node in module.main.nodes:
        for place in _WEIGHTS.get(node.op.name, ()):
            value = node.inputs[place] if place < len(node.inputs) else None
            if value is not None and value.data is not None and value.dtype is DataType.FLOAT32 and value.data.size:
                found[value.name] = value
    return {name: value for name, value in found.items() if value not in module.main.outputs}


def _is_named(name: str, wanted: Collection[str]) -> bool:
    return any(name == one or name.startswith(f"{one}/") for one in wanted)
