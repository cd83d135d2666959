"""SavedModel folders, Keras files and --verify, where TensorFlow is installed."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite
from mslite.converter import cli
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.options import Options
from mslite.converter.parsers.tf import freeze
from tests.parsers.tf import archive

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed (the extra tf)")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.frameworks]


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    tf.keras.utils.set_random_seed(1)
    yield
    tf.keras.backend.clear_session()


def outputs_of(model: Path, folder: Path, inputs: dict[str, Any]) -> dict[str, Any]:
    (file,) = convert(Options(model, folder / "result")).files
    loaded = mslite.Model()
    loaded.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    tensors = loaded.get_inputs()
    assert sorted(tensor.name for tensor in tensors) == sorted(inputs)
    arrays = [inputs[tensor.name] for tensor in tensors]
    loaded.resize(tensors, [list(array.shape) for array in arrays])
    return {tensor.name: tensor.get_data_to_numpy() for tensor in loaded.predict(arrays)}


def close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(got, np.asarray(want), 1e-5, 1e-5)


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_keras_file(suffix: str, tmp_path: Path) -> None:
    layers = tf.keras.layers
    image = tf.keras.Input((9, 8, 3), name="image")
    x = layers.Conv2D(4, 3, activation="relu")(image)
    x = layers.BatchNormalization()(x)
    x = layers.GlobalAveragePooling2D()(x)
    model = tf.keras.Model(image, [layers.Dense(3, name="first")(x), layers.Dense(2, name="second")(x)])
    model.save(tmp_path / f"model.{suffix}")
    given = np.random.default_rng(1).standard_normal((2, 9, 8, 3)).astype(np.float32)
    got = outputs_of(tmp_path / f"model.{suffix}", tmp_path, {"image": given})
    for name, want in zip(("first", "second"), model(given), strict=True):
        close(got[name], want)


@pytest.mark.parametrize("kind", ["keras", "folder"])
def test_the_order_of_inputs_and_outputs(kind: str, tmp_path: Path) -> None:
    """A Keras file says it; the names of a SavedModel do where they have numbers, of which 10 comes after 9."""
    layers = tf.keras.layers
    given = [tf.keras.Input((size,), name=f"x_{number}") for number, size in ((2, 3), (1, 4), (0, 5))]
    last = layers.Concatenate()([given[2], given[1]])
    results = [layers.Dense(12 - number, name=f"name_{number}")(given[0]) for number in (3, 0, 1, 2, *range(4, 11))]
    model = tf.keras.Model(given, [layers.Dense(13, name="a")(last), *results])
    path = tmp_path / ("model.keras" if kind == "keras" else "model")
    (model.save if kind == "keras" else model.export)(path)
    loaded = mslite.Model()
    loaded.build_from_file(convert(Options(path, tmp_path / "result")).files[0], mslite.ModelType.MINDIR_LITE)
    sizes = [3, 4, 5] if kind == "keras" else [5, 4, 3]
    assert [tensor.shape[1] for tensor in loaded.get_inputs()] == sizes
    assert [tensor.shape[1] for tensor in loaded.get_outputs()] == [output.shape[1] for output in model.outputs]


def test_recurrent_keras_file(tmp_path: Path) -> None:
    layers = tf.keras.layers
    sequence = tf.keras.Input((6, 5), name="sequence")
    model = tf.keras.Model(
        sequence, layers.GRU(3)(layers.Bidirectional(layers.LSTM(4, return_sequences=True))(sequence))
    )
    model.save(tmp_path / "model.keras")
    x = np.random.default_rng(1).standard_normal((2, 6, 5)).astype(np.float32)
    (got,) = outputs_of(tmp_path / "model.keras", tmp_path, {"sequence": x}).values()
    close(got, model(x))


def test_a_keras_model_lives_as_long_as_its_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A concrete function of TensorFlow does not keep the variables of a model."""
    image = tf.keras.Input((4,), name="image")
    model = tf.keras.Model(image, tf.keras.layers.Dense(3)(image))
    model.save(tmp_path / "model.keras")
    monkeypatch.setattr("sys.argv", ["freeze.py", "", "", str(1 << 30), ""])
    function = freeze.keras_function(tmp_path / "model.keras")
    gc.collect()
    for got, wanted in zip(function.graph.variables, model.variables, strict=True):
        close(got, wanted)


class Module(tf.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        self.weight = tf.Variable(np.random.default_rng(2).standard_normal((5, 3)).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec((None, 5)), tf.TensorSpec((None, 3))])
    def serve(self, left: Any, right: Any) -> dict[str, Any]:
        return {"sum": left @ self.weight + right, "product": left[:, :3] * right}

    @tf.function(input_signature=[tf.TensorSpec((2,))])
    def other(self, x: Any) -> dict[str, Any]:
        return {"y": x}


