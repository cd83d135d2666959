"""What our quantizer makes of float networks, once its scales have 32 bits, LiteRT computes to our bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from mslite.converter.convert import convert
from mslite.converter.ethosu.partitions import find_partitions
from mslite.converter.ethosu.placement import round_scales
from mslite.converter.mindir.graph import Graph, Module
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.options import Options
from mslite.converter.tflite_writer import refusal
from mslite.quantizer.pipeline import quantize
from mslite.quantizer.settings import QuantizerSettings, quantizer_settings
from tests.e2e.models import Entry, models
from tests.quantizer.networks import image_network, matrix_network, samples

from .compare import assert_written_alike

_SETTINGS: QuantizerSettings = quantizer_settings(
    {"common_quant_param": {"quant_type": "FULL_QUANT"}, "full_quant_param": {"activation_quant_method": "MAX_MIN"}}
)
_NETWORKS = [entry for entry in models() if entry.kind == "onnx" and entry.path.startswith("torch_cnn/")]
_LEFT = {"QuantDTypeCast", "AvgPoolFusion", "Activation"}
"""Casts of the border; averages with a padding that TensorFlow Lite lacks, SWISH and HSIGMOID."""


def _assert_alike(graph: Graph) -> None:
    left = {
        node.op.name
        for node in graph.nodes
        if refusal(node)
        and any(value.dtype is DataType.INT8 and not value.is_constant for value in (*node.inputs, *node.outputs))
    }
    assert left <= _LEFT
    parts = find_partitions(graph, lambda node: not refusal(node))
    assert parts
    for part in parts:
        assert_written_alike(part)


@pytest.mark.parametrize("network", [image_network, matrix_network])
def test_small_networks(network: Callable[[], Module]) -> None:
    module = network()
    quantize(module, _SETTINGS, samples(module, 16))
    round_scales(module)
    _assert_alike(module.main)


@pytest.mark.slow
@pytest.mark.parametrize("entry", _NETWORKS, ids=lambda entry: entry.path)
def test_networks_of_the_open_set(entry: Entry, tmp_path: Path) -> None:
    """Calibrated on a recorded input."""
    recorded = [[np.load(entry.folder / name) for name in case["inputs"]] for case in entry.cases[:1]]
    names = [value.name for value in onnx.load(entry.source, load_external_data=False).graph.input]
    options = Options(
        entry.source,
        tmp_path / "net",
        input_shapes={name: array.shape for name, array in zip(names, recorded[0], strict=False)},
        quantizer=_SETTINGS,
        calibration=recorded,
        float32_scales=True,
    )
    _assert_alike(load(convert(options).files[0]).main)
