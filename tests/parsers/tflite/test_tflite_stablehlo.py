"""StableHLO operators with regions, places and general products: against LiteRT where it has them, else NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tflite_build import Graph, Operator, Tensor, build, single
from tflite_run import Array, lowered, run_module, run_source

import mslite
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.options import Options
from mslite.converter.parsers.tflite import parse

_CHANCE = np.random.default_rng(17)
Expected = Callable[..., Array]


def f32(*shape: int) -> Array:
    return np.asarray(_CHANCE.uniform(-2, 2, shape), np.float32)


def with_region(
    name: str,
    inputs: list[Array],
    options: tuple[str, dict[int, Any]],
    region: str | None,
    outputs: tuple[str, ...] = ("float32",),
    constant: tuple[int, ...] = (),
    scalars: int = 2,
    result: str | None = None,
    shape: tuple[int, ...] = (),
) -> bytes:
    """A model of one node whose subgraph 1 has the operator `region` on two scalars, or gives the second."""
    tensors = [
        Tensor(f"in{i}", array.shape, array.dtype.name, array if i in constant else None)
        for i, array in enumerate(inputs)
    ]
    count = len(tensors)
    tensors += [Tensor(f"out{i}", shape, dtype) for i, dtype in enumerate(outputs)]
    node = Operator(name, range(count), range(count, len(tensors)), options[1], options[0])
    main = Graph(tensors, [i for i in range(count) if i not in constant], range(count, len(tensors)), [node])
    dtype = inputs[0].dtype.name
    scalar = [Tensor(f"s{i}", (), dtype) for i in range(scalars)]
    if region is None:
        return build(main, Graph(scalar, [0, 1], [1], []))
    scalar.append(Tensor("r", (), result or dtype))
    kinds = {"ADD": "AddOptions", "MUL": "MulOptions", "MAXIMUM": "MaximumMinimumOptions"}
    kinds |= {"MINIMUM": "MaximumMinimumOptions", "LESS": "LessOptions", "GREATER": "GreaterOptions"}
    body = Operator(region, [0, 1], [scalars], {}, kinds.get(region, "NONE"))
    return build(main, Graph(scalar, list(range(scalars)), [scalars], [body]))


def run(model: bytes, inputs: list[Array], folder: Path) -> list[Array]:
    path = folder / "model.tflite"
    path.write_bytes(model)
    return run_module(lowered(parse(path)), inputs)


def same(found: list[Array], expected: list[Array]) -> None:
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)


GATHERS = {
    "rows": ((5, 4), [[3], [0], [9]], [1], [0], [0], 1, [1, 4]),
    "boxes": ((6, 5, 3), [[1, 2], [0, 4], [-3, 0]], [1, 2], [1], [0, 1], 1, [2, 1, 3]),
    "batch of places": ((4, 7), [[[1, 2], [0, 5]], [[2, 3], [3, 3]]], [0, 3], [], [0, 1], 2, [2, 3]),
    "vector first": ((4, 7), [[1, 2, 0], [0, 5, 1]], [1], [0], [0, 1], 0, [1, 3]),
}


@pytest.mark.parametrize("case", GATHERS)
def test_gather(case: str, tmp_path: Path) -> None:
    shape, starts, offsets, collapsed, mapping, vector, sizes = GATHERS[case]
    x, indices = f32(*shape), np.array(starts, np.int32)
    options: dict[int, Any] = {
        0: ("[long]", offsets), 1: ("[long]", collapsed), 2: ("[long]", mapping), 3: ("long", vector), 4: ("[long]", sizes),
    }  # fmt: skip
    batch = [size for axis, size in enumerate(indices.shape) if axis != vector]
    kept = [size for axis, size in enumerate(sizes) if axis not in collapsed]
    expected = np.zeros(batch + kept, np.float32)
    rows = np.moveaxis(indices, vector, -1).reshape(-1, len(mapping))
    for place, row in zip(np.ndindex(*batch), rows, strict=True):
        first = [0] * len(shape)
        for axis, value in zip(mapping, row, strict=True):
            first[axis] = int(np.clip(value, 0, shape[axis] - sizes[axis]))
        box = x[tuple(slice(at, at + size) for at, size in zip(first, sizes, strict=True))]
        expected[place] = box.reshape(kept)
    expected = np.moveaxis(expected, range(len(batch), expected.ndim), offsets)
    model = single("STABLEHLO_GATHER", [x, indices], (), options=options, options_type="StablehloGatherOptions")
    same(run(model, [x, indices], tmp_path), [np.ascontiguousarray(expected)])


@pytest.mark.parametrize("region", ["ADD", "MAXIMUM", "MINIMUM", "MUL", None])
def test_scatter(region: str | None, tmp_path: Path) -> None:
    """Rows of updates; one place is outside, two are the same unless the last one wins."""
    x, indices = f32(6, 4), np.array([[2], [0], [7], [2 if region else 4]], np.int32)
    updates = f32(4, 4)
    options: dict[int, Any] = {
        1: ("[long]", [1]), 2: ("[long]", [0]), 3: ("[long]", [0]), 4: ("long", 1), 6: ("int", 1),
    }  # fmt: skip
    name = "STABLEHLO_" + {"MUL": "MULTIPLY"}.get(region, region) if region else None
    model = with_region("STABLEHLO_SCATTER", [x, indices, updates], ("StablehloScatterOptions", options), name)
    step = {"ADD": np.add, "MAXIMUM": np.maximum, "MINIMUM": np.minimum, "MUL": np.multiply}.get(region or "")
    expected = x.copy()
    for row, update in zip(indices[:, 0], updates, strict=True):
        if row < len(x):
            expected[row] = step(expected[row], update) if step else update
    same(run(model, [x, indices, updates], tmp_path), [expected])
    same(run_source(model, [x, indices, updates]), [expected])


@pytest.mark.parametrize(
    ("region", "function"), [("ADD", np.sum), ("MUL", np.prod), ("MAXIMUM", np.max), ("MINIMUM", np.min)]
)
def test_reduce(region: str, function: Expected, tmp_path: Path) -> None:
    x, first = f32(3, 4, 5), np.float32(0.5)
    options: dict[int, Any] = {0: ("[long]", [0, 2]), 1: ("int", 1)}
    model = with_region("STABLEHLO_REDUCE", [x, np.array(first)], ("StablehloReduceOptions", options), region)
    expected = np.stack([function(np.append(x[:, i].ravel(), first)) for i in range(4)])
    same(run(model, [x, np.array(first)], tmp_path), [expected])


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_reduce_window(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Against LiteRT, over windows, strides, dilations and borders."""
    rank = data.draw(st.integers(1, 3))
    draw = lambda low, high: [data.draw(st.integers(low, high)) for _ in range(rank)]  # noqa: E731
    shape, window, strides = draw(4, 7), draw(1, 2), draw(1, 3)
    base, dilations, pads = draw(1, 2), draw(1, 2), [*draw(0, 2), *draw(0, 2)]
    region = data.draw(st.sampled_from(["ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"]))
    first = np.array(data.draw(st.sampled_from([0.0, 1.0, -np.inf])), np.float32)
    if first == -np.inf and region != "MAXIMUM":
        first = np.array(0.25, np.float32)
    x = f32(*shape)
    numbers = [window, strides, base, dilations, pads]
    options: dict[int, Any] = {slot: ("[long]", values) for slot, values in enumerate(numbers)} | {5: ("int", 1)}
    model = with_region(
        "STABLEHLO_REDUCE_WINDOW",
        [x, first],
        ("StablehloReduceWindowOptions", options),
        f"STABLEHLO_{region}",
        constant=(1,),
    )
    folder = tmp_path_factory.mktemp("window")
    same(run(model, [x], folder), run_source(model, [x]))


