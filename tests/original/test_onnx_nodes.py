"""Files that the original's converter makes of the onnx package's test cases: mslite computes what the original's runtime does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.mindir.graph import Array

from . import networks
from .networks import converted
from .node_models import write_all

PYTHON = os.environ.get("MSLITE_ORIGINAL_PYTHON")
RIGHT_HERE = {
    "test_matmul_1d_1d": "the original multiplies vectors element by element",
    "test_matmul_1d_3d": "the original keeps the dimension of a vector",
    "test_maxpool_2d_ceil_output_size_reduce_by_one": "the original keeps a window that lies in the padding",
    "test_nonmaxsuppression_two_batches": "the original looks at one batch",
    "test_nonmaxsuppression_two_classes": "the original looks at one class",
    "test_pow_types_float32_int32": "the original takes the bits of an integer exponent for a float",
    "test_pow_types_float32_int64": "the original takes the bits of an integer exponent for a float",
    "test_resize_upsample_sizes_nearest_ceil_half_pixel": "the original does not read nearest_mode",
    "test_resize_upsample_sizes_nearest_floor_align_corners": "the original does not read nearest_mode",
    "test_resize_upsample_sizes_nearest_round_prefer_ceil_asymmetric": "the original does not read nearest_mode",
    "test_round": "the original rounds halves away from zero",
    "test_slice_neg_steps": "the original counts a negative step from the wrong end",
}
"""Where the original computes something else than ONNX, and mslite what ONNX says."""
RIGHT_HERE.update(
    (f"test_{name}_FLOAT_to_FLOAT16{form}", "the original returns the bits of float16 as numbers")
    for name, form in (("cast", ""), ("castlike", "_expanded"))
)
_REDUCE_MAX = "the original begins ReduceMax with a value that is greater than the elements"
RIGHT_HERE.update(
    (f"test_reduce_max_{keeps}_random", _REDUCE_MAX)
    for keeps in ("do_not_keepdims", "keepdims", "negative_axes_keepdims")
)
DIFFERENT = {
    "test_resize_downsample_scales_cubic_A_n0p5_exclude_outside": "the original loses the coordinates and does not read exclude_outside",
    "test_resize_upsample_scales_cubic_A_n0p5_exclude_outside": "the original loses the coordinates and does not read exclude_outside",
    "test_resize_downsample_scales_linear_align_corners": "the original divides by 0 for an output of one row",
}
"""Where the file no longer says what ONNX said, and mslite does not do as the original's kernel."""


def arrays(path: Path, kind: str) -> list[Array]:
    with np.load(path) as stored:
        return [stored[f"{kind}{i}"] for i in range(sum(name[0] == kind for name in stored.files))]


def predicted(path: Path, inputs: list[Array]) -> list[Array]:
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
    tensors = model.get_inputs()
    for tensor, array in zip(tensors, inputs, strict=True):
        tensor.set_data_from_numpy(array)
    return [tensor.get_data_to_numpy() for tensor in model.predict(tensors)]


def difference(results: list[Array], wanted: list[Array]) -> str:
    """Empty where they are alike."""
    for i, (result, array) in enumerate(zip(results, wanted, strict=True)):
        if result.shape != array.shape:
            return f"output {i} has the shape {result.shape}, not {array.shape}"
        if not np.allclose(result.astype(float), array.astype(float), 1e-3, 1e-4, equal_nan=True):
            with np.errstate(invalid="ignore"):
                return f"output {i} differs by {np.abs(result.astype(float) - array.astype(float)).max(initial=0):.3g}"
    return ""


def in_order(results: list[Array], wanted: list[Array]) -> list[Array]:
    """Images with their channels first, where that is the shape that is wanted."""
    return [
        array.transpose(0, 3, 1, 2) if array.ndim == 4 and array.transpose(0, 3, 1, 2).shape == like.shape else array
        for array, like in zip(results, wanted, strict=True)
    ]


def right_there(stem: Path) -> bool:
    """Whether the original computes what ONNX says, in the order of dimensions of either."""
    found, wanted = (
        arrays(stem.with_name(f"{stem.name}.original.npz"), "o"),
        arrays(stem.with_name(f"{stem.name}.npz"), "o"),
    )
    if len(found) != len(wanted):
        return False
    return not difference(found, wanted) or not difference(in_order(found, wanted), wanted)


def right_here(model: Path, folder: Path) -> bool:
    """Whether mslite's converter and runtime compute what ONNX says."""
    files = folder / "here"
    files.mkdir(exist_ok=True)
    try:
        if converted(model, files):
            return False
        wanted = arrays(model.with_suffix(".npz"), "o")
        _, found = networks.predicted(files / f"{model.stem}.ms", arrays(model.with_suffix(".npz"), "i"))
    except (RuntimeError, ValueError, AssertionError):
        return False
    return len(found) == len(wanted) and (
        not difference(found, wanted) or not difference(in_order(found, wanted), wanted)
    )


@pytest.mark.slow
@pytest.mark.skipif(PYTHON is None, reason="the original is not there: `make check-original`")
@pytest.mark.nonconforming("the cases of the onnx package as they are; known.yaml says which rules they break")
def test_files_of_the_original(tmp_path: Path) -> None:
    assert PYTHON is not None
    names = write_all(tmp_path)
    worker = Path(__file__).with_name("worker.py")
    lines = subprocess.run(
        [PYTHON, str(worker), str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    happened = dict(line.split("\t") for line in lines)
    assert happened.keys() == set(names)
    ran = [name for name in names if happened[name] == "ran"]
    there = [name for name in ran if right_there(tmp_path / name)]
    here = [name for name in names if right_here(tmp_path / f"{name}.onnx", tmp_path)]
    print(
        f"\n{len(names)} cases; the original's runtime runs {len(ran)} of the files of its converter, {len(there)} as ONNX says; mslite's runs "
        f"{len(here)} as ONNX says"
    )
    unlike, stale = {}, []
    for name in ran:
        stem = tmp_path / name
        theirs = stem.with_name(f"{name}.original.npz")
        try:
            results = predicted(stem.with_name(f"{name}.ms"), arrays(theirs, "i"))
        except (RuntimeError, ValueError) as error:
            unlike[name] = f"refused: {error}"
            continue
        found = difference(results, arrays(theirs, "o"))
        of_onnx = difference(results, arrays(stem.with_name(f"{name}.npz"), "o"))
        if name in RIGHT_HERE:
            if of_onnx or not found:
                stale.append(name)
        elif name in DIFFERENT:
            if not found:
                stale.append(name)
        elif found:
            unlike[name] = found
    assert not unlike
    assert not stale
    assert len(ran) > 400
