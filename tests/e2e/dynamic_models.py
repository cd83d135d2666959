"""Small ONNX models with dynamic shapes, each with inputs in five shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node

_RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> Array:
    return np.asarray(_RANDOM.standard_normal(shape), np.float32)


def const(name: str, data: npt.ArrayLike, dtype: npt.DTypeLike = np.int64) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(data, dtype), name)


def weight(name: str, *shape: int) -> onnx.TensorProto:
    return numpy_helper.from_array(normal(*shape) * np.float32(0.4), name)


def info(name: str, kind: int, shape: Sequence[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, list(shape))


@dataclass(frozen=True)
class DynamicModel:
    """A model and the inputs of its runs."""

    name: str
    proto: onnx.ModelProto
    feeds: Sequence[Sequence[Array]]


MODELS: list[DynamicModel] = []

_Parts = tuple[list[Any], list[Any], list[Any], list[Any], list[list[Array]]]


def model(function: Callable[[], _Parts]) -> Callable[[], _Parts]:
    """Adds nodes, inputs, outputs, initializers and feeds to the list as a model."""
    nodes, inputs, outputs, constants, feeds = function()
    assert len(feeds) >= 5
    graph = helper.make_graph(nodes, function.__name__, inputs, outputs, constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(proto)
    MODELS.append(DynamicModel(function.__name__, proto, feeds))
    return function


@model
def image_network() -> _Parts:
    """Convolutions, pooling, and a resize to the size of an earlier tensor."""
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        node("Relu", ["c1"], ["r1"]),
        node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        node("Conv", ["p1", "w2"], ["c2"], pads=[1, 1, 1, 1]),
        node("Shape", ["r1"], ["s"]),
        node("Slice", ["s", "two", "four"], ["hw"]),
        node("Shape", ["c2"], ["s2"]),
        node("Slice", ["s2", "zero", "two"], ["nc"]),
        node("Concat", ["nc", "hw"], ["sizes"], axis=0),
        node("Resize", ["c2", "", "", "sizes"], ["up"], mode="linear", coordinate_transformation_mode="half_pixel"),
        node("Concat", ["r1", "up"], ["both"], axis=1),
        node("Conv", ["both", "w3"], ["y"]),
        node("GlobalAveragePool", ["y"], ["g"]),
        node("Flatten", ["g"], ["scores"]),
    ]
    constants = [weight("w1", 6, 3, 3, 3), weight("b1", 6), weight("w2", 5, 6, 3, 3), weight("w3", 4, 11, 1, 1)]
    constants += [const("zero", [0]), const("two", [2]), const("four", [4])]
    inputs = [info("x", FLOAT, ["n", 3, "h", "w"])]
    outputs = [info("y", FLOAT, ["n", 4, "h", "w"]), info("scores", FLOAT, ["n", 4])]
    sizes = [(1, 8, 8), (2, 17, 9), (1, 33, 40), (3, 5, 7), (1, 9, 30)]
    return nodes, inputs, outputs, constants, [[normal(n, 3, h, w)] for n, h, w in sizes]


@model
def recurrent_network() -> _Parts:
    nodes = [
        node("LSTM", ["x", "w", "r", "b"], ["h", "last", ""], hidden_size=6, direction="bidirectional"),
        node("Transpose", ["h"], ["t"], perm=[0, 2, 1, 3]),
        node("Reshape", ["t", "flat"], ["f"]),
        node("GRU", ["f", "gw", "gr"], ["", "g"], hidden_size=4, linear_before_reset=1),
        node("Squeeze", ["g", "first"], ["y"]),
    ]
    constants = [weight("w", 2, 24, 5), weight("r", 2, 24, 6), weight("b", 2, 48), weight("gw", 1, 12, 12)]
    constants += [weight("gr", 1, 12, 4), const("flat", [0, 0, 12]), const("first", [0])]
    sizes = [(1, 1), (7, 2), (3, 5), (12, 1), (2, 3)]
    return (
        nodes,
        [info("x", FLOAT, ["t", "n", 5])],
        [info("y", FLOAT, ["n", 4]), info("last", FLOAT, [2, "n", 6])],
        constants,
        [[normal(t, n, 5)] for t, n in sizes],
    )


@model
def attention() -> _Parts:
    """Attention heads are split with shape arithmetic; the mask is computed from the length."""
    split = ["n", "t", "heads", "width"]
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "i0"], ["n"]),
        node("Gather", ["s", "i1"], ["t"]),
        node("Concat", split, ["split"], axis=0),
        node("Concat", ["n", "t", "minus"], ["join"], axis=0),
    ]
    for name in "qkv":
        nodes += [
            node("MatMul", ["x", f"w{name}"], [f"{name}0"]),
            node("Reshape", [f"{name}0", "split"], [f"{name}1"]),
            node("Transpose", [f"{name}1"], [name], perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]),
        ]
    nodes += [
        node("MatMul", ["q", "k"], ["scores"]),
        node("Squeeze", ["t", "i0"], ["length"]),
        node("Range", ["r0", "length", "r1"], ["positions"]),
        node("Unsqueeze", ["positions", "i1"], ["rows"]),
        node("Less", ["rows", "positions"], ["later"]),
        node("Where", ["later", "low", "scores"], ["masked"]),
        node("Softmax", ["masked"], ["p"], axis=-1),
        node("MatMul", ["p", "v"], ["mixed"]),
        node("Transpose", ["mixed"], ["back"], perm=[0, 2, 1, 3]),
        node("Reshape", ["back", "join"], ["y"]),
    ]
    constants = [weight(f"w{name}", 8, 8) for name in "qkv"]
    constants += [const("i0", [0]), const("i1", [1]), const("heads", [2]), const("width", [4]), const("minus", [-1])]
    constants += [const("r0", 0), const("r1", 1), const("low", -1e9, np.float32)]
    sizes = [(1, 1), (2, 7), (1, 33), (3, 4), (5, 2)]
    return (
        nodes,
        [info("x", FLOAT, ["n", "t", 8])],
        [info("y", FLOAT, ["n", "t", 8])],
        constants,
        [[normal(n, t, 8)] for n, t in sizes],
    )


@model
def non_zero() -> _Parts:
    """Data-dependent shapes, as outputs and in later nodes."""
    nodes = [
        node("Greater", ["x", "zero"], ["positive"]),
        node("NonZero", ["positive"], ["places"]),
        node("Transpose", ["places"], ["tuples"], perm=[1, 0]),
        node("GatherND", ["x", "tuples"], ["values"]),
        node("Unsqueeze", ["values", "one"], ["column"]),
        node("MatMul", ["column", "w"], ["wide"]),
        node("Shape", ["values"], ["count"]),
        node("Compress", ["x", "some"], ["picked"], axis=1),
    ]
    constants = [const("zero", 0, np.float32), const("one", [1]), weight("w", 1, 3)]
    constants.append(const("some", [True, False, True, True], np.bool_))
    outputs = [info("wide", FLOAT, ["k", 3]), info("count", INT64, [1]), info("places", INT64, [2, "k"])]
    outputs.append(info("picked", FLOAT, ["n", 3]))
    feeds = [[normal(1, 4)], [normal(9, 4)], [-np.abs(normal(3, 4))], [np.abs(normal(5, 4))], [normal(30, 4)]]
    return nodes, [info("x", FLOAT, ["n", 4])], outputs, constants, feeds


@model
def detector_end() -> _Parts:
    """Non-maximum suppression, and the selected boxes."""
    nodes = [
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["selected"]),
        node("Gather", ["selected", "i2"], ["rows"], axis=1),
        node("Squeeze", ["boxes", "i0"], ["flat"]),
        node("Gather", ["flat", "rows"], ["kept"], axis=0),
        node("ReduceMax", ["scores"], ["best"], axes=[2], keepdims=0),
    ]
    constants = [const("most", [4]), const("overlap", [0.5], np.float32), const("least", [0.3], np.float32)]
    constants += [const("i2", 2), const("i0", [0])]
    feeds = []
    for count, scale in ((3, 1), (20, 1), (1, 1), (50, 1), (6, 0)):
        corner = _RANDOM.random((1, count, 2), np.float32)
        boxes = np.concatenate([corner, corner + 0.3 + 0.2 * _RANDOM.random((1, count, 2), np.float32)], 2)
        feeds.append([boxes, _RANDOM.random((1, 2, count), np.float32) * np.float32(scale)])
    outputs = [info("selected", INT64, ["k", 3]), info("kept", FLOAT, ["k", 4]), info("best", FLOAT, [1, 2])]
    return nodes, [info("boxes", FLOAT, [1, "n", 4]), info("scores", FLOAT, [1, 2, "n"])], outputs, constants, feeds


@model
def unique_and_top() -> _Parts:
    """Unique values, and the largest ones, at most four."""
    nodes = [
        node("Unique", ["x"], ["values", "", "inverse", "counts"], sorted=1),
        node("Shape", ["values"], ["n"]),
        node("Min", ["n", "four"], ["k"]),
        node("TopK", ["values", "k"], ["top", "where"]),
        node("ReduceSum", ["top"], ["sum"], keepdims=0),
    ]
    outputs = [info("values", FLOAT, ["u"]), info("inverse", INT64, ["n"]), info("counts", INT64, ["u"])]
    outputs += [info("top", FLOAT, ["k"]), info("where", INT64, ["k"]), info("sum", FLOAT, [])]
    feeds = [
        [_RANDOM.integers(0, high, count).astype(np.float32)] for count, high in ((1, 2), (20, 5), (7, 90), (50, 3))
    ]
    feeds.append([np.zeros(6, np.float32)])
    return nodes, [info("x", FLOAT, ["n"])], outputs, [const("four", [4])], feeds


def _graph(name: str, nodes: list[Any], inputs: list[Any], outputs: list[Any], constants: Sequence[Any] = ()) -> Any:
    return helper.make_graph(nodes, name, inputs, outputs, list(constants))


@model
def growing_loop() -> _Parts:
    """A loop with a growing state, a data-dependent number of values in its body, and the trip count as an input."""
    body = _graph(
        "body",
        [
            node("Identity", ["go"], ["go_on"]),
            node("Mul", ["state", "half"], ["small"]),
            node("Concat", ["state", "small"], ["next"], axis=0),
            node("Greater", ["next", "limit"], ["large"]),
            node("NonZero", ["large"], ["places"]),
            node("Shape", ["places"], ["dims"]),
            node("Gather", ["dims", "one"], ["found"]),
            node("ReduceSum", ["next"], ["sum"], keepdims=0),
        ],
        [info("i", INT64, []), info("go", BOOL, []), info("state", FLOAT, ["m", 2])],
        [info("go_on", BOOL, []), info("next", FLOAT, ["k", 2]), info("found", INT64, []), info("sum", FLOAT, [])],
        [const("half", -0.5, np.float32), const("limit", 0.2, np.float32), const("one", 1)],
    )
    nodes = [
        node("Loop", ["trips", "yes", "x"], ["final", "found", "sums"], body=body),
        node("Relu", ["final"], ["y"]),
    ]
    outputs = [info("y", FLOAT, ["k", 2]), info("found", INT64, ["t"]), info("sums", FLOAT, ["t"])]
    feeds = [[np.array(t, np.int64), normal(n, 2)] for t, n in ((1, 3), (5, 1), (0, 4), (8, 2), (3, 7))]
    inputs = [info("trips", INT64, []), info("x", FLOAT, ["n", 2])]
    return nodes, inputs, outputs, [const("yes", True, np.bool_)], feeds


@model
def waiting_loop() -> _Parts:
    """A loop with a data-dependent end."""
    body = _graph(
        "body",
        [
            node("Mul", ["state", "factor"], ["next"]),
            node("ReduceMax", ["next"], ["top"], keepdims=0),
            node("Greater", ["top", "limit"], ["go_on"]),
            node("Identity", ["top"], ["tops"]),
        ],
        [info("i", INT64, []), info("go", BOOL, []), info("state", FLOAT, ["n"])],
        [info("go_on", BOOL, []), info("next", FLOAT, ["n"]), info("tops", FLOAT, [])],
        [const("factor", 0.7, np.float32), const("limit", 0.5, np.float32)],
    )
    nodes = [node("Loop", ["", "yes", "x"], ["y", "tops"], body=body)]
    feeds = [[np.abs(normal(n)) * np.float32(scale)] for n, scale in ((3, 1), (9, 40), (1, 0), (4, 1000), (20, 3))]
    outputs = [info("y", FLOAT, ["n"]), info("tops", FLOAT, ["t"])]
    return nodes, [info("x", FLOAT, ["n"])], outputs, [const("yes", True, np.bool_)], feeds


@model
def branches() -> _Parts:
    """The branches have outputs of different shapes."""
    then = _graph("then", [node("Concat", ["x", "x"], ["a"], axis=0)], [], [info("a", FLOAT, ["p", 3])])
    other = _graph("other", [node("Slice", ["x", "i0", "i1"], ["b"])], [], [info("b", FLOAT, ["q", 3])])
    nodes = [
        node("ReduceMean", ["x"], ["mean"], keepdims=0),
        node("Greater", ["mean", "zero"], ["condition"]),
        node("If", ["condition"], ["either"], then_branch=then, else_branch=other),
        node("MatMul", ["either", "w"], ["y"]),
    ]
    constants = [const("zero", 0, np.float32), const("i0", [0]), const("i1", [1]), weight("w", 3, 4)]
    feeds = [[np.abs(normal(2, 3))], [-np.abs(normal(4, 3))], [np.abs(normal(7, 3))], [-np.abs(normal(1, 3))]]
    feeds.append([np.abs(normal(1, 3))])
    return nodes, [info("x", FLOAT, ["n", 3])], [info("y", FLOAT, ["k", 4])], constants, feeds


@model
def shape_arithmetic() -> _Parts:
    """Sizes, paddings and repetitions computed from shapes and from values outside 32 bits."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Split", ["s"], ["n", "m"], axis=0),
        node("Mul", ["m", "huge"], ["large"]),
        node("Add", ["large", "n"], ["sum"]),
        node("Mod", ["sum", "seven"], ["rest"]),
        node("Add", ["rest", "one"], ["extra"]),
        node("Concat", ["zeros", "extra", "rest"], ["pads"], axis=0),
        node("Pad", ["x", "pads"], ["padded"], mode="constant"),
        node("Concat", ["one", "extra"], ["times"], axis=0),
        node("Tile", ["padded", "times"], ["tiled"]),
        node("Div", ["sum", "huge"], ["quotient"]),
        node("ConstantOfShape", ["s"], ["filled"], value=const("value", [2.5], np.float32)),
        node("Add", ["filled", "x"], ["shifted"]),
        node("Concat", ["n", "m", "two"], ["wide"], axis=0),
        node("Unsqueeze", ["x", "two"], ["thick"]),
        node("Expand", ["thick", "wide"], ["expanded"]),
    ]
    constants = [
        const("huge", [3 << 33]),
        const("seven", [7]),
        const("one", [1]),
        const("zeros", [0, 0]),
        const("two", [2]),
    ]
    outputs = [info("tiled", FLOAT, ["a", "b"]), info("sum", INT64, [1]), info("quotient", INT64, [1])]
    outputs += [info("shifted", FLOAT, ["n", "m"]), info("expanded", FLOAT, ["n", "m", 2])]
    sizes = [(1, 1), (2, 7), (5, 3), (11, 4), (3, 13)]
    return nodes, [info("x", FLOAT, ["n", "m"])], outputs, constants, [[normal(*size)] for size in sizes]


