"""mslite's Python API, on models that the tests write themselves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.comparison import NonZero
from mslite.converter.mindir.ops.enums import ActivationType, DataType
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.rearrange import Reshape

WEIGHT = np.random.default_rng(5).standard_normal((3, 4)).astype(np.float32)
X = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]], np.float32)


def wanted(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.maximum(x @ WEIGHT, 0)


def write_model(path: Path, rows: int = 2) -> Path:
    """relu(x @ WEIGHT) for x of [rows, 3]."""
    x = Value("x", DataType.FLOAT32, (rows, 3))
    product = Value("product", DataType.FLOAT32, (rows, 4))
    y = Value("y", DataType.FLOAT32, (rows, 4))
    nodes = [
        Node(MatMulFusion(), "matmul", (x, constant("weight", WEIGHT)), (product,)),
        Node(Activation(activation_type=ActivationType.RELU), "relu", (product,), (y,)),
    ]
    module_io.save(Module([Graph("main", [x], [y], nodes)]), path)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model.ms")


def build(file: Path, context: mslite.Context | None = None) -> mslite.Model:
    model = mslite.Model()
    model.build_from_file(str(file), mslite.ModelType.MINDIR_LITE, context)
    return model


def test_predict(file: Path) -> None:
    model = build(file)
    (x,) = model.get_inputs()
    assert (x.name, x.shape, x.dtype, x.element_num, x.data_size) == ("x", [2, 3], mslite.DataType.FLOAT32, 6, 24)
    (meta,) = model.get_outputs()
    assert (meta.name, meta.shape, meta.dtype, meta.data_size) == ("y", [2, 4], mslite.DataType.FLOAT32, 32)
    x.set_data_from_numpy(X)
    (y,) = model.predict([x])
    assert y.name == "y"
    np.testing.assert_allclose(y.get_data_to_numpy(), wanted(X), rtol=1e-6)


def test_results_stay_when_the_model_runs_again(file: Path) -> None:
    model = build(file)
    (first,) = model.predict([X])
    kept = first.get_data_to_numpy().copy()
    model.predict([X * 2])
    assert np.array_equal(first.get_data_to_numpy(), kept)
    array = first.get_data_to_numpy()
    del first, model
    assert np.array_equal(array, kept)


def test_outputs_of_the_caller_are_written_in_place(file: Path) -> None:
    model = build(file)
    target = mslite.Tensor(np.full((2, 4), 9, np.float32))
    memory = target.get_data_to_numpy()
    (y,) = model.predict([X], [target])
    np.testing.assert_allclose(memory, wanted(X), rtol=1e-6)
    assert y.get_data_to_numpy() is memory


def test_results_whose_size_depends_on_data(tmp_path: Path) -> None:
    """After a long result a short one comes back short, and a target that is too large is refused."""
    x = Value("x", DataType.FLOAT32, (5,))
    where = Value("where", DataType.INT32, (SYMBOL_LIMIT - 1, 1))
    module_io.save(Module([Graph("main", [x], [where], [Node(NonZero(), "where", (x,), (where,))])]), tmp_path / "w.ms")
    model = build(tmp_path / "w.ms")
    for values in ([1, 0, 2, 3, 4], [0, 0, 5, 0, 0], [0, 0, 0, 0, 0], [1, 1, 0, 0, 1]):
        array = np.array(values, np.float32)
        (y,) = model.predict([array])
        assert np.array_equal(y.get_data_to_numpy(), np.argwhere(array))
    with pytest.raises(RuntimeError, match="has the shape"):
        model.predict([np.array([0, 0, 5, 0, 0], np.float32)], [mslite.Tensor(np.zeros((5, 1), np.int32))])


def test_results_whose_rank_depends_on_data(tmp_path: Path) -> None:
    """The file cannot say the rank: neither a scalar of one element nor the last result's shape is taken for it."""
    x, shape = Value("x", DataType.FLOAT32, (SYMBOL_LIMIT - 1,)), Value("shape", DataType.INT32, (SYMBOL_LIMIT - 2,))
    y = Value("y", DataType.FLOAT32, None)
    graph = Graph("main", [x, shape], [y], [Node(Reshape(), "reshape", (x, shape), (y,))])
    module_io.save(Module([graph]), tmp_path / "r.ms")
    model = build(tmp_path / "r.ms")
    for wanted_shape in ([1, 1], [2, 3], [6], [3, 2], [1]):
        size = int(np.prod(wanted_shape))
        array = np.arange(size, dtype=np.float32)
        model.resize(model.get_inputs(), [[size], [len(wanted_shape)]])
        (result,) = model.predict([array, np.array(wanted_shape, np.int32)])
        assert np.array_equal(result.get_data_to_numpy(), array.reshape(wanted_shape))


