"""Reads a prototxt file: the layers of the TEST phase, in both formats of Caffe (V1 and later)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.parsers.protobuf import Message, ProtobufError, UnknownField, clean, parse_text

from .schema import MESSAGES, V1_TYPE_NAMES, LayerParameter, NetParameter, V1LayerParameter

_MAX_TEXT_BYTES = 64 << 20
_TEXT_PIECES = re.compile(
    r"""(?P<skip>\#[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
      | (?P<open>[{<]) | (?P<close>[}>]) | (?P<name>[A-Za-z_]\w*)""",
    re.VERBOSE,
)
_TRAIN, _TEST = 0, 1


@dataclass
class SourceLayer:
    """One layer of the network."""

    name: str
    type: str
    bottoms: Sequence[str]
    tops: Sequence[str]
    message: Message
    """LayerParameter or V1LayerParameter."""
    problem: str = ""
    """Reason why the layer's parameters are unsupported, or empty."""
    text: str = ""
    """Text between the layer's braces."""

    def parameter(self, name: str) -> Message:
        """Returns the layer's message `<name>_param`; a message of defaults if the layer has none."""
        field_name = f"{name}_param"
        described = LayerParameter.DESCRIPTOR.fields_by_name[field_name]
        if field_name in self.message.DESCRIPTOR.fields_by_name:
            return getattr(self.message, field_name)
        return MESSAGES[described.message_type.name]()


@dataclass
class Network:
    """The contents of a prototxt file."""

    file: str
    name: str
    inputs: list[tuple[str, tuple[int, ...] | None]] = field(default_factory=list)
    """Input blobs that the net declares, with their shapes."""
    layers: list[SourceLayer] = field(default_factory=list)


def damaged(file: str, reason: str) -> ConversionError:
    return ConversionError(f"{file}: {reason}", code=ReturnCode.GRAPH_FILE_ERROR)


def read_file(path: Path, what: str, limit: int, limit_name: str) -> bytes:
    """Returns the contents of a file. Raises ConversionError if it cannot be read or is larger than `limit`."""
    try:
        if path.stat().st_size > limit:
            raise damaged(str(path), f"{what} is larger than {limit_name}")
        content = path.read_bytes()
    except OSError as error:
        message = f"{path}: {what} cannot be read: {error.strerror or error}"
        raise ConversionError(message, code=ReturnCode.FILE_ERROR) from None
    if not content:
        raise damaged(str(path), f"{what} is empty")
    return content


def read_network(path: Path) -> Network:
    """Reads a prototxt file and keeps the layers of the TEST phase. Raises ConversionError."""
    content = read_file(path, "the prototxt file", _MAX_TEXT_BYTES, "64 MiB; is it the weight file?")
    file = str(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise damaged(file, "this is not a prototxt file: it is not text. Pass the weights with --weightFile") from None
    rest, chunks = _split_layers(text)
    try:
        net = parse_text(NetParameter, rest)
    except ProtobufError as error:
        raise damaged(file, f"this is not a Caffe network: {error}") from None
    network = Network(file, net.name)
    network.inputs = _declared_inputs(file, net)
    for kind, line, chunk in chunks:
        try:
            message, problem = _parse_layer(V1LayerParameter if kind == "layers" else LayerParameter, chunk, line)
        except ProtobufError as error:
            raise damaged(file, f"a layer cannot be read: {error}") from None
        if _is_included(message, net.state):
            network.layers.append(_source_layer(file, message, problem, line, chunk))
    if not network.layers:
        raise damaged(file, "this is not a Caffe network: it has no layers for inference (phase TEST)")
    return network


def _split_layers(text: str) -> tuple[str, list[tuple[str, int, str]]]:
    """Returns the text without its layers, and for each layer: `layer` or `layers`, its first line, its text in the
    braces.

    Layers are parsed separately, so that an unknown field only affects one layer. Line numbers are kept. Text with
    unbalanced braces stays in the rest.
    """
    rest: list[str] = []
    layers: list[tuple[str, int, str]] = []
    depth, kept, line, counted = 0, 0, 1, 0
    name: re.Match[str] | None = None
    start = 0
    for piece in _TEXT_PIECES.finditer(text):
        if piece["name"] and depth == 0:
            name = piece
        elif piece["open"]:
            depth += 1
            if depth == 1:
                start = piece.end()
        elif piece["close"] and depth > 0:
            depth -= 1
            if depth == 0 and name is not None and name[0] in ("layer", "layers"):
                line, counted = line + text.count("\n", counted, start), start
                layers.append((name[0], line, text[start : piece.start()]))
                rest += [text[kept : name.start()], "\n" * text.count("\n", name.start(), piece.end())]
                kept = piece.end()
            name = None if depth == 0 else name
    return "".join([*rest, text[kept:]]), layers


def _parse_layer(kind: type[Message], text: str, line: int) -> tuple[Message, str]:
    """Returns the layer, and a message about its first unknown field."""
    try:
        return parse_text(kind, text, first_line=line), ""
    except UnknownField as error:
        return parse_text(kind, text, first_line=line, skip_unknown=True), str(error)


def _declared_inputs(file: str, net: Message) -> list[tuple[str, tuple[int, ...] | None]]:
    names = list(net.input)
    if net.input_shape:
        shapes: list[tuple[int, ...] | None] = [tuple(shape.dim) for shape in net.input_shape]
    else:
        dims = list(net.input_dim)
        if len(dims) % 4:
            raise damaged(file, f"input_dim has {len(dims)} numbers; each input needs four")
        shapes = [tuple(dims[at : at + 4]) for at in range(0, len(dims), 4)]
    if shapes and len(shapes) != len(names):
        raise damaged(file, f"the network has {len(names)} inputs, but {len(shapes)} input shapes")
    return list(zip(names, shapes or [None] * len(names), strict=True))


def _is_included(layer: Message, state: Message) -> bool:
    """Returns whether a layer is included: if one `include` rule matches; without `include` rules, if no `exclude`
    matches."""
    if layer.include:
        return any(_meets(state, rule) for rule in layer.include)
    return not any(_meets(state, rule) for rule in layer.exclude)


def _meets(state: Message, rule: Message) -> bool:
    stages = set(state.stage)
    return (
        not (rule.HasField("phase") and rule.phase != _TEST)
        and not (rule.HasField("min_level") and state.level < rule.min_level)
        and not (rule.HasField("max_level") and state.level > rule.max_level)
        and stages.issuperset(rule.stage)
        and stages.isdisjoint(rule.not_stage)
    )


def _texts(file: str, values: Iterator[str]) -> list[str]:
    texts = list(values)
    for text in texts:
        if not isinstance(text, str):
            raise damaged(file, "a name is not UTF-8 text")
    return texts


def _source_layer(file: str, message: Message, problem: str, line: int, text: str) -> SourceLayer:
    old = message.DESCRIPTOR.name == "V1LayerParameter"
    if old and message.HasField("layer"):
        reason = (
            f"line {line}: this is the first format of Caffe (V0, layers {{ layer {{ ... }} }}), which is unsupported. "
            "Upgrade it with Caffe's upgrade_net_proto_text and upgrade_net_proto_binary"
        )
        raise ConversionError(f"{file}: {reason}", code=ReturnCode.NOT_SUPPORTED)
    kind = V1_TYPE_NAMES.get(message.type, "") if old else message.type
    if not kind:
        raise damaged(file, f"line {line}: the layer '{clean(message.name)}' has no type")
    name, *tops = _texts(file, iter((message.name, *message.top)))
    return SourceLayer(name, kind, _texts(file, iter(message.bottom)), tops, message, problem, text)
