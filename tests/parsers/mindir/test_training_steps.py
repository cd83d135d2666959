"""`--trainModel=true` of training steps that MindSpore exported: the losses and parameters that MindSpore itself had after ten
steps, and what is refused."""

from __future__ import annotations

import copy
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import mslite
from mslite.converter.convert import Report, convert
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.options import FmkType, Options
from mslite.converter.parsers.mindir import training_settings, training_step
from mslite.converter.parsers.mindir.messages import ModelProto
from mslite.converter.parsers.mindir.tensors import TensorReader
from mslite.converter.training import TRAINS_ALL, BatchNorm, Loss, Optimizer, train_settings
from mslite.converter.training.settings import TrainSettings

STEPS = Path(__file__).resolve().parents[2] / "models" / "mindspore_training"
Edit = Callable[[ModelProto], None]  # type: ignore[valid-type]
NAMES = ("momentum", "nesterov", "adam", "adam_weight_decay", "scaled", "scaled_smooth", "cross_entropy")


def _unpacked(name: str, folder: Path) -> Path:
    path = folder / f"{name}.mindir"
    path.write_bytes(gzip.decompress((STEPS / f"{name}.mindir.gz").read_bytes()))
    return path


def _converted(path: Path, settings: TrainSettings = TRAINS_ALL) -> Report:
    return convert(Options(path, path.with_suffix(""), framework=FmkType.MINDIR, training=settings))


@pytest.mark.parametrize("name", NAMES)
def test_trains_as_mindspore(name: str, tmp_path: Path) -> None:
    file = _converted(_unpacked(name, tmp_path)).files[0]
    recorded = np.load(STEPS / f"{name}.npz")
    model = mslite.Model()
    model.build_from_file(file, mslite.ModelType.MINDIR, train_cfg=mslite.TrainCfg())
    model.set_train_mode(True)
    inputs = [np.ascontiguousarray(recorded["x"].transpose(0, 2, 3, 1)), recorded["labels"]]
    losses = [float(model.run_step(inputs)[0].get_data_to_numpy().item()) for _ in recorded["losses"]]
    np.testing.assert_allclose(losses, recorded["losses"], rtol=1e-6)
    trained = {weight.name.removesuffix("/channel_last") for weight in model.get_trainable_params()}
    model.set_train_mode(False)
    found = {
        tensor.name.removesuffix("/channel_last"): tensor.get_data_to_numpy() for tensor in model.get_feature_maps()
    }
    parameters = {key for key in recorded.files if key not in ("x", "labels", "losses")}
    assert set(found) <= parameters
    assert trained <= set(found)
    assert parameters - set(found) <= {"stem.weight"}  # frozen: a constant of inference
    for key, value in found.items():
        expected = recorded[key].transpose(0, 2, 3, 1) if value.ndim == 4 else recorded[key]
        np.testing.assert_allclose(value, expected.reshape(value.shape), rtol=1e-5, atol=2e-6, err_msg=key)


def test_settings_are_those_of_the_step(tmp_path: Path) -> None:
    momentum = training_settings(_unpacked("momentum", tmp_path), TRAINS_ALL)
    assert (momentum.loss, momentum.optimizer) == (Loss.SPARSE_SOFTMAX, Optimizer.MOMENTUM)
    assert (momentum.learning_rate, momentum.momentum, momentum.weight_decay) == pytest.approx((0.05, 0.9, 1e-3))
    norms = {f"{layer}_norm.{what}" for layer in ("stem", "depthwise") for what in ("gamma", "beta")}
    assert (momentum.undecayed, momentum.frozen, momentum.batch_norm) == (norms, frozenset(), BatchNorm.TRAIN)
    nesterov = training_settings(_unpacked("nesterov", tmp_path), TRAINS_ALL)
    assert (nesterov.optimizer, nesterov.frozen) == (Optimizer.NESTEROV, {"stem.weight"})
    adam = training_settings(_unpacked("adam", tmp_path), TRAINS_ALL)
    assert (adam.loss, adam.optimizer, adam.beta2) == (Loss.ABSOLUTE, Optimizer.ADAM, pytest.approx(0.999))
    decayed = training_settings(_unpacked("adam_weight_decay", tmp_path), TRAINS_ALL)
    assert (decayed.loss, decayed.optimizer) == (Loss.SOFTMAX, Optimizer.ADAM_WEIGHT_DECAY)
    assert decayed.weight_decay == pytest.approx(0.05)


def _multiplied(factor: float) -> Edit:
    """The gradient of the mean, which the L1 loss gets, times a factor."""

    def edit(model: ModelProto) -> None:  # type: ignore[valid-type]
        (mean,) = [node for node in model.graph.node if "_backbone-Network/Grad_ReduceMean/RealDiv-op0" in node.domain]
        (source,) = [node for node in model.graph.node if mean.input[0] in node.output]
        tensor = source.attribute[0].tensors[0]
        tensor.raw_data = (np.frombuffer(tensor.raw_data, np.float32) * np.float32(factor)).tobytes()

    return edit


