"""Keras files and SavedModels from strangers: what they would run is never run, with and without TensorFlow."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mslite.converter.cli import main
from mslite.converter.errors import ConversionError
from mslite.converter.parsers.tf.keras_config import UnsafeKerasModel, check_keras_config
from mslite.converter.parsers.tf.protos import SavedModel
from mslite.converter.parsers.tf.unsafe_operators import unsafe_operators
from mslite.converter.verify.tensorflow_reference import run_tensorflow

CODE = ["4wEAAAAAAAAAAAAAAAIAAABTAAAA", None, None]
FUNCTION = {"class_name": "__lambda__", "config": {"value": CODE[0], "defaults": None, "closure": None}}


def layer(kind: str, module: str | None = "keras.layers", **config: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"class_name": kind, "config": {"name": "bad", **config}}
    return found if module is None else {**found, "module": module, "registered_name": None}


def network(*layers: dict[str, Any]) -> str:
    return json.dumps(
        {"module": "keras", "class_name": "Sequential", "config": {"name": "net", "layers": list(layers)}}
    )


LAYERS: dict[str, dict[str, Any]] = {
    "lambda of Keras 3": layer("Lambda", function=FUNCTION),
    "lambda of old Keras": layer("Lambda", None, function=CODE, function_type="lambda"),
    "lambda by name": layer("Lambda", None, function="system", function_type="function"),
    "registered lambda": layer("builtins>Lambda", function=FUNCTION),
    "lambda as an activation": layer("Dense", units=1, activation=FUNCTION),
    "lambda as a shape": layer("Wrapper", None, output_shape_type="lambda", output_shape=CODE),
    "nested": layer("TimeDistributed", layer=layer("Bidirectional", layer=layer("Lambda", function=FUNCTION))),
    "module": layer("System", module="os"),
    "module like Keras": layer("X", module="keras_evil.layers"),
    "utilities of Keras": layer("get_file", module="keras.utils"),
    "module as a list": {"class_name": "X", "config": {}, "module": ["keras"]},
    "pickled PyTorch": layer("TorchModuleWrapper", module="keras.layers", module_=CODE),
    "another file": layer("TFSMLayer", filepath="/tmp/other"),
    "file operator": layer("TFOpLambda", None, function="io.write_file"),
    "raw operator": layer("TFOpLambda", None, function="raw_ops.WriteFile"),
    "method": layer("ClassMethod", None, cls_symbol="x", method_name="y"),
    "vocabulary": layer("StringLookup", vocabulary="/etc/passwd"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_that_are_refused(name: str) -> None:
    with pytest.raises(UnsafeKerasModel):
        check_keras_config(network(LAYERS[name]))


@pytest.mark.parametrize(
    "config",
    [
        layer("Dense", units=3, activation="relu"),
        layer("Conv2D", None, filters=3, kernel_initializer={"class_name": "GlorotUniform", "config": {}}),
        layer("Functional", module="keras.src.engine.functional"),
        layer("TFOpLambda", None, function="math.reduce_mean"),
        layer("StringLookup", vocabulary=["a", "b"]),
        {"class_name": "function", "config": "relu", "module": "builtins", "registered_name": "relu"},
    ],
)
def test_layers_that_are_not(config: dict[str, Any]) -> None:
    check_keras_config(network(config))


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, b"\xff\xfe"], ids=["empty", "cut", "deep", "no text"])
def test_a_damaged_configuration(text: str | bytes) -> None:
    with pytest.raises(UnsafeKerasModel, match="damaged"):
        check_keras_config(text)


def keras_archive(path: Path, text: str, *more: str) -> Path:
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(path, "w") as file:
        file.writestr("config.json", text)
        for name in more:
            file.writestr(name, text)
    return path


def refused(path: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """The message of a model that neither converts nor is checked."""
    texts = []
    for flag in (f"--outputFile={path.parent / 'result'}", "--check"):
        assert main([f"--modelFile={path}", "--fmk=TF", flag]) in (1, 3)
        texts.append(capfd.readouterr().err)
    assert texts[0] == texts[1]
    assert str(path) in texts[0]
    assert "is not installed" not in texts[0], "it was refused for another reason"
    assert not (path.parent / "result.ms").exists()
    return texts[0]


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".hdf5"])
def test_an_archive_with_code(suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = keras_archive(tmp_path / f"model{suffix}", network(LAYERS["lambda of Keras 3"]), "model.weights.h5")
    assert "'bad' (Lambda) contains Python code" in refused(path, capfd)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["config.json"], "there twice"),
        (["../outside"], "points out of the archive"),
        (["pickled.pkl"], "is not part of a Keras model"),
    ],
)
def test_an_archive_with_more(more: list[str], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = keras_archive(tmp_path / "model.keras", network(layer("Dense", units=1)), *more)
    assert message in refused(path, capfd)


def saved_model(function: str = "", **operators: str) -> Any:
    """A SavedModel with nodes of these operators, in a function where one is named."""
    model = SavedModel()
    graph = model.meta_graphs.add().graph_def
    target = graph.node
    if function:
        made = graph.library.function.add()
        made.signature.name = function
        target = made.node_def
    for name, operator in operators.items():
        target.add(name=name, op=operator)
    return model


@pytest.mark.parametrize(
    "operator",
    [
        "PyFunc",
        "PyFuncStateless",
        "EagerPyFunc",
        "ReadFile",
        "WriteFile",
        "MatchingFiles",
        "TextLineDataset",
        "TFRecordDataset",
        "LoadDataset",
        "DebugIdentityV3",
        "RpcClient",
        "TRTEngineOp",
        "CreateSummaryFileWriter",
    ],
)
@pytest.mark.parametrize("function", ["", "__inference_f_1"])
def test_a_saved_model_that_reaches_out(
    operator: str, function: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "saved").mkdir()
    content = saved_model(function, a="Placeholder", bad=operator).SerializeToString()
    (tmp_path / "saved" / "saved_model.pb").write_bytes(content)
    text = refused(tmp_path / "saved", capfd)
    assert f"{operator} '" in text
    assert "bad'" in text


@pytest.mark.parametrize("operator", ["WriteFile", "SaveV2", "PyFunc"])
def test_verify_does_not_run_it(operator: str, tmp_path: Path) -> None:
    graph = saved_model(y=operator).meta_graphs[0].graph_def
    (tmp_path / "net.pb").write_bytes(graph.SerializeToString())
    package = SimpleNamespace(compat=SimpleNamespace(v1=None))  # which the refusal comes before
    with pytest.raises(ConversionError, match=f"--verify does not run(.|\\n)*{operator} 'y'"):
        run_tensorflow(package, tmp_path / "net.pb", {})


def test_printing_to_a_file() -> None:
    model = saved_model(p="PrintV2", q="PrintV2")
    for node, stream in zip(model.meta_graphs[0].graph_def.node, (b"stderr", b"file:///tmp/x"), strict=True):
        node.attr.add(key="output_stream").value.s = stream
    assert [blocker.node for blocker in unsafe_operators(model)] == ["q"]


def test_saving_is_not_loading() -> None:
    """Every SavedModel can save itself; none may do so while it is loaded."""
    model = saved_model("__inference__traced_save_7", s="SaveV2", m="MergeV2Checkpoints")
    meta = model.meta_graphs[0]
    meta.graph_def.node.add(name="save", op="StatefulPartitionedCall").attr.add(
        key="f"
    ).value.func.name = "__inference__traced_save_7"
    meta.graph_def.node.add(name="init", op="NoOp")
    meta.collection_def.add(key="saved_model_main_op").value.node_list.value.append("init")
    assert unsafe_operators(model) == []
    meta.graph_def.node[1].input.append("^save")
    assert len(unsafe_operators(model)) == 2
    old = saved_model(save="SaveV2", init="NoOp")
    signature = old.meta_graphs[0].signature_def.add(key="__saved_model_init_op").value
    signature.outputs.add(key="x").value.name = "init:0"
    assert unsafe_operators(old) == []
    old.meta_graphs[0].graph_def.node[1].input.append("^save")
    assert [blocker.node for blocker in unsafe_operators(old)] == ["save"]


@pytest.mark.frameworks
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("config", ["lambda of old Keras", "lambda of Keras 3", "file operator"])
def test_hdf5(config: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py comes with TensorFlow (the extra tf)")
    path = tmp_path / "model.h5"
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = network(LAYERS[config])
        file.create_group("model_weights")
    assert "'bad'" in refused(path, capfd)


@pytest.mark.frameworks
@pytest.mark.parametrize("kind", ["external link", "soft link", "external storage", "too large"])
def test_hdf5_weights_of_other_files(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py comes with TensorFlow (the extra tf)")
    path = tmp_path / "model.h5"
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = network(layer("Dense", None, units=1))
        weights = file.create_group("model_weights")
        if kind == "external link":
            weights["w"] = h5py.ExternalLink("/etc/passwd", "/")
        elif kind == "soft link":
            weights["w"] = h5py.SoftLink("/elsewhere")
        elif kind == "external storage":
            weights.create_dataset("w", (10,), "u1", external=[("/etc/passwd", 0, 10)])
        else:
            weights.create_dataset("w", (1 << 50,), "u1", chunks=(1 << 20,))
    assert "its weights" in refused(path, capfd)


@pytest.mark.frameworks
@pytest.mark.filterwarnings("ignore")
def test_the_lambda_of_a_real_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    keras = pytest.importorskip("tf_keras", reason="tf-keras is not installed (the extra tf)")
    marker = tmp_path / "marker"
    source = keras.Input((4,))
    run = keras.layers.Lambda(lambda x, marker=str(marker): (__import__("pathlib").Path(marker).touch(), x * 2)[1])
    keras.Model(source, run(source)).save(tmp_path / "model.h5")
    marker.unlink()
    capfd.readouterr()
    assert "contains Python code" in refused(tmp_path / "model.h5", capfd)
    assert not marker.exists()
