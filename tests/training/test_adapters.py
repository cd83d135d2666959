"""Low-rank adapters: trained beside weights that stay, saved alone, merged, and switched at run time."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save_model

import mslite
from mslite.converter import cli
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ms_writer import ms_bytes
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.tables import MetaGraph, Tensor
from tests.codegen.training_reference import Dense, Layer, Trainer, autoencoder, squared_error

from .files import Array, arrays, build
from .transformer import CLASSES, PRODUCTS, SMALL, sentences, transformer

ALPHA, RANK = 6, 3
ADAPTED = sorted(f"block{block}.{product}.weight" for block in range(2) for product in PRODUCTS)


def convert(source: Path, result: Path, *lines: str) -> Path:
    """With these lines in [train_param], for training; without any, for inference."""
    flags = [f"--modelFile={source}", f"--outputFile={result}"]
    if lines:
        config = result.with_suffix(".cfg")
        config.write_text("\n".join(["[train_param]", *lines, ""]))
        flags += ["--trainModel=true", f"--configFile={config}"]
    assert cli.main(flags) == 0
    return result.with_suffix(".ms")


def adapted(folder: Path, name: str = "lora", *lines: str) -> Path:
    """The training file of the transformer in `folder` with adapters."""
    rank = [] if any(line.startswith("lora_rank") for line in lines) else [f"lora_rank={RANK}", f"lora_alpha={ALPHA}"]
    return convert(folder / "former.onnx", folder / name, "optimizer=Adam", "learning_rate=0.01", *rank, *lines)


def base(file: Path) -> mslite.Model:
    """A model for inference."""
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR)
    return model


def result(model: mslite.Model, seed: int = 0) -> Array:
    """Of a batch of sentences; models that are built for training take labels, too."""
    ids, labels = sentences(seed)
    (scores,) = model.predict([ids, labels][: len(model.get_inputs())])
    return scores.get_data_to_numpy().copy()


def train(model: mslite.Model, steps: int, first: int = 0) -> list[float]:
    """The losses of steps on batches of these numbers."""
    return [
        float(model.run_step(list(sentences(number)))[0].get_data_to_numpy().item())
        for number in range(first, first + steps)
    ]


def constants(file: Path) -> dict[str, Array]:
    """The float constants that the nodes of a file read."""
    return {
        value.name: value.array()
        for node in load(file).main.nodes
        for value in node.inputs
        if value.data is not None and value.array().dtype == np.float32
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a transformer in it, and the file of it that infers."""
    transformer(tmp_path / "former.onnx")
    convert(tmp_path / "former.onnx", tmp_path / "base")
    return tmp_path


