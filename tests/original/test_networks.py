"""What `--targetVersion=2.0` writes runs right in the runtime of MindSpore Lite 2.0.0, or is refused with a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.mindir.graph import Array

from .networks import (
    BENCH_INT8,
    PYTHON,
    SHARED,
    bench_networks,
    converted,
    name_of,
    predicted,
    results_of_original,
    run_in_original,
    save_operands,
    shared_networks,
    stored,
)
from .single_nodes import write_nodes

FLAG = "--targetVersion=2.0"
LOOPS = {"loop_if_script_op11", "loop_if_script_op17", "loop_until_op21", "scan_rnn_op16"}
REFUSED = LOOPS | {"silero_vad_16k_op15"}
"""What 2.0 does not run: loops, and an LSTM whose input has an open number of dimensions."""
_CLOSE = 1e-4
_STORED = 0.02
"""Of the largest result: networks on stored integers, here and in the runtime that made the expected results, are not of one rounding."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PYTHON is None, reason="the original is not there: `make check-original`"),
]


def furthest(results: list[Array], wanted: list[Array]) -> float:
    """The largest difference of an element, as a share of the largest element, or of 1."""
    assert [array.shape for array in results] == [array.shape for array in wanted]
    shares = [
        np.abs(result.astype(float) - array).max(initial=0) / max(1, np.abs(array).max(initial=0))
        for result, array in zip(results, wanted, strict=True)
    ]
    return float(max(shares))


def check(models: list[Path], folder: Path, tolerances: dict[str, float]) -> set[str]:
    """That each model is right in the runtime of 2.0.0, or refused; returns the names of those that are refused."""
    wanted, refused = {}, set()
    for path in models:
        name = name_of(path)
        said = converted(path, folder, FLAG)
        if said:
            assert "MindSpore Lite 2.0 cannot run the model" in said
            refused.add(name)
            continue
        operands, results = predicted(folder / f"{name}.ms", stored(path.parent, "input"))
        save_operands(folder, name, operands)
        wanted[name] = stored(path.parent, "output") or results
    happened = run_in_original(folder)
    assert happened == dict.fromkeys(wanted, "ran")
    found = {name: furthest(results_of_original(folder, name), outputs) for name, outputs in wanted.items()}
    print(f"\n{len(models)} networks; the original's runtime runs {len(found)} right, {len(refused)} are refused")
    assert {name: share for name, share in found.items() if share > tolerances.get(name, _CLOSE)} == {}
    return refused


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/models is not there")
def test_shared_networks(tmp_path: Path) -> None:
    models = shared_networks()
    integers = {name_of(path): _STORED for path in models if path.parent.parent.name == "torch_audio_int8"}
    assert check(models, tmp_path, integers) == REFUSED


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/models is not there")
@pytest.mark.parametrize("name", sorted(LOOPS))
def test_loops_are_refused_by_name(name: str, tmp_path: Path) -> None:
    assert "loop" in converted(SHARED / "control_flow" / name / "model.onnx", tmp_path, FLAG)


@pytest.mark.skipif(not bench_networks(), reason="build/bench-models is not there: `make build/bench-models`")
def test_the_twelve_networks(tmp_path: Path) -> None:
    assert check(bench_networks(), tmp_path, {}) == set()


def check_nodes(files: list[Path], folder: Path) -> None:
    """That each node on stored integers is within a step, or within its share of the largest float."""
    what: dict[str, str] = {}
    seen: set[str] = set()
    for path in files:
        what.update(write_nodes(path, folder, seen))
    happened = run_in_original(folder)
    assert happened == dict.fromkeys(what, "ran")
    off = {}
    for name, words in what.items():
        with np.load(folder / f"{name}.npz") as given:
            _, wanted = predicted(folder / f"{name}.ms", [given[f"i{i}"] for i in range(len(given.files))])
        for result, array in zip(results_of_original(folder, name), wanted, strict=True):
            most = np.abs(result.astype(float) - array).max(initial=0)
            if most > (1 if array.dtype == np.int8 else _CLOSE * max(1, np.abs(array).max(initial=0))):
                off[words] = most
    print(f"\n{len(what)} nodes on stored integers")
    assert off == {}
    assert what


def files_of(models: list[Path], folder: Path, *flags: str) -> list[Path]:
    folder.mkdir()
    for path in models:
        assert not converted(path, folder, FLAG, *flags)
    return sorted(folder.glob("*.ms"))


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/models is not there")
def test_integers_of_shared_networks(tmp_path: Path) -> None:
    models = [*(SHARED / "torch_cnn_int8").glob("*/model.onnx"), *(SHARED / "torch_audio_int8").glob("*/model.onnx")]
    files = [file for path in models for file in files_of([path], tmp_path / name_of(path))]
    nodes = tmp_path / "nodes"
    nodes.mkdir()
    check_nodes(files, nodes)


@pytest.mark.skipif(not bench_networks(BENCH_INT8), reason="build/bench-int8 is not there: `make build/bench-int8`")
def test_integers_of_onnxruntime(tmp_path: Path) -> None:
    files = files_of(bench_networks(BENCH_INT8), tmp_path / "files")
    nodes = tmp_path / "nodes"
    nodes.mkdir()
    check_nodes(files, nodes)


@pytest.mark.skipif(not bench_networks(), reason="build/bench-models is not there: `make build/bench-models`")
@pytest.mark.parametrize("path", bench_networks(), ids=name_of)
def test_full_quantization(path: Path, tmp_path: Path) -> None:
    """The twelve networks as mslite's quantizer makes integers of them."""
    plain = tmp_path / "plain"
    files_of([path], plain)
    operands, _ = predicted(plain / f"{name_of(path)}.ms")
    settings = tmp_path / "full.cfg"
    settings.write_text(calibration(path, operands, tmp_path))
    files = files_of([path], tmp_path / "files", f"--configFile={settings}")
    nodes = tmp_path / "nodes"
    nodes.mkdir()
    check_nodes(files, nodes)


def calibration(path: Path, operands: list[Array], folder: Path) -> str:
    """The settings of a quantization on the operands."""
    names = ["image"] if len(operands) == 1 else ["ids", "mask"]
    for name, array in zip(names, operands, strict=True):
        (folder / name).mkdir()
        np.save(folder / name / "0.npy", array.transpose(0, 3, 1, 2) if array.ndim == 4 else array)
    paths = ",".join(f"{name}:{folder / name}" for name in names)
    return (
        "[common_quant_param]\nquant_type=FULL_QUANT\n[full_quant_param]\nactivation_quant_method=MAX_MIN\n"
        f"[data_preprocess_param]\ncalibrate_path={paths}\ncalibrate_size=1\ninput_type=NPY\n"
    )
