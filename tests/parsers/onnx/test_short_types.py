"""ONNX constants of 2 to 16 bits: decoded exactly behind Cast, DequantizeLinear and what only moves them, and refused elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.onnx import parse
from mslite.converter.parsers.short_types import rounded_to_bfloat16

from .helper import Array, compute, make_model, node, random
from .test_quantized import lowered

F32 = np.float32
NAN, INF = np.nan, np.inf

TYPES: dict[str, tuple[int, int, list[tuple[int, float]]]] = {
    "BFLOAT16": (16, 16, [(0x3F80, 1.0), (0xC049, -3.140625), (0x0001, 2.0**-133), (0x7F80, INF)]),
    "FLOAT8E4M3FN": (17, 8, [(0x38, 1.0), (0xFE, -448.0), (0x01, 2.0**-9), (0x45, 3.25), (0x7F, NAN)]),
    "FLOAT8E4M3FNUZ": (18, 8, [(0x40, 1.0), (0xFF, -240.0), (0x01, 2.0**-10), (0x4D, 3.25), (0x80, NAN)]),
    "FLOAT8E5M2": (19, 8, [(0x3C, 1.0), (0xFB, -57344.0), (0x83, -3 * 2.0**-16), (0x7C, INF), (0xFC, -INF), (0x7D, NAN)]),
    "FLOAT8E5M2FNUZ": (20, 8, [(0x40, 1.0), (0xFF, -57344.0), (0x83, -3 * 2.0**-17), (0x47, 3.5), (0x80, NAN)]),
    "UINT4": (21, 4, [(0, 0), (15, 15), (8, 8), (7, 7), (3, 3)]),
    "INT4": (22, 4, [(0, 0), (15, -1), (8, -8), (7, 7), (3, 3)]),
    "FLOAT4E2M1": (23, 4, [(1, 0.5), (2, 1.0), (7, 6.0), (13, -3.0), (15, -6.0)]),
    "FLOAT8E8M0": (24, 8, [(127, 1.0), (0, 2.0**-127), (130, 8.0), (254, 2.0**127), (255, NAN)]),
    "UINT2": (25, 2, [(0, 0), (1, 1), (2, 2), (3, 3), (1, 1)]),
    "INT2": (26, 2, [(0, 0), (1, 1), (2, -2), (3, -1), (1, 1)]),
    "FLOAT6E2M3": (27, 6, [(1, 0.125), (8, 1.0), (31, 7.5), (63, -7.5), (41, -1.125)]),
    "FLOAT6E3M2": (28, 6, [(1, 0.0625), (12, 1.0), (31, 28.0), (63, -28.0), (45, -1.25)]),
}  # fmt: skip
"""The number of the type, its bits, codes and what the standard says that they are."""


def packed(codes: list[int], bits: int) -> bytes:
    """One after the other, the lowest bits first."""
    whole = sum(code << (bits * index) for index, code in enumerate(codes))
    return whole.to_bytes((len(codes) * bits + 7) // 8, "little")


def tensor(name: str, kind: str, codes: list[int], dims: tuple[int, ...], raw: bool = True) -> TensorProto:
    number, bits, _ = TYPES[kind]
    made = TensorProto(name=name, data_type=number, dims=dims)
    if raw:
        made.raw_data = packed(codes, bits)
    else:
        made.int32_data.extend(packed(codes, bits) if bits in (2, 4) else codes)
    return made


def model_of(nodes: list[NodeProto], x: Array, *tensors: TensorProto, **constants: Array) -> ModelProto:
    model = make_model(nodes, {"x": x}, ["y"], constants, opset=24)
    model.graph.initializer.extend(tensors)
    return model


def known(kind: str) -> tuple[list[int], Array]:
    codes, values = zip(*TYPES[kind][2], strict=True)
    return list(codes), np.array(values, F32)


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("form", ["initializer", "Constant", "moved"])
def test_behind_a_cast(kind: str, form: str, raw: bool, tmp_path: Path) -> None:
    codes, values = known(kind)
    made = tensor("w", kind, codes, (len(codes),), raw)
    nodes = [node("Cast", ["v" if form == "moved" else "w"], ["f"], to=1), node("Add", ["x", "f"], ["y"])]
    if form == "moved":
        nodes[:0] = [node("Reshape", ["w", "s"], ["r"]), node("Transpose", ["r"], ["v"])]
    if form == "Constant":
        nodes.insert(0, node("Constant", [], ["w"], value=made))
    tensors = [] if form == "Constant" else [made]
    x = np.zeros((values.size, 1) if form == "moved" else values.shape, F32)
    model = model_of(nodes, x, *tensors, s=np.array([1, -1]))
    (found,) = compute(model, {"x": x}, tmp_path)
    np.testing.assert_array_equal(found, values.reshape(x.shape) + x)


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind not in ("BFLOAT16", "FLOAT8E8M0")])
@pytest.mark.parametrize("granularity", ["tensor", "axis", "blocks", "blocks with points", "scales of powers of two"])
def test_behind_dequantize_linear(kind: str, granularity: str, tmp_path: Path) -> None:
    """y = x @ (scale * (w - point)), w [8, 4], blocks of 4 rows."""
    finite = [(code, value) for code, value in TYPES[kind][2] if np.isfinite(value)]
    chosen = [finite[index] for index in np.random.default_rng(1).integers(0, len(finite), 32)]
    weight = np.array([value for _, value in chosen], F32).reshape(8, 4)
    tensors = [tensor("w", kind, [code for code, _ in chosen], (8, 4))]
    attributes: dict[str, int] = {}
    scale: Array = np.array(0.5, F32)
    if granularity == "axis":
        attributes, scale = {"axis": 1}, np.array([0.5, 2.0, 0.125, 3.0], F32)
    elif granularity != "tensor":
        attributes, scale = {"axis": 0, "block_size": 4}, np.array([[0.5, 2.0, 0.25, 1.0], [4.0, 0.125, 8.0, 1.0]], F32)
    spread = scale if scale.ndim < 2 else np.repeat(scale, 4, axis=0)
    names, constants, point = ["w", "s"], {"s": scale}, F32(0)
    if granularity == "scales of powers of two":
        tensors.append(tensor("s", "FLOAT8E8M0", [int(np.log2(one)) + 127 for one in scale.flat], scale.shape))
        constants, attributes = {}, {**attributes, "output_dtype": 1}
    elif granularity == "blocks with points":
        names.append("z")
        tensors.append(tensor("z", kind, [finite[1][0]] * 8, (2, 4)))
        point = F32(finite[1][1])
    x = random(3, 8)
    nodes = [node("DequantizeLinear", names, ["f"], **attributes), node("MatMul", ["x", "f"], ["y"])]
    model = model_of(nodes, x, *tensors, **constants)
    (found,) = compute(model, {"x": x}, tmp_path)
    want = x.astype(np.float64) @ ((weight.astype(np.float64) - point) * spread)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())


def test_scales_that_are_dequantized_themselves(tmp_path: Path) -> None:
    """Weights FLOAT4E2M1 with scales FLOAT8E4M3FN per block, which have a scale of their own."""
    codes, values = known("FLOAT4E2M1")
    nodes = [
        node("DequantizeLinear", ["s", "g"], ["r"]),
        node("DequantizeLinear", ["w", "r"], ["f"], axis=0, block_size=5),
        node("Add", ["x", "f"], ["y"]),
    ]
    weight, scale = tensor("w", "FLOAT4E2M1", codes, (5,)), tensor("s", "FLOAT8E4M3FN", [0x45], (1,))
    x = np.zeros(5, F32)
    (found,) = compute(model_of(nodes, x, weight, scale, g=np.array(0.5, F32)), {"x": x}, tmp_path)
    np.testing.assert_array_equal(found, values * F32(1.625))


def test_integers_of_few_bits_stay_stored() -> None:
    """As 8-bit integers with a scale per column."""
    nodes = [node("DequantizeLinear", ["w", "s"], ["f"], axis=1), node("MatMul", ["x", "f"], ["y"])]
    weight = tensor("w", "INT2", [0, 1, 2, 3] * 8, (8, 4))
    module = lowered(model_of(nodes, random(3, 8), weight, s=np.array([1, 2, 3, 4], F32)))
    (product,) = module.main.nodes
    assert product.inputs[1].array().dtype == np.int8
    assert len(product.inputs[1].quant) == 4


def test_activations_of_two_bits(tmp_path: Path) -> None:
    """Round half to even, then limited to -2..1."""
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    x = np.array([-9, -1.25, -0.75, -0.25, 0, 0.25, 0.75, 0.3, 9], F32)
    model = model_of(nodes, x, tensor("z", "INT2", [3], ()), s=np.array(0.5, F32))
    (found,) = compute(model, {"x": x}, tmp_path)
    np.testing.assert_array_equal(found, np.clip(np.rint(x / 0.5) - 1, -2, 1) * 0.5 + 0.5)


def test_results_of_float16(tmp_path: Path) -> None:
    codes, values = known("FLOAT8E4M3FN")
    nodes = [node("DequantizeLinear", ["w", "s"], ["f"], output_dtype=10), node("Add", ["x", "f"], ["y"])]
    x = np.zeros(values.shape, np.float16)
    model = model_of(nodes, x, tensor("w", "FLOAT8E4M3FN", codes, values.shape), s=np.array(0.5, F32))
    (found,) = compute(model, {"x": x}, tmp_path)
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, (values * 0.5).astype(np.float16))


@pytest.mark.parametrize("kind", ["INT4", "FLOAT8E4M3FN"])
@pytest.mark.parametrize("by", ["scale", "output_dtype"])
def test_results_of_bfloat16(kind: str, by: str, tmp_path: Path) -> None:
    """Rounded to bfloat16, half to even, and read behind Cast."""
    codes, values = known(kind)
    values, finite = values[np.isfinite(values)], [c for c, v in zip(codes, values, strict=True) if np.isfinite(v)]
    scale = np.array(0xBDCD0000, np.uint32)  # -0.10009765625
    tensors = [tensor("w", kind, finite, values.shape)]
    attributes: dict[str, int] = {"output_dtype": 16}
    constants = {"s": np.array(scale.view(F32), F32)}
    if by == "scale":
        tensors, attributes, constants = [*tensors, tensor("s", "BFLOAT16", [0xBDCD], ())], {}, {}
    nodes = [
        node("DequantizeLinear", ["w", "s"], ["f"], **attributes),
        node("Cast", ["f"], ["g"], to=1),
        node("Add", ["x", "g"], ["y"]),
    ]
    x = np.zeros(values.shape, F32)
    (found,) = compute(model_of(nodes, x, *tensors, **constants), {"x": x}, tmp_path)
    exact = values.astype(np.float64) * float(scale.view(F32))
    steps = np.ldexp(1.0, np.frexp(exact)[1] - 8)  # eight bits of a mantissa
    np.testing.assert_array_equal(found, np.rint(exact / steps) * steps)


def test_rounding_to_bfloat16() -> None:
    """Half to even, into infinity beyond the greatest, and NaN stays NaN."""
    bits = np.array([0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x7FC00001, 0x80000000], np.uint32)
    found = rounded_to_bfloat16(bits.view(F32))
    np.testing.assert_array_equal(found.view(np.uint32)[:4], [0x3F800000, 0x3F820000, 0x3F810000, 0x7F800000])
    assert np.isnan(found[4])
    assert np.signbit(found[5])


REFUSED = {
    "computed with": ([node("Mul", ["w", "w"], ["q"]), node("Cast", ["q"], ["y"], to=1)], "input 0, 'w', has a type"),
    "cast like it": ([node("CastLike", ["x", "w"], ["q"]), node("Cast", ["q"], ["y"], to=1)], "input 1, 'w', has a type"),
    "moved and computed with": (
        [node("Identity", ["w"], ["v"]), node("Max", ["v", "v"], ["q"]), node("Cast", ["q"], ["y"], to=1)],
        "input 0, 'v', has a type",
    ),
    "an output": ([node("Identity", ["w"], ["y"])], "'?y'?.* only constants"),
    "cast to it": ([node("Cast", ["x"], ["q"], to=17), node("Cast", ["q"], ["y"], to=1)], "FLOAT8E4M3FN is not supported"),
    "the type of the result": ([node("DequantizeLinear", ["x8", "w"], ["q"]), node("Cast", ["q"], ["y"], to=1)], "output_dtype"),
    "bfloat16": (
        [node("QuantizeLinear", ["x", "s"], ["q"]), node("DequantizeLinear", ["q", "s"], ["r"], output_dtype=16), node("Cast", ["r"], ["y"], to=1)],
        "BFLOAT16",
    ),
    "scales of bfloat16 and activations": (
        [node("QuantizeLinear", ["x", "s"], ["q"]), node("DequantizeLinear", ["q", "b"], ["r"]), node("Cast", ["r"], ["y"], to=1)],
        "BFLOAT16",
    ),
    "bfloat16 and computed with": (
        [node("DequantizeLinear", ["x8", "b"], ["q"]), node("Abs", ["q"], ["r"]), node("Cast", ["r"], ["y"], to=1)],
        "input 0, 'q', has a type",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case: str) -> None:
    nodes, reason = REFUSED[case]
    tensors = [tensor("w", "FLOAT8E4M3FN", [0x38], (1,)), tensor("b", "BFLOAT16", [0x3F80], (1,))]
    model = model_of(nodes, random(2), *tensors, x8=np.zeros(1, np.int8), s=np.ones(1, F32))
    with pytest.raises(ConversionError, match=reason):
        parse(model)


@pytest.mark.parametrize("kind", TYPES)
def test_damaged_sizes(kind: str) -> None:
    made = tensor("w", kind, [1, 1, 1, 1, 1], (900,))
    with pytest.raises(ConversionError, match=r"contains \d+ bytes"):
        parse(model_of([node("Cast", ["w"], ["f"], to=1), node("Add", ["x", "f"], ["y"])], random(1), made))


def test_every_code_is_what_the_onnx_package_says() -> None:
    """With the releases of the package that know the types."""
    numpy_helper = pytest.importorskip("onnx.numpy_helper")
    compared = 0
    for kind, (number, bits, _) in TYPES.items():
        if number not in TensorProto.DataType.values():
            continue
        codes = list(range(1 << bits))
        made = tensor("w", kind, codes, (len(codes),))
        try:
            want = np.asarray(numpy_helper.to_array(made)).astype(F32)
        except (TypeError, ValueError):
            continue
        model = model_of([node("Cast", ["w"], ["f"], to=1), node("Add", ["x", "f"], ["y"])], random(len(codes)), made)
        found = next(value for value in parse(model).main.nodes[0].inputs if value.name == "w").array()
        np.testing.assert_array_equal(found.astype(F32), want, err_msg=kind)
        compared += 1
    assert compared >= 7