class _Adapted(Layer):
    """A dense layer whose weight [out, in] stays; A [rank, in] and B [out, rank] are trained."""

    def __init__(self, layer: Dense, a: Array, b: Array) -> None:
        super().__init__(a, b)
        self.layer = layer

    def forward(self, x: Array) -> Array:
        a, b = self.weights
        self.x, self.thin = x, x @ a.T * (ALPHA / RANK)
        return self.layer.forward(x) + self.thin @ b.T

    def backward(self, dy: Array) -> Array:
        a, b = self.weights
        thin = dy @ b * (ALPHA / RANK)
        self.gradients = [thin.T @ self.x, dy.T @ self.thin]
        return self.layer.backward(dy) + thin @ a


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_steps_are_those_of_numpy(optimizer: str, tmp_path: Path) -> None:
    """Losses, gradients and matrices, of layers with ReLU between them; nothing else is trained."""
    layers = autoencoder(tmp_path / "net.onnx", 8)
    rate = 0.05 if optimizer == "SGD" else 0.003
    settings = (f"lora_rank={RANK}", f"lora_alpha={ALPHA}", f"optimizer={optimizer}", f"learning_rate={rate}")
    model = build(convert(tmp_path / "net.onnx", tmp_path / "net", *settings, "loss=MeanSquaredError"))
    first = arrays(model.get_trainable_params())
    pairs = iter(np.asarray(value, np.float64).copy() for value in first.values())
    with_adapters: list[Layer] = [
        _Adapted(layer, next(pairs), next(pairs)) if isinstance(layer, Dense) else layer for layer in layers
    ]
    assert [name for name in first if not name.endswith((".lora_A", ".lora_B"))] == []
    assert all(not value.any() for name, value in first.items() if name.endswith(".lora_B"))
    trainer = Trainer(with_adapters, squared_error, optimizer, rate)
    random = np.random.default_rng(2)
    for number in range(20):
        x = random.standard_normal((8, 64)).astype(np.float32)
        (loss,) = model.run_step([x, x])
        expected = trainer.step(x.astype(np.float64), x.astype(np.float64))
        np.testing.assert_allclose(loss.get_data_to_numpy().item(), expected, rtol=1e-5)
        wanted = [gradient for layer in with_adapters for gradient in layer.gradients if isinstance(layer, _Adapted)]
        for found, gradient in zip(model.get_gradients(), wanted, strict=True):
            assert np.abs(found.get_data_to_numpy() - gradient).max() <= 1e-4 * max(np.abs(gradient).max(), 1e-6), (
                number
            )
    matrices = [matrix for layer in with_adapters if isinstance(layer, _Adapted) for matrix in layer.weights]
    for found, matrix in zip(model.get_trainable_params(), matrices, strict=True):
        np.testing.assert_allclose(found.get_data_to_numpy(), matrix, atol=2e-3 * np.abs(matrix).max())


def test_only_adapters_change(folder: Path) -> None:
    """In a transformer: all its products get one, and the checkpoint of 10 steps has every other constant as it was."""
    file = adapted(folder)
    before = constants(file)
    model = build(file)
    names = {weight.name for weight in model.get_trainable_params()}
    weights = sorted(name.removesuffix(".lora_A").replace("_scaled", "") for name in names if name.endswith("A"))
    assert weights == [*ADAPTED, "head.weight"]
    losses = train(model, 10)
    assert all(np.isfinite(losses))
    model.export_model(folder / "checkpoint.ms", export_inference_only=False)
    after = constants(folder / "checkpoint.ms")
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    moving = {name for name in before if name.startswith(("moment", "beta"))}
    assert names <= changed <= names | moving


def test_a_checkpoint_goes_on(folder: Path) -> None:
    """Bit for bit where it was: losses, and the adapter's file."""
    model = build(adapted(folder))
    train(model, 5)
    model.export_model(folder / "checkpoint.ms", export_inference_only=False)
    other = build(folder / "checkpoint.ms")
    assert train(model, 5, first=5) == train(other, 5, first=5)
    for number, one in enumerate((model, other)):
        one.export_adapter(folder / f"adapter{number}")
    assert (folder / "adapter0.ms").read_bytes() == (folder / "adapter1.ms").read_bytes()


def test_merged_kept_and_loaded_agree(folder: Path) -> None:
    """The trained model itself, its export for inference, which has no adapters any more, and the base with the adapter's file."""
    model = build(adapted(folder))
    assert train(model, 30)[-1] > 0
    model.export_model(folder / "merged.ms")
    model.export_adapter(folder / "adapter.ms")
    model.set_train_mode(False)
    kept, plain = result(model), base(folder / "base.ms")
    before = result(plain)
    plain.load_adapter(folder / "adapter.ms")
    largest = np.abs(kept).max()
    assert np.abs(kept - before).max() > 0.1 * largest
    for other in (result(base(folder / "merged.ms")), result(plain)):
        assert np.abs(other - kept).max() <= 1e-5 * largest
    build(convert(folder / "former.onnx", folder / "whole", "optimizer=SGD")).export_model(folder / "whole.ms")
    operators = [[node.op.name for node in load(folder / name).main.nodes] for name in ("merged.ms", "whole.ms")]
    assert operators[0] == operators[1]
    assert set(constants(folder / "merged.ms")) == set(constants(folder / "base.ms"))