@pytest.mark.parametrize("base", [1, 2])
def test_windows_over_an_open_batch(base: int, tmp_path: Path) -> None:
    """The file states a batch of 1: slices must not cut another one."""
    first = np.array(0.0, np.float32)
    numbers = [[1, 2], [1, 2], [1, base], [1, 1], [0, 0, 1, 0]]
    options: dict[int, Any] = {slot: ("[long]", values) for slot, values in enumerate(numbers)} | {5: ("int", 1)}
    tensors = [
        Tensor("x", (1, 6), signature=(-1, 6)),
        Tensor("first", (), data=first),
        Tensor("y", (1, (6 * base) // 2)),
    ]
    node = Operator("STABLEHLO_REDUCE_WINDOW", [0, 1], [2], options, "StablehloReduceWindowOptions")
    body = Graph([Tensor(name) for name in "abc"], [0, 1], [2], [Operator("STABLEHLO_ADD", [0, 1], [2])])
    path = tmp_path / "model.tflite"
    path.write_bytes(build(Graph(tensors, [0], [2], [node]), body))
    (file,) = convert(Options(path, tmp_path / "model")).files
    session = mslite.Model()
    session.build_from_file(file, mslite.ModelType.MINDIR_LITE)
    x = f32(3, 6)
    session.resize(session.get_inputs(), [[3, 6]])
    got = session.predict([x])[0].get_data_to_numpy()
    wide = np.zeros((3, 5 * base + 2), np.float32)
    wide[:, 1::base] = x
    np.testing.assert_allclose(got, wide[:, : wide.shape[1] // 2 * 2].reshape(3, -1, 2).sum(2), rtol=1e-6)


@pytest.mark.parametrize("function", range(1, 5))
def test_builtin_reduce_window(function: int, tmp_path: Path) -> None:
    x = f32(7, 6)
    numbers = [np.array(values, np.int64) for values in ([3, 2], [2, 1], [1, 2])]
    inputs = [x, np.array(1.0, np.float32), *numbers]
    model = single(
        "REDUCE_WINDOW", inputs, (1, 2, 3, 4), options={0: ("int", function)}, options_type="ReduceWindowOptions"
    )
    same(run(model, [x], tmp_path), run_source(model, [x]))


@pytest.mark.parametrize(("region", "dtype"), [("LESS", "float32"), ("GREATER", "float32"), ("LESS", "int32")])
def test_sort_with_companion(region: str, dtype: str, tmp_path: Path) -> None:
    key = _CHANCE.permuted(np.tile(np.arange(9), (4, 1)), axis=1).astype(dtype)
    other = f32(4, 9)
    options: dict[int, Any] = {0: ("long", 1), 1: ("bool", 1), 2: ("int", 1)}
    model = with_region(
        "STABLEHLO_SORT",
        [key, other],
        ("StablehloSortOptions", options),
        region,
        (dtype, "float32"),
        scalars=4,
        result="bool",
    )
    order = np.argsort(key if region == "LESS" else -key, 1, kind="stable")
    expected = [np.take_along_axis(array, order, 1) for array in (key, other)]
    same(run(model, [key, other], tmp_path), expected)


def test_dot_general(tmp_path: Path) -> None:
    a, b = f32(4, 2, 3, 5), f32(5, 6, 2, 4)
    options: dict[int, Any] = {0: ("[long]", [1]), 1: ("[long]", [2]), 2: ("[long]", [0, 3]), 3: ("[long]", [3, 0])}
    model = single("STABLEHLO_DOT_GENERAL", [a, b], (), options=options, options_type="StablehloDotGeneralOptions")
    same(run(model, [a, b], tmp_path), [np.einsum("cbik,kjbc->bij", a, b).astype(np.float32)])


@pytest.mark.parametrize("group", [1, 2])
def test_convolution_of_channels_first(group: int, tmp_path: Path) -> None:
    """NCHW input, OIHW weight: what PyTorch's exporters write."""
    x, weight = f32(2, 4, 7, 8), f32(6, 4 // group, 3, 2)
    numbers: dict[int, Any] = {0: ("[long]", [2, 1]), 1: ("[long]", [1, 1, 0, 1]), 3: ("[long]", [1, 2])}
    places = {5: 0, 6: 1, 8: 1, 9: 0, 11: 0, 12: 1, 14: group, 15: 1}
    numbers |= {slot: ("long", value) for slot, value in places.items()}
    numbers |= {slot: ("[long]", [2, 3]) for slot in (7, 10, 13)}
    model = with_region(
        "STABLEHLO_CONVOLUTION",
        [x, weight],
        ("StablehloConvolutionOptions", numbers),
        None,
        constant=(1,),
        shape=(2, 6, 4, 7),
    )
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 1)))
    expected = np.zeros((2, 6, 4, 7), np.float64)
    for out, row, column in np.ndindex(6, 4, 7):
        first = out // (6 // group) * (4 // group)
        part = padded[:, first : first + 4 // group, 2 * row : 2 * row + 3, column : column + 3 : 2]
        expected[:, out, row, column] = (part * weight[out]).sum((1, 2, 3))
    same(run(model, [x], tmp_path), [expected.astype(np.float32)])


def test_foreign_calls_are_named(tmp_path: Path) -> None:
    model = single(
        "STABLEHLO_CUSTOM_CALL", [f32(2)], options={0: ("text", "my_fft")}, options_type="StablehloCustomCallOptions"
    )
    (tmp_path / "m.tflite").write_bytes(model)
    with pytest.raises(ConversionError, match="my_fft"):
        parse(tmp_path / "m.tflite")
