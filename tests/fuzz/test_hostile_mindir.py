"""Hostile `.mindir` files: each gets one clear error or a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mslite.converter.convert import convert
from mslite.converter.mindir.ops.enums import WeightQuantCompressType
from mslite.converter.options import Options, SaveType
from tests.converter.onnx_models import small_network
from tests.parsers.mindir.build import Model

from .corpus import check_conversions, conversions, variants
from .limits import ROOT, SUCCESS, problem_of
from .mutate_mindir import mutate

VARIANTS = 400
HUGE = (1 << 63) - 1


def seeds(folder: Path) -> list[bytes]:
    """Sound files: of our own writer, and in the forms that MindSpore writes."""
    networks = [small_network(folder / "net.onnx"), ROOT / "examples" / "digits" / "digits.onnx"]
    files = [convert(Options(path, folder / path.stem, save_type=SaveType.MINDIR)).files[0] for path in networks]
    return [file.read_bytes() for file in files] + [_branches().proto.SerializeToString()]


def _branches() -> Model:
    model = Model()
    model.input("x", (3,))
    model.input("which", (), np.bool_)
    for name, operator in (("then", "Add"), ("other", "Mul")):
        graph = model.function(name)
        operand = model.input(f"{name}:a", (3,), graph=graph)
        model.node(operator, f"{name}:y", [operand, operand], (3,), graph=graph)
        model.output(f"{name}:y", graph=graph)
    model.node("Partial", "p0", ["then", "x"])
    model.node("Partial", "p1", ["other", "x"])
    model.node("Switch", "choice", ["which", "p0", "p1"])
    model.node("REF::choice", "y", [], (3,))
    model.output("y")
    return model


def test_converter_survives_hostile_files(tmp_path: Path) -> None:
    codes = check_conversions(variants(seeds(tmp_path), VARIANTS, mutate, tmp_path, ".mindir"))
    assert codes[SUCCESS] < VARIANTS * 2 // 3, "too few files were refused"


def _one(operator: str, *inputs: Any, **attributes: Any) -> Callable[[], Model]:
    def build() -> Model:
        model = Model()
        names = [model.input("x", (1, 4, 8, 8))]
        for index, value in enumerate(inputs):
            name = f"c{index}"
            is_array = isinstance(value, np.ndarray)
            names.append(model.parameter(name, value) if is_array else model.constant(name, value))
        model.node(operator, "y", names, **attributes)
        model.output("y")
        return model

    return build


def _recursion() -> Model:
    model = Model()
    model.input("x", (3,))
    graph = model.function("loop")
    model.input("loop:a", (3,), graph=graph)
    model.node("REF::loop", "loop:y", ["loop:a"], graph=graph)
    model.output("loop:y", graph=graph)
    model.node("REF::loop", "y", ["x"], (3,))
    model.output("y")
    return model


def _packed_floats() -> Model:
    model = _one("Add", np.ones((1, 4, 8, 8), np.float32))()
    model.graph.parameter[0].compression_type = WeightQuantCompressType.SPARSE
    return model


def _deep_tuple() -> Model:
    value: Any = 1
    for _ in range(60):
        value = (value,)
    return _one("Reshape", value)()


_WEIGHT = np.zeros((2, 4, 3, 3), np.float32)

LIES: dict[str, Callable[[], Model]] = {
    "reshape_huge": _one("Reshape", (HUGE, HUGE)),
    "pad_huge": _one("Pad", paddings=((0, HUGE), (0, 0), (0, 0), (0, 0))),
    "conv_stride_0": _one("Conv2D", _WEIGHT, pad_mode="pad", stride=(0, 0)),
    "conv_stride_huge": _one("Conv2D", _WEIGHT, pad_mode="pad", stride=(HUGE, HUGE)),
    "conv_pad_huge": _one("Conv2D", _WEIGHT, pad_mode="pad", pad=(HUGE, 0, 0, 0)),
    "conv_group_0": _one("Conv2D", _WEIGHT, group=0),
    "conv_group_negative": _one("Conv2D", _WEIGHT, group=-3),
    "conv_vector_weight": _one("Conv2D", np.zeros(3, np.float32)),
    "conv_no_weight": _one("Conv2D"),
    "pool_kernel_0": _one("MaxPool", kernel_size=(0, 0), strides=(1, 1)),
    "split_count_huge": _one("Split", axis=0, output_num=HUGE),
    "tuple_index": _one("TupleGetItem", 7),
    "text_operand": _one("Add", "text"),
    "type_as_text": _one("Cast", "float32"),
    "transpose_repeats": _one("Transpose", (0, 0, 1, 2)),
    "topk_huge": _one("TopK", HUGE),
    "tile_huge": _one("Tile", (1 << 40, 1 << 40, 1, 1)),
    "packed_floats": _packed_floats,
    "deep_tuple": _deep_tuple,
    "recursion": _recursion,
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("hostile")
    files = [build().save(folder / f"{name}.mindir") for name, build in LIES.items()]
    return {path.stem: result for path, result in conversions(files)}


@pytest.mark.parametrize("name", LIES)
def test_one_clear_error(name: str, results: dict[str, dict[str, Any]]) -> None:
    result = results[name]
    assert problem_of(result) is None, f"{problem_of(result)}: {result['text']}"
    assert result["code"] != SUCCESS, "an impossible model was converted"