def test_two_adapters_take_turns(folder: Path) -> None:
    """On one base, through resizes and new weights; without one it computes exactly what it did."""
    wanted = []
    for number, classes in enumerate((sentences(1), sentences(2))):
        model = build(adapted(folder))
        for _ in range(20):
            model.run_step(list(classes))
        model.export_adapter(folder / f"adapter{number}.ms")
        model.set_train_mode(False)
        wanted.append(result(model))
    plain, other = base(folder / "base.ms"), base(folder / "base.ms")
    before = result(plain)
    for number in (0, 1, 1, 0):
        plain.load_adapter(folder / f"adapter{number}.ms")
        other.load_adapter(folder / f"adapter{1 - number}.ms")
        np.testing.assert_allclose(result(plain), wanted[number], atol=1e-5 * np.abs(before).max())
        np.testing.assert_allclose(result(other), wanted[1 - number], atol=1e-5 * np.abs(before).max())
        plain.unload_adapter()
        np.testing.assert_array_equal(result(plain), before)
    plain.load_adapter(folder / "adapter0.ms")
    loaded = result(plain)
    plain.resize(plain.get_inputs(), [plain.get_inputs()[0].shape])
    np.testing.assert_array_equal(result(plain), loaded)
    bias = mslite.Tensor.from_numpy(np.zeros(CLASSES, np.float32), "head.bias")
    with pytest.raises(RuntimeError, match="is not a constant"):
        plain.update_weights([[mslite.Tensor.from_numpy(np.zeros(1, np.float32), "nothing")]])
    np.testing.assert_array_equal(result(plain), loaded)
    plain.update_weights([[bias]])
    own = constants(folder / "base.ms")["head.bias"]
    np.testing.assert_allclose(result(plain) + own, loaded, atol=1e-5 * np.abs(before).max())


def test_chosen_layers_and_a_new_head(folder: Path) -> None:
    """`lora_layers` get adapters, `lora_trained` is trained in full and lies in the adapter's file, `frozen` stays."""
    lines = ("lora_rank=2", "lora_layers=block*.q*,block*.v*", "lora_trained=head*", "frozen=block0")
    model = build(adapted(folder, "chosen", *lines))
    names = {weight.name.replace("_scaled", "") for weight in model.get_trainable_params()}
    matrices = {f"block1.{product}.weight.lora_{letter}" for product in "qv" for letter in "AB"}
    assert names == {*matrices, "head.weight", "head.bias"}
    train(model, 20)
    model.export_adapter(folder / "head.ms")
    model.set_train_mode(False)
    plain = base(folder / "base.ms")
    before = result(plain)
    plain.load_adapter(folder / "head.ms")
    np.testing.assert_allclose(result(plain), result(model), atol=1e-5 * np.abs(before).max())
    plain.unload_adapter()
    np.testing.assert_array_equal(result(plain), before)
    train_all = build(adapted(folder))
    train_all.export_adapter(folder / "all.ms")
    plain.load_adapter(folder / "all.ms")  # other weights, another rank: slots of its own
    np.testing.assert_array_equal(result(plain), before)


def test_an_adapter_is_small(folder: Path) -> None:
    """As large as its matrices are, and no base."""
    model = build(adapted(folder, "small", "lora_rank=1", "lora_layers=block*"))
    model.export_adapter(folder / "small.ms")
    numbers = 2 * (4 * 2 + 2 * 3) * SMALL.width
    assert 4 * numbers < (folder / "small.ms").stat().st_size < 4 * numbers + 24 * 120
    assert (folder / "small.ms").stat().st_size < (folder / "base.ms").stat().st_size / 8