@model
def scan_sequence() -> _Parts:
    body = _graph(
        "body",
        [
            node("MatMul", ["state", "w"], ["turned"]),
            node("Add", ["turned", "row"], ["sum"]),
            node("Tanh", ["sum"], ["next"]),
            node("Identity", ["next"], ["seen"]),
        ],
        [info("state", FLOAT, ["n", 3]), info("row", FLOAT, ["n", 3])],
        [info("next", FLOAT, ["n", 3]), info("seen", FLOAT, ["n", 3])],
    )
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Slice", ["s", "one", "three"], ["first"]),
        node("ConstantOfShape", ["first"], ["start"]),
        node("Scan", ["start", "x"], ["last", "all"], body=body, num_scan_inputs=1),
    ]
    constants = [const("one", [1]), const("three", [3]), weight("w", 3, 3)]
    sizes = [(1, 2), (6, 1), (3, 4), (9, 2), (2, 5)]
    outputs = [info("last", FLOAT, ["n", 3]), info("all", FLOAT, ["t", "n", 3])]
    return nodes, [info("x", FLOAT, ["t", "n", 3])], outputs, constants, [[normal(t, n, 3)] for t, n in sizes]


@model
def sound_network() -> _Parts:
    nodes = [
        node("Conv", ["x", "w1"], ["c"], strides=[2], pads=[2, 2]),
        node("InstanceNormalization", ["c", "g", "b"], ["i"]),
        node("LeakyRelu", ["i"], ["l"], alpha=0.1),
        node("AveragePool", ["l"], ["p"], kernel_shape=[3], pads=[1, 1]),
        node("ConvTranspose", ["p", "w2"], ["y"], strides=[2], output_padding=[1]),
        node("ReduceMean", ["y"], ["mean"], axes=[2], keepdims=1),
    ]
    constants = [weight("w1", 4, 2, 5), weight("g", 4), weight("b", 4), weight("w2", 4, 3, 4)]
    sizes = [(1, 16), (2, 33), (1, 100), (3, 9), (1, 57)]
    outputs = [info("y", FLOAT, ["n", 3, "u"]), info("mean", FLOAT, ["n", 3, 1])]
    return nodes, [info("x", FLOAT, ["n", 2, "t"])], outputs, constants, [[normal(n, 2, t)] for n, t in sizes]


@model
def two_lengths() -> _Parts:
    """Two inputs with separate dynamic dimensions; dimensions of 1 are broadcast."""
    nodes = [
        node("Unsqueeze", ["a", "i1"], ["left"]),
        node("Sub", ["left", "b"], ["d"]),
        node("Mul", ["d", "d"], ["square"]),
        node("ReduceSum", ["square", "i2"], ["distance"], keepdims=0),
        node("ArgMin", ["distance"], ["nearest"], axis=1, keepdims=0),
        node("Gather", ["b", "nearest"], ["matched"]),
        node("Concat", ["a", "matched"], ["y"], axis=1),
        node("CumSum", ["y", "i0"], ["sums"]),
    ]
    constants = [const("i0", 0), const("i1", [1]), const("i2", [2])]
    outputs = [info("nearest", INT64, ["n"]), info("y", FLOAT, ["n", 6]), info("sums", FLOAT, ["n", 6])]
    inputs = [info("a", FLOAT, ["n", 3]), info("b", FLOAT, ["m", 3])]
    sizes = [(1, 1), (4, 7), (9, 2), (1, 20), (30, 1)]
    return nodes, inputs, outputs, constants, [[normal(n, 3), normal(m, 3)] for n, m in sizes]
