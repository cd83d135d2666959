"""Structured mutations of training files: changes optimizers, gradients, variables and training layers."""

from __future__ import annotations

import random
from collections.abc import Callable

from mslite.converter.mindir.ms_reader import read_ms
from mslite.converter.mindir.ms_writer import ms_bytes
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import CNode, MetaGraph, Tensor

from . import mutate_ms

GRADIENTS = {"SGD": 1, "ApplyMomentum": 3, "Adam": 9, "AdamWeightDecay": 8}
"""Index of the gradient among the operands of each optimizer."""

COUNTED = {"Unique": 1, "NonZero": 1, "Range": 3, "Where": 1}
"""Operators with a data-dependent output size, and their number of operands."""

RESIZING = {
    "Abs": 1, "Square": 1, "Squeeze": 1, "Unsqueeze": 1, "Shape": 1, "Reshape": 2, "Transpose": 2, "Cast": 2, "ReduceFusion": 2,
    "TileFusion": 2, "Gather": 3, "ConcatFusion": 2, "AddFusion": 2, "MulFusion": 2, "ExpandDims": 2, "UnsortedSegmentSum": 3,
    "PadFusion": 2, "BroadcastTo": 1, "SliceFusion": 3, "StridedSlice": 4,
}  # fmt: skip
"""Other operators that change a shape or a data type."""

Change = Callable[[MetaGraph, random.Random], None]


def _kind(node: CNode) -> str:
    return "" if node.primitive is None else type(node.primitive).__name__


def _optimizers(meta: MetaGraph) -> list[CNode]:
    return [node for node in meta.nodes or [] if _kind(node) in GRADIENTS and node.inputIndex]


def _replace(node: CNode, place: int, tensor: int) -> None:
    inputs = list(node.inputIndex or ())
    if place < len(inputs):
        inputs[place] = tensor
        node.inputIndex = tuple(inputs)


def _add_tensor(meta: MetaGraph, tensor: Tensor) -> int:
    tensors = meta.allTensors = list(meta.allTensors or [])
    tensors.append(tensor)
    for graph in meta.subGraph or []:
        graph.tensorIndices = (*(graph.tensorIndices or ()), len(tensors) - 1)
    return len(tensors) - 1


def _small_integers(meta: MetaGraph, rng: random.Random) -> int:
    """Adds a constant: an axis, a shape, a data type."""
    values = [rng.choice((0, 1, 2, 3, 4, 34, 43, -1)) for _ in range(rng.choice((1, 1, 2, 4)))]
    data = b"".join(value.to_bytes(4, "little", signed=True) for value in values)
    name = f"numbers{len(meta.allTensors or [])}"
    return _add_tensor(meta, Tensor(name=name, dataType=34, dims=(len(values),), data=data))


def _gradient_through(meta: MetaGraph, rng: random.Random) -> None:
    """Inserts a node between a gradient and its optimizer."""
    found = _optimizers(meta)
    if not found:
        return
    optimizer = rng.choice(found)
    place = GRADIENTS[_kind(optimizer)]
    if place >= len(optimizer.inputIndex or ()):
        return
    gradient = (optimizer.inputIndex or ())[place]
    source = gradient if rng.random() < 0.7 else rng.randrange(len(meta.allTensors or []))
    dims = (meta.allTensors or [])[source].dims if source < len(meta.allTensors or []) else ()
    for _ in range(rng.choice((1, 1, 2))):
        result = _add_tensor(meta, Tensor(name=f"through{rng.randrange(4)}", nodeType=2, dataType=43, dims=dims))
        operators = COUNTED if rng.random() < 0.5 else RESIZING
        operator = rng.choice(list(operators))
        inputs = (source, *(_small_integers(meta, rng) for _ in range(operators[operator] - 1)))
        outputs = (result,)
        if operator == "Unique":
            outputs = (result, _add_tensor(meta, Tensor(name="places", nodeType=2, dataType=34, dims=dims)))
        node = CNode(name="Gradients/through", primitive=OPERATORS[operator](), inputIndex=inputs, outputIndex=outputs)
        nodes = meta.nodes = list(meta.nodes or [])
        nodes.append(node)
        for graph in (meta.subGraph or [])[:1]:
            order = list(graph.nodeIndices or ())
            at = nodes.index(optimizer)
            order.insert(order.index(at) if at in order else len(order), len(nodes) - 1)
            graph.nodeIndices = tuple(order)
        source = result
    _replace(optimizer, place, source)


