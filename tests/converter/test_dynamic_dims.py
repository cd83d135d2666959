"""Ranges of unknown sizes in the configuration: the bound on memory, and what is refused."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import helper

from mslite.converter.cli import main
from mslite.converter.convert import convert
from mslite.converter.dynamic_dims import parse_dynamic_dims
from mslite.converter.errors import ConversionError, UsageError
from mslite.converter.options import Options
from tests.converter.onnx_models import save, small_network


def options(folder: Path, shapes: str, ranges: str) -> Options:
    section = {"inputs_shape": shapes, "dynamic_dim_params": ranges}
    model = small_network(folder / "net.onnx", batch="n")
    return Options(model, folder / "net", dynamic_dims=parse_dynamic_dims(section))


@pytest.mark.parametrize(("ranges", "largest"), [("n:[1~8]", 8), ("n:[2,5~7,3]", 7), ("n:[4]", 4)])
def test_the_bound_is_the_peak_of_the_frozen_model(tmp_path: Path, ranges: str, largest: int) -> None:
    report = convert(options(tmp_path, "image:[n,2,6,5]", ranges))
    frozen = Options(tmp_path / "net.onnx", tmp_path / "frozen", input_shapes={"image": (largest, 2, 6, 5)})
    assert report.peak_bytes is None
    assert report.bound is not None
    assert report.bound.peak_bytes == convert(frozen).peak_bytes


def test_the_summary_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.cfg"
    config.write_text("[dynamic_dims]\ninputs_shape=image:[n,2,6,5]\ndynamic_dim_params=n:[1~8]\n")
    model = small_network(tmp_path / "net.onnx", batch="n")
    assert main([f"--modelFile={model}", f"--outputFile={tmp_path / 'net'}", f"--configFile={config}"]) == 0
    assert "KiB at peak, with image:[8, 2, 6, 5]" in capsys.readouterr().out


def test_shapes_that_depend_on_data_have_no_bound(tmp_path: Path) -> None:
    model = save(tmp_path / "n.onnx", [helper.make_node("NonZero", ["x"], ["y"])], {"x": ["n"]}, {"y": [1, "m"]})
    graph = onnx.load(model)
    graph.graph.output[0].type.tensor_type.elem_type = 7
    onnx.save(graph, model)
    report = convert(Options(model, tmp_path / "n", dynamic_dims={"x": (8,)}))
    assert report.bound is not None
    assert report.bound.peak_bytes is None


@pytest.mark.parametrize(
    ("shapes", "ranges", "message"),
    [
        ("x:[n]", "n:[0~8]", "range '0~8' of 'n'"),
        ("x:[n]", "n:[8~3]", "range '8~3' of 'n'"),
        ("x:[n]", "n:[1~99999999999]", "must be a size or first~last"),
        ("x:[n]", "n:[1~4294967296]", "not within 1 to 2147483647"),
        ("x:[n]", "n:[]", "'n' has no sizes"),
        ("x:[n]", "n:[a]", "'a' of 'n'"),
        ("x:[n]", "n:1~3", "must be name:\\[...\\]"),
        ("x:[n]", "m:[1]", "'n' of input 'x' has no range"),
        ("x:[n]", "n:[1];m:[1]", "'m' is not used"),
        ("x:[n];x:[n]", "n:[1]", "names 'x' twice"),
        ("x:[n,1.5]", "n:[1]", "neither a size nor a parameter"),
        ("", "n:[1]", "inputs_shape is missing"),
    ],
)
def test_wrong_spellings(shapes: str, ranges: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_dynamic_dims({"inputs_shape": shapes, "dynamic_dim_params": ranges})


def test_an_unknown_key() -> None:
    with pytest.raises(UsageError, match="`ranges` is not supported"):
        parse_dynamic_dims({"ranges": "n:[1]"})


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ("picture:[n,2,6,5]", "'picture', which is not an input of the model; its inputs are 'image'"),
        ("image:[n,2,6]", "'image' has 4 dimensions, 3 were given"),
        ("image:[n,n,6,5]", "dimension 1 is 2 in the model, not up to 8"),
    ],
)
def test_what_does_not_fit_the_model(tmp_path: Path, shapes: str, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        convert(options(tmp_path, shapes, "n:[8]"))
    assert not (tmp_path / "net.ms").exists()


def test_a_frozen_input_has_no_range(tmp_path: Path) -> None:
    both = Options(
        small_network(tmp_path / "net.onnx", batch="n"),
        tmp_path / "net",
        input_shapes={"image": (1, 2, 6, 5)},
        dynamic_dims={"image": (8, 2, 6, 5)},
    )
    with pytest.raises(ConversionError, match="also in --inputShape"):
        convert(both)
