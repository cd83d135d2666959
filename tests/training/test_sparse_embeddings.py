"""Tables of embeddings that change in the rows that were read: `sparse_embeddings` of [train_param]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.options import Options
from mslite.converter.training import Loss, Optimizer, TrainSettings

ROWS, WORDS, TABLE, WIDTH, CLASSES = 4, 9, 50, 70, 3


def _source(folder: Path, tied: bool = False) -> Path:
    """Embeddings of words, their mean, and a layer; `tied`: the table is multiplied with, too."""
    random = np.random.default_rng(3)
    table = random.standard_normal((TABLE, WIDTH)).astype(np.float32)
    weight = random.standard_normal((WIDTH, CLASSES)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["words"], name="embedding"),
        helper.make_node("ReduceMean", ["words"], ["mean"], name="mean", axes=[1], keepdims=0),
        helper.make_node("Gemm", ["mean", "table"], ["y"], name="head", transB=1)
        if tied
        else helper.make_node("Gemm", ["mean", "weight"], ["y"], name="head"),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [ROWS, WORDS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS, TABLE if tied else CLASSES])],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(weight, "weight")],
    )
    path = folder / "net.onnx"
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def _model(folder: Path, sparse: bool, threads: int = 1, **settings: Any) -> mslite.Model:
    made = TrainSettings(learning_rate=0.5, sparse_embeddings=sparse, **settings)
    file = convert(Options(_source(folder), folder / f"sparse_{sparse}", training=made)).files[0]
    model, context = mslite.Model(), mslite.Context()
    context.cpu.thread_num = threads
    model.build_from_file(file, mslite.ModelType.MINDIR, context, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    return model


def _batch(step: int) -> list[np.ndarray[Any, Any]]:
    """Few words, so that some stand there several times."""
    random = np.random.default_rng(step)
    ids = random.integers(0, TABLE // 3, (ROWS, WORDS))
    return [ids, random.integers(0, CLASSES, ROWS).astype(np.int32)]


def _trained(model: mslite.Model) -> tuple[list[float], dict[str, bytes]]:
    losses = [float(model.run_step(_batch(step))[0].get_data_to_numpy().item()) for step in range(6)]
    return losses, {one.name: one.get_data_to_numpy().tobytes() for one in model.get_trainable_params()}


@pytest.mark.parametrize("threads", [1, 5])
def test_the_same_bits_as_whole_tables(threads: int, tmp_path: Path) -> None:
    whole, sparse = _model(tmp_path, False), _model(tmp_path, True, threads)
    expected = _trained(whole)
    assert _trained(sparse) == expected
    for model, name in ((whole, "whole"), (sparse, "sparse")):
        model.export_model(str(tmp_path / f"{name}.ms"))
    results = []
    for name in ("whole", "sparse"):
        exported = mslite.Model()
        exported.build_from_file(str(tmp_path / f"{name}.ms"), mslite.ModelType.MINDIR)
        results.append(exported.predict(_batch(9)[:1])[0].get_data_to_numpy().tobytes())
    assert results[0] == results[1]


def test_other_rows_are_not_touched(tmp_path: Path) -> None:
    """An infinite learning rate makes no number of every row that a step touches, also by a gradient of 0."""
    model = _model(tmp_path, True)
    (rate,) = [one for one in model.get_optimizer_params() if one.name == "learning_rate"]
    rate.set_data_from_numpy(np.asarray([np.inf], np.float32))
    model.set_optimizer_params([rate])
    batch = _batch(0)
    model.run_step(batch)
    (table,) = [one.get_data_to_numpy() for one in model.get_trainable_params() if one.name == "table"]
    touched = np.flatnonzero(~np.isfinite(table).all(axis=1))
    assert touched.tolist() == np.unique(batch[0]).tolist()


def test_virtual_batches_are_those_of_whole_tables(tmp_path: Path) -> None:
    models = [_model(tmp_path, sparse) for sparse in (False, True)]
    for model in models:
        model.setup_virtual_batch(3)
    assert _trained(models[0]) == _trained(models[1])


def test_gradients_and_momentum_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = _model(tmp_path, True)
    model.run_step(_batch(0))
    assert model.get_gradients() == []
    assert "sparse_embeddings" in capfd.readouterr().err
    params = {one.name: one for one in model.get_optimizer_params()}
    params["momentum"].set_data_from_numpy(np.asarray([0.9], np.float32))
    with pytest.raises(RuntimeError, match=r"momentum.* must stay 0.*optimizer=Momentum"):
        model.set_optimizer_params(list(params.values()))


@pytest.mark.parametrize(
    ("settings", "reasons"),
    [
        (
            {"optimizer": Optimizer.ADAMW, "weight_decay": 0.1},
            ["optimizer=AdamW also changes rows", "weight_decay changes"],
        ),
        ({"clip_norm": 1.0}, ["clip_norm needs"]),
    ],
)
def test_what_is_not_the_same_is_refused(settings: dict[str, Any], reasons: list[str], tmp_path: Path) -> None:
    with pytest.raises(ConversionError) as error:
        _model(tmp_path, True, **settings)
    assert all(reason in str(error.value) for reason in reasons)


def test_a_table_that_is_the_head_too_is_refused(tmp_path: Path) -> None:
    settings = TrainSettings(loss=Loss.SQUARED, sparse_embeddings=True)
    with pytest.raises(ConversionError, match="needs a trained table"):
        convert(Options(_source(tmp_path, tied=True), tmp_path / "net", training=settings))
