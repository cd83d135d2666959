"""Reads a `.mindir` file and returns its ModelProto, checked."""

from __future__ import annotations

from pathlib import Path

from mslite.converter.encryption import Opener
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.encrypted import encryption_of
from mslite.converter.parsers.protobuf import Message, ProtobufError, parse_binary

from .checkpoint import export_advice, is_checkpoint
from .messages import GraphProto, ModelProto

KNOWN_VERSION = 3
"""The newest supported `mind_ir_version`."""

_SPLIT_SUFFIX = "_graph.mindir"


def file_error(name: str, message: str, code: ReturnCode = ReturnCode.GRAPH_FILE_ERROR) -> ConversionError:
    return ConversionError(f"{name}: {message}", code=code)


def load(path: Path, opener: Opener | None = None) -> Message:
    """Reads the model, with the parameters of its variables folder. `opener` decrypts both. Raises ConversionError."""
    content = _read(path, opener)
    if is_checkpoint(content):
        raise file_error(str(path), export_advice(path))
    encryption = encryption_of(content)
    if encryption is not None:
        message = f"the file is encrypted ({encryption}). Pass its key with --decryptKey and --decryptMode={encryption}"
        if encryption == "SM4-CBC":
            message = "the file is encrypted with SM4-CBC, which is not supported. Export the model without a key"
        raise file_error(str(path), message, ReturnCode.NOT_SUPPORTED)
    model = _parse(path, ModelProto, content)
    if not model.HasField("graph"):
        raise file_error(str(path), "this is not a MINDIR model: it has no graph")
    if model.HasField("little_endian") and not model.little_endian:
        raise file_error(
            str(path), "the model was written on a big-endian machine. Export it on a little-endian machine"
        )
    if model.mind_ir_version > KNOWN_VERSION:
        message = f"MINDIR version {model.mind_ir_version} is newer than {KNOWN_VERSION}, the newest supported version"
        raise file_error(str(path), f"{message}. Export the model with an older MindSpore", ReturnCode.NOT_SUPPORTED)
    if path.name.endswith(_SPLIT_SUFFIX) and not model.graph.parameter:
        _add_variables(model, path, opener)
    return model


def _read(path: Path, opener: Opener | None) -> bytes:
    try:
        content = path.read_bytes()
        return content if opener is None else opener(content, str(path))
    except OSError as error:
        message = f"the model file cannot be read: {error.strerror or error}"
        raise file_error(str(path), message, ReturnCode.FILE_ERROR) from None


def _parse(path: Path, kind: type[Message], content: bytes) -> Message:
    try:
        message = parse_binary(kind, content)
    except ProtobufError as error:
        raise file_error(str(path), f"this is not a MINDIR model: {error}") from None
    if not _is_text(message):
        raise file_error(str(path), "the file is damaged: it contains a name that is not UTF-8")
    return message


def _is_text(message: Message) -> bool:
    """Returns False if a text field, at any depth, is not UTF-8: protobuf returns such a field as bytes."""
    pending = [message]
    while pending:
        for field, value in pending.pop().ListFields():
            if field.type == field.TYPE_STRING:
                if not all(isinstance(each, str) for each in ([value] if isinstance(value, str | bytes) else value)):
                    return False
            elif field.type == field.TYPE_MESSAGE:
                pending.extend([value] if hasattr(value, "ListFields") else value)
    return True


def _add_variables(model: Message, path: Path, opener: Opener | None) -> None:
    """Adds the parameters that older files keep in `<name>_variables/`, in GraphProtos with nothing else."""
    folder = path.with_name(path.name[: -len(_SPLIT_SUFFIX)] + "_variables")
    if not folder.is_dir():
        return
    for file in sorted(folder.iterdir()):
        if file.is_file() and not file.name.startswith("."):
            model.graph.parameter.extend(_parse(file, GraphProto, _read(file, opener)).parameter)
