"""What a network file may say beside its layers' parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Module
from mslite.converter.parsers.caffe.schema import NetParameter

from .helper import Weights, agree, build, caffemodel, compute, network, one, opencv, random, read

_RELU = 'layer { name: "relu" type: "ReLU" bottom: "data" top: "y" }'


def operators(module: Module) -> list[str]:
    return [node.op.name for node in module.main.nodes]


def shapes(module: Module) -> dict[str, tuple[int, ...] | None]:
    return {value.name: value.shape for value in module.main.inputs}


@pytest.mark.parametrize(
    "head",
    [
        'input: "data" input_dim: 1 input_dim: 3 input_dim: 4 input_dim: 5',
        'input: "data" input_shape { dim: 1 dim: 3 dim: 4 dim: 5 }',
        'input: "data"\ninput_shape: <dim: [1, 3, 4, 5]>  # { a comment with "braces" }',
        'layer { name: "in" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 4 dim: 5 } } }',
        'layer { name: "in" type: "MemoryData" top: "data" top: "label"'
        " memory_data_param { batch_size: 1 channels: 3 height: 4 width: 5 } }",
        'layer { name: "in" type: "ImageData" top: "data" top: "label" image_data_param'
        ' { source: "list { of files" new_height: 4 new_width: 5 } }',
    ],
)
def test_inputs(head: str, tmp_path: Path) -> None:
    assert shapes(read(tmp_path, f"{head}\n{_RELU}")) == {"data": (1, 3, 4, 5)}


def test_shapes_given_by_the_user(tmp_path: Path) -> None:
    data = 'layer { name: "in" type: "Data" top: "data" top: "label" data_param { source: "lmdb" batch_size: 64 } }'
    with pytest.raises(ConversionError, match="--inputShape=data:") as caught:
        read(tmp_path, data + _RELU)
    assert len(caught.value.blockers) == 1
    assert shapes(read(tmp_path, data + _RELU, data=(2, 3, 8, 8))) == {"data": (2, 3, 8, 8)}
    python = 'layer { name: "in" type: "Python" top: "data" python_param { module: "m" layer: "Reader" } }'
    assert shapes(read(tmp_path, python + _RELU, data=(2, 3, 8, 8))) == {"data": (2, 3, 8, 8)}
    text = 'input: "data" input_shape { dim: 1 dim: 3 }' + _RELU
    assert shapes(read(tmp_path, text, data=(7, 2))) == {"data": (7, 2)}
    with pytest.raises(ConversionError, match=r"names 'dat'.*'data'"):
        read(tmp_path, text, dat=(7, 2))


def test_only_layers_of_the_test_phase_are_kept(tmp_path: Path) -> None:
    rules = [
        "include { phase: TRAIN }",
        "exclude { phase: TEST }",
        "include { phase: TEST min_level: 1 }",
        'include { stage: "deploy" }',
        'exclude { not_stage: "deploy" }',
    ]
    kept = [
        "include { phase: TEST }",
        "exclude { phase: TRAIN }",
        'include { not_stage: "deploy" }',
        "include { phase: TRAIN } include { max_level: 0 }",
    ]
    layers = [f'layer {{ name: "out{i}" type: "Unknown" top: "t" {rule} }}' for i, rule in enumerate(rules)]
    bottom = "data"
    for index, rule in enumerate(kept):
        layers.append(f'layer {{ name: "in{index}" type: "TanH" bottom: "{bottom}" top: "{index}" {rule} }}')
        bottom = str(index)
    module = read(tmp_path, network("\n".join(layers), {"data": random(1, 3)}))
    assert [node.name for node in module.main.nodes] == ["in0", "in1", "in2", "in3"]
    staged = 'state { stage: "deploy" }' + network(layers[3].replace("Unknown", "Sigmoid").replace('top: "t"', 'bottom: "data" top: "t"'), {"data": random(1, 3)})  # fmt: skip
    assert operators(read(tmp_path, staged)) == ["Activation"]


def test_training_networks(tmp_path: Path) -> None:
    text = """
