"""Whose memory it is: NumPy's and DLPack's without copies, the caller's outputs, and what a resize leaves alone."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.arithmetic import AddFusion
from mslite.converter.mindir.ops.enums import DataType, ReduceMode
from mslite.converter.mindir.ops.matmul import MatMulFusion
from mslite.converter.mindir.ops.reduction import ReduceFusion
from tests.api.models import WEIGHT, Array, X, built, counting_file, dense_file, wanted


def address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def test_numpy_shares() -> None:
    array = X.copy()
    tensor = mslite.Tensor.from_numpy(array, "x")
    assert tensor.name == "x"
    assert address(tensor.get_data_to_numpy()) == address(array)
    assert address(np.asarray(tensor)) == address(array)
    assert address(mslite.Tensor(tensor).get_data_to_numpy()) == address(array)
    array[0, 0] = 7
    assert np.asarray(tensor)[0, 0] == 7
    assert address(np.array(tensor)) != address(array)
    assert np.asarray(tensor, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(tensor, np.float64, copy=False)


def test_what_would_have_to_be_copied_is_refused_or_copied() -> None:
    for array in (np.asfortranarray(X), X[:, ::2], np.zeros(13, np.int8)[1:].view(np.float32)):
        with pytest.raises(ValueError, match="C-contiguous"):
            mslite.Tensor.from_numpy(array)
        copied = mslite.Tensor(array).get_data_to_numpy()
        assert np.array_equal(copied, array)
        assert copied.flags.c_contiguous
        assert copied.flags.aligned


def test_numpy_reads_dlpack_in_place() -> None:
    tensor = mslite.Tensor(X.copy())
    assert tensor.__dlpack_device__() == (1, 0)
    shared = np.from_dlpack(tensor)
    assert address(shared) == address(tensor.get_data_to_numpy())
    again = mslite.Tensor.from_dlpack(shared, "again")
    assert address(again.get_data_to_numpy()) == address(shared)
    del tensor, shared
    assert np.array_equal(np.asarray(again), X)


@pytest.mark.parametrize("dtype", [mslite.DataType.STRING, mslite.DataType.BFLOAT16])
def test_bit_patterns_are_not_handed_on_as_numbers(dtype: mslite.DataType) -> None:
    with pytest.raises(BufferError, match=dtype.name):
        np.from_dlpack(mslite.Tensor(shape=[2], dtype=dtype))


@pytest.mark.frameworks
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_torch_shares_both_ways(tmp_path: Path) -> None:
    import torch

    theirs = torch.from_numpy(X.copy())
    tensor = mslite.Tensor.from_dlpack(theirs)
    assert address(tensor.get_data_to_numpy()) == theirs.data_ptr()
    assert torch.from_dlpack(tensor).data_ptr() == theirs.data_ptr()
    (y,) = built(dense_file(tmp_path / "model.ms")).predict([theirs])
    np.testing.assert_allclose(torch.from_dlpack(y).numpy(), wanted(X), rtol=1e-6)


def test_models_take_what_has_dlpack(tmp_path: Path) -> None:
    class Other:
        """Another library's tensor."""

        def __init__(self, array: Array) -> None:
            self.__dlpack__ = array.__dlpack__
            self.__dlpack_device__ = array.__dlpack_device__

    (y,) = built(dense_file(tmp_path / "model.ms")).predict([Other(X)])
    np.testing.assert_allclose(np.asarray(y), wanted(X), rtol=1e-6)


def test_flat_arrays_take_the_shape_of_the_tensor() -> None:
    tensor = mslite.Tensor(shape=[1, 3, 2, 2], dtype=mslite.DataType.FLOAT32)
    flat = np.arange(12, dtype=np.float32)
    tensor.set_data_from_numpy(flat)
    assert tensor.get_data_to_numpy().shape == (1, 3, 2, 2)
    assert address(tensor.get_data_to_numpy()) == address(flat)
    with pytest.raises(ValueError, match="shape"):
        tensor.set_data_from_numpy(flat[:11])
    with pytest.raises(ValueError, match="transpose"):
        tensor.set_data_from_numpy(np.zeros((1, 2, 3, 2), np.float32))


