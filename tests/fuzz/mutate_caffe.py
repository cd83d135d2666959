"""Structured mutations of Caffe models: in the text of the network, and in the messages of the weights."""

from __future__ import annotations

import random
import re

from mslite.converter.parsers.caffe.schema import NetParameter

from .mutate import DIMENSIONS

NUMBERS = (
    "0",
    "1",
    "-1",
    "3",
    "7",
    "64",
    "1e9",
    "4294967295",
    "-5",
    "0.5",
    "inf",
    "nan",
    "99999999999999999999",
    "true",
)
TYPES = (
    *(
        "Convolution",
        "Deconvolution",
        "Pooling",
        "InnerProduct",
        "Concat",
        "Slice",
        "Eltwise",
        "Softmax",
        "LRN",
        "Scale",
    ),
    *(
        "BatchNorm",
        "Reshape",
        "Flatten",
        "Crop",
        "Embed",
        "LSTM",
        "SPP",
        "Tile",
        "PriorBox",
        "DetectionOutput",
        "Interp",
    ),
    *("Input", "Data", "Python", "NoSuchLayer", ""),
)
EXTRAS = (
    "tile_param { tiles: 2000000000 }",
    "pooling_param { kernel_size: 4000000000 stride: 0 }",
    "reshape_param { shape { dim: -1 dim: -1 } }",
    "convolution_param { num_output: 4294967295 kernel_size: 3 group: 0 }",
    "spp_param { pyramid_height: 4294967295 }",
    "slice_param { axis: 9 slice_point: 4294967295 }",
    "interp_param { zoom_factor: 2147483647 }",
    "unknown_param { a: 1 }",
    "include { phase: TRAIN }",
    'bottom: "nowhere"',
    "top: 3",
)


def mutate_text(data: bytes, rng: random.Random) -> bytes:
    """Another number, data type, blob or parameter; a duplicated or missing layer; nesting."""
    text = data.decode()
    for _ in range(rng.choice((1, 1, 2, 5))):
        text = rng.choice(_CHANGES)(text, rng)
    return text.encode()


def _number(text: str, rng: random.Random) -> str:
    return _one(r"(?<=: )-?[0-9.]+", text, rng, rng.choice(NUMBERS))


def _layer_type(text: str, rng: random.Random) -> str:
    return _one(r'(?<=type: )"[^"]*"', text, rng, f'"{rng.choice(TYPES)}"')


def _blob(text: str, rng: random.Random) -> str:
    names = re.findall(r'(?:top|bottom): ("[^"]*")', text)
    return _one(r'(?<=(?:..top|ottom): )"[^"]*"', text, rng, rng.choice([*names, '""', '"\\377"']))


def _parameter(text: str, rng: random.Random) -> str:
    return _one(r"\}\s*(?=layer|$)", text, rng, f" {rng.choice(EXTRAS)} }}\n")


def _piece(text: str, rng: random.Random) -> str:
    """Duplicates, removes or moves a line."""
    lines = text.splitlines()
    at = rng.randrange(len(lines))
    line = lines.pop(at)
    lines[rng.randrange(len(lines) + 1) : 0] = [line] * rng.choice((0, 1, 2))
    return "\n".join(lines)


def _nesting(text: str, rng: random.Random) -> str:
    return text + "\n" + rng.choice(("layer {", "layer { include ", "x <", "}")) * rng.choice((1, 3000))


def _one(pattern: str, text: str, rng: random.Random, new: str) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + new + text[match.end() :]


_CHANGES = (_number, _number, _layer_type, _blob, _parameter, _piece, _nesting)


def mutate_weights(data: bytes, rng: random.Random) -> bytes:
    """Other shapes and names; missing, truncated or duplicated blobs, or blobs of the other format version."""
    net = NetParameter()
    net.ParseFromString(data)
    for _ in range(rng.choice((1, 3))):
        layer = rng.choice([layer for layer in net.layer if layer.blobs] or list(net.layer))
        blob = rng.choice(layer.blobs) if layer.blobs else layer.blobs.add()
        kind = rng.randrange(7)
        if kind == 0 and blob.shape.dim:
            blob.shape.dim[rng.randrange(len(blob.shape.dim))] = rng.choice(DIMENSIONS)
        elif kind == 1:
            blob.shape.dim.append(rng.choice(DIMENSIONS))
        elif kind == 2:
            layer.name = rng.choice(("", "nowhere", *(other.name for other in net.layer)))
        elif kind == 3:
            del layer.blobs[rng.randrange(len(layer.blobs)) :]
        elif kind == 4 and blob.data:
            blob.data[0] = blob.data[0][: rng.randrange(len(blob.data[0]) + 1)]
        elif kind == 5:
            blob.ClearField("shape")
            blob.num, blob.channels = rng.choice(DIMENSIONS), rng.choice(DIMENSIONS)
        else:
            net.layers.add(name=layer.name).blobs.add().double_data.append(rng.randbytes(rng.randrange(64)))
    content: bytes = net.SerializeToString()
    return content
