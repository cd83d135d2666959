"""float32 products with stored weights of 8 and 4 bits, against NumPy on the float values that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import ActivationType, DataType, Format, QuantType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.tables import QuantParam

Array = npt.NDArray[Any]
_CHANCE = np.random.default_rng(5)


def _weights(k: int, n: int, groups: int, bits: int, zeros: bool) -> tuple[Array, Array, tuple[QuantParam, ...]]:
    """Stored integers [n, k], the float values, and records: of the matrix (0 groups), or of groups of k of a column."""
    most = 1 << (bits - 1)
    q = _CHANCE.integers(-most, most, (n, k)).astype(np.int8)
    count = max(n * groups, 1)
    scales = _CHANCE.uniform(0.001, 0.02, count).astype(np.float32)
    points = _CHANCE.integers(-5, 6, count) if zeros else np.zeros(count, np.int64)
    records = tuple(QuantParam(scale=float(s), zeroPoint=int(z)) for s, z in zip(scales, points, strict=True))
    spread = [np.repeat(a.reshape(n, groups), k // groups, 1) if groups else a for a in (scales, points)]
    return q, (q.astype(np.float64) - spread[1]) * spread[0], records


def _run(
    folder: Path, op: Operator, x: Array, q: Array, records: Sequence[QuantParam], bias: Array, threads: int
) -> Array:
    weight = constant("w", q, Format.NHWC)
    weight.quant = tuple(records)
    source = Value("x", DataType.FLOAT32, x.shape)
    result = Value("y", DataType.FLOAT32)
    operands = (source, weight, constant("b", bias, Format.NHWC))
    node = Node(op, "product", operands, (result,), quant_type=QuantType.QUANT_WEIGHT)
    module_io.save(Module([Graph("main", [source], [result], [node])]), folder / "m.ms")
    context = mslite.Context()
    context.cpu.thread_num = threads
    model = mslite.Model()
    model.build_from_file(str(folder / "m.ms"), mslite.ModelType.MINDIR_LITE, context)
    tensors = model.get_inputs()
    tensors[0].set_data_from_numpy(x)
    return np.asarray(model.predict(tensors)[0].get_data_to_numpy())


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("groups", [0, 1, 4])
@pytest.mark.parametrize(("m", "k", "n"), [(1, 64, 40), (3, 516, 17), (130, 300, 33)])
def test_fully_connected(m: int, k: int, n: int, groups: int, bits: int, tmp_path: Path) -> None:
    q, real, records = _weights(k, n, groups, bits, zeros=True)
    x, bias = _CHANCE.normal(size=(m, k)).astype(np.float32), _CHANCE.normal(size=n).astype(np.float32)
    op = FullConnection(has_bias=True, use_axis=True, axis=1, activation_type=ActivationType.RELU)
    results = [_run(tmp_path, op, x, q, records, bias, threads) for threads in (1, 2)]
    np.testing.assert_array_equal(results[0], results[1])
    wanted = np.maximum(x.astype(np.float64) @ real.T + bias, 0)
    np.testing.assert_allclose(results[0], wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("turned", [False, True])
def test_batches_of_products(turned: bool, tmp_path: Path) -> None:
    q, real, records = _weights(24, 20, 1, 8, zeros=False)
    x, bias = _CHANCE.normal(size=(2, 3, 24)).astype(np.float32), np.zeros(20, np.float32)
    stored = q if turned else np.ascontiguousarray(q.T)
    result = _run(tmp_path, MatMulFusion(transpose_b=turned), x, stored, records, bias, 1)
    wanted = x.astype(np.float64) @ real.T
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


def test_groups_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    q, _, records = _weights(24, 20, 1, 8, zeros=False)
    op = FullConnection(has_bias=True, use_axis=True, axis=1)
    with pytest.raises(RuntimeError, match="quantization parameters do not match"):
        _run(tmp_path, op, np.zeros((1, 24), np.float32), q, records[:7], np.zeros(20, np.float32), 1)
