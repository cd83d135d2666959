"""LSTMs on stored integers whose units have weight scales of their own, which TensorFlow Lite's do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.mindir import module_io
from tests.kernels.integer_models import Array, integers
from tests.kernels.stored_lstm import BATCH, GATES, INPUT, UNITS, scales, stored_lstm
from tests.quantizer.networks import run

STEPS = 4


def _of_unit(every: Array, unit: int) -> Array:
    """The scales of one unit, for all of them."""
    return np.repeat(every[..., unit : unit + 1], UNITS, axis=-1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("varied", [(True, True), (True, False), (False, True)], ids=["both", "input", "hidden"])
def test_a_unit_is_as_where_all_have_its_scales(varied: tuple[bool, bool], seed: int, tmp_path: Path) -> None:
    """In one step units do not read each other's results."""
    every = scales(seed)
    for weight, varies in enumerate(varied):
        if not varies:
            every[weight] = _of_unit(every[weight], 0)
    x = integers(seed, "int8", (STEPS, BATCH, INPUT))
    hidden = integers(seed + 1, "int8", (1, BATCH, UNITS))
    cell = integers(seed + 2, "int16", (1, BATCH, UNITS)) // 4
    together = run(stored_lstm(every, STEPS, seed), [x, hidden, cell], tmp_path)
    alike = [stored_lstm(_of_unit(every, unit), 1, seed) for unit in range(UNITS)]
    differ = False
    for step in range(STEPS):
        found = [run(module, [x[step : step + 1], hidden, cell], tmp_path) for module in alike]
        differ |= any(not np.array_equal(found[0][0], other[0]) for other in found)
        y, hidden, cell = (
            np.stack([results[output][..., unit] for unit, results in enumerate(found)], axis=-1) for output in range(3)
        )
        np.testing.assert_array_equal(together[0][step : step + 1], y)
    np.testing.assert_array_equal(together[1], hidden)
    np.testing.assert_array_equal(together[2], cell)
    assert differ


@pytest.mark.parametrize("small", [False, True])
def test_whole_sums_differ_where_a_product_is_cut(small: bool, tmp_path: Path) -> None:
    every = scales(3) / (64 if small else 1)
    inputs = [
        integers(1, "int8", (STEPS, BATCH, INPUT)),
        integers(2, "int8", (1, BATCH, UNITS)),
        integers(3, "int16", (1, BATCH, UNITS)) // 4,
    ]
    cut, whole = (run(stored_lstm(every, STEPS, 3, whole_sums), inputs, tmp_path) for whole_sums in (False, True))
    assert all(np.array_equal(one, other) for one, other in zip(cut, whole, strict=True)) == small


@pytest.mark.parametrize("weight", [1, 2])
@pytest.mark.parametrize("count", [2, GATES, UNITS, GATES * UNITS - 1, GATES * UNITS + 1])
def test_other_numbers_of_records_are_refused(weight: int, count: int, tmp_path: Path) -> None:
    module = stored_lstm(scales(0), 1)
    value = module.main.nodes[0].inputs[weight]
    value.quant = (value.quant * 2)[:count]
    module_io.save(module, tmp_path / "m.ms")
    with pytest.raises(RuntimeError, match="lstm"):
        mslite.Model().build_from_file(str(tmp_path / "m.ms"), mslite.ModelType.MINDIR_LITE)
