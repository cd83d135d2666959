"""MindSpore's primitives, converted and run, against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.module_io import load
from mslite.converter.options import FmkType, Options
from mslite.converter.parsers.mindir.messages import AttributeType

from .build import Array, Model, Type, run

RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def convolution(x: Array, w: Array, stride: int, pad: int, group: int = 1) -> Array:
    """NCHW, one loop per tap."""
    n, _, height, width = x.shape
    out, depth, kh, kw = w.shape
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    oh, ow = (height + 2 * pad - kh) // stride + 1, (width + 2 * pad - kw) // stride + 1
    y = np.zeros((n, out, oh, ow), np.float64)
    for channel in range(out):
        first = channel // (out // group) * depth
        for i in range(kh):
            for j in range(kw):
                patch = x[:, first : first + depth, i : i + stride * oh : stride, j : j + stride * ow : stride]
                y[:, channel] += np.einsum("nchw,c->nhw", patch, w[channel, :, i, j])
    return y


def test_a_convolutional_network(tmp_path: Path) -> None:
    model = Model()
    model.input("x", (2, 3, 8, 9))
    w, scale, offset, mean = model.parameter("main:w", w0 := normal(4, 3, 3, 3)), normal(4), normal(4), normal(4)
    variance = RANDOM.uniform(0.5, 2, 4).astype(np.float32)
    names = [model.parameter(f"main:bn{i}", each) for i, each in enumerate((scale, offset, mean, variance))]
    model.node(
        "Conv2D",
        "conv",
        ["x", w],
        (2, 4, 4, 5),
        out_channel=4,
        kernel_size=(3, 3),
        mode=1,
        pad_mode="pad",
        pad=(1, 1, 1, 1),
        stride=(1, 1, 2, 2),
        dilation=(1, 1, 1, 1),
        group=1,
        format="NCHW",
    )
    shapes = [(2, 4, 4, 5), (4,), (4,), (4,), (4,)]
    model.node("BatchNorm", "bn", ["conv", *names], shapes, is_training=False, epsilon=1e-3, format="NCHW")
    model.constant("zero", 0)
    model.node("TupleGetItem", "bn0", ["bn", "zero"], (2, 4, 4, 5))
    model.node("ReLU6", "relu", ["bn0"], (2, 4, 4, 5))
    pool = {"kernel_size": (1, 1, 2, 2), "strides": (1, 1, 2, 2), "pad_mode": "VALID", "format": "NCHW"}
    model.node("MaxPool", "pool", ["relu"], (2, 4, 2, 2), **pool)
    model.node("Flatten", "flat", ["pool"], (2, 16))
    fw, fb = normal(5, 16), normal(5)
    model.parameter("main:fw", fw)
    model.parameter("main:fb", fb)
    model.node("MatMul", "fc", ["flat", "main:fw"], (2, 5), transpose_a=False, transpose_b=True)
    model.node("BiasAdd", "bias", ["fc", "main:fb"], (2, 5), format="NCHW")
    model.constant("axis", -1)
    model.node("Softmax", "soft", ["bias", "axis"], (2, 5))
    model.output("soft")
    x = normal(2, 3, 8, 9)
    c = convolution(x, w0, 2, 1)
    column = (1, -1, 1, 1)
    c = (c - mean.reshape(column)) / np.sqrt(variance.reshape(column) + 1e-3) * scale.reshape(column)
    c = np.clip(c + offset.reshape(column), 0, 6)
    c = c[:, :, :4, :4].reshape(2, 4, 2, 2, 2, 2).max((3, 5)).reshape(2, 16)
    e = np.exp(c @ fw.T + fb)
    (y,) = run(model.save(tmp_path / "net.mindir"), x)
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=2e-5, atol=2e-6)


def test_results_have_the_names_of_nodes(tmp_path: Path) -> None:
    """MindSpore numbers its values; the node's name in the network stands beside."""
    model = Model()
    model.input("main:x", (2, 3))
    model.node("ReLU", "main:12:1", ["main:x"], (2, 3))
    model.graph.node[0].domain = "Default/relu-ReLU/ReLU-op5"
    model.output("main:12:1")
    file = convert(Options(model.save(tmp_path / "n.mindir"), tmp_path / "n", framework=FmkType.MINDIR)).files[0]
    main = load(file).main
    assert [value.name for value in (*main.inputs, *main.outputs)] == ["x", "Default/relu-ReLU/ReLU-op5"]


