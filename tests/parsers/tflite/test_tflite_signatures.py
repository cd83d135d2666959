"""Files with several signatures: one is chosen by its name, and none is taken in silence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_build import Graph, Operator, Signature, Tensor, build, single

import mslite
from mslite.converter import cli
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError, UsageError
from mslite.converter.options import Options

X = np.array([-1, 2, -3], np.float32)


def unary(name: str) -> Graph:
    return Graph([Tensor("t0", (3,)), Tensor("t1", (3,))], [0], [1], [Operator(name, [0], [1])])


def prefill_and_decode(folder: Path) -> Path:
    signatures = [
        Signature("prefill", 0, [("tokens", 0)], [("logits", 1)]),
        Signature("decode", 1, [("token", 0)], [("logit", 1)]),
    ]
    path = folder / "m.tflite"
    path.write_bytes(build(unary("ABS"), unary("NEG"), signatures=signatures))
    return path


def run(options: Options, *inputs: np.ndarray) -> dict[str, np.ndarray]:
    (file,) = convert(options).files
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE)
    return {output.name: output.get_data_to_numpy() for output in model.predict(list(inputs))}


@pytest.mark.parametrize(
    ("name", "entering", "leaving", "want"),
    [("prefill", "tokens", "logits", np.abs(X)), ("decode", "token", "logit", -X)],
)
def test_the_named_signature_is_converted_under_its_names(
    name: str, entering: str, leaving: str, want: np.ndarray, tmp_path: Path
) -> None:
    options = Options(prefill_and_decode(tmp_path), tmp_path / "out", signature=name)
    (file,) = convert(options).files
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE)
    assert [tensor.name for tensor in model.get_inputs()] == [entering]
    (output,) = model.predict([X])
    assert output.name == leaving
    assert output.get_data_to_numpy().tolist() == want.tolist()


def test_without_a_name_the_signatures_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = prefill_and_decode(tmp_path)
    for extra in ([], ["--check"]):
        words = [f"--modelFile={model}", f"--outputFile={tmp_path / 'out'}", *extra]
        assert cli.main(words) == 2
        told = capsys.readouterr().err
        assert "'prefill' (tokens -> logits), 'decode' (token -> logit)" in told
        assert "--signature=prefill" in told
    assert not (tmp_path / "out.ms").exists()
    assert cli.main([f"--modelFile={model}", "--check", "--signature=decode"]) == 0
    assert "Neg" in capsys.readouterr().out


def test_a_wrong_name_lists_the_signatures(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no signature 'train': its signatures are 'prefill' .*, 'decode'"):
        convert(Options(prefill_and_decode(tmp_path), tmp_path / "out", signature="train"))
    plain = tmp_path / "plain.tflite"
    plain.write_bytes(single("ABS", [X]))
    with pytest.raises(UsageError, match="no signature 'train': it has no signatures; remove --signature"):
        convert(Options(plain, tmp_path / "out", signature="train"))


def test_signatures_of_the_first_graph_need_no_name(tmp_path: Path) -> None:
    """The tensors then keep their names, as in files without signatures."""
    path = tmp_path / "m.tflite"
    signatures = [Signature(key, 0, [("a", 0)], [("b", 1)]) for key in ("one", "two")]
    path.write_bytes(build(unary("ABS"), signatures=signatures))
    assert list(run(Options(path, tmp_path / "out"), X)) == ["t1"]
    assert list(run(Options(path, tmp_path / "out", signature="two"), X)) == ["b"]


def test_outputs_are_those_of_the_signature(tmp_path: Path) -> None:
    """In the graph's order: a tensor under two names, an input that is passed on, not what the signature leaves out."""
    tensors = [Tensor(f"t{index}", (3,)) for index in range(4)]
    nodes = [Operator("ABS", [0], [1]), Operator("NEG", [0], [2]), Operator("SQUARE", [0], [3])]
    outputs = [("kept", 0), ("twice", 2), ("negative", 2), ("x", 1)]
    path = tmp_path / "m.tflite"
    path.write_bytes(
        build(Graph(tensors, [0], [3, 2, 0, 1], nodes), signatures=[Signature("run", 0, [("x", 0)], outputs)])
    )
    found = run(Options(path, tmp_path / "out", signature="run"), X)
    values = {name.removesuffix("_1"): array.tolist() for name, array in found.items()}
    assert values == {"twice": (-X).tolist(), "negative": (-X).tolist(), "kept": X.tolist(), "x": np.abs(X).tolist()}
    assert list(values) == ["twice", "negative", "kept", "x"]


