"""Models that remember: several runs of one session against several runs of one LiteRT interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_build import Graph, Operator, Tensor, build, single
from tflite_run import Array

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.options import Options

_CHANCE = np.random.default_rng(17)


def f32(*shape: int) -> Array:
    return _CHANCE.uniform(-1, 1, shape).astype(np.float32)


def converted(model: bytes, folder: Path) -> mslite.Model:
    source = folder / "model.tflite"
    source.write_bytes(model)
    report = convert(Options(source, folder / "model"))
    session = mslite.Model()
    session.build_from_file(report.files[0], mslite.ModelType.MINDIR_LITE)
    return session


def our_runs(session: mslite.Model, runs: Sequence[Sequence[Array]]) -> list[list[Array]]:
    return [[tensor.get_data_to_numpy().copy() for tensor in session.predict(list(run))] for run in runs]


def their_runs(model: bytes, runs: Sequence[Sequence[Array]]) -> list[list[Array]]:
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    kind = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    runner = interpreter.Interpreter(model_content=model, experimental_op_resolver_type=kind)
    runner.allocate_tensors()
    results = []
    for run in runs:
        for detail, array in zip(runner.get_input_details(), run, strict=True):
            runner.set_tensor(detail["index"], array)
        runner.invoke()
        results.append([runner.get_tensor(detail["index"]).copy() for detail in runner.get_output_details()])
    return results


def options(kind: str, **values: Any) -> dict[str, Any]:
    return {"options_type": kind, "options": {int(slot[1:]): value for slot, value in values.items()}}


def svdf() -> bytes:
    inputs = [f32(1, 3), f32(6, 3), f32(6, 4), f32(3), Tensor("state", (1, 24), variable=True)]
    return single("SVDF", inputs, constant=(1, 2, 3), **options("SVDFOptions", _0=("int", 2), _1=("byte", 1)))


def svdf_with_stored_weights(asymmetric: bool = False) -> bytes:
    """LiteRT rounds its input to 8 bits row by row."""
    chance = np.random.default_rng(3)
    stored = [
        Tensor(name, data=chance.integers(-127, 128, shape).astype(np.int8), quant=(0.01, 0))
        for name, shape in (("features", (6, 3)), ("time", (6, 4)))
    ]
    inputs = [f32(1, 3), *stored, f32(3), Tensor("state", (1, 24), variable=True)]
    slots = options("SVDFOptions", _0=("int", 2), _1=("byte", 1), _2=("bool", asymmetric))
    return single("SVDF", inputs, constant=(3,), **slots)


def rnn() -> bytes:
    inputs = [f32(1, 3), f32(4, 3), f32(4, 4), f32(4), Tensor("h", (1, 4), variable=True)]
    return single("RNN", inputs, constant=(1, 2, 3), **options("RNNOptions", _0=("byte", 4)))


def lstm_weights() -> list[Array | Tensor | None]:
    gates = [
        *(f32(4, 3) for _ in range(4)),
        *(f32(4, 4) for _ in range(4)),
        None,
        None,
        None,
        *(f32(4) for _ in range(4)),
    ]
    return [*gates, None, None, Tensor("h", (1, 4), variable=True), Tensor("c", (1, 4), variable=True)]


def lstm() -> bytes:
    return single("LSTM", [f32(1, 3), *lstm_weights()], constant=range(1, 18), **options("LSTMOptions", _0=("byte", 4)))


def lstm_sequence_of_one() -> bytes:
    return single(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [f32(1, 1, 3), *lstm_weights()],
        constant=range(1, 18),
        **options("UnidirectionalSequenceLSTMOptions", _0=("byte", 4), _3=("bool", 0)),
    )


HANDLE = {"options_type": "VarHandleOptions", "options": {1: ("text", "total")}}


def variable(first: bool = True) -> bytes:
    """y = total + x; total = y * 0.5, with a first value where `first` says so."""
    main = Graph(
        [
            Tensor("x", (1, 3)),
            Tensor("handle", (), "resource"),
            Tensor("total", (1, 3)),
            Tensor("y", (1, 3)),
            Tensor("half", data=np.float32([0.5])),
            Tensor("next", (1, 3)),
        ],
        [0],
        [3],
        [
            *([Operator("CALL_ONCE", [], [], {0: ("int", 1)}, "CallOnceOptions")] if first else []),
            Operator("VAR_HANDLE", [], [1], **HANDLE),
            Operator("READ_VARIABLE", [1], [2], options_type="ReadVariableOptions"),
            Operator("ADD", [2, 0], [3], options_type="AddOptions"),
            Operator("MUL", [3, 4], [5], options_type="MulOptions"),
            Operator("ASSIGN_VARIABLE", [1, 5], [], options_type="AssignVariableOptions"),
        ],
    )
    start = Graph(
        [Tensor("handle", (), "resource"), Tensor("start", data=np.float32([[1, -2, 3]]))],
        [],
        [],
        [
            Operator("VAR_HANDLE", [], [0], **HANDLE),
            Operator("ASSIGN_VARIABLE", [0, 1], [], options_type="AssignVariableOptions"),
        ],
    )
    return build(main, start)


MODELS = {
    "svdf": (svdf, (1, 3)),
    "svdf with stored weights": (svdf_with_stored_weights, (1, 3)),
    "svdf with stored weights, asymmetric": (lambda: svdf_with_stored_weights(True), (1, 3)),
    "rnn": (rnn, (1, 3)),
    "lstm": (lstm, (1, 3)),
    "lstm sequence of one step": (lstm_sequence_of_one, (1, 1, 3)),
    "variable": (variable, (1, 3)),
}


@pytest.mark.parametrize("name", MODELS)
def test_state_lives_on(name: str, tmp_path: Path) -> None:
    make, shape = MODELS[name]
    model = make()
    runs = [[f32(*shape)] for _ in range(6)]
    ours, theirs = our_runs(converted(model, tmp_path), runs), their_runs(model, runs)
    for mine, wanted in zip(ours, theirs, strict=True):
        for a, b in zip(mine, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
    assert not np.allclose(theirs[0][0], our_runs(converted(model, tmp_path), [runs[1]])[0][0])


def test_resize_forgets(tmp_path: Path) -> None:
    session = converted(svdf(), tmp_path)
    runs = [[f32(1, 3)] for _ in range(3)]
    first = our_runs(session, runs)
    again = our_runs(session, runs)
    assert not np.array_equal(first[0][0], again[0][0])
    inputs = session.get_inputs()
    session.resize(inputs, [list(tensor.shape) for tensor in inputs])
    fresh = our_runs(session, runs)
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(first, fresh, strict=True))


def test_sessions_remember_for_themselves(tmp_path: Path) -> None:
    one, other = converted(variable(), tmp_path), converted(variable(), tmp_path)
    run = [np.zeros((1, 3), np.float32)]
    assert our_runs(one, [run, run])[1][0].tolist() == [[0.5, -1, 1.5]]
    assert our_runs(other, [run])[0][0].tolist() == [[1, -2, 3]]


def test_variable_without_a_first_value_is_zero(tmp_path: Path) -> None:
    run = [np.ones((1, 3), np.float32)]
    assert [r[0][0, 0] for r in our_runs(converted(variable(first=False), tmp_path), [run, run, run])] == [1, 1.5, 1.75]


def test_variable_that_nothing_assigns_is_refused(tmp_path: Path) -> None:
    """LiteRT does not run it either: the weights of the model are missing."""
    graph = Graph(
        [Tensor("x", (1, 3)), Tensor("handle", (), "resource"), Tensor("weight", (1, 3)), Tensor("y", (1, 3))],
        [0],
        [3],
        [
            Operator("VAR_HANDLE", [], [1], **HANDLE),
            Operator("READ_VARIABLE", [1], [2], options_type="ReadVariableOptions"),
            Operator("ADD", [2, 0], [3], options_type="AddOptions"),
        ],
    )
    with pytest.raises(ConversionError) as caught:
        converted(build(graph), tmp_path)
    assert "the file has no value for the variable 'total'" in caught.value.blockers[0].reason


def counted(test: int = 4) -> bytes:
    """While n < `test`: a variable grows by one in the loop; the result is the variable after it."""
    resource = Tensor("handle", (), "resource")
    main = Graph(
        [Tensor("n", (), "int32"), Tensor("end", (), "int32")],
        [0],
        [1],
        [Operator("WHILE", [0], [1], {0: ("int", 1), 1: ("int", 2)}, "WhileOptions")],
    )
    condition = Graph(
        [Tensor("n", (), "int32"), Tensor("limit", data=np.int32(test)), Tensor("more", (), "bool")],
        [0],
        [2],
        [Operator("LESS", [0, 1], [2], options_type="LessOptions")],
    )
    body = Graph(
        [
            Tensor("n", (), "int32"),
            resource,
            Tensor("step", (), "int32"),
            Tensor("one", data=np.int32(1)),
            Tensor("next", (), "int32"),
            Tensor("grown", (), "int32"),
        ],
        [0],
        [4],
        [
            Operator("VAR_HANDLE", [], [1], **HANDLE),
            Operator("READ_VARIABLE", [1], [2], options_type="ReadVariableOptions"),
            Operator("ADD", [2, 3], [5], options_type="AddOptions"),
            Operator("ASSIGN_VARIABLE", [1, 5], [], options_type="AssignVariableOptions"),
            Operator("ADD", [0, 5], [4], options_type="AddOptions"),
        ],
    )
    return build(main, condition, body)


def test_variable_in_a_loop(tmp_path: Path) -> None:
    """n grows by 1, 2, 3, ... over all iterations of all runs."""
    start = [np.array(0, np.int32)]
    ends = [int(run[0]) for run in our_runs(converted(counted(), tmp_path), [start, start, start])]
    assert ends == [6, 4, 5]


def assigned_around(loop: bool) -> bytes:
    """total = x; if x > 0 (or while total < 10): total = total + x; y = (total of the run before, total)."""
    vector, scalar = Tensor("x", (1,)), Tensor("positive", (1,), "bool")
    handle, read = Tensor("handle", (), "resource"), {"options_type": "ReadVariableOptions"}
    calls = [
        Operator("IF", [6, 0], [7], {0: ("int", 1), 1: ("int", 2)}, "IfOptions"),
        Operator("WHILE", [0], [7], {0: ("int", 2), 1: ("int", 1)}, "WhileOptions"),
    ]
    main = Graph(
        [vector, handle, Tensor("before", (1,)), Tensor("after", (1,)), Tensor("zero", data=np.zeros(1, np.float32)),
         Tensor("several", (1,), "bool"), Tensor("condition", (), "bool"), Tensor("same", (1,)),
         Tensor("shape", data=np.zeros(0, np.int32))],
        [0],
        [2, 3],
        [
            Operator("CALL_ONCE", [], [], {0: ("int", 3)}, "CallOnceOptions"),
            Operator("VAR_HANDLE", [], [1], **HANDLE),
            Operator("READ_VARIABLE", [1], [2], **read),
            Operator("ASSIGN_VARIABLE", [1, 0], [], options_type="AssignVariableOptions"),
            Operator("GREATER", [0, 4], [5], options_type="GreaterOptions"),
            Operator("RESHAPE", [5, 8], [6], options_type="ReshapeOptions"),
            calls[loop],
            Operator("READ_VARIABLE", [1], [3], **read),
        ],
    )  # fmt: skip
    grows = Graph(
        [vector, handle, Tensor("total", (1,)), Tensor("sum", (1,))],
        [0],
        [0],
        [
            Operator("VAR_HANDLE", [], [1], **HANDLE),
            Operator("READ_VARIABLE", [1], [2], **read),
            Operator("ADD", [2, 0], [3], options_type="AddOptions"),
            Operator("ASSIGN_VARIABLE", [1, 3], [], options_type="AssignVariableOptions"),
        ],
    )
    stays = Graph([vector], [0], [0], [])
    small = Graph(
        [vector, handle, Tensor("total", (1,)), Tensor("limit", data=np.array([10], np.float32)), scalar],
        [0],
        [4],
        [
            Operator("VAR_HANDLE", [], [1], **HANDLE),
            Operator("READ_VARIABLE", [1], [2], **read),
            Operator("LESS", [2, 3], [4], options_type="LessOptions"),
        ],
    )
    first = Graph(
        [handle, Tensor("start", data=np.array([5], np.float32))],
        [],
        [],
        [
            Operator("VAR_HANDLE", [], [0], **HANDLE),
            Operator("ASSIGN_VARIABLE", [0, 1], [], options_type="AssignVariableOptions"),
        ],
    )
    return build(main, grows, small if loop else stays, first)


@pytest.mark.parametrize("loop", [False, True])
def test_variable_assigned_before_and_in_a_called_graph(loop: bool, tmp_path: Path) -> None:
    """What is assigned last counts, behind the call and in the next run."""
    model = assigned_around(loop)
    runs = [[np.array([number], np.float32)] for number in (4, 12, 1, 3)]
    if not loop:
        runs.insert(2, [np.array([-2], np.float32)])
    got = our_runs(converted(model, tmp_path), runs)
    np.testing.assert_array_equal(got, their_runs(model, runs))
    after = [12, 12, 10, 12] if loop else [8, 24, -2, 2, 6]
    assert [run[1].item() for run in got] == after
    assert [run[0].item() for run in got] == [5, *after[:-1]]


@pytest.mark.parametrize("results", [0, 1])
def test_variable_as_an_argument_of_branches(results: int, tmp_path: Path) -> None:
    """if the sum is positive: total += x, else total *= 2; y = total before that. The branches may return the handle."""
    zero = np.zeros((), np.float32)
    main = Graph(
        [
            Tensor("x", (2,)),
            Tensor("handle", (), "resource"),
            Tensor("axis", data=np.int32([0])),
            Tensor("sum", ()),
            Tensor("zero", data=zero),
            Tensor("positive", (), "bool"),
            Tensor("total", (2,)),
            Tensor("y", (2,)),
            Tensor("again", (), "resource"),
        ],
        [0],
        [7],
        [
            Operator("CALL_ONCE", [], [], {0: ("int", 3)}, "CallOnceOptions"),
            Operator("VAR_HANDLE", [], [1], **HANDLE),
            Operator("SUM", [0, 2], [3], options_type="ReducerOptions"),
            Operator("GREATER", [3, 4], [5], options_type="GreaterOptions"),
            Operator("READ_VARIABLE", [1], [6], options_type="ReadVariableOptions"),
            Operator("ABS", [6], [7], options_type="AbsOptions"),
            Operator("IF", [5, 1, 0], [8][:results], {0: ("int", 1), 1: ("int", 2)}, "IfOptions"),
        ],
    )

    def branch(name: str, operand: Tensor) -> Graph:
        tensors = [Tensor("h", (), "resource"), Tensor("a", (2,)), Tensor("v", (2,)), operand, Tensor("w", (2,))]
        second = 1 if operand.data is None else 3
        nodes = [
            Operator("READ_VARIABLE", [0], [2], options_type="ReadVariableOptions"),
            Operator(name, [2, second], [4], options_type=f"{name.title()}Options"),
            Operator("ASSIGN_VARIABLE", [0, 4], [], options_type="AssignVariableOptions"),
        ]
        return Graph(tensors, [0, 1], [0][:results], nodes)

    start = Graph(
        [Tensor("handle", (), "resource"), Tensor("start", data=np.float32([1, -2]))],
        [],
        [],
        [
            Operator("VAR_HANDLE", [], [0], **HANDLE),
            Operator("ASSIGN_VARIABLE", [0, 1], [], options_type="AssignVariableOptions"),
        ],
    )
    model = build(main, branch("ADD", Tensor("none", (2,))), branch("MUL", Tensor("two", data=np.float32([2]))), start)
    runs = [[np.array(x, np.float32)] for x in ([1, 1], [-3, 1], [4, 0.5], [0, 0])]
    found = [run[0].tolist() for run in our_runs(converted(model, tmp_path), runs)]
    assert found == [[1, 2], [2, 1], [4, 2], [8, 1.5]]
    if results == 0:
        assert found == [run[0].tolist() for run in their_runs(model, runs)]


def quantized_svdf() -> bytes:
    """As keyword spotters have it: int8, time weights and state int16, int32 bias."""
    feature, time = _CHANCE.integers(-127, 128, (6, 3)), _CHANCE.integers(-9000, 9000, (6, 4))
    scales = {"x": 0.02, "feature": 0.01, "time": 1e-4, "state": 3e-4}
    tensors = [
        Tensor("x", (1, 3), "int8", quant=(scales["x"], 3)),
        Tensor("feature", data=feature.astype(np.int8), quant=(scales["feature"], 0)),
        Tensor("time", data=time.astype(np.int16), quant=(scales["time"], 0)),
        Tensor("bias", data=_CHANCE.integers(-4000, 4000, 6).astype(np.int32), quant=(3e-8, 0)),
        Tensor("state", (1, 24), "int16", quant=(scales["state"], 0), variable=True),
        Tensor("y", (1, 6), "int8", quant=(0.01, -128)),
    ]
    options = {0: ("int", 1), 1: ("byte", 1)}
    return build(Graph(tensors, [0], [5], [Operator("SVDF", [0, 1, 2, 3, 4], [5], options, "SVDFOptions")]))


def test_quantized_stream(tmp_path: Path) -> None:
    """Computed on float values: within a step of LiteRT's integers, over several runs."""
    model = quantized_svdf()
    runs = [[_CHANCE.integers(-128, 128, (1, 3)).astype(np.int8)] for _ in range(6)]
    ours, theirs = our_runs(converted(model, tmp_path), runs), their_runs(model, runs)
    values = np.array([run[0] for run in theirs])
    assert len(np.unique(values)) > 10
    assert int(np.abs(np.array([run[0] for run in ours]).astype(int) - values).max()) <= 2
