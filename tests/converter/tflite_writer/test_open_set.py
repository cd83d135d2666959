"""Every 8-bit model of the open set: what the writer takes of it, LiteRT computes to our bits."""

from __future__ import annotations

from pathlib import Path

import pytest

from mslite.converter.convert import convert
from mslite.converter.ethosu.partitions import find_partitions
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.options import Options
from mslite.converter.tflite_writer import refusal
from tests.e2e.models import Entry, models

from .compare import assert_written_alike

_NO_BYTES = ("tflite_micro_seanet/", "keras_tflite/ds_cnn_kws_int16x8", "litert_testdata/simple_quantized_ops")
"""They compute on other integers."""
_INTEGERS = [
    entry
    for entry in models()
    if entry.kind == "tflite" and entry.tolerance_class == "int8" and not entry.path.startswith(_NO_BYTES)
]
_LEFT = {"ArgMaxFusion", "GatherNd", "LSTMSequence", "QuantDTypeCast"}
"""Operators on 8-bit integers in these models that are not written; casts are those from and to other types."""


@pytest.mark.parametrize("entry", _INTEGERS, ids=lambda entry: entry.path)
def test_sub_graphs_are_computed_alike(entry: Entry, tmp_path: Path) -> None:
    module = load(convert(Options(entry.source, tmp_path / "model")).files[0])
    for graph in module.graphs:
        concerned = [
            node
            for node in graph.nodes
            if any(value.dtype is DataType.INT8 and not value.is_constant for value in (*node.inputs, *node.outputs))
        ]
        assert concerned
        assert {node.op.name for node in concerned if refusal(node)} <= _LEFT
        for part in find_partitions(graph, lambda node: not refusal(node)):
            assert_written_alike(part)