def test_the_scale_of_gradients(tmp_path: Path) -> None:
    """`sens` of the step, divided by the optimizer's `loss_scale`, which the weight decay is divided by, too."""
    scaled = training_settings(_unpacked("scaled", tmp_path), TRAINS_ALL)
    assert scaled.gradient_scale == 8 / 4
    assert scaled.weight_decay == pytest.approx(0.01)
    assert training_settings(_unpacked("scaled_smooth", tmp_path), TRAINS_ALL).gradient_scale == pytest.approx(1e-4)
    for name in ("momentum", "adam", "adam_weight_decay"):
        assert training_settings(_unpacked(name, tmp_path), TRAINS_ALL).gradient_scale == 1
    assert training_settings(_edited("adam", tmp_path, _multiplied(3)), TRAINS_ALL).gradient_scale == 3
    for other in ({"loss": "SmoothL1"}, {"optimizer": "SGD"}):
        stated = train_settings(other, TRAINS_ALL)
        assert training_settings(_unpacked("scaled", tmp_path), stated).gradient_scale == 1


def _constant(of: str, place: int, number: float) -> Edit:
    """Another number as an operand of a node of the loss."""

    def edit(model: ModelProto) -> None:  # type: ignore[valid-type]
        (node,) = [node for node in model.graph.node if node.domain.endswith(f"network-WithLossCell/_loss_fn-{of}")]
        (source,) = [each for each in model.graph.node if node.input[place] in each.output]
        attribute = source.attribute[0]
        if attribute.tensors:
            kind = np.int32 if attribute.tensors[0].data_type == 6 else np.float32
            attribute.tensors[0].raw_data = np.full(len(attribute.tensors[0].raw_data) // 4, number, kind).tobytes()
        else:
            attribute.f = number

    return edit


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (_constant("CrossEntropyLoss/Muls-op0", 1, 0.9), "uses label smoothing"),
        (_constant("CrossEntropyLoss/Equal-op0", 1, 0), r"ignores a class \(ignore_index\)"),
        (_constant("CrossEntropyLoss/MaskedFill-op2", 0, 2), "uses class weights"),
    ],
)
def test_cross_entropy_that_is_no_plain_mean(edit: Edit, words: str, tmp_path: Path) -> None:
    assert training_settings(_unpacked("cross_entropy", tmp_path), TRAINS_ALL).gradient_scale == 8 / 4
    with pytest.raises(ConversionError, match=f"CrossEntropyLoss {words}. Set the loss to train with: loss="):
        training_settings(_edited("cross_entropy", tmp_path, edit), TRAINS_ALL)


def test_what_is_stated_comes_first(tmp_path: Path) -> None:
    stated = train_settings({"optimizer": "SGD", "learning_rate": "0.5", "frozen": "classifier"}, TRAINS_ALL)
    found = training_settings(_unpacked("nesterov", tmp_path), stated)
    assert (found.optimizer, found.learning_rate, found.loss) == (Optimizer.SGD, 0.5, Loss.SPARSE_SOFTMAX)
    assert found.frozen == {"classifier", "stem.weight"}
    report = _converted(_unpacked("nesterov", tmp_path), stated)
    assert any("trains 5 constants with SGD" in note for note in report.notes)


def _edited(name: str, folder: Path, edit: Edit) -> Path:
    path = _unpacked(name, folder)
    model = ModelProto.FromString(path.read_bytes())
    edit(model)
    path.write_bytes(model.SerializeToString())
    return path


def _rename(old: str, new: str) -> Edit:
    def edit(model: ModelProto) -> None:  # type: ignore[valid-type]
        found = [each for each in [*model.primitives, *model.graph.node] if each.op_type == old]
        assert found
        for each in found:
            each.op_type = new

    return edit


def _scheduled(model: ModelProto) -> None:  # type: ignore[valid-type]
    """The learning rate is the loss, of all things: something that the graph computes."""
    rates = {node.input[2] for node in model.graph.node if "Momentum-op" in node.domain and node.input}
    loss = next(node for node in model.graph.node if "_loss_fn" in node.domain and "Entropy" in node.domain)
    for node in model.graph.node:
        if "ApplyMomentum-op" in node.domain:
            assert node.input[2] in rates
            node.input[2] = loss.output[0]


