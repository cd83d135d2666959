"""What the OpenCL engine counts, what it measures, and that neither changes a result."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mslite.converter.convert import convert
from mslite.converter.options import Options

from .counts import parts_of
from .engines import OPENCL
from .models import calls, missing, write

ROOT = Path(__file__).parents[2]
PIXELS = 64  # of the digits' images


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("digits") / "digits"
    convert(Options(ROOT / "examples/digits/digits.onnx", target, input_shapes={"image": (1, 1, 8, 8)}))
    return target.with_suffix(".ms")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled programs of this file's tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def opencl(cache: Path) -> Iterator[None]:
    if reason := missing(OPENCL):
        pytest.skip(reason)
    with OPENCL.chosen(MSLITE_DELEGATE_COSTS="off", MSLITE_OPENCL_CACHE=str(cache)):
        yield


def outputs(path: Path) -> np.ndarray:
    model = OPENCL.built(path)
    (image,) = model.get_inputs()
    return model.predict([np.linspace(0, 1, PIXELS, dtype=np.float32).reshape(image.shape)])[0].get_data_to_numpy()


def test_counts(digits: Path, tmp_path: Path) -> None:
    (counts,) = parts_of(digits, tmp_path)
    model = OPENCL.built(digits)
    assert counts["nodes"] == len(model.placements())
    assert 0 < counts["launches"] <= counts["nodes"]
    assert counts["launches"] == sum(kernel["launches"] for kernel in counts["kernels"].values())
    assert counts["least_flops"] == sum(placement.flops for placement in model.placements())
    border = sum(4 * int(np.prod(tensor.shape)) for tensor in (*model.get_inputs(), *model.get_outputs()))
    assert counts["border_bytes"] == border + counts["constant_bytes"]
    moved = counts["loaded_bytes"] + counts["stored_bytes"]
    assert counts["border_bytes"] < counts["operand_bytes"] < moved
    assert moved == sum(kernel["bytes"] for kernel in counts["kernels"].values())
    assert counts["runs"] == 1


def test_memory_is_shared_or_copied(digits: Path, tmp_path: Path) -> None:
    """PoCL computes in this computer's memory."""
    sides = [4 * PIXELS, 4 * 10]
    (shared,) = parts_of(digits, tmp_path)
    assert (shared["copied_in_bytes"], shared["copied_out_bytes"], shared["shared_bytes"]) == (0, 0, sum(sides))
    (copied,) = parts_of(digits, tmp_path, MSLITE_OPENCL_SHARED_MEMORY="off")
    assert [copied["copied_in_bytes"], copied["copied_out_bytes"], copied["shared_bytes"]] == [*sides, 0]


def test_sharing_memory_changes_nothing(digits: Path) -> None:
    shared = outputs(digits)
    with OPENCL.chosen(MSLITE_OPENCL_SHARED_MEMORY="off"):
        np.testing.assert_array_equal(outputs(digits), shared)


def test_memory_of_any_alignment(digits: Path) -> None:
    """Inputs are read where they are, if kernels can, and copied if not."""
    model = OPENCL.built(digits)
    (image,) = model.get_inputs()
    wanted = outputs(digits)
    room = np.zeros(PIXELS + 32, np.float32)
    for first in range(8):
        part = room[first : first + PIXELS].reshape(image.shape)
        part[:] = np.linspace(0, 1, PIXELS, dtype=np.float32).reshape(image.shape)
        np.testing.assert_array_equal(model.predict([part])[0].get_data_to_numpy(), wanted)


def test_programs_are_counted(digits: Path, tmp_path: Path) -> None:
    first, second = (parts_of(digits, tmp_path, MSLITE_OPENCL_CACHE=str(tmp_path / "programs"))[0] for _ in range(2))
    assert first["programs_compiled"] == second["programs_loaded"] > 3
    assert first["programs_loaded"] == second["programs_compiled"] == 0
    assert 0 < second["program_seconds"] < first["program_seconds"]


def test_tuning_changes_no_result(digits: Path, cache: Path) -> None:
    """Every tile and group adds in the same order; what was measured is found again."""
    file = cache / "tuning.cltune"
    untuned = outputs(digits)
    assert not file.exists(), "nothing is measured unless it is asked for"
    with OPENCL.chosen(MSLITE_OPENCL_TUNING="on"):
        np.testing.assert_array_equal(outputs(digits), untuned)
        kept = file.read_bytes()
        np.testing.assert_array_equal(outputs(digits), untuned)
    np.testing.assert_array_equal(outputs(digits), untuned)
    assert file.read_bytes() == kept, "nothing is measured twice"


@pytest.mark.parametrize("numbers", [(0, 0, 0, 0), (65535, 65535, 65535, 65535), (4, 65535, 1, 1), (3, 0, 0, 0)])
def test_a_file_of_impossible_choices(digits: Path, cache: Path, numbers: tuple[int, ...]) -> None:
    """A whole file whose choices are none of the launches' own: they are not taken."""
    file = cache / "tuning.cltune"
    with OPENCL.chosen(MSLITE_OPENCL_TUNING="on"):
        right = outputs(digits)
    whole = file.read_bytes()
    head, records = whole[:8], whole[40:]
    keys = [records[at : at + 32] for at in range(0, len(records), 40)]
    assert keys
    forged = b"".join(key + b"".join(number.to_bytes(2, "little") for number in numbers) for key in keys)
    file.write_bytes(head + hashlib.sha256(forged).digest() + forged)
    np.testing.assert_array_equal(outputs(digits), right)
    file.write_bytes(whole)


def test_models_of_one_device_run_side_by_side(digits: Path) -> None:
    first, second = OPENCL.built(digits), OPENCL.built(digits)
    (image,) = first.get_inputs()
    rng = np.random.default_rng(7)
    for _ in range(3):
        batch = [rng.random(image.shape, np.float32) for _ in range(2)]
        mine = [model.predict([x])[0].get_data_to_numpy() for model, x in zip((first, second), batch, strict=True)]
        again = [model.predict([x])[0].get_data_to_numpy() for model, x in zip((second, first), batch, strict=True)]
        np.testing.assert_array_equal(mine, again)


def test_an_output_that_is_an_input(tmp_path: Path) -> None:
    """A part that only reshapes launches nothing, and copies."""
    call = next(call for call in calls() if call.name == "Reshape" and call.wanted[0].dtype == np.float32)
    path, inputs = write(call, tmp_path)
    (counts,) = parts_of(path, tmp_path)
    assert counts["launches"] == 0
    assert counts["copied_out_bytes"] == call.wanted[0].nbytes
    np.testing.assert_array_equal(OPENCL.built(path).predict(inputs)[0].get_data_to_numpy(), call.wanted[0])
