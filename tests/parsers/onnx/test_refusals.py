"""Models that cannot be converted: every reason at once, and never a traceback."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.parsers.onnx import parse
from mslite.converter.parsers.onnx.registry import KNOWN_OPSET, registered_operators

from .helper import make_model, node, one, random
from .microsoft import foreign


def test_all_blockers_are_reported_at_once() -> None:
    nodes = [
        node("StringNormalizer", ["x"], ["a"], name="first"),
        node("NoSuchThing", ["x"], ["b"], name="second"),
        node("Reshape", ["a", "s"], ["c"], name="third"),
        node("Elu", ["b"], ["d"], name="fourth", alpha="text"),
    ]
    with pytest.raises(ConversionError) as caught:
        parse(make_model(nodes, {"x": random(2)}, ["c", "d"], {"s": np.array([2], np.int64)}))
    assert [blocker.node for blocker in caught.value.blockers] == ["first", "second", "fourth"]
    assert caught.value.blockers[2].attribute == "alpha"
    assert all(blocker.reason and blocker.remedy for blocker in caught.value.blockers)


def test_an_attribute_that_nobody_reads_blocks() -> None:
    with pytest.raises(ConversionError, match="attribute 'mystery'"):
        parse(one("Relu", {"x": random(2)}, mystery=1))


@pytest.mark.parametrize("name", ["QuantizeLinear", "MatMulInteger", "QLinearConv"])
def test_quantized_operators_are_named(name: str) -> None:
    with pytest.raises(ConversionError, match=name):
        parse(one(name, {"x": random(2, 2)}))


def test_a_name_that_is_not_text(tmp_path: Path) -> None:
    whole = one("Softplus", {"x": random(2)}).SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(whole.replace(b"Softplus", b"Soft\xe3lus"))
    with pytest.raises(ConversionError, match=r"UTF-8|damaged"):
        parse(path)


@pytest.mark.parametrize("version", [-1, 0, 1 << 40])
def test_impossible_operator_sets(version: int) -> None:
    model = one("Neg", {"x": random(2)})
    model.opset_import.add(domain="some.domain", version=version)
    with pytest.raises(ConversionError, match="does not exist"):
        parse(model)


@pytest.mark.parametrize("content", [b"", b"\x00", b"not a model", b"\xff" * 64, b"\x08\x07\x3a\xff\xff\xff\xff\x0f"])
def test_damaged_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ConversionError, match=r"model\.onnx"):
        parse(path)


def test_every_prefix_of_a_file_is_refused_or_read(tmp_path: Path) -> None:
    whole = one("Conv", {"x": random(1, 2, 4, 4)}, {"w": random(3, 2, 2, 2)}).SerializeToString()
    path = tmp_path / "model.onnx"
    for length in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ConversionError):
            parse(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConversionError) as caught:
        parse(tmp_path / "absent.onnx")
    assert caught.value.code is ReturnCode.FILE_ERROR


def _with_weight(**changes: object) -> ModelProto:
    model = one("Add", {"x": random(3)}, {"w": random(3)})
    tensor = model.graph.initializer[0]
    for key, value in changes.items():
        if key == "dims":
            tensor.dims[:] = value  # type: ignore[call-overload]
        else:
            setattr(tensor, key, value)
    return model


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (_with_weight(dims=[4]), "contains 12 bytes"),
        (_with_weight(dims=[-3]), "negative dimension"),
        (_with_weight(dims=[1] * 67), "67 dimensions"),
        (_with_weight(dims=[1 << 40]), "exceeds the limit of the file format"),
        (_with_weight(dims=[1 << 20, 1 << 20]), "contains 12 bytes"),
        (_with_weight(data_type=TensorProto.FLOAT8E4M3FN), "contains 12 bytes"),
        (_with_weight(data_type=9999), "9999 is not supported"),
        (
            make_model([node("Add", ["x", "z"], ["y"])], {"x": random(2)}, ["y"]),
            "Add 'y' reads 'z', which nothing produces",
        ),
        (make_model([node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"])], {"x": random(2)}, ["b"]), "cycle"),
        (make_model([node("Neg", ["x"], ["a"]), node("Abs", ["x"], ["a"])], {"x": random(2)}, ["a"]), "two nodes"),
        (make_model([], {"x": random(2)}, ["q"]), "an output of the graph reads 'q', which nothing produces"),
        (make_model([], {"x": random(2)}, []), "no outputs"),
        (ModelProto(), "no graph"),
        (
            make_model([node("Neg", ["x"], ["y"])], {"x": random(2)}, ["y"], shapes={"x": [1 << 40]}),
            "invalid dimension",
        ),
        (make_model([node("Neg", ["x"], ["y"])], {"x": random(2)}, ["y"], shapes={"x": [1] * 9}), "8 are supported"),
        (make_model([node("Neg", ["x"], ["y"])], {"x": random(2)}, ["y"], opset=999), "operator set 999"),
    ],
)
def test_unsound_models(model: ModelProto, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        parse(model)


def _external(folder: Path, location: str, offset: int = 0, length: int = 12) -> Path:
    model = one("Add", {"x": random(3)}, {"w": random(3)})
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        tensor.external_data.add(key=key, value=value)
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder / "model.onnx"


def test_external_data_is_mapped_not_copied(tmp_path: Path) -> None:
    path = _external(tmp_path / "m", "weights.bin", offset=4)
    weights = np.arange(4, dtype=np.float32)
    (path.parent / "weights.bin").write_bytes(weights.tobytes())
    value = parse(path).main.nodes[0].inputs[1].array()
    np.testing.assert_array_equal(value, weights[1:])
    base: object = value
    while getattr(base, "base", None) is not None and not isinstance(base, np.memmap):
        base = base.base  # type: ignore[attr-defined]
    assert isinstance(base, np.memmap)


@pytest.mark.parametrize(
    ("location", "offset", "length", "message"),
    [
        ("../secret.bin", 0, 12, "outside the model's folder"),
        ("/etc/passwd", 0, 12, "outside the model's folder"),
        ("", 0, 12, "outside the model's folder"),
        ("link.bin", 0, 12, "outside the model's folder"),
        ("absent.bin", 0, 12, "missing or empty"),
        ("weights.bin", 8, 12, "past the end"),
        ("weights.bin", -4, 12, "past the end"),
        ("weights.bin", 0, 16, "needs 12 bytes"),
    ],
)
def test_external_data_is_checked(tmp_path: Path, location: str, offset: int, length: int, message: str) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(64))
    path = _external(tmp_path / "m", location, offset, length)
    (path.parent / "weights.bin").write_bytes(bytes(16))
    (path.parent / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(ConversionError, match=message):
        parse(path)


def test_input_shapes_are_checked() -> None:
    model = one("Neg", {"x": random(2, 3)})
    with pytest.raises(ConversionError, match="names 'z'"):
        parse(model, {"z": (1,)})
    with pytest.raises(ConversionError, match="has 1 dimension, the input has 2"):
        parse(model, {"x": (1,)})


def test_unused_damage_is_left_alone() -> None:
    """An initializer that nothing reads may be of any kind."""
    model = one("Neg", {"x": random(2)})
    model.graph.initializer.append(helper.make_tensor("unused", TensorProto.FLOAT8E4M3FN, [1], [0]))
    assert len(parse(model).main.nodes) == 1


def test_every_registered_operator_is_an_onnx_operator() -> None:
    assert all(onnx.defs.has(name) for name in registered_operators())
    assert onnx.defs.onnx_opset_version() >= KNOWN_OPSET


def test_typed_fields_of_tensors_are_read() -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT16, dims=[2])
    tensor.int32_data.extend(np.array([1.5, -2], np.float16).view(np.uint16).tolist())
    model = one("Add", {"x": np.zeros(2, np.float16)}, {"w": np.zeros(2, np.float16)})
    model.graph.initializer[0].CopyFrom(tensor)
    np.testing.assert_array_equal(parse(model).main.nodes[0].inputs[1].array(), np.array([1.5, -2], np.float16))
    assert numpy_helper.to_array(tensor).tolist() == [1.5, -2]


@pytest.mark.parametrize("count", [np.array([np.inf], np.float16), np.array([np.nan], np.float32), np.array([1e30])])
def test_a_number_of_elements_that_is_real_is_no_warning(count: np.ndarray[Any, Any]) -> None:
    """Files from strangers say such things; warnings are errors in tests."""
    proto = make_model([node("TopK", ["x", "k"], ["y", "z"])], {"x": random(4)}, ["y", "z"], {"k": count})
    with contextlib.suppress(ConversionError):
        parse(proto)


def test_strings_in_a_recurrent_layer() -> None:
    values = {"w": random(1, 12, 2), "r": random(1, 12, 3)}
    proto = make_model([node("LSTM", ["x", "w", "r"], ["y"], hidden_size=3)], {"x": random(4, 1, 2)}, ["y"], values)
    proto.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING
    with pytest.raises(ConversionError, match="holds strings") as caught:
        parse(proto)
    assert all("contradict" not in blocker.reason for blocker in caught.value.blockers)


@pytest.mark.parametrize(("operator", "place"), [("Relu", 1), ("Conv", 4), ("LayerNormalization", 3), ("TopK", 2)])
def test_an_input_that_nobody_reads_blocks(operator: str, place: int) -> None:
    """One that is not of the operator's definition, as a newer version might have it."""
    constants = {
        "Relu": {}, "Conv": {"w": random(3, 2, 2, 2), "b": random(3)}, "TopK": {"k": np.array([1], np.int64)},
        "LayerNormalization": {"w": random(4), "b": random(4)},
    }[operator]  # fmt: skip
    model = one(operator, {"x": random(1, 2, 4, 4)}, constants, outputs=2 if operator == "TopK" else 1)
    names = model.graph.node[0].input
    names.extend([""] * (place - len(names)))
    names.append("x")
    with pytest.raises(ConversionError, match=f"{operator}.*input {place} is not supported"):
        parse(model)


