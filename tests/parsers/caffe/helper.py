"""Small Caffe networks: prototxt text and weights, converted, run, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.parsers.caffe import parse
from mslite.converter.parsers.caffe.schema import NetParameter
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline

Array = npt.NDArray[Any]
Weights = Mapping[str, Sequence[Array]]


def random(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def positive(*shape: int, seed: int = 0) -> Array:
    return np.abs(random(*shape, seed=seed)) + np.float32(0.3)


def network(layers: str, inputs: Mapping[str, Array]) -> str:
    """Returns a network with Input layers in the shapes of these arrays."""
    heads = []
    for name, array in inputs.items():
        dims = " ".join(f"dim: {dim}" for dim in array.shape)
        heads.append(f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {dims} }} }} }}')
    return "\n".join(['name: "test"', *heads, layers])


def one(kind: str, inputs: Mapping[str, Array], parameters: str = "", tops: Sequence[str] = ("y",)) -> str:
    """Adds one layer of type `kind` that reads all inputs; its name is that of its first top."""
    bottoms = " ".join(f'bottom: "{name}"' for name in inputs)
    names = " ".join(f'top: "{top}"' for top in tops)
    return network(f'layer {{ name: "{tops[0]}" type: "{kind}" {bottoms} {names} {parameters} }}', inputs)


def caffemodel(weights: Weights, old: bool = False) -> bytes:
    """Returns the weights file with these blobs; `old`: of the second format version, with 4-D shapes."""
    net = NetParameter(name="test")
    for name, arrays in weights.items():
        layer = net.layers.add(name=name) if old else net.layer.add(name=name, type="Any")
        for array in arrays:
            blob = layer.blobs.add()
            blob.data.append(np.ascontiguousarray(array, "<f4").tobytes())
            if old:
                shape = (1,) * (4 - array.ndim) + array.shape
                blob.num, blob.channels, blob.height, blob.width = shape
            else:
                blob.shape.dim.extend(array.shape)
    if not weights:
        net.layer.add(name="none", type="Any")
    content: bytes = net.SerializeToString()
    return content


def write(folder: Path, text: str, weights: Weights | bytes = b"") -> tuple[Path, Path]:
    """Writes the two files of a model."""
    prototxt, model = folder / "net.prototxt", folder / "net.caffemodel"
    prototxt.write_text(text)
    model.write_bytes(weights if isinstance(weights, bytes) and weights else caffemodel(weights or {}))  # type: ignore[arg-type]
    return prototxt, model


def read(folder: Path, text: str, weights: Weights | bytes = b"", **shapes: Sequence[int]) -> Module:
    """Returns the module of the parser."""
    prototxt, model = write(folder, text, weights)
    return parse(prototxt, model, shapes)


def build(module: Module, folder: Path) -> mslite.Model:
    """Builds the module in the runtime: passes, file, session. Inputs stay NCHW."""
    run_pipeline(module, Settings(source_layout=Format.NCHW, input_format=Format.NCHW))
    path = folder / "model.ms"
    path.unlink(missing_ok=True)
    module_io.save(module, path)
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
    return model


def compute(folder: Path, text: str, weights: Weights | bytes, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Returns the outputs of the converted model by name."""
    model = build(read(folder, text, weights), folder)
    tensors = model.get_inputs()
    for tensor in tensors:
        tensor.set_data_from_numpy(np.asarray(inputs[tensor.name], order="C"))
    return {tensor.name: tensor.get_data_to_numpy() for tensor in model.predict(tensors)}


def opencv(text: str, weights: Weights, inputs: Mapping[str, Array], layers: Sequence[str]) -> list[Array]:
    """Returns the results of OpenCV's Caffe reader for the tops of these layers, which have the names of their first tops.

    OpenCV counts tops that the network does not name, such as the mask of MAX pooling.
    """
    cv2 = pytest.importorskip("cv2")
    buffers = (np.frombuffer(content, np.uint8) for content in (text.encode(), caffemodel(weights)))
    net = cv2.dnn.readNetFromCaffe(*buffers)
    net.enableFusion(False)
    net.enableWinograd(False)
    for name, array in inputs.items():
        net.setInput(array, name)
    return [np.asarray(top) for tops in net.forwardAndRetrieve(list(layers)) for top in tops]


def agree(got: Array, wanted: Array, tolerance: float = 2e-5) -> None:
    """Asserts equal shapes, and values within the tolerance times the largest magnitude."""
    assert got.dtype == np.float32
    assert got.shape == wanted.shape
    scale = max(1.0, float(np.abs(wanted).max(initial=0)))
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale)


def run_layer(
    folder: Path, kind: str, inputs: Sequence[Array], parameters: str = "", blobs: Sequence[Array] = (), tops: int = 1
) -> list[Array]:
    """Compares all tops of one layer; the weights are `blobs`."""
    named = {f"x{index}": array for index, array in enumerate(inputs)}
    outputs = [f"y{index}" for index in range(tops)]
    text = one(kind, named, parameters, outputs)
    got = compute(folder, text, {"y0": blobs} if blobs else {}, named)
    assert sorted(got) == outputs
    return [got[name] for name in outputs]


def check_layer(
    folder: Path, wanted: Array, kind: str, inputs: Sequence[Array], parameters: str = "", blobs: Sequence[Array] = ()
) -> None:
    """Asserts that a layer with one top returns `wanted`."""
    (got,) = run_layer(folder, kind, inputs, parameters, blobs)
    agree(got, wanted)
