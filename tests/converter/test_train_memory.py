"""`converter_lite --trainMemory`: the same training, bit for bit, within a budget of memory."""

from __future__ import annotations

import platform
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper, save_model

import mslite
from mslite import _codegen
from mslite.converter.cli import main
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError, ExitStatus
from mslite.converter.mindir.graph import numpy_type
from mslite.converter.mindir.module_io import load
from mslite.converter.options import Options
from mslite.converter.training import BatchNorm, Loss, Optimizer, TrainSettings

Array = npt.NDArray[np.generic]
ROWS, SIZE, CHANNELS, CLASSES = 4, 32, 8, 5
_X86 = platform.machine() == "x86_64"


class _Net:
    """Adds layers to an ONNX graph, each behind the one before."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(3)
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.at = "x"

    def constant(self, name: str, data: npt.ArrayLike, kind: type = np.float32) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(data, kind), name))
        return name

    def add(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.at, *inputs], [name], name=name, **attributes))
        self.at = name
        return name

    def convolution(self, outputs: int, inputs: int = CHANNELS) -> str:
        weight = self.random.standard_normal((outputs, inputs, 3, 3)) * 0.2
        name = f"weight{len(self.constants)}"
        return self.add("Conv", self.constant(name, weight), pads=[1, 1, 1, 1], kernel_shape=[3, 3])

    def normalized(self) -> str:
        place = len(self.constants)
        numbers = {
            "scale": 1 + 0.1 * self.random.standard_normal(CHANNELS),
            "offset": self.random.standard_normal(CHANNELS),
        }
        numbers |= {"mean": self.random.standard_normal(CHANNELS), "variance": 1 + self.random.random(CHANNELS)}
        return self.add("BatchNormalization", *(self.constant(f"{n}{place}", data) for n, data in numbers.items()))

    def dropped(self) -> str:
        return self.add("Dropout", self.constant(f"ratio{len(self.constants)}", 0.3))

    def save(self, path: Path) -> Path:
        self.add("GlobalAveragePool")
        self.add("Flatten")
        width = self.nodes[-1].output[0]
        self.nodes.append(helper.make_node("MatMul", [width, self.constant("head", self._head())], ["y"], name="head_"))
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, 3, SIZE, SIZE])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS, CLASSES])],
            self.constants,
        )
        save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
        return path

    def _head(self) -> Array:
        return self.random.standard_normal((CHANNELS, CLASSES)).astype(np.float32)


def _chain(net: _Net) -> None:
    for layer in range(8):
        net.convolution(CHANNELS, CHANNELS if layer else 3)
        net.add("Relu")


def _residual(net: _Net) -> None:
    net.convolution(CHANNELS, 3)
    for _ in range(3):
        before = net.at
        net.convolution(CHANNELS)
        net.add("Relu")
        net.convolution(CHANNELS)
        net.add("Add", before)
        net.add("Relu")


def _normalized(net: _Net) -> None:
    for layer in range(5):
        net.convolution(CHANNELS, CHANNELS if layer else 3)
        net.normalized()
        net.add("Relu")


def _dropping(net: _Net) -> None:
    for layer in range(5):
        net.convolution(CHANNELS, CHANNELS if layer else 3)
        net.add("Relu")
        net.dropped()


def _skipping(net: _Net) -> None:
    """A U of two levels, as segmentation has them."""
    net.convolution(CHANNELS, 3)
    net.add("Relu")
    skipped = net.at
    net.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    for _ in range(4):
        net.convolution(CHANNELS)
        net.add("Relu")
    scales = net.constant("scales", [1, 1, 2, 2])
    net.nodes.append(helper.make_node("Resize", [net.at, "", scales], ["wide"], name="wide", mode="nearest"))
    net.nodes[-1].attribute.append(helper.make_attribute("coordinate_transformation_mode", "asymmetric"))
    net.nodes[-1].attribute.append(helper.make_attribute("nearest_mode", "floor"))
    net.at = "wide"
    net.add("Concat", skipped, axis=1)
    net.convolution(CHANNELS, 2 * CHANNELS)
    net.add("Relu")
    net.convolution(CHANNELS)


_NETS = [_chain, _residual, _normalized, _dropping, _skipping]


def _settings(memory: int | None, optimizer: Optimizer = Optimizer.MOMENTUM) -> TrainSettings:
    return TrainSettings(Loss.SPARSE_SOFTMAX, optimizer, 0.05, batch_norm=BatchNorm.TRAIN, dropout=True, memory=memory)


def _converted(model: Path, settings: TrainSettings) -> Path:
    name = model.with_name(f"trains_{settings.optimizer.value}_{settings.memory}")
    return convert(Options(model, name, training=settings)).files[0]


def _built(file: Path, trains: bool = True, config: mslite.TrainCfg | None = None) -> mslite.Model:
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=config or mslite.TrainCfg())
    model.set_train_mode(trains)
    return model


def _batch(step: int) -> list[Array]:
    random = np.random.default_rng(step)
    images = random.standard_normal((ROWS, SIZE, SIZE, 3)).astype(np.float32)
    if_channels_first = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
    return [if_channels_first, random.integers(0, CLASSES, ROWS).astype(np.int32)]


def _trained(model: mslite.Model, steps: int = 3) -> dict[str, Array]:
    """Losses, weights and running statistics after some steps, as bytes tell them apart."""
    found: dict[str, Array] = {}
    for step in range(steps):
        images, labels = _batch(step)
        shape = tuple(model.get_inputs()[0].shape)
        (loss,) = model.run_step([images if images.shape == shape else images.transpose(0, 2, 3, 1).copy(), labels])
        found[f"loss {step}"] = loss.get_data_to_numpy().copy()
    tensors = (*model.get_trainable_params(), *model.get_feature_maps())
    return found | {one.name: one.get_data_to_numpy().copy() for one in tensors}


def _inferred(file: Path) -> Array:
    """What the file computes where it is loaded for inference."""
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR)
    shape = tuple(model.get_inputs()[0].shape)
    (result,) = model.predict([np.random.default_rng(1).standard_normal(shape).astype(np.float32)])
    return result.get_data_to_numpy()


def _assert_same(found: dict[str, Array], expected: dict[str, Array]) -> None:
    assert found.keys() == expected.keys()
    for name, values in found.items():
        np.testing.assert_array_equal(values.view(np.uint8), expected[name].view(np.uint8), name)


def _bytes(file: Path) -> int:
    """What training takes: everything in the file, inputs, losses, and what the runtime plans for a step."""
    module = load(file)
    constants = sum(value.data.nbytes for value in module.main.values() if value.data is not None)
    ends = [*module.main.inputs, *module.main.outputs]
    sizes = (prod(value.shape or ()) * numpy_type(value.dtype).itemsize for value in ends)
    return constants + sum(sizes) + _built(file).workspace_bytes()


def _least(model: Path) -> int:
    with pytest.raises(ConversionError, match=r"does not fit into 1 KiB\. The minimum is --trainMemory=\d+K") as error:
        _converted(model, _settings(1 << 10))
    return int(str(error.value).partition("--trainMemory=")[2].partition("K")[0]) << 10


def _copies(file: Path) -> list[str]:
    return [node.op.name for node in load(file).main.nodes if "/again" in node.name]


@pytest.mark.parametrize("network", _NETS)
def test_the_same_in_less_memory(network: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the least budget, and halfway: losses, weights and running statistics of three steps are the same bits."""
    assert callable(network)
    if _X86:
        monkeypatch.setenv(
            "MSLITE_ISA", "avx2"
        )  # kernels for AVX-512 take more scratch memory than the budget knows of
    net = _Net()
    network(net)
    model = net.save(tmp_path / "net.onnx")
    plain = _converted(model, _settings(None))
    whole = _bytes(_converted(model, _settings(1 << 30)))
    least = _least(model)
    expected = _trained(_built(plain))
    assert not _copies(plain)
    for budget in dict.fromkeys((least, (least + whole) // 2)):
        file = _converted(model, _settings(budget))
        assert _bytes(file) <= budget < whole
        assert _copies(file)
        _assert_same(_trained(_built(file)), expected)
        np.testing.assert_array_equal(_inferred(file), _inferred(plain))


@pytest.mark.parametrize("network", [_residual, _dropping])
def test_the_same_file_on_any_machine(network: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever instruction sets this machine has, and however many cores: the plan is that of 64-bit ARM with two threads."""
    assert callable(network)
    net = _Net()
    network(net)
    model = net.save(tmp_path / "net.onnx")
    plain = _converted(model, _settings(None))
    found = set()
    least = _least(model)
    for isa in ("scalar", "avx2", "avx512", "neon"):
        monkeypatch.setenv("MSLITE_ISA", isa)  # one that this machine lacks changes nothing
        assert _least(model) == least
        found.add(_converted(model, _settings(least)).read_bytes())
    assert len(found) == 1
    arenas = {_codegen.step_arena(plain, ["scalar", "neon"], threads) for threads in (1, 2, 4)}
    assert len(arenas) > 1, "threads count in a plan, so that they must not be the machine's"


@pytest.mark.skipif(not _X86, reason="64-bit ARM has the kernels itself")
def test_the_plan_of_arm(tmp_path: Path) -> None:
    """Here and there the same kernels are chosen: of those that are compiled once per instruction set, of which libraries for 64-bit ARM
    have none for scalars, the ones with vectors."""
    vectors = {name.removesuffix("_neon") for name, _, isa, _ in _codegen.kernels() if isa == "neon"}
    for network in _NETS:
        net = _Net()
        network(net)
        model = _codegen.Model(_converted(net.save(tmp_path / f"{network.__name__}.onnx"), _settings(1 << 30)))
        plan = model.plan(["scalar", "neon"], [tensor.dims for tensor in model.inputs])
        kernels = {step.kernel for step in plan.steps}
        assert any(name.endswith("_neon") for name in kernels)
        assert not {f"{name}_scalar" for name in vectors} & kernels


def test_what_is_run_again(tmp_path: Path) -> None:
    """Layers with a memory of their own are among it."""
    for network, layer in ((_normalized, "FusedBatchNorm"), (_dropping, "Dropout")):
        net = _Net()
        network(net)
        model = net.save(tmp_path / f"{layer}.onnx")
        assert layer in _copies(_converted(model, _settings(_least(model))))


def test_a_checkpoint_goes_on(tmp_path: Path) -> None:
    """Bit for bit, within the same memory; and evaluation computes nothing twice."""
    net = _Net()
    _normalized(net)
    net.dropped()
    model = net.save(tmp_path / "net.onnx")
    file = _converted(model, _settings(_least(model)))
    whole, half = _built(file), _built(file)
    expected = _trained(whole, 4)
    _trained(half, 2)
    half.export_model(tmp_path / "half.ms", export_inference_only=False)
    half.export_model(tmp_path / "infers.ms")
    again = _built(tmp_path / "half.ms")
    assert again.workspace_bytes() == half.workspace_bytes()
    for step in (2, 3):
        images, labels = _batch(step)
        shape = tuple(again.get_inputs()[0].shape)
        again.run_step([images if images.shape == shape else images.transpose(0, 2, 3, 1).copy(), labels])
    for one in again.get_trainable_params():
        np.testing.assert_array_equal(one.get_data_to_numpy(), expected[one.name])
    assert not _copies(tmp_path / "infers.ms")


@pytest.mark.parametrize("optimizer", [Optimizer.MOMENTUM, Optimizer.ADAMW])
def test_gradients_are_given_up(optimizer: Optimizer, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Whoever wants them says so; virtual batches keep them until the update."""
    net = _Net()
    _chain(net)
    model = net.save(tmp_path / "net.onnx")
    plain, budget = (_converted(model, _settings(memory, optimizer)) for memory in (None, 1 << 30))
    keeps, gives_up = _built(plain), _built(budget)
    _assert_same(_trained(gives_up), _trained(keeps))
    assert gives_up.get_gradients() == []
    assert "was made with --trainMemory" in capfd.readouterr().err
    for one in (keeps, gives_up):
        one.setup_virtual_batch(2)
    _assert_same(_trained(gives_up, 4), _trained(keeps, 4))
    config = mslite.TrainCfg()
    config.accumulate_gradients = True
    asked, expected = _built(budget, config=config), _built(plain)
    _trained(asked, 1)
    _trained(expected, 1)
    gradients = asked.get_gradients()
    for one, other in zip(gradients, expected.get_gradients(), strict=True):
        np.testing.assert_array_equal(one.get_data_to_numpy(), other.get_data_to_numpy())
    fresh = _built(budget)
    fresh.apply_gradients(gradients)
    for one, other in zip(fresh.get_trainable_params(), expected.get_trainable_params(), strict=True):
        np.testing.assert_array_equal(one.get_data_to_numpy(), other.get_data_to_numpy())


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = _Net()
    _normalized(net)
    model = net.save(tmp_path / "net.onnx")
    flags = [f"--modelFile={model}", f"--outputFile={tmp_path / 'net_train'}", "--trainModel=true"]
    assert main([*flags, "--trainMemory=64M"]) == ExitStatus.OK
    assert "without checkpointing" in capsys.readouterr().out
    least = _least(model)
    assert main([*flags, f"--trainMemory={least >> 10}K"]) == ExitStatus.OK
    assert "of a step's multiply-adds are recomputed" in capsys.readouterr().out
    config = tmp_path / "train.cfg"
    config.write_text("[train_param]\nmemory=1K\n")
    assert main([*flags, f"--configFile={config}"]) == ExitStatus.NOT_CONVERTIBLE
    assert f"does not fit into 1 KiB. The minimum is --trainMemory={least >> 10}K" in capsys.readouterr().err
    for wrong, reason in (
        ([*flags, f"--configFile={config}", "--trainMemory=64M"], "memory in [train_param]"),
        ([*flags, "--trainMemory=much"], "trainMemory must be a number of MiB"),
        ([*flags[:2], "--trainMemory=64M"], "trainMemory needs trainModel=true"),
    ):
        assert main(wrong) == ExitStatus.WRONG_USAGE
        assert reason in capsys.readouterr().err


def test_a_runtime_that_cannot_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was built without training: the budget cannot be met, and the message says why."""

    def refuse(*_: object, **__: object) -> None:
        raise _codegen.ModelError("training needs libmindspore-lite-train.so")

    net = _Net()
    _chain(net)
    monkeypatch.setattr(_codegen, "step_arena", refuse)
    with pytest.raises(ConversionError, match=r"--trainMemory: .* training needs libmindspore-lite-train\.so"):
        _converted(net.save(tmp_path / "net.onnx"), _settings(1 << 30))