def test_the_input_becomes_nhwc_by_default(tmp_path: Path) -> None:
    model = Model()
    model.input("x", (1, 3, 5, 6))
    model.parameter("main:w", normal(2, 3, 1, 1))
    model.node(
        "Conv2D", "conv", ["x", "main:w"], (1, 2, 5, 6), pad_mode="valid", stride=(1, 1), dilation=(1, 1), group=1
    )
    model.output("conv")
    file = convert(Options(model.save(tmp_path / "n.mindir"), tmp_path / "n", framework=FmkType.MINDIR)).files[0]
    assert load(file).main.inputs[0].shape == (1, 5, 6, 3)


def test_a_model_whose_nodes_say_nhwc_keeps_its_input(tmp_path: Path) -> None:
    model = Model()
    model.input("x", (1, 5, 6, 3))
    w = normal(2, 1, 1, 3)  # [out, kh, kw, in]
    model.parameter("main:w", w)
    model.node("Conv2D", "conv", ["x", "main:w"], (1, 5, 6, 2), pad_mode="same", stride=(1, 1), group=1, format="NHWC")
    model.output("conv")
    x = normal(1, 5, 6, 3)
    (y,) = run(model.save(tmp_path / "n.mindir"), x, nchw=False)
    np.testing.assert_allclose(y, x @ w[:, 0, 0].T, rtol=1e-5, atol=1e-6)


def test_one_nhwc_node_in_an_nchw_model(tmp_path: Path) -> None:
    model = Model()
    model.input("x", (1, 3, 5, 6))
    w = normal(2, 3, 1, 1)
    model.parameter("main:w", w)
    model.node("Conv2D", "conv", ["x", "main:w"], (1, 2, 5, 6), pad_mode="valid", stride=(1, 1), group=1, format="NCHW")
    model.constant("perm", (0, 2, 3, 1))
    model.node("Transpose", "turn", ["conv", "perm"], (1, 5, 6, 2))
    pool = {"kernel_size": (1, 5, 6, 1), "strides": (1, 1, 1, 1), "pad_mode": "VALID", "format": "NHWC"}
    model.node("AvgPool", "pool", ["turn"], (1, 1, 1, 2), **pool)
    model.output("pool")
    x = normal(1, 3, 5, 6)
    (y,) = run(model.save(tmp_path / "n.mindir"), x)
    want = np.einsum("nchw,oc->no", x, w[:, :, 0, 0]) / 30
    np.testing.assert_allclose(y, want.reshape(1, 1, 1, 2), rtol=1e-5, atol=1e-6)


def test_the_older_form(tmp_path: Path) -> None:
    """MindSpore 1.x: `ref_attr_name` spells what an attribute holds; two outputs, a tuple operand."""
    model = Model(version=None)
    model.input("main:x", (2, 3))
    graph = model.graph

    def describe(node: object, *shapes: tuple[int, ...]) -> None:
        attribute = node.attribute.add(ref_attr_name="shape:" + "".join(f"shape{i + 1}," for i in range(len(shapes))))  # type: ignore[attr-defined]
        for index, shape in enumerate(shapes):
            attribute.tensors.add(dims=shape, data_type=1, name=f"shape{index + 1}")

    axis = graph.node.add(op_type="Constant", output=["main:axis"])
    axis.attribute.add(name="value", i=1, type=int(AttributeType.INT64), ref_attr_name="scalar:value0,")
    relu = graph.node.add(op_type="ReLU", output=["main:1:relu"], input=["main:x"], domain="Default/relu")
    describe(relu, (2, 3))
    names = relu.attribute.add(name="input_names", type=int(AttributeType.STRING))
    names.strings.append(b"x")
    names.ref_attr_name = "scalar:List[value1,],"
    both = graph.node.add(op_type="MakeTuple", output=["main:2:t"], input=["main:1:relu", "main:x"])
    describe(both, (2, 3), (2, 3))
    concat = graph.node.add(op_type="Concat", output=["main:3:c"], input=["main:2:t"], domain="Default/concat")
    concat.attribute.add(name="axis", i=1, type=int(AttributeType.INT64), ref_attr_name="scalar:value0,")
    describe(concat, (2, 6))
    shape = graph.node.add(op_type="Constant", output=["main:shape"])
    value = shape.attribute.add(name="value", type=int(AttributeType.INT64))
    value.ref_attr_name = "scalar:Tuple[value1,value2,value3,],"
    value.ints.extend([2, -1, 2])
    reshape = graph.node.add(op_type="Reshape", output=["main:4:r"], input=["main:3:c", "main:shape"])
    describe(reshape, (2, 3, 2))
    mean = graph.node.add(op_type="ReduceMean", output=["main:5:m"], input=["main:4:r", "main:axis"])
    mean.attribute.add(name="keep_dims", i=0, type=int(AttributeType.BOOL), ref_attr_name="scalar:value0,")
    describe(mean, (2, 2))
    model.output("main:5:m")
    x = normal(2, 3)
    (y,) = run(model.save(tmp_path / "old.mindir"), x)
    want = np.concatenate([np.maximum(x, 0), x], 1).reshape(2, 3, 2).mean(1)
    np.testing.assert_allclose(y, want, rtol=1e-6, atol=1e-6)


