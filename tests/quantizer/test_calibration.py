"""Calibration: memory that does not grow, interruption and resumption, resuming only what belongs together."""

from __future__ import annotations

import signal
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Module
from mslite.quantizer.calibration import calibrate as calibration_module
from mslite.quantizer.calibration import runner as runner_module
from mslite.quantizer.calibration.calibrate import calibrate
from mslite.quantizer.calibration.observers import MinMaxObserver
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.sources import calibration_data
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import eligible_nodes, watched_values
from mslite.quantizer.precision.schemes import INT8_ACTIVATION
from mslite.quantizer.settings import (
    ActivationMethod,
    CommonQuantParam,
    DataPreprocessParam,
    FullQuantParam,
    Method,
    QuantizerSettings,
)
from tests.quantizer.networks import image_network, matrix_network, samples


def settings(method: ActivationMethod = ActivationMethod.KL) -> QuantizerSettings:
    return QuantizerSettings(
        CommonQuantParam(quant_type=Method.FULL_QUANT), full=FullQuantParam(activation_quant_method=method)
    )


def calibrated(module: Module, source: Any, **rest: Any) -> Calibration:
    return calibrate(module, calibration_data(source, module.main.inputs, DataPreprocessParam()), settings(), **rest)


def same(a: Calibration, b: Calibration) -> bool:
    ranges = all(
        a.range(name, INT8_ACTIVATION) == b.range(name, INT8_ACTIVATION) for name in {*a.observers, *b.observers}
    )
    return ranges and all(np.array_equal(a.means[name].mean(), b.means[name].mean()) for name in {*a.means, *b.means})


def test_every_activation_is_seen() -> None:
    module = image_network()
    given = samples(module, 4)
    result = calibrated(module, given)
    assert set(result.observers) == {"x", "a", "b", "p", "s", "t", "f", "g", "y"}
    everything = np.concatenate([sample[0].reshape(-1) for sample in given])
    seen = result.observers["x"].histogram  # type: ignore[attr-defined]
    assert (seen.low, seen.high, seen.total) == (everything.min(), everything.max(), everything.size)
    mean = result.means["conv"].mean()
    assert mean is not None
    assert np.allclose(mean, np.mean([sample[0] for sample in given], axis=(0, 1, 2, 3)), atol=1e-6)


@pytest.mark.parametrize("method", list(ActivationMethod))
def test_memory_does_not_grow_with_the_samples(method: ActivationMethod) -> None:
    """100 against 10,000 samples; a kept sample would be 768 bytes, 7.6 MB in all."""
    module = image_network()
    module.main.outputs = [module.main.nodes[0].output]
    nodes = module.main.nodes[:1]
    draw = np.random.default_rng(0)

    def peak(count: int) -> int:
        def source() -> Iterator[Any]:
            for _ in range(count):
                yield [draw.normal(0, 1, (1, 8, 8, 3)).astype(np.float32)]

        tracemalloc.start()
        data = calibration_data(source, module.main.inputs, DataPreprocessParam())
        calibrate(module, data, settings(method), nodes=nodes)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)  # what is imported and cached on first use
    few, many = peak(100), peak(10_000 if method is ActivationMethod.KL else 1000)
    assert many < few + (64 << 10)


