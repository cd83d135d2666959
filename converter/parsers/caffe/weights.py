"""Reads weights from a caffemodel."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped]

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.parsers.protobuf import Message, ProtobufError, parse_binary

from .prototxt import damaged, read_file
from .schema import NetParameter

Floats = npt.NDArray[np.float32]

_MAX_RANK = 32
_HDF5 = b"\x89HDF"


class Weights:
    """Weight blobs of a caffemodel by layer name."""

    def __init__(self, file: str, blobs: dict[str, list[Message]]) -> None:
        self.file = file
        self._blobs = blobs

    def count(self, layer: str) -> int:
        """Returns the number of blobs of a layer; 0 if the layer is not in the file."""
        return len(self._blobs.get(layer, ()))

    def blob(self, layer: str, index: int) -> Floats:
        """Returns a blob as float32 in the shape in the file. Raises ValueError if the shape does not match the
        data."""
        blob = self._blobs[layer][index]
        dims = (
            tuple(blob.shape.dim)
            if blob.HasField("shape")
            else (blob.num, blob.channels, blob.height, blob.width)
            if any(blob.HasField(name) for name in ("num", "channels", "height", "width"))
            else None
        )
        data = _numbers(blob)
        if dims is None:
            dims = (data.size,)
        if len(dims) > _MAX_RANK or any(dim < 0 for dim in dims) or prod(dims) != data.size:
            shown = "x".join(str(dim) for dim in dims[:8])
            raise ValueError(f"its shape is {shown}, but it has {data.size} elements")
        return data.reshape(dims)


def _numbers(blob: Message) -> Floats:
    """Returns the contents as float32, from packed floats, packed doubles, or unpacked values. Raises ValueError."""
    for chunks, kind in ((blob.data, "<f4"), (blob.double_data, "<f8")):
        content = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        if len(content) % int(kind[-1]):
            raise ValueError("its data is truncated")
        if content:
            return _float32(np.frombuffer(content, kind))
    floats, doubles = b"", b""
    for field in UnknownFieldSet(blob):
        if (field.field_number, field.wire_type) == (5, 5):
            floats += int(field.data).to_bytes(4, "little")
        elif (field.field_number, field.wire_type) == (8, 1):
            doubles += int(field.data).to_bytes(8, "little")
    if doubles and not floats:
        return _float32(np.frombuffer(doubles, "<f8"))
    return np.frombuffer(floats, "<f4")


def read_weights(path: Path) -> Weights:
    """Reads a caffemodel, in both formats. Raises ConversionError."""
    content = read_file(path, "the weight file", 2**31 - 1, "2 GiB, the limit of protobuf files")
    if content.startswith(_HDF5):
        reason = "weights in HDF5 files are unsupported. Save them as a caffemodel (snapshot_format: BINARYPROTO)"
        raise ConversionError(f"{path}: {reason}", code=ReturnCode.NOT_SUPPORTED)
    try:
        net = parse_binary(NetParameter, content)
    except ProtobufError as error:
        raise damaged(str(path), f"this is not a caffemodel: {error}") from None
    if not net.layer and not net.layers:
        raise damaged(str(path), "this is not a caffemodel: it has no layers")
    if any(layer.HasField("layer") for layer in net.layers):
        reason = "the first format of Caffe (V0) is unsupported. Upgrade it with upgrade_net_proto_binary"
        raise ConversionError(f"{path}: {reason}", code=ReturnCode.NOT_SUPPORTED)
    blobs: dict[str, list[Message]] = {}
    for layer in (*net.layers, *net.layer):
        if layer.blobs and isinstance(layer.name, str):
            blobs[layer.name] = list(layer.blobs)
    return Weights(str(path), blobs)


def _float32(numbers: npt.NDArray[np.floating[Any]]) -> Floats:
    """Converts to float32; values out of range become infinite, as in Caffe."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32, copy=False)
