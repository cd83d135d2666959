"""Small ONNX models with wrong sizes: each needs a tensor or a loop that is too large for any machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

HUGE, WIDE = (1 << 63) - 1, 1 << 40
LARGEST_DIMENSION = (1 << 31) - 1

Constants = Mapping[str, Sequence[int] | Sequence[float] | np.ndarray[tuple[int, ...], np.dtype[np.generic]]]


def one_node(
    operator: str,
    constants: Constants | None = None,
    shape: Sequence[int | str] = (1, 2, 4, 4),
    inputs: int = 1,
    opset: int = 17,
    **attributes: object,
) -> ModelProto:
    """Returns `operator` on `inputs` model inputs of one shape, then constants (lists of int become int64)."""
    names = [f"x{i}" for i in range(inputs)]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names]
    initializers = []
    for name, value in (constants or {}).items():
        array = np.asarray(value)
        initializers.append(
            numpy_helper.from_array(array.astype(np.float32) if array.dtype == np.float64 else array, name)
        )
    node = helper.make_node(operator, [*names, *(constants or {})], ["y"], name="lie", **attributes)
    graph = helper.make_graph(
        [node], "g", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], initializers
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _kernel(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    return np.zeros(shape, np.float32)


def _shape_product() -> ModelProto:
    """Shape values that are multiplied until they overflow."""
    nodes = [helper.make_node("Mul", [f"c{i}", f"c{i}"], [f"c{i + 1}"]) for i in range(8)]
    nodes.append(helper.make_node("ConstantOfShape", ["c8"], ["y"], name="lie"))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array([3037000499, 2], np.int64), "c0")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _nested(depth: int) -> ModelProto:
    """Nested If nodes."""
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "leaf", [], [value])
    for i in range(depth):
        node = helper.make_node(
            "If", ["c"], ["y"], name=f"if{i}", then_branch=graph, else_branch=graph if i == 0 else _leaf()
        )
        graph = helper.make_graph([node], f"g{i}", [], [value])
    graph.input.extend(
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _leaf() -> object:
    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    return helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "leaf", [], [value])


def _cycle() -> ModelProto:
    model = one_node("Relu")
    model.graph.node[0].input[0] = "z"
    model.graph.node.append(helper.make_node("Relu", ["y"], ["z"]))
    return model


def _constant_without_outputs() -> ModelProto:
    model = one_node("Relu")
    model.graph.node.append(helper.make_node("Constant", [], [], name="none", value_int=3))
    return model


def _doubling(operator: str) -> ModelProto:
    """Each node doubles the tensor: 2^60 elements after sixty nodes."""
    nodes = [helper.make_node(operator, [f"v{i}", f"v{i}"], [f"v{i + 1}"], name=f"n{i}", axis=0) for i in range(60)]
    graph = helper.make_graph(
        nodes,
        "g",
        [],
        [helper.make_tensor_value_info("v60", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.zeros(1024, np.float32), "v0")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _big_initializer(data_type: int) -> ModelProto:
    model = one_node("Add", {"c": [1.0]})
    tensor = model.graph.initializer[0]
    del tensor.dims[:]
    tensor.dims.extend([1 << 20, 1 << 20])
    tensor.data_type = data_type
    return model


MODELS: dict[str, Callable[[], ModelProto]] = {
    "input_2_40": lambda: one_node("Relu", shape=[WIDE]),
    "input_product_overflows": lambda: one_node("Relu", shape=[LARGEST_DIMENSION] * 3),
    "input_negative": lambda: one_node("Relu", shape=[-7, 3]),
    "input_rank_40": lambda: one_node("Relu", shape=[1] * 40),
    "zero_times_huge": lambda: one_node(
        "Reshape", {"s": [0, LARGEST_DIMENSION, LARGEST_DIMENSION, LARGEST_DIMENSION]}, shape=[0, 1, 1, 1]
    ),
    "constant_of_shape_2_40": lambda: one_node("ConstantOfShape", {"s": [1 << 20, 1 << 20]}, inputs=0),
    "constant_of_shape_2_62": lambda: one_node("ConstantOfShape", {"s": [1 << 31, 1 << 31]}, inputs=0),
    "constant_of_shape_negative": lambda: one_node("ConstantOfShape", {"s": [-5]}, inputs=0),
    "constant_of_shape_rank_9": lambda: one_node("ConstantOfShape", {"s": [1] * 9}, inputs=0),
    "expand_2_60": lambda: one_node("Expand", {"s": [1 << 30, 1 << 30, 1, 1, 1, 1]}),
    "expand_rank_40": lambda: one_node("Expand", {"s": [1] * 40}),
    "tile_2_60": lambda: one_node("Tile", {"s": [1 << 30, 1 << 30, 1, 1]}),
    "tile_negative": lambda: one_node("Tile", {"s": [-1, 1, 1, 1]}),
    "pad_huge": lambda: one_node("Pad", {"p": [0, 0, HUGE, 0, 0, 0, HUGE, 0]}),
    "pad_2_31": lambda: one_node("Pad", {"p": [0, 0, LARGEST_DIMENSION, 0, 0, 0, 0, 0]}),
    "pad_negative": lambda: one_node("Pad", {"p": [0, 0, -100, 0, 0, 0, 0, 0]}),
    "pad_short": lambda: one_node("Pad", {"p": [0, 0, 1]}),
    "pad_reflect_too_far": lambda: one_node("Pad", {"p": [0, 0, 9, 0, 0, 0, 9, 0]}, mode="reflect"),
    "conv_pads_huge": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, pads=[HUGE, 0, HUGE, 0]),
    "conv_pads_negative": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, pads=[-HUGE, 0, 0, 0]),
    "conv_stride_0": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, strides=[0, 1]),
    "conv_stride_negative": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, strides=[-1, -HUGE]),
    "conv_dilation_huge": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, dilations=[HUGE, 1]),
    "conv_dilation_0": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, dilations=[0, 0]),
    "conv_group_0": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, group=0),
    "conv_group_huge": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, group=HUGE),
    "conv_many_strides": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, strides=[1] * 30),
    "conv_empty_kernel": lambda: one_node("Conv", {"w": _kernel(0, 2, 0, 3)}),
    "conv_kernel_shape_lies": lambda: one_node("Conv", {"w": _kernel(1, 2, 3, 3)}, kernel_shape=[HUGE, 3]),
    "conv_transpose_2_60": lambda: one_node("ConvTranspose", {"w": _kernel(2, 1, 3, 3)}, strides=[1 << 31, 1 << 31]),
    "conv_transpose_output_shape": lambda: one_node(
        "ConvTranspose", {"w": _kernel(2, 1, 3, 3)}, output_shape=[HUGE, -1]
    ),
    "conv_transpose_output_padding": lambda: one_node(
        "ConvTranspose", {"w": _kernel(2, 1, 3, 3)}, output_padding=[HUGE, 0]
    ),
    "pool_kernel_huge": lambda: one_node("MaxPool", kernel_shape=[HUGE, 1]),
    "pool_kernel_0": lambda: one_node("MaxPool", kernel_shape=[0, 0]),
    "pool_everything_large": lambda: one_node(
        "AveragePool", kernel_shape=[1 << 23, 1 << 23], pads=[1 << 23] * 4, strides=[1 << 22, 1 << 22]
    ),
    "pool_include_pad_large": lambda: one_node(
        "AveragePool", kernel_shape=[1 << 16, 1 << 16], pads=[65535] * 4, strides=[30000, 30000], count_include_pad=1
    ),
    "lp_pool_p_0": lambda: one_node("LpPool", kernel_shape=[2, 2], p=0),
    "depth_to_space_huge": lambda: one_node("DepthToSpace", blocksize=HUGE),
    "depth_to_space_0": lambda: one_node("DepthToSpace", blocksize=0),
    "space_to_depth_negative": lambda: one_node("SpaceToDepth", blocksize=-2),
    "slice_step_0": lambda: one_node("Slice", {"b": [0], "e": [3], "a": [2], "s": [0]}),
    "slice_extremes": lambda: one_node("Slice", {"b": [HUGE], "e": [-HUGE - 1], "a": [2], "s": [-HUGE]}),
    "slice_axis": lambda: one_node("Slice", {"b": [0], "e": [3], "a": [HUGE], "s": [1]}),
    "split_sizes": lambda: one_node("Split", {"s": [HUGE, HUGE]}, axis=1),
    "concat_axis": lambda: one_node("Concat", inputs=2, axis=HUGE),
    "gather_index": lambda: one_node("Gather", {"i": [HUGE, -HUGE]}, axis=1),
    "gather_nd_tuple": lambda: one_node("GatherND", {"i": np.zeros((1, 9), np.int64)}),
    "scatter_index": lambda: one_node("ScatterND", {"i": [[99, 0, 0, 0]], "u": [1.0]}),
    "one_hot_depth": lambda: one_node("OneHot", {"d": [HUGE], "v": [0.0, 1.0]}),
    "top_k_negative": lambda: one_node("TopK", {"k": [-1]}),
    "top_k_huge": lambda: one_node("TopK", {"k": [HUGE]}),
    "range_endless": lambda: one_node("Range", {"a": np.int64(0), "b": np.int64(HUGE), "c": np.int64(1)}, inputs=0),
    "range_step_0": lambda: one_node("Range", {"a": np.int64(0), "b": np.int64(5), "c": np.int64(0)}, inputs=0),
    "range_nan": lambda: one_node(
        "Range", {"a": np.float32(0), "b": np.float32("inf"), "c": np.float32("nan")}, inputs=0
    ),
    "resize_scale_huge": lambda: one_node("Resize", {"r": _kernel(0), "s": [1.0, 1.0, 1e30, 1e30]}),
    "resize_scale_nan": lambda: one_node("Resize", {"r": _kernel(0), "s": [1.0, 1.0, float("nan"), -1.0]}),
    "resize_size_huge": lambda: one_node("Resize", {"r": _kernel(0), "s": _kernel(0), "z": [1, 2, 1 << 30, 1 << 30]}),
    "resize_size_negative": lambda: one_node("Resize", {"r": _kernel(0), "s": _kernel(0), "z": [1, 2, -4, 0]}),
    "upsample_2_60": lambda: one_node("Upsample", {"s": [1.0, 1.0, 1e9, 1e9]}, opset=9),
    "einsum_nonsense": lambda: one_node("Einsum", inputs=2, equation="...ij,,->->"),
    "einsum_long": lambda: one_node("Einsum", inputs=2, equation="a" * 100_000 + ",b->ab"),
    "transpose_repeats": lambda: one_node("Transpose", perm=[0, 0, 0, 0]),
    "transpose_outside": lambda: one_node("Transpose", perm=[0, 1, 2, HUGE]),
    "reshape_two_unknown": lambda: one_node("Reshape", {"s": [-1, -1]}),
    "reshape_overflow": lambda: one_node("Reshape", {"s": [1 << 40, 1 << 40, -1]}),
    "unsqueeze_many": lambda: one_node("Unsqueeze", {"a": list(range(30))}),
    "squeeze_outside": lambda: one_node("Squeeze", {"a": [HUGE]}),
    "reduce_axis": lambda: one_node("ReduceSum", {"a": [HUGE]}),
    "softmax_axis": lambda: one_node("Softmax", axis=HUGE),
    "cast_type": lambda: one_node("Cast", to=HUGE),
    "eye_like_type": lambda: one_node("EyeLike", shape=[2, 2], dtype=99),
    "random_shape": lambda: one_node("RandomNormal", inputs=0, shape=[1 << 40, 1 << 40]),
    "lrn_size": lambda: one_node("LRN", size=HUGE),
    "lstm_hidden_huge": lambda: one_node(
        "LSTM", {"w": _kernel(1, 8, 4), "r": _kernel(1, 8, 2)}, shape=[3, 1, 4], hidden_size=HUGE
    ),
    "lstm_weights_lie": lambda: one_node(
        "LSTM", {"w": _kernel(1, 8, 5), "r": _kernel(3, 8, 2)}, shape=[3, 1, 4], hidden_size=2
    ),
    "matmul_rank_0": lambda: one_node("MatMul", {"w": np.float32(1)}),
    "gemm_rank_4": lambda: one_node("Gemm", {"w": _kernel(4, 4)}),
    "batch_norm_sizes": lambda: one_node(
        "BatchNormalization", {"s": [1.0], "b": [1.0] * 7, "m": [1.0], "v": [1.0] * 3}
    ),
    "layer_norm_axis": lambda: one_node("LayerNormalization", {"s": [1.0]}, axis=HUGE),
    "initializer_without_data": lambda: _big_initializer(TensorProto.FLOAT),
    "initializer_int4_without_data": lambda: _big_initializer(22),
    "contents_overflow": _shape_product,
    "batch_norm_rank_2": lambda: one_node(
        "BatchNormalization", {"s": [1.0] * 2, "b": [1.0] * 2, "m": [1.0] * 2, "v": [[1.0]] * 2}
    ),
    "slice_negative_dimension": lambda: one_node(
        "Slice", {"b": [0], "e": [3], "a": [2], "s": [1]}, shape=[1, 2, -(1 << 31), 4]
    ),
    "einsum_endless": lambda: one_node("Einsum", inputs=2, equation="abcd,a-b"),
    "expand_beyond_int32": lambda: one_node("Expand", {"s": [1 << 32, 1, 1, 1]}),
    "constant_without_outputs": _constant_without_outputs,
    "cycle": _cycle,
    "nested_20": lambda: _nested(20),
    "concat_doubles": lambda: _doubling("Concat"),
}