@pytest.mark.parametrize("operator", ["Gelu", "QuickGelu", "BiasGelu", "SkipLayerNormalization", "QLinearSigmoid"])
def test_an_input_that_no_expansion_reads_blocks(operator: str) -> None:
    x, number = random(1, 2, 4), np.array(1, np.float32)
    inputs = {
        "Gelu": {"x": x}, "QuickGelu": {"x": x}, "BiasGelu": {"x": x, "b": random(4)},
        "SkipLayerNormalization": {"x": x, "skip": x, "gamma": random(4)},
        "QLinearSigmoid": {"x": x.astype(np.uint8), "s": number, "z": np.uint8(1), "t": number, "u": np.uint8(1)},
    }[operator]  # fmt: skip
    model = foreign(operator, {name: np.asarray(array) for name, array in inputs.items()})
    names = model.graph.node[0].input
    names.extend([""] * (9 - len(names)))
    names.append("x")
    with pytest.raises(ConversionError, match=f"{operator}.*input 9 is not supported"):
        parse(model)


def test_inputs_that_mean_nothing_are_no_blockers() -> None:
    x = random(1, 2, 4, 4)
    parse(one("Resize", {"x": x}, {"roi": np.zeros(8, np.float32), "scales": np.float32([1, 1, 2, 2])}))
    parse(one("Gemm", {"x": random(2, 3)}, {"w": random(3, 4), "c": random(4)}, beta=0.0))


