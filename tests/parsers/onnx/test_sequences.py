"""Sequences of known length, optionals, functions of a model, and signal operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, helper

from mslite.converter.errors import ConversionError
from mslite.converter.parsers.onnx import parse

from .helper import Array, check, compute, make_model, node, one, operators, random

INPUTS = {"x": random(5, 4), "y": random(5, 4, seed=1)}
NUMBERS = {f"n{value}": np.array(value) for value in (0, 1, 2)} | {"minus": np.array(-1), "sizes": np.array([2, 3])}


@pytest.mark.parametrize("stacked", [0, 1])
def test_construct_and_concat(stacked: int, tmp_path: Path) -> None:
    nodes = [
        node("SequenceConstruct", ["x", "y"], ["s"]),
        node("SequenceInsert", ["s", "x", "n1"], ["t"]),
        node("SequenceErase", ["t", "n0"], ["u"]),
        node("Identity", ["u"], ["v"]),
        node("ConcatFromSequence", ["v"], ["z"], axis=-1, new_axis=stacked),
    ]
    check(make_model(nodes, INPUTS, ["z"], NUMBERS), INPUTS, tmp_path)


def test_split_and_at(tmp_path: Path) -> None:
    nodes = [
        node("SplitToSequence", ["x", "sizes"], ["s"], axis=0),
        node("SequenceAt", ["s", "n1"], ["a"]),
        node("SplitToSequence", ["x"], ["t"], axis=1, keepdims=0),
        node("SequenceAt", ["t", "minus"], ["b"]),
        node("SequenceLength", ["t"], ["length"]),
        node("SplitToSequence", ["x", "n2"], ["u"], axis=0),
        node("SequenceAt", ["u", "n2"], ["c"]),
        node("Neg", ["b"], ["d"]),
        node("SequenceEmpty", [], ["e"]),
        node("SequenceInsert", ["e", "y"], ["f"]),
        node("SequenceAt", ["f", "n0"], ["g"]),
    ]
    check(make_model(nodes, INPUTS, ["a", "d", "length", "c", "g"], NUMBERS), INPUTS, tmp_path)


@pytest.mark.parametrize("place", [0, 3, -1, -5])
def test_a_position_that_is_known_when_the_model_runs(place: int, tmp_path: Path) -> None:
    inputs = {"x": INPUTS["x"], "place": np.array(place)}
    nodes = [node("SplitToSequence", ["x"], ["s"], axis=0), node("SequenceAt", ["s", "place"], ["z"])]
    check(make_model(nodes, inputs, ["z"]), inputs, tmp_path)
    with pytest.raises(ConversionError, match="not have a common known shape"):
        parse(make_model([node("SplitToSequence", ["x", "sizes"], ["s"]), nodes[1]], inputs, ["z"], NUMBERS))


def test_sequences_of_unknown_length_are_refused_by_name() -> None:
    nodes = [
        node("SplitToSequence", ["x"], ["s"], axis=0),
        node("ConcatFromSequence", ["s"], ["z"], axis=0),
        node("SequenceConstruct", ["x"], ["t"]),
        node("Relu", ["t"], ["r"]),
    ]
    model = make_model(nodes, INPUTS, ["z", "r", "t"], shapes={"x": ("rows", 4)})
    with pytest.raises(ConversionError) as caught:
        parse(model)
    text = str(caught.value)
    assert "SplitToSequence" in text
    assert "number of parts" in text
    assert "Relu" in text
    assert "is a sequence of tensors" in text
    assert "this graph output is a sequence" in text


def _function(name: str, nodes: list[Any], inputs: list[str], outputs: list[str], **names: Any) -> Any:
    return helper.make_function("local", name, inputs, outputs, nodes, [helper.make_opsetid("", 17)], **names)


def test_nested_functions_with_attribute_references(tmp_path: Path) -> None:
    """Inner functions, a default value, an attribute that is handed on, and another operator set than the model's."""

    def referring(op_type: str, inputs: list[str], outputs: list[str], attribute: str, kind: int, name: str) -> Any:
        entry = node(op_type, inputs, outputs)
        entry.attribute.append(AttributeProto(name=attribute, type=kind, ref_attr_name=name))
        return entry

    leaky = [referring("LeakyRelu", ["a"], ["b"], "alpha", AttributeProto.FLOAT, "slope")]
    inner = _function("Inner", leaky, ["a"], ["b"], attributes=["slope"])
    calling = referring("Inner", ["a"], ["m"], "slope", AttributeProto.FLOAT, "steep")
    calling.domain = "local"
    outer_nodes = [calling, referring("Concat", ["m", "a"], ["b"], "axis", AttributeProto.INT, "axis")]
    outer = _function("Outer", outer_nodes, ["a"], ["b"], attributes=["steep"])
    outer.attribute_proto.append(helper.make_attribute("axis", 1))
    for function in (inner, outer):
        function.opset_import.add(domain="local", version=1)
    nodes = [node("Outer", ["x"], ["z"], domain="local", steep=0.3), node("Neg", ["z"], ["w"])]
    model = make_model(nodes, INPUTS, ["w"], opset=18)
    model.functions.extend([inner, outer])
    model.opset_import.add(domain="local", version=1)
    check(model, {"x": INPUTS["x"], "y": INPUTS["y"]}, tmp_path)