def test_other_bases_are_refused(folder: Path) -> None:
    """By names and by sizes; what was loaded before stays."""
    model = build(adapted(folder))
    train(model, 5)
    model.export_adapter(folder / "adapter.ms")
    plain = base(folder / "base.ms")
    plain.load_adapter(folder / "adapter.ms")
    loaded = result(plain)
    autoencoder(folder / "net.onnx", 8)
    other = build(convert(folder / "net.onnx", folder / "net", "lora_rank=2", "loss=MeanSquaredError"))
    other.export_adapter(folder / "other.ms")
    with pytest.raises(
        RuntimeError,
        match=r"other.ms' does not belong to model '.*base.ms': it changes 'w0', which is not a constant",
    ):
        plain.load_adapter(folder / "other.ms")
    with pytest.raises(RuntimeError, match=r"this \.ms file is not an adapter"):
        plain.load_adapter(folder / "base.ms")
    np.testing.assert_array_equal(result(plain), loaded)
    (folder / "wide").mkdir()
    autoencoder(folder / "wide" / "net.onnx", 8, width=32)
    convert(folder / "wide" / "net.onnx", folder / "wide" / "base")
    with pytest.raises(RuntimeError, match=r"'w0.lora_A' is \[2, 64\], but 'w0' of the model is float32 \[32, 32\]"):
        base(folder / "wide" / "base.ms").load_adapter(folder / "other.ms")


def test_damaged_files_are_refused(folder: Path) -> None:
    """Every shortened file; a changed byte gives an error or another adapter."""
    model = build(adapted(folder, "small", "lora_rank=1", "lora_layers=block0.q*"))
    model.export_adapter(folder / "adapter.ms")
    whole = (folder / "adapter.ms").read_bytes()
    plain = base(folder / "base.ms")
    before = result(plain)
    for size in (*range(0, len(whole) - 1, 7), len(whole) - 1):
        (folder / "cut.ms").write_bytes(whole[:size])
        with pytest.raises(RuntimeError, match=r"cut\.ms"):
            plain.load_adapter(folder / "cut.ms")
    np.testing.assert_array_equal(result(plain), before)
    random = np.random.default_rng(3)
    for place in random.permutation(len(whole))[:300]:
        changed = bytearray(whole)
        changed[place] ^= 1 << int(random.integers(8))
        (folder / "changed.ms").write_bytes(changed)
        try:
            plain.load_adapter(folder / "changed.ms")
        except RuntimeError:
            continue
        result(plain)


def test_models_without_adapters(folder: Path) -> None:
    """Neither have what to export, nor take one while they train."""
    model = build(convert(folder / "former.onnx", folder / "plain", "optimizer=SGD"))
    with pytest.raises(
        RuntimeError, match="has no adapters; converter_lite --trainModel=true adds them with lora_rank"
    ):
        model.export_adapter(folder / "none.ms")
    with pytest.raises(RuntimeError, match="built for training"):
        model.load_adapter(folder / "base.ms")
    with pytest.raises(RuntimeError, match="built for inference"):
        base(folder / "base.ms").export_adapter(folder / "none.ms")
    assert not (folder / "none.ms").exists()