def _product_of(scope: str) -> Edit:
    """The constant factor of a product is the loss, instead."""

    def edit(model: ModelProto) -> None:  # type: ignore[valid-type]
        loss = next(node for node in model.graph.node if "_loss_fn" in node.domain and "Entropy" in node.domain)
        constants = {name for node in model.graph.node if node.op_type == "Constant" for name in node.output}
        products = [node for node in model.graph.node if scope in node.domain and "/Mul-op" in node.domain]
        assert products
        for node in products:
            for place, name in enumerate(node.input):
                if name in constants:
                    node.input[place] = loss.output[0]

    return edit


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        (
            "scaled",
            _product_of("Grad_SparseSoftmax"),
            r"its loss scale \(sens\) is not a constant.*loss=\.\.\.",
        ),
        ("scaled", _product_of("optimizer-"), r"divides gradients by a computed value.*optimizer=\.\.\."),
        (
            "momentum",
            _rename("ApplyMomentum", "ApplyRMSProp"),
            r"its optimizer ApplyRMSProp is unsupported.*optimizer=",
        ),
        (
            "momentum",
            _rename("SparseSoftmaxCrossEntropyWithLogits", "CTCLoss"),
            r"its loss \(CTCLoss\) is not one of.*loss=",
        ),
        ("momentum", _scheduled, r"the learning_rate of its ApplyMomentum is computed by the graph.*LRScheduler"),
    ],
)
def test_what_has_no_equal_is_named(name: str, edit: Edit, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=message) as caught:
        _converted(_edited(name, tmp_path, edit))
    assert caught.value.code is ReturnCode.NOT_SUPPORTED


def test_steps_without_a_loss_are_refused(tmp_path: Path) -> None:
    def edit(model: ModelProto) -> None:  # type: ignore[valid-type]
        for node in model.graph.node:
            node.domain = node.domain.replace("_loss_fn", "distance")

    with pytest.raises(ConversionError, match="no node name contains the name of a loss"):
        _converted(_edited("momentum", tmp_path, edit))


def test_a_network_of_inference_stays_one(tmp_path: Path) -> None:
    """Without an optimizer the defaults hold."""

    def edit(model: ModelProto) -> None:  # type: ignore[valid-type]
        nodes = [
            node for node in model.graph.node if "Gradients/" not in node.domain and "optimizer-" not in node.domain
        ]
        logits = next(node.input[0] for node in nodes if "_loss_fn" in node.domain)
        kept = [
            node for node in nodes if "_loss_fn" not in node.domain and not node.domain.startswith("Default/Depend")
        ]
        kept = [node for node in kept if not node.domain.startswith(("Default/MakeTuple", "Default/UpdateState"))]
        del model.graph.node[:]
        model.graph.node.extend(kept)
        del model.graph.input[1:]
        model.graph.output[0].name = logits

    path = _edited("momentum", tmp_path, edit)
    assert training_settings(path, TRAINS_ALL) is TRAINS_ALL
    assert any("with SGD" in note for note in _converted(path).notes)


def _damages(model: ModelProto) -> Iterator[None]:  # type: ignore[valid-type]
    """Does one harm after the other to the model, and takes each back."""
    for node in model.graph.node:
        inputs, outputs, attributes = (
            list(node.input),
            list(node.output),
            [copy.deepcopy(one) for one in node.attribute],
        )
        for fewer in {0, 1, len(inputs) - 1}:
            node.input[:] = inputs[: max(fewer, 0)]
            yield
        if inputs and outputs:
            node.input[:] = [outputs[0], *inputs[1:]]  # it needs its own result
            yield
        node.input[:] = inputs
        node.output[:] = []
        yield
        node.output[:] = outputs
        for attribute in node.attribute:
            for field in ("tensors", "values"):
                attribute.ClearField(field)
            yield
            attribute.type = 99
            yield
        del node.attribute[:]
        yield
        node.attribute.extend(attributes)
    for tensor in model.graph.parameter:
        for harm in (b"", b"\xff" * 3, b"\xff" * 4):
            content, tensor.raw_data = tensor.raw_data, harm
            yield
            tensor.raw_data = content


@pytest.mark.parametrize(
    "name",
    ["momentum", *(pytest.param(name, marks=pytest.mark.slow) for name in ("adam", "adam_weight_decay", "scaled"))],
)
def test_damaged_steps_are_one_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _unpacked(name, tmp_path)
    model = ModelProto.FromString(path.read_bytes())
    monkeypatch.setattr(training_step, "load", lambda path, opener: model)  # writing and reading would take minutes
    errors = 0
    for _ in _damages(model):
        try:
            training_settings(path, TRAINS_ALL)
            training_step.network(model, str(path), TensorReader(tmp_path))
        except ConversionError:
            errors += 1
    assert errors > 20
    training_settings(path, TRAINS_ALL)


def test_the_operand_that_is_missing_is_named(tmp_path: Path) -> None:
    def edit(model: ModelProto) -> None:  # type: ignore[valid-type]
        for node in model.graph.node:
            if "optimizer-" in node.domain and len(node.input) > 4:
                del node.input[2:]

    with pytest.raises(ConversionError, match=r"\(ApplyMomentum\) of the training step has 2 operands") as caught:
        _converted(_edited("momentum", tmp_path, edit))
    assert caught.value.code is ReturnCode.GRAPH_FILE_ERROR