def test_saved_model_has_the_names_of_its_signature(tmp_path: Path) -> None:
    module = Module()
    folder = tmp_path / "saved"
    tf.saved_model.save(module, str(folder), signatures=module.serve)
    draw = np.random.default_rng(3)
    inputs = {name: draw.standard_normal((4, size)).astype(np.float32) for name, size in (("left", 5), ("right", 3))}
    want = module.serve(**inputs)
    for path in (folder, folder / "saved_model.pb"):
        got = outputs_of(path, tmp_path, inputs)
        assert sorted(got) == ["product", "sum"]
        for name, array in got.items():
            close(array, want[name])


def test_saved_model_without_a_serving_signature_is_refused(tmp_path: Path) -> None:
    module = Module()
    signatures = {"a": module.serve.get_concrete_function(), "b": module.other.get_concrete_function()}
    tf.saved_model.save(module, str(tmp_path / "saved"), signatures=signatures)
    with pytest.raises(ConversionError, match=r"no signature 'serving_default' \(its signatures: a, b\)"):
        convert(Options(tmp_path / "saved", tmp_path / "result"))


class Kept(tf.Module):  # type: ignore[misc]
    """Functions that keep something from one call to the next."""

    def __init__(self) -> None:
        self.state = tf.Variable(tf.zeros([1, 3]), name="the_state")
        self.weight = tf.Variable(tf.ones([1, 3]), name="the_weight")
        numbers = tf.constant([1, 2], tf.int64)
        self.words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(numbers, numbers), -1)

    def assigns(self, x: Any) -> dict[str, Any]:
        self.state.assign(self.state * 0.5 + x)
        return {"y": self.state * self.weight}

    def assigns_in_a_branch(self, x: Any) -> dict[str, Any]:
        if tf.reduce_sum(x) > 0.0:
            self.state.assign_add(x)
        return {"y": self.state * self.weight}

    def assigns_in_a_loop(self, x: Any) -> dict[str, Any]:
        for _ in tf.range(tf.cast(x[0, 0], tf.int32)):
            self.state.assign_sub(x)
        return {"y": self.state * self.weight}

    def assigns_a_row(self, x: Any) -> dict[str, Any]:
        self.state.scatter_nd_update([[0]], x)
        return {"y": self.state * self.weight}

    def looks_up(self, x: Any) -> dict[str, Any]:
        return {"y": self.words.lookup(tf.cast(x, tf.int64))}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("assigns", "the variable 'the_state' .*TFLiteConverter"),
        ("assigns_in_a_branch", "the variable 'the_state' .*TFLiteConverter"),
        ("assigns_in_a_loop", "the variable 'the_state' .*TFLiteConverter"),
        ("assigns_a_row", "the variable 'the_state' .*an input and an output"),
        ("looks_up", "the hash table 'words' .*before the model"),
    ],
)
def test_what_is_kept_between_calls_is_named(name: str, reason: str, tmp_path: Path) -> None:
    module = Kept()
    module.function = tf.function(getattr(module, name), input_signature=[tf.TensorSpec((1, 3))])
    tf.saved_model.save(module, str(tmp_path / "saved"), signatures=module.function)
    with pytest.raises(ConversionError, match=reason) as caught:
        convert(Options(tmp_path / "saved", tmp_path / "result"))
    assert caught.value.code is ReturnCode.NOT_SUPPORTED
    assert "the_weight" not in str(caught.value)
    assert not list(tmp_path.glob("result*"))


def test_a_signature_of_a_saved_model_is_chosen_by_its_name(tmp_path: Path) -> None:
    module = Module()
    signatures = {
        "serving_default": module.serve.get_concrete_function(),
        "other": module.other.get_concrete_function(),
    }
    tf.saved_model.save(module, str(tmp_path / "saved"), signatures=signatures)
    given = np.array([3, 4], np.float32)
    (file,) = convert(Options(tmp_path / "saved", tmp_path / "result", signature="other")).files
    loaded = mslite.Model()
    loaded.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    (output,) = loaded.predict([given])
    assert (output.name, output.get_data_to_numpy().tolist()) == ("y", [3, 4])
    with pytest.raises(
        ConversionError, match=r"'third' \(its signatures: other, serving_default\); select one with --sig"
    ):
        convert(Options(tmp_path / "saved", tmp_path / "result", signature="third"))


def test_a_damaged_keras_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "model.keras").write_bytes(b"nothing")
    with pytest.raises(ConversionError, match="TensorFlow cannot freeze this model: ") as caught:
        convert(Options(tmp_path / "model.keras", tmp_path / "result"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["conv2d_dynamic_batch", "while", "top_k"])
def test_verify_compares_with_tensorflow(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.pb").write_bytes(archive.read(name).content)
    result = f"--outputFile={tmp_path / 'result'}"
    assert cli.main([f"--modelFile={tmp_path / 'model.pb'}", result, "--verify"]) == 0
    text = capfd.readouterr().out
    assert "verify      output 'Identity' differs by" in text
