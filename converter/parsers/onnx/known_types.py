"""Types as far as they can be known: what ONNX's inference tells, and what follows from contents, ranks and bodies."""

from __future__ import annotations

from onnx import ModelProto, TensorProto, TypeProto

from .bodies import complete_bodies
from .folding import fold_shapes
from .ranks import complete_ranks
from .types import infer_types

_MAX_ROUNDS = 64


def known_types(
    model: ModelProto, initializers: dict[str, TensorProto], numbers: set[str], trains: bool = False
) -> dict[str, TypeProto]:
    """Types and shapes by name. What is found is written into the model; shapes that are known numbers become constants, and `numbers` gets
    the names of those that no initializer has to do with. `trains`: what several nodes read stays one."""
    types = infer_types(model)
    for _ in range(_MAX_ROUNDS):
        changed = fold_shapes(model, types, initializers, numbers, trains) or complete_ranks(model, types)
        if not complete_bodies(model, types) and not changed:
            break
        types = infer_types(model)
    return types