def test_outputs_are_written_in_place(tmp_path: Path) -> None:
    path = dense_file(tmp_path / "model.ms")
    runner = mslite.ModelParallelRunner()
    runner.build_from_file(str(path))
    model = built(path)
    model.resize(model.get_inputs(), [[2, 3]])
    for predictor in (model, runner):
        array = np.full((2, 4), 9, np.float32)
        (y,) = predictor.predict([X], [array])
        assert address(y.get_data_to_numpy()) == address(array)
        np.testing.assert_allclose(array, wanted(X), rtol=1e-6)
        tensor = mslite.Tensor(shape=[2, 4], dtype=mslite.DataType.FLOAT32)
        (y,) = predictor.predict([X], [tensor])
        assert address(y.get_data_to_numpy()) == address(tensor.get_data_to_numpy())
        np.testing.assert_allclose(np.asarray(tensor), wanted(X), rtol=1e-6)


def test_outputs_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    model = built(dense_file(tmp_path / "model.ms"))
    read_only = np.zeros((2, 4), np.float32)
    read_only.flags.writeable = False
    memory = np.zeros(8, np.float32)
    x = memory[:6].reshape(2, 3)
    with pytest.raises(ValueError, match=r"'y'.*read-only"):
        model.predict([X], [read_only])
    with pytest.raises(ValueError, match=r"'y'.*C-contiguous"):
        model.predict([X], [np.zeros((4, 2), np.float32).T])
    with pytest.raises(ValueError, match="'y' shares memory with 'x'"):
        model.predict([x], [memory.reshape(2, 4)])


ROWS = 64 << 20
COPIES = """
import sys
import numpy as np
import mslite

def peak():
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))

def forget():
    open("/proc/self/clear_refs", "w").write("5")

model = mslite.Model()
model.build_from_file(sys.argv[1], mslite.ModelType.MINDIR_LITE)
x = np.ones((int(sys.argv[2]), 1), np.float32)
model.resize(model.get_inputs(), [list(x.shape)])
outputs = [np.ones([max(size, 1) for size in meta.shape], np.float32) for meta in model.get_outputs()]
forget()
before = peak()
model.predict([x], outputs)
print(outputs[0].ravel()[-1], peak() - before)
"""


def _sum_file(path: Path) -> Path:
    rows = SYMBOL_LIMIT - 1
    x, y = Value("x", DataType.FLOAT32, (rows, 1)), Value("y", DataType.FLOAT32, (1,))
    node = Node(ReduceFusion(mode=ReduceMode.ReduceMax), "max", (x, constant("axes", np.array([0], np.int32))), (y,))
    module_io.save(Module([Graph("main", [x], [y], [node])]), path)
    return path