@pytest.mark.parametrize(
    ("operator", "without", "place"),
    [("EmbedLayerNormalization", "segments", 4), ("EmbedLayerNormalization", "", 7), ("BiasDropout", "", 3), ("GroupQueryAttention", "", 12)],
)  # fmt: skip
def test_inputs_of_expanded_operators_that_mean_nothing_are_no_blockers(
    operator: str, without: str, place: int
) -> None:
    """A table without its indices, a mask of which no result is asked for, a ratio outside of training, scales of a float cache."""
    ids, x = np.zeros((1, 4), np.int32), random(1, 4, 16)
    inputs: dict[str, Any] = {
        "EmbedLayerNormalization": {
            "ids": ids, "segments": ids, "words": random(9, 8), "places": random(8, 8), "kinds": random(2, 8),
            "gamma": random(8), "beta": random(8), "mask": ids,
        },
        "BiasDropout": {"x": x, "b": random(16), "residual": x, "ratio": np.array(0.5, np.float32)},
        "GroupQueryAttention": {
            "q": x, "k": random(1, 4, 8), "v": random(1, 4, 8), "past": None, "values": None, "lengths": np.int32([3]),
            "total": np.array(4, np.int32), **dict.fromkeys("cdefg"), "scale": np.float32([1]), "scale2": np.float32([1]),
        },
    }[operator]  # fmt: skip
    if without:
        inputs[without] = None
    heads = {"num_heads": 2, "kv_num_heads": 1} if operator == "GroupQueryAttention" else {}
    model = foreign(operator, inputs, outputs=["y", "present", "values_out"] if heads else 1, **heads)
    assert model.graph.node[0].input[place]
    parse(model)


@pytest.mark.parametrize("training", [True, False])
def test_dropout_with_a_bias_is_refused_in_training_mode(training: bool) -> None:
    x = random(1, 4)
    constants = {"ratio": np.array(0.5, np.float32), "training": np.array(training)}
    model = foreign("BiasDropout", {"x": x, "b": random(4), "residual": None}, constants)
    if training:
        with pytest.raises(ConversionError, match="training mode is not supported"):
            parse(model)
    else:
        parse(model)
