"""Operators on strings, through the file and the runtime; SKIP_GRAM against LiteRT."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from tflite_build import Graph, Operator, Tensor, build, single
from tflite_run import Array, lowered, run_source

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.reference.text import packed, unpacked
from mslite.converter.parsers.tflite import parse


def run(model: bytes, inputs: list[Array], folder: Path) -> list[Array]:
    """Strings go in and come out as packed bytes."""
    (folder / "m.tflite").write_bytes(model)
    module_io.save(lowered(parse(folder / "m.tflite")), folder / "m.ms")
    runner = mslite.Model()
    runner.build_from_file(str(folder / "m.ms"), mslite.ModelType.MINDIR_LITE)
    tensors = runner.get_inputs()
    for tensor, array in zip(tensors, inputs, strict=True):
        tensor.set_data_from_numpy(array)
    return [output.get_data_to_numpy() for output in runner.predict(tensors)]


@pytest.mark.parametrize(("words", "skip", "everything"), [(2, 0, False), (3, 1, True), (1, 2, True), (2, 3, False)])
def test_skip_gram(words: int, skip: int, everything: bool, tmp_path: Path) -> None:
    options = {0: ("int", words), 1: ("int", skip), 2: ("bool", everything)}
    model = single(
        "SKIP_GRAM", [Tensor("x", (1,), "string")], (), ("string",), options=options, options_type="SkipGramOptions"
    )
    text = b"the quick brown fox  jumps over it"
    (expected,) = run_source(model, [np.array([text], object)])
    (found,) = run(model, [packed([text])], tmp_path)
    assert unpacked(found) == expected.tolist()


def test_sentence_to_labels(tmp_path: Path) -> None:
    """Normalize, ExtractFeatures and Predict, as a model of smart replies chains them."""
    keys = np.array([3, 62731, 500000, 999999], np.int32)
    labels = np.arange(8, dtype=np.int32).reshape(4, 2)
    weights = np.linspace(0.1, 0.8, 8, dtype=np.float32).reshape(4, 2)
    tensors = [
        Tensor("x", (1,), "string"), Tensor("normal", (1,), "string"), Tensor("hashes", (1,), "int32"),
        Tensor("words", (1,)), Tensor("keys", data=keys), Tensor("labels", data=labels), Tensor("weights", data=weights),
        Tensor("label", (3,), "int32"), Tensor("weight", (3,)),
    ]  # fmt: skip
    nodes = [
        Operator("CUSTOM:Normalize", [0], [1]),
        Operator("CUSTOM:ExtractFeatures", [1], [2, 3]),
        Operator("CUSTOM:Predict", [2, 4, 5, 6], [7, 8], custom=struct.pack("<if", 3, 0.05)),
    ]
    model = build(Graph(tensors, [0], [1, 2, 3, 7, 8], nodes))
    normal, hashes, words, label, weight = run(model, [packed([b" I'm FINE, Thanks!! "])], tmp_path)
    assert unpacked(normal) == [b"<S> i am fine, thanks ! <E>"]
    assert words.tolist() == [7.0]
    row = np.flatnonzero(keys == hashes[0])
    assert label.tolist() == ([*labels[row[0]][::-1].tolist(), -1] if row.size else [-1, -1, -1])
    assert (weight > 0).sum() == (2 if row.size else 0)