layer { name: "data" type: "Data" top: "data" top: "label" include { phase: TEST } }
layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc" inner_product_param { num_output: 4 } }
layer { name: "accuracy" type: "Accuracy" bottom: "fc" bottom: "label" top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }
"""
    weights = {"fc": [random(4, 6), random(4)]}
    module = read(tmp_path, text, weights, data=(1, 6))
    assert [value.name for value in module.main.inputs] == ["data"]
    assert [value.name for value in module.main.outputs] == ["loss"]
    assert operators(module)[-1] == "Softmax"
    assert len(module.notes) == 2
    assert "Accuracy 'accuracy'" in module.notes[0]
    assert "is converted to Softmax" in module.notes[1]


def test_outputs_are_sorted_and_silenced_blobs_are_none(tmp_path: Path) -> None:
    layers = """
layer { name: "slice" type: "Slice" bottom: "data" top: "zebra" top: "quiet" top: "apple" }
layer { name: "silence" type: "Silence" bottom: "quiet" }
"""
    module = read(tmp_path, network(layers, {"data": random(1, 3, 2, 2)}))
    assert [value.name for value in module.main.outputs] == ["apple", "zebra"]


def test_outputs_that_share_a_tensor_or_are_inputs(tmp_path: Path) -> None:
    x = random(2, 3)
    layers = """
layer { name: "tanh" type: "TanH" bottom: "x" top: "t" }
layer { name: "split" type: "Split" bottom: "t" top: "a" top: "b" }
layer { name: "drop" type: "Dropout" bottom: "x" top: "c" }
"""
    got = compute(tmp_path, network(layers, {"x": x}), {}, {"x": x})
    assert list(got) == ["a", "b", "c"]
    agree(got["a"], np.tanh(x))
    agree(got["b"], np.tanh(x))
    agree(got["c"], x)


def test_in_place_layers_give_the_blob_its_name(tmp_path: Path) -> None:
    x = random(2, 3)
    layers = """
layer { name: "first" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }
layer { name: "second" type: "TanH" bottom: "y" top: "y" }
"""
    got = compute(tmp_path, network(layers, {"x": x}), {}, {"x": x})
    assert list(got) == ["y"]
    agree(got["y"], np.tanh(2 * x))


_OLD = """
name: "old"
input: "data" input_dim: 2 input_dim: 3 input_dim: 8 input_dim: 9
layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1 blobs_lr: 2 weight_decay: 1
  convolution_param { num_output: 4 kernel_size: 3 } }
layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
layers { name: "pool" type: POOLING bottom: "conv" top: "pool" pooling_param { pool: AVE kernel_size: 3 stride: 2 } }
layers { name: "norm" type: LRN bottom: "pool" top: "norm" lrn_param { local_size: 3 alpha: 0.1 } }
layers { name: "flat" type: FLATTEN bottom: "norm" top: "flat" }
layers { name: "fc" type: INNER_PRODUCT bottom: "flat" top: "fc" inner_product_param { num_output: 5 } }
layers { name: "prob" type: SOFTMAX bottom: "fc" top: "prob" }
"""


def test_layers_of_the_second_generation(tmp_path: Path) -> None:
    x = random(2, 3, 8, 9)
    weights = {"conv": [random(4, 3, 3, 3), random(4, seed=1)], "fc": [random(5, 36, seed=2), random(5, seed=3)]}
    got = compute(tmp_path, _OLD, caffemodel(weights, old=True), {"data": x})
    new = compute(tmp_path, _OLD, weights, {"data": x})
    np.testing.assert_array_equal(got["prob"], new["prob"])
    (wanted,) = opencv(_OLD, weights, {"data": x}, ["prob"])
    agree(got["prob"], wanted)


def test_batch_norm_and_scale_become_one_node(tmp_path: Path) -> None:
    layers = """
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" }
layer { name: "y" type: "Scale" bottom: "bn" top: "y" scale_param { bias_term: true } }
"""
    weights = {"bn": [random(3), random(3, seed=1) ** 2, np.ones(1, np.float32)], "y": [random(3), random(3)]}
    x = random(1, 3, 4, 5)
    (wanted,) = opencv(network(layers, {"x": x}), weights, {"x": x}, ["y"])
    agree(compute(tmp_path, network(layers, {"x": x}), weights, {"x": x})["y"], wanted)
    producer = read(tmp_path, network(layers, {"x": x}), weights).main.outputs[0].producer
    assert producer is not None
    assert producer.op.name == "ScaleFusion"
    assert producer.inputs[0].name == "x"


def test_numbers_stored_one_by_one_or_as_doubles(tmp_path: Path) -> None:
    slope = np.array([0.5, -2, 3], np.float32)
    text, x = one("PReLU", {"x": random(2, 3)}), random(2, 3)
    packed: Weights = {"y": [slope]}
    wanted = compute(tmp_path, text, packed, {"x": x})["y"]
    agree(wanted, np.where(x > 0, x, x * slope))
    doubles = NetParameter()
    doubles.layer.add(name="y").blobs.add().double_data.append(slope.astype("<f8").tobytes())
    np.testing.assert_array_equal(compute(tmp_path, text, doubles.SerializeToString(), {"x": x})["y"], wanted)
    single = b"".join(b"\x2d" + number.tobytes() for number in slope)  # field 5, 32 bits
    blob = b"\x3a" + bytes([len(single)]) + single
    layer = b"\x0a\x01y" + blob
    content = b"\xa2\x06" + bytes([len(layer)]) + layer
    np.testing.assert_array_equal(compute(tmp_path, text, content, {"x": x})["y"], wanted)


_PYRAMID = """
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 6 kernel_size: 3 } }
layer { name: "prelu" type: "PReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "boxes" type: "Convolution" bottom: "pool" top: "boxes" convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "score" type: "Convolution" bottom: "pool" top: "score" convolution_param { num_output: 2 kernel_size: 3 } }
layer { name: "prob" type: "Softmax" bottom: "score" top: "prob" }
"""


def test_networks_without_matrices_take_other_sizes_when_they_run(tmp_path: Path) -> None:
    weights = {
        "conv": [random(6, 3, 3, 3), random(6, seed=1)],
        "prelu": [random(6, seed=2)],
        "boxes": [random(4, 6, 3, 3, seed=3), random(4, seed=4)],
        "score": [random(2, 6, 3, 3, seed=5), random(2, seed=6)],
    }
    stated = random(1, 3, 12, 12)
    module = read(tmp_path, network(_PYRAMID, {"data": stated}), weights)
    model = build(module, tmp_path)
    for shape in ((1, 3, 12, 12), (2, 3, 31, 22), (1, 3, 18, 50)):
        x = random(*shape, seed=7)
        tensors = model.get_inputs()
        model.resize(tensors, [list(shape)])
        got = {tensor.name: tensor.get_data_to_numpy() for tensor in model.predict([x])}
        wanted = opencv(network(_PYRAMID, {"data": x}), weights, {"data": x}, ["boxes", "prob"])
        agree(got["boxes"], wanted[0])
        agree(got["prob"], wanted[1])


def test_data_that_only_training_has(tmp_path: Path) -> None:
    data = """
layer { name: "in" type: "Data" top: "data" top: "label" include { phase: TRAIN } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "data" bottom: "label" }
"""
    with pytest.raises(ConversionError, match="--inputShape=data:"):
        read(tmp_path, data)
    module = read(tmp_path, data, data=(2, 5))
    assert shapes(module) == {"data": (2, 5)}
    assert [value.name for value in module.main.outputs] == ["loss"]  # a loss without a top has one all the same


def test_random_data_is_an_input(tmp_path: Path) -> None:
    text = """
layer { name: "noise" type: "DummyData" top: "noise" dummy_data_param { num: 2 channels: 3 height: 4 width: 5
  data_filler { type: "gaussian" } } }
layer { name: "y" type: "TanH" bottom: "noise" top: "y" }
"""
    assert shapes(read(tmp_path, text)) == {"noise": (2, 3, 4, 5)}