def test_a_value_with_the_name_of_another_tensor_gets_the_name_of_the_output(tmp_path: Path) -> None:
    """A variable that is read after it was assigned is the value that was assigned."""
    tensors = [
        Tensor("a", (3,)),
        Tensor("h", (), "resource"),
        Tensor("old", (3,)),
        Tensor("new", (3,)),
        Tensor("r", (3,)),
    ]
    nodes = [
        Operator("VAR_HANDLE", [], [1], {1: ("text", "v")}, "VarHandleOptions"),
        Operator("READ_VARIABLE", [1], [2], options_type="ReadVariableOptions"),
        Operator("ADD", [2, 0], [3], options_type="AddOptions"),
        Operator("ASSIGN_VARIABLE", [1, 3], [], options_type="AssignVariableOptions"),
        Operator("READ_VARIABLE", [1], [4], options_type="ReadVariableOptions"),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(build(Graph(tensors, [0], [4], nodes), signatures=[Signature("step", 0, [("x", 0)], [("c", 4)])]))
    found = run(Options(path, tmp_path / "out", signature="step"), X)
    assert {name: array.tolist() for name, array in found.items()} == {"c": X.tolist()}


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        (Signature("run", 5, [("x", 0)], [("y", 1)]), "the signature 'run' refers to graph 5, but there are 1"),
        (Signature("run", 0, [("x", 1)], [("y", 1)]), "'x' of the signature 'run' is tensor 1, which is not an input"),
        (Signature("run", 0, [("x", 0)], [("y", 9)]), "'y' of the signature 'run' is tensor 9, which is not an output"),
        (Signature("run", 0, [("x", 0)], [("y", 1), ("y", 1)]), "has a name twice for an output"),
    ],
)
def test_a_signature_that_does_not_fit_its_graph_is_refused(signature: Signature, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(build(unary("ABS"), signatures=[signature]))
    with pytest.raises(ConversionError, match=reason):
        convert(Options(path, tmp_path / "out", signature="run"))


def test_other_models_have_no_signatures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(b"\x08\x08\x12\x00")
    words = [f"--modelFile={model}", "--fmk=ONNX", f"--outputFile={tmp_path / 'out'}"]
    assert cli.main([*words, "--signature=decode"]) == 2
    assert "signature is for TFLITE and TF models; this is a model of fmk=ONNX" in capsys.readouterr().err
    assert cli.main([*words, "--signature="]) == 2
    graph = tmp_path / "m.pb"
    graph.write_bytes(b"\x0a\x00")
    with pytest.raises(UsageError, match="is not a SavedModel and has no signatures"):
        convert(Options(graph, tmp_path / "out", signature="decode"))


def test_from_python(tmp_path: Path) -> None:
    converter = mslite.Converter()
    model = str(prefill_and_decode(tmp_path))
    with pytest.raises(RuntimeError, match="signature"):
        converter.convert(mslite.FmkType.TFLITE, model, str(tmp_path / "out"))
    converter.signature = "decode"
    assert "signature='decode'" in repr(converter)
    converter.convert(mslite.FmkType.TFLITE, model, str(tmp_path / "out"))
    assert (tmp_path / "out.ms").exists()
    with pytest.raises(TypeError, match="signature must be str"):
        converter.signature = 1


def test_verify_runs_the_same_signature(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ai_edge_litert.interpreter")
    words = [f"--modelFile={prefill_and_decode(tmp_path)}", f"--outputFile={tmp_path / 'out'}", "--verify"]
    assert cli.main([*words, "--signature=decode"]) == 0
    assert "verify      output 'logit' differs by" in capsys.readouterr().out