@pytest.mark.parametrize("attributes", [{}, {"onesided": 1}, {"inverse": 1}])
@pytest.mark.parametrize("shape", [(2, 12, 3, 1), (2, 12, 3, 2)])
def test_dft(attributes: dict[str, int], shape: tuple[int, ...], tmp_path: Path) -> None:
    if attributes.get("onesided") and shape[-1] == 2:
        pytest.skip("half a spectrum is enough for real signals only")
    inputs = {"x": random(*shape)}
    signal = inputs["x"][..., 0] + (1j * inputs["x"][..., 1] if shape[-1] == 2 else 0)
    wanted = (np.fft.ifft if attributes.get("inverse") else np.fft.fft)(signal, axis=1)
    wanted = wanted[:, : 12 // 2 + 1] if attributes.get("onesided") else wanted
    pairs = np.stack([wanted.real, wanted.imag], -1).astype(np.float32)
    check(one("DFT", inputs, opset=17, axis=1, **attributes), inputs, tmp_path, wanted=[pairs])


@pytest.mark.parametrize("length", [64, 100, 129])
def test_stft_of_a_signal_of_open_length(length: int, tmp_path: Path) -> None:
    window = np.hanning(16).astype(np.float32)
    inputs: dict[str, Array] = {"x": random(2, length, 1)}
    nodes = [node("STFT", ["x", "step", "window"], ["y"])]
    constants = {"step": np.array(8), "window": window}
    model = make_model(nodes, inputs, ["y"], constants, shapes={"x": (2, "length", 1)})
    frames = [inputs["x"][:, begin : begin + 16, 0] * window for begin in range(0, length - 15, 8)]
    spectrum = np.fft.rfft(np.stack(frames, 1))
    pairs = np.stack([spectrum.real, spectrum.imag], -1).astype(np.float32)
    check(model, inputs, tmp_path, wanted=[pairs])


def test_einsum_takes_diagonals(tmp_path: Path) -> None:
    inputs = {"x": random(2, 3, 3), "y": random(3, seed=1)}
    for equation in ("bii->bi", "bii->b", "bii,i->b"):
        names = {"x": inputs["x"]} if "," not in equation else inputs
        wanted = np.asarray(np.einsum(equation, *names.values()), np.float32)
        check(one("Einsum", names, equation=equation), names, tmp_path, wanted=[wanted])


def test_random_draws_follow_their_distribution(tmp_path: Path) -> None:
    """The numbers are nobody else's; how often each comes is what the inputs say."""
    share = np.array([0.1, 0.6, 0.3], np.float32)
    inputs = {"logits": np.log(share)[None], "chances": np.full((100, 100), 0.25, np.float32)}
    nodes = [
        node("Multinomial", ["logits"], ["classes"], sample_size=20000, seed=1.0),
        node("Bernoulli", ["chances"], ["coins"], seed=2.0),
    ]
    classes, coins = compute(make_model(nodes, inputs, ["classes", "coins"]), inputs, tmp_path)
    assert classes.dtype == np.int32
    np.testing.assert_allclose(np.bincount(classes[0], minlength=3) / 20000, share, atol=0.02)
    assert set(np.unique(coins)) == {0.0, 1.0}
    assert abs(float(coins.mean()) - 0.25) < 0.02


def test_an_optional_is_its_element(tmp_path: Path) -> None:
    nodes = [node("OptionalHasElement", ["x"], ["has"]), node("OptionalGetElement", ["x"], ["e"])]
    nodes.append(node("Cast", ["has"], ["number"], to=TensorProto.FLOAT))
    nodes.append(node("Add", ["e", "number"], ["z"]))
    inputs = {"x": INPUTS["x"]}
    check(make_model(nodes, inputs, ["z"], opset=18), inputs, tmp_path, wanted=[inputs["x"] + 1])


def test_sequences_leave_no_node_behind() -> None:
    nodes = [
        node("SequenceConstruct", ["x", "y"], ["s"]),
        node("SequenceAt", ["s", "n1"], ["a"]),
        node("Neg", ["a"], ["b"]),
    ]
    assert operators(parse(make_model(nodes, INPUTS, ["b"], NUMBERS))) == ["Neg"]
