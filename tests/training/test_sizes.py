"""Gradients of another type or size than their weight: what programs, and those who use Python, are told of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.module_io import to_meta
from mslite.converter.mindir.ms_writer import ms_bytes
from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType

BUILD = Path(os.environ.get("MSLITE_BUILD", Path(__file__).parents[2] / "build"))
SIZE = 50000  # so that what is written behind a sum of one element meets the end of the heap
PROGRAM = BUILD / "benchmark" / "benchmark_train"


def _constant(name: str, shape: Sequence[int], number: float) -> Value:
    return Value(name, DataType.FLOAT32, tuple(shape), np.full(shape, number, np.float32))


def training_file(path: Path, *between: str) -> Path:
    """loss = |x| + w, [SIZE], and Momentum by the loss behind these operators."""
    operator = {name: OPERATORS[name] for name in ("Abs", "AddFusion", "ApplyMomentum", "Unique")}
    x, absolute, loss = (Value(name, DataType.FLOAT32, (SIZE,)) for name in ("x", "absolute", "loss"))
    weight, moments = _constant("w", (SIZE,), 1.0), _constant("moments", (SIZE,), 0.0)
    rate, momentum = _constant("learning_rate", (), 0.5), _constant("momentum", (), 0.5)
    nodes = [
        Node(operator["Abs"](), "net/Abs", (x,), (absolute,)),
        Node(operator["AddFusion"](), "net/_loss_fn", (absolute, weight), (loss,)),
    ]
    gradient = loss
    for number, name in enumerate(between):
        made = Value(f"gradient{number}", DataType.FLOAT32, None)
        more = (Value("places", DataType.INT32, (SIZE,)),) if name == "Unique" else ()
        nodes.append(Node(operator[name](), f"Gradients/{name}", (gradient,), (made, *more)))
        gradient = made
    updated = Value("updated", DataType.FLOAT32, (SIZE,))
    operands = (weight, moments, rate, gradient, momentum)
    nodes.append(Node(operator["ApplyMomentum"](), "optimizer/w", operands, (updated,)))
    path.write_bytes(ms_bytes(to_meta(Module([Graph("main", [x], [loss], nodes)]))))
    return path


def _build(path: Path) -> mslite.Model:
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    return model


def test_build_names_file_weight_and_reason(tmp_path: Path) -> None:
    file = training_file(tmp_path / "unique_train.ms", "Unique")
    with pytest.raises(
        RuntimeError, match=r"unique_train\.ms.*'gradient0' depends on data.*weight 'w', float32\[50000\]"
    ):
        _build(file)


def test_steps_are_compared(tmp_path: Path) -> None:
    model = _build(training_file(tmp_path / "behind_train.ms", "Unique", "Abs"))
    model.setup_virtual_batch(3)
    model.set_train_mode(True)
    different, same = np.arange(SIZE, dtype=np.float32), np.zeros(SIZE, np.float32)
    model.run_step([different])
    for _ in range(2):
        with pytest.raises(
            RuntimeError, match=r"behind_train\.ms.*weight 'w'.*float32\[50000\].*'gradient1'.*float32\[1\]"
        ):
            model.run_step([same])
    model.run_step([different])
    model.run_step([different])
    (weight,) = model.get_trainable_params()
    assert np.isfinite(weight.get_data_to_numpy()).all()
    assert (weight.get_data_to_numpy() != 1).all()


@pytest.mark.skipif(not PROGRAM.is_file(), reason="there is no benchmark_train")
@pytest.mark.parametrize("flags", [["--virtualBatch"], ["--keepGradients=false"], []])
def test_benchmark_train_ends_with_a_message(flags: list[str], tmp_path: Path) -> None:
    file = training_file(tmp_path / "behind_train.ms", "Unique", "Abs")
    np.stack([np.zeros(SIZE), np.arange(SIZE)]).astype(np.float32).tofile(tmp_path / "in1.bin")
    command = [PROGRAM, f"--modelFile={file}", f"--inDataFile={tmp_path / 'in'}", "--epochs=2", *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert "behind_train.ms" in done.stderr
    assert "optimizer/w" in done.stderr
    if "--virtualBatch" in flags:  # in plain steps the optimizer compares
        assert "'gradient1'" in done.stderr