def _add_file(path: Path) -> Path:
    rows = SYMBOL_LIMIT - 1
    x, y = Value("x", DataType.FLOAT32, (rows, 1)), Value("y", DataType.FLOAT32, (rows, 1))
    node = Node(AddFusion(), "add", (x, constant("one", np.ones(1, np.float32))), (y,))
    module_io.save(Module([Graph("main", [x], [y], [node])]), path)
    return path


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux alone tells the peak of a process")
@pytest.mark.parametrize(("make", "result"), [(_sum_file, 1.0), (_add_file, 2.0)])
def test_a_run_copies_neither_inputs_nor_outputs(make: object, result: float, tmp_path: Path) -> None:
    """256 MiB go in, and in one case come out: what the process takes at most grows by less than a tenth of that."""
    assert callable(make)
    command = [sys.executable, "-c", COPIES, str(make(tmp_path / "model.ms")), str(ROWS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    value, growth = done.stdout.split()
    assert float(value) == result
    assert int(growth) < ROWS * 4 // 10


LAYERS, WIDTH = 16, 1024
LOADING = """
import sys
import numpy as np
import mslite

def peak():
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))

context = mslite.Context()
context.cpu.thread_num = 1
open("/proc/self/clear_refs", "w").write("5")
before = peak()
model = mslite.Model()
model.build_from_file(sys.argv[1], mslite.ModelType.MINDIR_LITE, context)
x = np.full((4, int(sys.argv[2])), 0.01, np.float32)
first = model.predict([x])[0].get_data_to_numpy()
print(peak() - before)
# Pages that have left memory come back from the file: for other shapes weights may be packed in another way.
model.resize(model.get_inputs(), [[1, x.shape[1]]])
one = model.predict([x[:1]])[0].get_data_to_numpy()
assert np.allclose(one, first[:1], rtol=1e-4), (one, first)
"""


def _layers_file(path: Path) -> Path:
    """Products whose weights are 64 MiB together."""
    values = [Value(f"x{i}", DataType.FLOAT32, (SYMBOL_LIMIT - 1, WIDTH)) for i in range(LAYERS + 1)]
    rng = np.random.default_rng(5)
    nodes = []
    for i in range(LAYERS):
        weight = constant(f"w{i}", rng.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 32)
        nodes.append(Node(MatMulFusion(), f"product{i}", (values[i], weight), (values[i + 1],)))
    module_io.save(Module([Graph("main", [values[0]], [values[-1]], nodes)]), path)
    return path


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux alone tells the peak of a process")
def test_the_file_leaves_memory_as_its_weights_are_packed(tmp_path: Path) -> None:
    """Weights are in memory once: packed, with less than a third of them besides."""
    file = _layers_file(tmp_path / "model.ms")
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(file), str(WIDTH)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    weights = LAYERS * WIDTH * WIDTH * 4
    assert weights < int(done.stdout) < 1.33 * weights


def test_iterating_a_resize_keeps_everything(tmp_path: Path) -> None:
    """Outputs and arrays of inputs of all iterations stay what they were, whatever comes later."""
    model = built(dense_file(tmp_path / "model.ms"))
    inputs = model.get_inputs()
    kept: list[tuple[Array, mslite.Tensor, Array]] = []
    for rows in (2, 5, 1, 300, 2, 64, 1):
        model.resize(inputs, [[rows, 3]])
        assert inputs[0].shape == [rows, 3]
        assert model.get_outputs()[0].shape == [rows, 4]
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        inputs[0].set_data_from_numpy(x)
        (y,) = model.predict(inputs)
        kept.append((x, y, y.get_data_to_numpy().copy()))
        with pytest.raises(RuntimeError, match=r"(?i)matmul"):
            model.resize(inputs, [[rows + 1, 7]])
        assert inputs[0].shape == [rows, 3]
        assert address(np.asarray(inputs[0])) == address(x)
        assert model.get_inputs()[0].shape == [rows, 3]
        assert model.get_outputs()[0].shape == [rows, 4]
    for x, y, copy in kept:
        assert y.get_data_to_numpy().tobytes() == copy.tobytes()
        np.testing.assert_allclose(copy, np.maximum(x @ WEIGHT, 0), rtol=1e-5, atol=1e-6)
    assert len({address(np.asarray(y)) for _, y, _ in kept}) == len(kept)


def test_inputs_of_before_a_resize(tmp_path: Path) -> None:
    """Tensors that were asked for earlier keep their shape and contents, and can still be given."""
    model = built(dense_file(tmp_path / "model.ms"))
    model.resize(model.get_inputs(), [[2, 3]])
    (early,) = model.get_inputs()
    early.set_data_from_numpy(X)
    model.resize(model.get_inputs(), [[5, 3]])
    assert early.shape == [2, 3]
    (y,) = model.predict([early])
    np.testing.assert_allclose(np.asarray(y), wanted(X), rtol=1e-6)
    (x,) = model.get_inputs()
    assert x.shape == [5, 3]
    assert model.predict([x])[0].shape == [5, 4]


def test_some_inputs_are_resized_by_name(tmp_path: Path) -> None:
    model = built(counting_file(tmp_path / "count.ms"))
    by_name = {tensor.name: tensor for tensor in model.get_inputs()}
    model.resize([by_name["x"]], [[5]])
    assert by_name["x"].shape == [5]
    assert {tensor.name: tensor.shape for tensor in model.get_inputs()} == {"n": by_name["n"].shape, "x": [5]}
    with pytest.raises(ValueError, match="no input 'z'"):
        model.resize([mslite.Tensor(mslite.TensorMeta("z"), dtype=mslite.DataType.UNKNOWN)], [[3]])
    with pytest.raises(ValueError, match="twice"):
        model.resize([by_name["x"], by_name["x"]], [[3], [3]])
