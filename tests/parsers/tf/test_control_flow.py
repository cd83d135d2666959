"""Loops, branches, lists and arrays of TensorFlow, recorded from TensorFlow at several sizes."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.ops.recurrent import LSTMSequence
from mslite.converter.options import FmkType, Options
from tests.parsers.tf import archive
from tests.parsers.tf.graphs import parsed

_ARCHIVE = Path(__file__).parent / "control_flow.zip"


def _names() -> list[str]:
    with zipfile.ZipFile(_ARCHIVE) as archive:
        return sorted(name.removesuffix(".pb") for name in archive.namelist() if name.endswith(".pb"))


def _converted(content: bytes, folder: Path) -> Path:
    (folder / "model.pb").write_bytes(content)
    return convert(Options(folder / "model.pb", folder / "model", framework=FmkType.TF)).files[0]


@pytest.mark.parametrize("name", _names())
def test_recorded_model(name: str, tmp_path: Path) -> None:
    """All runs forwards and back, so that plans for other sizes are met again."""
    with zipfile.ZipFile(_ARCHIVE) as archive:
        file = _converted(archive.read(f"{name}.pb"), tmp_path)
        with np.load(io.BytesIO(archive.read(f"{name}.npz"))) as content:
            arrays = dict(content)
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    count = 1 + max(int(key.partition("_")[0]) for key in arrays if key != "names")
    for run in [*range(count), *reversed(range(count))]:
        order = [int(tensor.name.removeprefix("x")) for tensor in model.get_inputs()]
        outputs = model.predict([arrays[f"{run}_input_{number}"] for number in order])
        got = {tensor.name: tensor.get_data_to_numpy() for tensor in outputs}
        assert len(got) == len(arrays["names"])
        for number, key in enumerate(arrays["names"]):
            want = arrays[f"{run}_output_{number}"]
            assert (got[str(key)].shape, got[str(key)].dtype) == (want.shape, want.dtype), key
            np.testing.assert_allclose(got[str(key)], want, 1e-5, 1e-5, err_msg=f"run {run}: {key}")


def test_a_merge_without_a_condition_is_named(tmp_path: Path) -> None:
    from mslite.converter.parsers.tf.protos import GraphDef

    graph = GraphDef()
    for name, operator, inputs in (("a", "Placeholder", []), ("b", "Placeholder", []), ("m", "Merge", ["a", "b"])):
        added = graph.node.add(name=name, op=operator, input=inputs)
        if operator == "Placeholder":
            for key in ("dtype", "shape"):
                added.attr.add(key=key)
            added.attr[0].value.type = 1
            added.attr[1].value.shape.dim.add(size=2)
    graph.node.add(name="y", op="Identity", input=["m"])
    with pytest.raises(ConversionError, match=r"'m'.*do not come from different outputs of a Switch"):
        _converted(graph.SerializeToString(), tmp_path)


def test_a_loop_without_a_condition_is_named(tmp_path: Path) -> None:
    from mslite.converter.parsers.tf.protos import GraphDef

    graph = GraphDef()
    for name, operator, inputs in (
        ("enter", "Enter", ["c"]),
        ("merge", "Merge", ["enter", "next"]),
        ("next", "NextIteration", ["merge"]),
        ("exit", "Exit", ["merge"]),
        ("c", "Placeholder", []),
        ("y", "Identity", ["exit"]),
    ):
        graph.node.add(name=name, op=operator, input=inputs)
    with pytest.raises(ConversionError, match="the loop '' has 0 conditions"):
        _converted(graph.SerializeToString(), tmp_path)


_LAYERS = {
    "keras_lstm": {"LSTMSequence": 2},
    "keras_lstm_states": {"LSTMSequence": 1},
    "keras_gru": {"RNNSequence": 1, "GRUSequence": 1},
    "lstm_with_peepholes": {"LSTMSequence": 1},
    "gru_both_ways": {"GRUSequence": 2},
    "keras_gru_backwards": {"GRUSequence": 1},
    "keras_both_ways": {"GRUSequence": 2},
    "keras_masked": {},
    "keras_convolutional": {},
    "lstm_with_lengths": {},
    "functions_over_rows": {},
}


@pytest.mark.parametrize("name", [name for name in _names() if name.removesuffix("_lowered") in _LAYERS])
def test_loops_that_are_recurrent_layers_become_operators(name: str) -> None:
    """Masked steps, convolutions and other loops stay loops."""
    with zipfile.ZipFile(_ARCHIVE) as archive:
        module = parsed(archive.read(f"{name}.pb"))
    found = Counter(type(node.op).__name__ for graph in module.graphs for node in graph.nodes)
    fused = {operator: count for operator, count in found.items() if operator.endswith("Sequence")}
    assert fused == _LAYERS[name.removesuffix("_lowered")]
    assert (len(module.graphs) == 1) == bool(fused)


@pytest.mark.parametrize("name", ["block_lstm_fused", "block_lstm_v2_fused"])
def test_block_lstms_over_whole_sequences_become_operators(name: str) -> None:
    module = parsed(archive.read(name).content)
    assert len(module.graphs) == 1
    assert any(isinstance(node.op, LSTMSequence) for node in module.main.nodes)