def test_shared_weights(tmp_path: Path) -> None:
    """Two products of one weight share its adapter; a table of embeddings that is the head, too, gets none."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"], "embed", axis=0),
        helper.make_node("Gemm", ["rows", "weight"], ["once"], "once", transB=1),
        helper.make_node("Tanh", ["once"], ["bent"], "bent"),
        helper.make_node("Gemm", ["bent", "weight"], ["twice"], "twice", transB=1),
        helper.make_node("Gemm", ["twice", "table"], ["scores"], "head", transB=1),
    ]
    random = np.random.default_rng(6)
    shapes = {"table": (9, 6), "weight": (6, 6)}
    tensors = [numpy_helper.from_array(random.standard_normal(s).astype(np.float32), n) for n, s in shapes.items()]
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [4])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [4, 9])
    graph = helper.make_graph(nodes, "tied", [ids], [scores], tensors)
    save_model(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "tied.onnx"
    )
    convert(tmp_path / "tied.onnx", tmp_path / "base")
    model = build(convert(tmp_path / "tied.onnx", tmp_path / "lora", "lora_rank=2", "learning_rate=0.1"))
    assert [weight.name for weight in model.get_trainable_params()] == ["weight.lora_A", "weight.lora_B"]
    words, labels = np.asarray([0, 3, 8, 3]), np.asarray([1, 2, 3, 4], np.int32)
    for _ in range(5):
        model.run_step([words, labels])
    model.export_model(tmp_path / "merged.ms")
    model.export_adapter(tmp_path / "adapter.ms")
    model.set_train_mode(False)
    (kept,) = model.predict([words, labels])
    loaded = base(tmp_path / "base.ms")
    loaded.load_adapter(tmp_path / "adapter.ms")
    for other in (loaded, base(tmp_path / "merged.ms")):
        np.testing.assert_allclose(
            other.predict([words])[0].get_data_to_numpy(), kept.get_data_to_numpy(), rtol=1e-5, atol=1e-5
        )


def test_a_base_with_8_bit_weights(folder: Path) -> None:
    """An adapter that was trained beside the float weights changes the results of the 8-bit ones as much."""
    model = build(adapted(folder, "lora", "lora_layers=block*"))
    train(model, 30)
    model.export_adapter(folder / "adapter.ms")
    config = folder / "weights.cfg"
    config.write_text("[common_quant_param]\nquant_type=WEIGHT_QUANT\nbit_num=8\nmin_quant_weight_size=0\n")
    flags = [f"--modelFile={folder / 'former.onnx'}", f"--outputFile={folder / 'small'}", f"--configFile={config}"]
    assert cli.main(flags) == 0
    models = [base(folder / name) for name in ("base.ms", "small.ms")]
    before = [result(one) for one in models]
    for one in models:
        one.load_adapter(folder / "adapter.ms")
    loaded = [result(one) for one in models]
    assert not np.array_equal(before[0], before[1])
    assert np.abs(loaded[1] - loaded[0]).max() < 0.02 * np.abs(loaded[0] - before[0]).max()
    models[1].unload_adapter()
    np.testing.assert_array_equal(result(models[1]), before[1])


def test_integer_products_are_refused(folder: Path) -> None:
    """Where the rows are integers, too, there is nothing to multiply with A."""
    autoencoder(folder / "net.onnx", 8)
    model = build(convert(folder / "net.onnx", folder / "net", "lora_rank=2", "loss=MeanSquaredError"))
    model.export_adapter(folder / "adapter.ms")
    (folder / "samples").mkdir()
    for number in range(4):
        np.random.default_rng(number).standard_normal((8, 64)).astype(np.float32).tofile(
            folder / f"samples/{number}.bin"
        )
    config = folder / "full.cfg"
    config.write_text(
        "[common_quant_param]\nquant_type=FULL_QUANT\nbit_num=8\n[data_preprocess_param]\n"
        f"calibrate_path=x:{folder / 'samples'}\ncalibrate_size=4\ninput_type=BIN\n"
    )
    flags = [f"--modelFile={folder / 'net.onnx'}", f"--outputFile={folder / 'int8'}", f"--configFile={config}"]
    assert cli.main(flags) == 0
    with pytest.raises(RuntimeError, match=r"does not support an adapter: it computes in int8. Use a float model"):
        base(folder / "int8.ms").load_adapter(folder / "adapter.ms")


@pytest.mark.nonconforming("adapters hold constants alone")
def test_a_name_that_lists_others(tmp_path: Path) -> None:
    """What an adapter changes is told by names and sizes themselves, however names look."""
    odd = "w.lora_A[2, 4]\nw.lora_B[3, 2]\nz"
    draw = np.random.default_rng(3)
    values = {
        name: draw.standard_normal(shape).astype(np.float32) for name, shape in [("w", (4, 3)), ("z", 3), (odd, 3)]
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], "product"),
        helper.make_node("Tanh", ["a"], ["b"], "tanh"),
        helper.make_node("Add", ["b", "z"], ["c"], "add"),
        helper.make_node("Tanh", ["c"], ["d"], "tanh_2"),
        helper.make_node("Mul", ["d", odd], ["y"], "mul"),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    save_model(helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "net.onnx")
    file = convert(tmp_path / "net.onnx", tmp_path / "net")
    adapters = {
        "pair": {"w.lora_A": np.ones((2, 4)), "w.lora_B": np.ones((3, 2)), "z": np.ones(3)},
        "odd": {odd: np.ones(3)},
    }
    for name, contents in adapters.items():
        tensors = [
            Tensor(name=of, dataType=DataType.FLOAT32, dims=value.shape, data=value.astype(np.float32).tobytes())
            for of, value in contents.items()
        ]
        (tmp_path / name).write_bytes(ms_bytes(MetaGraph(name="adapter", allTensors=tensors)))
    x = draw.standard_normal((2, 4)).astype(np.float32)

    def computed(*loaded: str) -> Array:
        model = base(file)
        for name in loaded:
            model.load_adapter(tmp_path / name)
        return model.predict([x])[0].get_data_to_numpy().copy()

    keep = base(file)  # of which the others share the weights
    keep.load_adapter(tmp_path / "pair")
    alone = computed("odd")
    assert not np.array_equal(alone, computed())
    np.testing.assert_array_equal(computed("pair", "odd"), alone)


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_models_share_their_base(tmp_path: Path) -> None:
    """Three models with adapters of their own need the weights of one, 32 MB, and little more."""
    width = 2000
    wide = [
        helper.make_node("MatMul", [x, weight], [y], y) for x, weight, y in (("x", "first", "t"), ("t", "second", "y"))
    ]
    random = np.random.default_rng(5)
    weights = [
        numpy_helper.from_array(random.standard_normal((width, width)).astype(np.float32) / width, name)
        for name in ("first", "second")
    ]
    sizes = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, width]) for name in ("x", "y"))
    graph = helper.make_graph(wide, "wide", [next(sizes)], [next(sizes)], weights)
    save_model(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "wide.onnx"
    )
    convert(tmp_path / "wide.onnx", tmp_path / "base")
    trained = build(convert(tmp_path / "wide.onnx", tmp_path / "lora", "lora_rank=2", "loss=MeanSquaredError"))
    for number in range(3):
        trained.run_step([random.standard_normal((4, width)).astype(np.float32)] * 2)
        trained.export_adapter(tmp_path / f"adapter{number}.ms")
    del trained
    x = random.standard_normal((4, width)).astype(np.float32)
    models, memory = [], []
    for number in range(3):
        models.append(base(tmp_path / "base.ms"))
        models[-1].load_adapter(tmp_path / f"adapter{number}.ms")
        models[-1].predict([x])
        memory.append(resident())
    results = [model.predict([x])[0].get_data_to_numpy() for model in models]
    assert not np.array_equal(results[0], results[1])
    assert memory[2] - memory[0] < 2 * width * width  # half of one weight


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["lora_alpha=4"], "lora_alpha needs lora_rank"),
        (["lora_rank=0"], "lora_rank must be an integer"),
        (["lora_rank=1.5"], "lora_rank must be an integer"),
        (["lora_rank=2", "lora_layers=blok0"], "lora_layers names 'blok0'"),
        (["lora_rank=2", "lora_trained=haed"], "lora_trained names 'haed'"),
        (["lora_rank=2", "frozen=*"], "there is no matmul with a constant weight that lora_rank"),
    ],
)
def test_impossible_settings(lines: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = folder / "wrong.cfg"
    config.write_text("\n".join(["[train_param]", *lines]))
    flags = [f"--modelFile={folder / 'former.onnx'}", f"--outputFile={folder / 'wrong'}", "--trainModel=true"]
    assert cli.main([*flags, f"--configFile={config}"]) != 0
    printed = capsys.readouterr()
    assert message in printed.out + printed.err
    assert not (folder / "wrong.ms").exists()