def test_inputs_are_not_copied(file: Path) -> None:
    (x,) = build(file).get_inputs()
    mine = X.copy()
    x.set_data_from_numpy(mine)
    assert x.get_data_to_numpy() is mine
    x.set_data_from_numpy(np.asfortranarray(mine))
    assert np.array_equal(x.get_data_to_numpy(), mine)


def test_resize(file: Path) -> None:
    model = build(file)
    inputs = model.get_inputs()
    model.resize(inputs, [[5, 3]])
    assert inputs[0].shape == [5, 3]
    assert model.get_inputs()[0].shape == [5, 3]
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    (y,) = model.predict([x])
    np.testing.assert_allclose(y.get_data_to_numpy(), wanted(x), rtol=1e-6)
    with pytest.raises(RuntimeError, match=r"(?i)matmul"):
        model.resize(inputs, [[5, 7]])
    assert model.get_inputs()[0].shape == [5, 3]


def test_unknown_batch(tmp_path: Path) -> None:
    model = build(write_model(tmp_path / "dynamic.ms", rows=SYMBOL_LIMIT - 1))
    (x,) = model.get_inputs()
    assert x.shape == [-1, 3]
    with pytest.raises(RuntimeError, match="unknown shape"):
        x.get_data_to_numpy()
    for rows in (1, 4):
        model.resize([x], [[rows, 3]])
        (y,) = model.predict([np.ones((rows, 3), np.float32)])
        np.testing.assert_allclose(y.get_data_to_numpy(), wanted(np.ones((rows, 3), np.float32)), rtol=1e-6)


def test_no_rows(tmp_path: Path) -> None:
    model = build(write_model(tmp_path / "dynamic.ms", rows=SYMBOL_LIMIT - 1))
    (y,) = model.predict([np.zeros((0, 3), np.float32)])
    assert y.shape == [0, 4]
    assert y.get_data_to_numpy().shape == (0, 4)


def test_context_is_used(file: Path) -> None:
    context = mslite.Context()
    context.cpu.thread_num = 2
    context.cpu.thread_affinity_mode = 1
    (y,) = build(file, context).predict([X])
    (one,) = build(file).predict([X])
    assert y.get_data_to_numpy().tobytes() == one.get_data_to_numpy().tobytes()
    context.cpu.inter_op_parallel_num = 3
    with pytest.raises(RuntimeError, match=r"(?i)inter"):
        build(file, context)


def test_parallel_runner(file: Path) -> None:
    runner = mslite.ModelParallelRunner()
    context = mslite.Context()
    context.cpu.thread_num = 1
    context.parallel.workers_num = 2
    runner.build_from_file(str(file), context)
    assert [tensor.name for tensor in runner.get_inputs()] == ["x"]
    failures: list[str] = []

    def work(factor: int) -> None:
        for _ in range(20):
            x = X * np.float32(factor)
            (y,) = runner.predict([x])
            if not np.allclose(y.get_data_to_numpy(), wanted(x), rtol=1e-6):
                failures.append(f"wrong result for {factor}")

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def _wrong_model(path: Path) -> None:
    path.write_bytes(b"no model at all" * 9)
    build(path)


