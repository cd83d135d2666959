"""Models that are quantized already: they pass through untouched, or become float ones of the same meaning."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite
from mslite.converter.convert import Report, convert
from mslite.converter.mindir.graph import numpy_type
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.enums import QuantType
from mslite.converter.mindir.quantized import is_quantized
from mslite.converter.options import FmkType, Options
from mslite.quantizer.settings import QuantizerSettings, TransformQuantParam, quantizer_settings
from tests.converter.onnx_models import quantized_network
from tests.quantizer.networks import Array, sqnr

SHARED = Path(__file__).resolve().parents[3] / "shared" / "models"
FLOAT = QuantizerSettings(transform=TransformQuantParam(export_precision_mode="FLOAT32"))


def options(model: Path, result: Path, settings: QuantizerSettings | None = None) -> Options:
    kind = {".onnx": FmkType.ONNX, ".tflite": FmkType.TFLITE, ".pb": FmkType.TF}[model.suffix]
    return Options(model_file=model, output_file=result, framework=kind, quantizer=settings or QuantizerSettings())


def settings_of(method: str) -> QuantizerSettings:
    return quantizer_settings({"common_quant_param": {"quant_type": method}})


def predict(path: Path, inputs: list[Array]) -> list[Array]:
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    model.resize(model.get_inputs(), [array.shape for array in inputs])
    return [tensor.get_data_to_numpy().copy() for tensor in model.predict(inputs)]


def run(path: Path, seed: int = 0) -> tuple[list[Array], list[Array]]:
    """Random inputs, and what the model makes of them; unknown sizes are 4."""
    draw = np.random.default_rng(seed)
    inputs: list[Array] = []
    for value in load(path).main.inputs:
        dtype = numpy_type(value.dtype)
        random = draw.normal(0, 0.5, [size if size >= 0 else 4 for size in value.shape or ()])
        whole = random * 60 if value.quant else np.abs(random * 2)
        inputs.append((random if dtype.kind == "f" else whole).astype(dtype))
    return inputs, predict(path, inputs)


def fake_quant_model(path: Path) -> Path:
    """A TensorFlow graph as quantization-aware training leaves it."""
    tf = pytest.importorskip("tensorflow")
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, (1, 8, 8, 3), name="x")
        filters = tf.constant(np.random.default_rng(0).normal(0, 0.3, (3, 3, 3, 32)).astype(np.float32))
        rounded = tf.quantization.fake_quant_with_min_max_args(filters, -1, 1)
        y = tf.nn.relu(tf.nn.conv2d(x, rounded, 1, "SAME"))
        tf.quantization.fake_quant_with_min_max_args(y, 0, 6, name="y")
    path.write_bytes(graph.as_graph_def().SerializeToString())
    return path


@pytest.mark.parametrize("method", ["FULL_QUANT", "WEIGHT_QUANT", "DYNAMIC_QUANT"])
def test_onnx_with_casts_passes_through(method: str, tmp_path: Path) -> None:
    model = quantized_network(tmp_path / "net.onnx")
    convert(options(model, tmp_path / "plain"))
    report = convert(options(model, tmp_path / "asked", settings_of(method)))
    assert (tmp_path / "plain.ms").read_bytes() == (tmp_path / "asked.ms").read_bytes()
    assert report.notes[-1] == "the model is already quantized and stays unchanged"


@pytest.mark.frameworks
def test_fake_quantization_passes_through(tmp_path: Path) -> None:
    model = fake_quant_model(tmp_path / "net.pb")
    convert(options(model, tmp_path / "plain"))
    report = convert(options(model, tmp_path / "asked", settings_of("WEIGHT_QUANT")))
    assert (tmp_path / "plain.ms").read_bytes() == (tmp_path / "asked.ms").read_bytes()
    assert report.notes[-1] == "the model is already quantized and stays unchanged"


def as_float(model: Path, tmp_path: Path) -> Report:
    convert(options(model, tmp_path / "q"))
    return convert(options(model, tmp_path / "f", FLOAT))


def test_export_as_float(tmp_path: Path) -> None:
    report = as_float(quantized_network(tmp_path / "net.onnx"), tmp_path)
    assert "quantized constants converted to float32" in report.notes[-1]
    main = load(tmp_path / "f.ms").main
    assert not any(node.op.name == "QuantDTypeCast" for node in main.nodes)
    assert {node.quant_type for node in main.nodes} == {QuantType.QUANT_NONE}
    assert {value.dtype for value in main.values() if value.quant} == set()
    inputs, wanted = run(tmp_path / "q.ms")
    assert inputs[0].dtype == np.float32
    assert sqnr(wanted[0], run(tmp_path / "f.ms")[1][0]) > 20


def _int8_models() -> list[Any]:
    if not SHARED.is_dir():
        return []
    entries = json.loads((SHARED / "manifest.json").read_text())["models"]
    found = [entry for entry in entries if entry["kind"] == "onnx" and "_int8" in entry["path"]]
    found += [entry for entry in entries if entry["path"].startswith("mlperf_tiny/")]
    return [pytest.param(SHARED / entry["path"] / f"model.{entry['kind']}", id=entry["path"]) for entry in found]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared models are not here")
@pytest.mark.parametrize("model", _int8_models())
def test_export_of_shared_models_as_float(model: Path, tmp_path: Path) -> None:
    """The float model gives the integer model's outputs, to within what rounding does."""
    as_float(model, tmp_path)
    q, f = load(tmp_path / "q.ms").main, load(tmp_path / "f.ms").main
    assert not any(is_quantized(value) for value in f.values())
    inputs, wanted = run(tmp_path / "q.ms")
    given = []
    for value, array in zip(q.inputs, inputs, strict=True):
        record = value.quant[0] if value.quant and array.dtype.kind != "f" else None
        given.append(array if record is None else ((array - np.float32(record.zeroPoint)) * record.scale).astype("f4"))
    got = predict(tmp_path / "f.ms", given)
    for value, a, b in zip(q.outputs, wanted, got, strict=True):
        record = value.quant[0] if value.quant else None
        real = a if record is None else (a.astype(np.float64) - record.zeroPoint) * record.scale
        norm = np.linalg.norm(real.astype(np.float64)) * np.linalg.norm(b.astype(np.float64))
        # The MobileNet has random weights and amplifies the rounding of each layer by itself.
        least = 0.75 if "mobilenet" in model.parent.name else 0.97
        assert float((real.astype(np.float64) * b).sum()) > least * norm


def test_a_float_source_is_not_transformed(tmp_path: Path) -> None:
    from tests.converter.onnx_models import small_network

    model = small_network(tmp_path / "net.onnx")
    convert(options(model, tmp_path / "plain"))
    convert(dataclasses.replace(options(model, tmp_path / "asked"), quantizer=FLOAT))
    assert (tmp_path / "plain.ms").read_bytes() == (tmp_path / "asked.ms").read_bytes()