def test_shared_primitives_and_attributes_as_arguments(tmp_path: Path) -> None:
    """MindSpore 2.x: nodes refer to primitives of the model, and some take attributes as operands."""
    model = Model()
    model.input("x", (4, 6))
    shared = model.proto.primitives.add(name="LayerNorm:1", op_type="LayerNorm", instance_name="LayerNorm")
    for key, number in (("begin_norm_axis", -1), ("begin_params_axis", -1)):
        shared.attribute.add(name=key, type=int(AttributeType.INT64), i=number)
    shared.attribute.add(name="epsilon", type=int(AttributeType.FLOAT), f=1e-5)
    gamma, beta = normal(6), normal(6)
    model.parameter("main:gamma", gamma)
    model.parameter("main:beta", beta)
    model.node("REF::LayerNorm:1", "ln", ["x", "main:gamma", "main:beta"], [(4, 6), (4, 1), (4, 1)])
    model.constant("zero", 0)
    model.node("TupleGetItem", "y0", ["ln", "zero"], (4, 6))
    model.constant("yes", True)
    model.constant("no", False)
    model.parameter("main:b", b := normal(5, 6))
    model.node("MatMul", "mm", ["y0", "main:b", "no", "yes"], (4, 5))
    model.constant("axes", (1,))
    model.parameter("main:bias", bias := normal(5))
    model.constant("layout", 0)
    model.node("BiasAdd", "biased", ["mm", "main:bias", "layout"], (4, 5))
    model.node("ReduceSum", "sum", ["biased", "axes", "yes", "no"], (4, 1))
    model.constant("half", 0.5)
    model.node("Mul", "scaled", ["sum", "half"], (4, 1))
    model.constant("int32", Type(np.int32))
    model.node("Cast", "cast", ["scaled", "int32"], (4, 1))
    model.output("scaled", "cast")
    x = normal(4, 6)
    centered = x - x.mean(1, keepdims=True)
    normalized = centered / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gamma + beta
    want = (normalized @ b.T + bias).sum(1, keepdims=True) * 0.5
    y, cast = run(model.save(tmp_path / "shared.mindir"), x)
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-5)
    assert cast.dtype == np.int32
    np.testing.assert_array_equal(cast, y.astype(np.int32))


def test_split_and_stack(tmp_path: Path) -> None:
    model = Model()
    model.input("x", (2, 6))
    model.node("Split", "split", ["x"], [(2, 3), (2, 3)], axis=1, output_num=2)
    model.constant("zero", 0)
    model.constant("one", 1)
    model.node("TupleGetItem", "a", ["split", "zero"], (2, 3))
    model.node("TupleGetItem", "b", ["split", "one"], (2, 3))
    model.node("MakeTuple", "pair", ["b", "a"])
    model.node("Stack", "stacked", ["pair"], (2, 2, 3), axis=0)
    model.node("MakeTuple", "both", ["stacked", "a"])
    model.output("both")
    x = normal(2, 6)
    y, a = run(model.save(tmp_path / "s.mindir"), x)
    np.testing.assert_array_equal(y, np.stack([x[:, 3:], x[:, :3]]))
    np.testing.assert_array_equal(a, x[:, :3])


def test_a_shape_that_is_computed(tmp_path: Path) -> None:
    """Shape gives a tuple; one of its numbers, and a plain one, make the shape of a Reshape."""
    model = Model()
    model.input("x", (-1, 2, 3))
    model.node("Shape", "dims", ["x"])
    model.constant("zero", 0)
    model.node("TupleGetItem", "batch", ["dims", "zero"])
    model.constant("rest", 6)
    model.node("MakeTuple", "target", ["batch", "rest"])
    model.node("Reshape", "flat", ["x", "target"], (-1, 6))
    model.output("flat")
    x = normal(4, 2, 3)
    (y,) = run(model.save(tmp_path / "d.mindir"), x)
    np.testing.assert_array_equal(y, x.reshape(4, 6))