@pytest.mark.parametrize(
    ("call", "error", "reason"),
    [
        (lambda model, file: build(file.parent / "none.ms"), RuntimeError, "does not exist"),
        (lambda model, file: _wrong_model(file.parent / "wrong.ms"), RuntimeError, "wrong.ms"),
        (lambda model, file: model.build_from_file(file, 4), TypeError, "model_type"),
        (
            lambda model, file: model.build_from_file(file, mslite.ModelType.MINDIR_LITE),
            RuntimeError,
            "(?i)built|build",
        ),
        (
            lambda model, file: mslite.Model().predict([X]),
            RuntimeError,
            "the model is not built; call build_from_file first",
        ),
        (lambda model, file: model.predict([]), ValueError, "has 1 input, 0 were given"),
        (
            lambda model, file: model.predict([X.astype(np.float64)]),
            TypeError,
            r"FLOAT32, the array has float64; array.astype\(np.float32\) converts it",
        ),
        (lambda model, file: model.predict(["x"]), TypeError, "str"),
        (lambda model, file: model.predict([X[:, :2].copy()]), RuntimeError, "inner sizes 2 and 3 differ"),
        (lambda model, file: model.predict([X], [mslite.Tensor(np.zeros(3, np.float32))]), RuntimeError, "output 'y'"),
        (lambda model, file: model.resize([], []), ValueError, "1 input; 0 tensors"),
        (lambda model, file: model.get_inputs()[0].set_data_from_numpy(X[:1]), ValueError, "shape"),
        (
            lambda model, file: model.get_inputs()[0].set_data_from_numpy(X.astype(int)),
            TypeError,
            r"FLOAT32.*astype\(np.float32\)",
        ),
        (lambda model, file: mslite.Tensor(np.array(["text"])), TypeError, "tensors do not support"),
        (lambda model, file: mslite.Tensor(device="npu"), ValueError, "device"),
    ],
)
def test_mistakes_are_told(
    file: Path, call: Callable[[mslite.Model, Path], object], error: type[Exception], reason: str
) -> None:
    model = build(file)
    with pytest.raises(error, match=reason):
        call(model, file)
    np.testing.assert_allclose(model.predict([X])[0].get_data_to_numpy(), wanted(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("setting", "value", "error"),
    [
        ("thread_num", -1, ValueError),
        ("thread_num", "2", TypeError),
        ("thread_affinity_mode", 3, ValueError),
        ("thread_affinity_core_list", [100000], ValueError),
        ("inter_op_parallel_num", 1.5, TypeError),
        ("precision_mode", "fp16", ValueError),
    ],
)
def test_settings_are_checked(setting: str, value: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=setting):
        setattr(mslite.Context().cpu, setting, value)


def test_other_devices_are_refused_by_name(file: Path) -> None:
    context = mslite.Context()
    with pytest.raises(ValueError, match="target"):
        context.target = ["npu"]
    context.target = ["Ascend"]
    assert context.target == ["ascend"]
    with pytest.raises(RuntimeError, match="'ascend' is not supported"):
        build(file, context)


def test_tensor_alone() -> None:
    tensor = mslite.Tensor(shape=[2, 3], dtype=mslite.DataType.INT8)
    assert np.array_equal(tensor.get_data_to_numpy(), np.zeros((2, 3), np.int8))
    tensor.format = mslite.Format.NHWC
    again = mslite.Tensor(tensor)
    assert again.format == mslite.Format.NHWC
    assert again.get_data_to_numpy() is tensor.get_data_to_numpy()
    tensor.shape = [6]
    assert tensor.get_data_to_numpy().shape == (6,)


def test_names_of_the_package() -> None:
    assert set(mslite.__all__) <= set(dir(mslite))
    for name in mslite.__all__:
        assert getattr(mslite, name) is not None
    with pytest.raises(AttributeError, match="Nothing"):
        mslite.Nothing  # noqa: B018