def _operand(meta: MetaGraph, rng: random.Random) -> None:
    """Replaces or removes an operand of an optimizer, an assignment or any layer."""
    nodes = _optimizers(meta) if rng.random() < 0.7 else meta.nodes or []
    nodes = [node for node in nodes if node.inputIndex]
    if not nodes:
        return
    node = rng.choice(nodes)
    inputs = list(node.inputIndex or ())
    if rng.random() < 0.2:
        node.inputIndex = tuple(inputs[: rng.randrange(len(inputs))])
        return
    others = [index for one in _optimizers(meta) for index in one.inputIndex or ()]
    _replace(node, rng.randrange(len(inputs)), rng.choice(others or [0]))


def _resize_constant(meta: MetaGraph, rng: random.Random) -> None:
    """Changes the dimensions of a constant, with data of matching size."""
    tensors = meta.allTensors or []
    used = [index for node in _optimizers(meta) for index in node.inputIndex or () if index < len(tensors)]
    constants = [tensors[index] for index in used if tensors[index].data] if rng.random() < 0.8 else []
    constants = constants or [tensor for tensor in tensors if tensor.data]
    if not constants:
        return
    tensor = rng.choice(constants)
    dims = list(tensor.dims or ())
    kind = rng.randrange(5)
    if kind == 0:
        dims.append(rng.choice((0, 1, 2)))
    elif kind == 1 and dims:
        dims[rng.randrange(len(dims))] = rng.choice((0, 1, 2, 3, 17))
    elif kind == 2:
        dims = []
    elif kind == 3:
        dims = dims[::-1]
    else:
        dims = [rng.choice((0, 1, 2, 64))]
    size = 4
    for dim in dims:
        size *= max(dim, 0)
    tensor.dims = tuple(dims)
    tensor.data = (bytes(tensor.data or b"") * (size // max(len(tensor.data or b""), 1) + 1))[:size]


def _rename(meta: MetaGraph, rng: random.Random) -> None:
    """Gives two tensors or nodes the same name; variables, adapters and losses are found by name."""
    things: list[Tensor] | list[CNode] = (meta.allTensors or []) if rng.random() < 0.7 else (meta.nodes or [])
    if not things:
        return
    names = [one.name for one in things]
    special = ["", "learning_rate", "/loss_scale", "lora_scale", "_loss_fn", "Gradients", "optimizer", "/sparse/x"]
    rng.choice(things).name = rng.choice([*names, *special])


def _output(meta: MetaGraph, rng: random.Random) -> None:
    """Changes the number of outputs of a layer that differs in training, or of an optimizer."""
    layers = ("FusedBatchNorm", "Dropout", "LayerNormFusion", "LSTM", "LSTMGradData", "BatchNormGrad", *GRADIENTS)
    nodes = [node for node in meta.nodes or [] if _kind(node) in layers and node.outputIndex]
    if not nodes:
        return
    node = rng.choice(nodes)
    outputs = list(node.outputIndex or ())
    if rng.random() < 0.5:
        outputs = outputs[: rng.randrange(len(outputs))]
    else:
        outputs.append(_add_tensor(meta, Tensor(name="more", nodeType=2, dataType=43, dims=())))
    node.outputIndex = tuple(outputs)


def _assignment(meta: MetaGraph, rng: random.Random) -> None:
    """Makes the graph assign to a constant."""
    tensors = meta.allTensors or []
    constants = [index for index, tensor in enumerate(tensors) if tensor.data and tensor.dataType == DataType.FLOAT32]
    if not constants or "Assign" not in OPERATORS:
        return
    result = _add_tensor(meta, Tensor(name="assigned", nodeType=2, dataType=43, dims=()))
    name = rng.choice(("Assign", "AssignAdd"))
    node = CNode(
        name="assign", primitive=OPERATORS[name](), outputIndex=(result,),
        inputIndex=(rng.choice(constants), rng.randrange(len(tensors))),
    )  # fmt: skip
    nodes = meta.nodes = list(meta.nodes or [])
    nodes.append(node)
    for graph in (meta.subGraph or [])[:1]:
        graph.nodeIndices = (*(graph.nodeIndices or ()), len(nodes) - 1)


CHANGES: tuple[Change, ...] = (
    _gradient_through, _gradient_through, _operand, _operand, _resize_constant, _resize_constant, _rename, _output, _assignment,
)  # fmt: skip


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Returns a training file with one to four changes; every third one has a general change of `.ms` files."""
    if rng.randrange(3) == 0:
        return mutate_ms.mutate(data, rng)
    meta = read_ms(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        rng.choice(CHANGES)(meta, rng)
    return ms_bytes(meta)