def test_sub_graphs(tmp_path: Path) -> None:
    """Partial, Switch, and a call with more arguments; a plain call of a subgraph."""
    model = Model()
    model.input("x", (3,))
    model.input("which", (), np.bool_)
    then, other = model.function("then"), model.function("other")
    for graph, operator in ((then, "Add"), (other, "Mul")):
        a = model.input(f"{graph.name}:a", (3,), graph=graph)
        b = model.input(f"{graph.name}:b", (3,), graph=graph)
        model.node(operator, f"{graph.name}:y", [a, b], (3,), graph=graph)
        model.output(f"{graph.name}:y", graph=graph)
    model.parameter("main:two", np.full(3, 2, np.float32))
    model.node("Partial", "p0", ["then", "x"])
    model.node("Partial", "p1", ["other", "x"])
    model.node("Switch", "choice", ["which", "p0", "p1"])
    model.node("REF::choice", "picked", ["main:two"], (3,))
    model.node("REF::then", "called", ["picked", "x"], (3,))
    model.output("called")
    x = normal(3)
    file = model.save(tmp_path / "c.mindir")
    np.testing.assert_allclose(run(file, x, np.array(True))[0], x + 2 + x, rtol=1e-6)
    np.testing.assert_allclose(run(file, x, np.array(False))[0], x * 2 + x, rtol=1e-6)


def test_external_data(tmp_path: Path) -> None:
    model = Model()
    model.input("x", (2, 3))
    w = normal(3, 4)
    tensor = model.graph.parameter.add(name="main:w", dims=w.shape, data_type=1)
    tensor.external_data.location, tensor.external_data.offset = "net_variables/data_0", 64
    tensor.external_data.length = w.nbytes
    model.node("MatMul", "y", ["x", "main:w"], (2, 4))
    model.output("y")
    (tmp_path / "net_variables").mkdir()
    (tmp_path / "net_variables" / "data_0").write_bytes(b"\x01".ljust(64, b"\0") + w.tobytes())
    x = normal(2, 3)
    (y,) = run(model.save(tmp_path / "net_graph.mindir"), x)
    np.testing.assert_allclose(y, x @ w, rtol=1e-5, atol=1e-6)


def test_parameters_in_files_of_their_own(tmp_path: Path) -> None:
    """The older form of big models: graphs that hold nothing but parameters."""
    model = Model()
    model.input("x", (2, 3))
    w = normal(3, 4)
    model.parameter("main:w", w)
    model.node("MatMul", "y", ["x", "main:w"], (2, 4))
    model.output("y")
    (tmp_path / "net_variables").mkdir()
    folder = tmp_path / "net_variables" / "data_0"
    variables = Model()
    variables.parameter("main:w", w)
    folder.write_bytes(variables.graph.SerializeToString())
    del model.graph.parameter[:]
    x = normal(2, 3)
    (y,) = run(model.save(tmp_path / "net_graph.mindir"), x)
    np.testing.assert_allclose(y, x @ w, rtol=1e-5, atol=1e-6)


def test_all_blocking_nodes_are_named(tmp_path: Path) -> None:
    model = Model()
    model.input("x", (2, 3))
    names = [model.parameter(f"main:p{i}", np.ones(3, np.float32)) for i in range(4)]
    model.node("NoSuchPrimitive", "a", ["x"], (2, 3))
    model.node("BatchNorm", "b", ["x", *names], (2, 3), is_training=True)
    model.node("ReLU", "c", ["a"], (2, 3))
    model.node("sequence_len", "d", ["x"])
    model.node("Conv2DBackpropFilter", "e", ["x"], (2, 3))
    model.node("MakeTuple", "t", ["b", "c", "d", "e"])
    model.output("t")
    with pytest.raises(ConversionError) as caught:
        convert(Options(model.save(tmp_path / "b.mindir"), tmp_path / "b", framework=FmkType.MINDIR))
    assert [blocker.operator for blocker in caught.value.blockers] == [
        *("NoSuchPrimitive", "BatchNorm", "sequence_len", "Conv2DBackpropFilter")
    ]
    for words in ("set_train(False)", "instead of a padded nn.MaxPool2d", "it is part of training"):
        assert words in str(caught.value)


def test_an_encrypted_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "e.mindir"
    path.write_bytes((0x7F3A5ED8).to_bytes(4, "little") + bytes(64))
    with pytest.raises(ConversionError, match="encrypted \\(AES-GCM\\)"):
        convert(Options(path, tmp_path / "e", framework=FmkType.MINDIR))
