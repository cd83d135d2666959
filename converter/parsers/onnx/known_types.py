"""Infers types: by ONNX's inference, and from contents, ranks and bodies of subgraphs."""

from __future__ import annotations

from onnx import ModelProto, TensorProto, TypeProto

from .folding import fold_shapes
from .ranks import complete_ranks
from .subgraph_types import complete_bodies
from .types import infer_types

_MAX_ROUNDS = 64


def known_types(
    model: ModelProto, initializers: dict[str, TensorProto], numbers: set[str], trains: bool = False
) -> dict[str, TypeProto]:
    """Returns types and shapes by name, and adds them to the model. Constant shapes are folded.

    `numbers` gets the names of folded tensors that do not depend on an initializer. `trains`: as in `fold_shapes`.
    """
    types = infer_types(model)
    for _ in range(_MAX_ROUNDS):
        changed = fold_shapes(model, types, initializers, numbers, trains) or complete_ranks(model, types)
        if not complete_bodies(model, types) and not changed:
            break
        types = infer_types(model)
    return types