@pytest.mark.parametrize("network", [image_network, matrix_network])
def test_an_interrupted_calibration_goes_on(network: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = network()
    given = samples(module, 9)
    whole = calibrated(module, given)
    checkpoint = tmp_path / "state.npz"

    def interrupted() -> Iterator[Any]:
        yield from given[:5]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        calibrated(module, interrupted, checkpoint=checkpoint)
    assert checkpoint.is_file()
    done: list[int] = []
    resumed = calibrated(module, given, checkpoint=checkpoint, progress=lambda count, total: done.append(count))
    assert done == [6, 7, 8, 9]
    assert same(whole, resumed)
    assert not checkpoint.exists()

    monkeypatch.setattr(calibration_module, "CHECKPOINT_SECONDS", 0.0)
    assert same(whole, calibrated(module, given, checkpoint=checkpoint))


def test_the_sample_in_progress_is_finished(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a sample: none is seen half, none twice."""
    module = image_network()
    given = samples(module, 6)
    checkpoint = tmp_path / "state.npz"

    class Pressing(MinMaxObserver):
        seen = 0

        def update(self, values: Any) -> None:
            super().update(values)
            Pressing.seen += 1
            if Pressing.seen == 3:
                signal.raise_signal(signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        calibrated(module, given, checkpoint=checkpoint, observers={"b": Pressing()})
    assert Pressing.seen == 3
    resumed = calibrated(module, given, checkpoint=checkpoint, observers={"b": MinMaxObserver()})
    assert resumed.samples == 6
    assert same(resumed, calibrated(module, given, observers={"b": MinMaxObserver()}))
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x93NUMPY"])
def test_a_damaged_checkpoint_is_left_alone(content: bytes, tmp_path: Path) -> None:
    module = image_network()
    given = samples(module, 3)
    checkpoint = tmp_path / "state.npz"
    checkpoint.write_bytes(content)
    assert same(calibrated(module, given), calibrated(module, given, checkpoint=checkpoint))


def test_a_checkpoint_of_other_weights_or_settings_is_left_alone(tmp_path: Path) -> None:
    checkpoint = tmp_path / "state.npz"
    given = samples(image_network(), 3)

    def interrupted() -> Iterator[Any]:
        yield from given[:2]
        raise KeyboardInterrupt

    for module, asked in (
        (image_network(seed=1), settings()),
        (image_network(), QuantizerSettings(full=FullQuantParam(activation_quant_method=ActivationMethod.MSE))),
    ):
        with pytest.raises(KeyboardInterrupt):
            calibrated(image_network(), interrupted, checkpoint=checkpoint)
        data = calibration_data(given, module.main.inputs, DataPreprocessParam())
        result = calibrate(module, data, asked, checkpoint=checkpoint)
        assert result.samples == 3
        assert same(result, calibrate(module, data, asked))


def test_a_checkpoint_of_another_model_is_left_alone(tmp_path: Path) -> None:
    checkpoint = tmp_path / "state.npz"
    other = matrix_network()

    def interrupted() -> Iterator[Any]:
        yield from samples(other, 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        calibrated(other, interrupted, checkpoint=checkpoint)
    module = image_network()
    given = samples(module, 3)
    result = calibrated(module, given, checkpoint=checkpoint)
    assert result.samples == 3
    assert same(result, calibrated(module, given))


def test_watched_values_in_several_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    module = image_network()
    watched = watched_values(eligible_nodes(module, settings()))
    sample = samples(module, 1)[0]
    whole = {value.name: array for value, array in Runner(module, watched).run(sample)}
    monkeypatch.setattr(runner_module, "BUDGET_BYTES", 4096)
    parts = {value.name: array for value, array in Runner(module, watched).run(sample)}
    assert set(whole) == set(parts) == {value.name for value in watched}
    assert all(np.array_equal(whole[name], parts[name]) for name in whole)


def test_samples_of_different_shapes() -> None:
    module = matrix_network()
    for value in module.main.inputs:
        value.shape = (2, SYMBOL_LIMIT, 24)
    draw = np.random.default_rng(0)
    given = [[draw.normal(0, 1, (2, size, 24)).astype(np.float32)] * 2 for size in (3, 12, 5)]
    result = calibrated(module, given)
    seen = result.observers["u"].histogram  # type: ignore[attr-defined]
    assert seen.total == 2 * 24 * 20


def test_a_sample_that_does_not_run() -> None:
    module = matrix_network()
    module.main.inputs[0].shape = (2, SYMBOL_LIMIT, SYMBOL_LIMIT - 1)
    bad = [[np.zeros((2, 12, 7), np.float32), np.zeros((2, 12, 24), np.float32)]]
    with pytest.raises(ConversionError, match=r"does not run on calibration sample 0: .*MatMulFusion"):
        calibrated(module, bad)
