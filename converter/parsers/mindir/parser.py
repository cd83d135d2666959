"""Entry point of the parser for `.mindir` files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mslite.converter.encryption import Opener
from mslite.converter.mindir.graph import Graph, Module
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.placeholder import blocked
from mslite.converter.parsers.protobuf import Message

from . import (  # noqa: F401  (each module registers its converters)
    activation,
    adaptive,
    arithmetic,
    bounding_boxes,
    circular_shift,
    colors,
    convolution,
    creation,
    einsum,
    elementwise,
    gcd_lcm,
    histograms,
    image_regions,
    indexing,
    linear_algebra,
    losses,
    masks,
    math_functions,
    matmul,
    mint_layers,
    mint_volumes,
    normalization,
    random_numbers,
    rearrange,
    reduction,
    resampling,
    scalars,
    scatter,
    scattering,
    slice_updates,
    sorting,
    sparse,
    special_functions,
    statistics,
    structure,
    transformer_layers,
    views,
    volumes,
    windows,
)
from .file import file_error, load
from .importer import GraphImporter
from .in_place import changed_parameters
from .session import Session
from .tensors import TensorReader
from .training_step import network

FRAMEWORK_MINDIR = 3
_MAX_GRAPHS = 4096


def parse(path: Path, opener: Opener | None = None, trains: bool = False) -> Module:
    """Reads a `.mindir` model into a MindIR module; `opener` decrypts the file.

    `trains` keeps the operators that only training needs (dropout, batch statistics); of an exported training step,
    only the network is read. Images are NCHW, unless the model or all of its image operators are NHWC: then
    `Module.layout` is NHWC. Weights are in mslite's layout. Dynamic dimensions become symbols.

    Raises ConversionError for a damaged file; one error lists all unsupported nodes.
    """
    name = str(path)
    model = load(path, opener)
    try:
        return _import(name, model, path, opener, trains)
    except RecursionError:
        raise file_error(name, "its tuples are nested too deeply") from None


def _import(name: str, model: Message, path: Path, opener: Opener | None, trains: bool) -> Module:
    reader = TensorReader(path.parent, opener)
    if trains:
        model = network(model, name, reader)
    protos = [model.graph, *model.functions]
    if len(protos) > _MAX_GRAPHS:
        raise file_error(name, f"the model has {len(protos)} graphs; {_MAX_GRAPHS} are supported")
    layout = _layout(model, protos)
    session = Session(name, model, reader, layout, trains)
    for number, proto in enumerate(protos):
        if proto.name in session.graph_index:
            raise file_error(name, f"two graphs have the name '{proto.name}'")
        session.graph_index[proto.name] = number
        session.graphs.append(Graph("main_graph" if number == 0 else proto.name))
    session.primitives = {primitive.name: primitive for primitive in model.primitives}
    session.produced = {each for proto in protos for each in _names(proto)}
    session.constants = {
        node.output[0]: (number, node)
        for number, proto in enumerate(protos)
        for node in proto.node
        if node.op_type == "Constant" and node.output
    }
    importers = [GraphImporter(session, proto, number) for number, proto in enumerate(protos)]
    for tensor in model.graph.parameter:
        if tensor.name in session.parameters:
            raise file_error(name, f"the model has two parameters with the name '{tensor.name}'")
        plain = tensor.name.removeprefix(f"{model.graph.name}:") or tensor.name
        session.parameters[tensor.name] = session.parameter(tensor, plain)
    if not trains:
        session.changed = changed_parameters(protos, session.primitives, session.parameters)
    for importer in importers:
        importer.run()
    if session.blockers:
        raise blocked(name, session.blockers, Module(session.graphs, name=model.graph.name, framework=FRAMEWORK_MINDIR))
    if not session.graphs[0].outputs:
        raise file_error(name, "the graph has no outputs")
    stated = layout if layout is Format.NHWC else None
    return Module(session.graphs, name=model.graph.name, framework=FRAMEWORK_MINDIR, layout=stated)


def _names(proto: Message) -> Iterator[str]:
    for info in proto.input:
        yield info.name
    for node in proto.node:
        yield from node.output


# ---- layout of images ----

_IMAGE_PRIMITIVES = frozenset(
    {name for name, operator in OPERATORS.items() if operator.declaration.layout in ("nhwc", "nchw")}
    | {"Conv2D", "Conv2DTranspose", "Conv2DBackpropInput", "DepthwiseConv2dNative", "MaxPool", "AvgPool", "Adder"}
)


def _layout(model: Message, protos: list[Message]) -> Format:
    """Returns the layout that the main graph states; without one, NHWC if all image nodes are NHWC, else NCHW."""
    for attribute in model.graph.attribute:
        if attribute.name == "format":
            return Format.NHWC if attribute.s == b"NHWC" else Format.NCHW
    shared = {primitive.name: primitive for primitive in model.primitives}
    found = [
        format
        for proto in protos
        for node in proto.node
        for format in _formats(shared.get(node.op_type.removeprefix("REF::"), node))
    ]
    return Format.NHWC if found and all(format is Format.NHWC for format in found) else Format.NCHW


def _formats(node: Message) -> Iterator[Format]:
    if node.op_type not in _IMAGE_PRIMITIVES:
        return
    stated = [each for each in node.attribute if each.name in ("format", "data_format")]
    is_nhwc = any(each.s == b"NHWC" or (each.HasField("i") and each.i == Format.NHWC) for each in stated)
    yield Format.NHWC if is_nhwc else Format.NCHW
