"""Generated C that trains some channels and biases on a microcontroller, and what of a model is chosen for it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Collection
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

from mslite.codegen.cli import main
from mslite.codegen.core import Core
from mslite.codegen.lowering import lower_ms
from mslite.codegen.sparse import cli
from mslite.codegen.sparse.candidates import SHARES, UpdateCandidate, update_candidates, updates_of
from mslite.codegen.sparse.memory import TrainingBytes
from mslite.codegen.sparse.page import _path
from mslite.codegen.sparse.search import Added, UpdateSearchResult, last_layers, search
from mslite.codegen.sparse.select_updates import Candidate, Result, _compared
from mslite.codegen.sparse.trials import Outcome
from mslite.codegen.targets import target_named
from mslite.codegen.training import TrainSource, generate_training
from mslite.converter.config_file import read_config
from mslite.converter.convert import convert
from mslite.converter.options import Options
from mslite.converter.training import LayerUpdate, TrainableLayer, TrainSettings, settings_of_sections

from .networks import keywords
from .training_reference import lenet

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
UPDATE = "conv2=weights:1/2,bias\ndense1=weights:8\ndense2=weights,bias"


def _config(folder: Path, update: str = UPDATE) -> Path:
    path = folder / "sparse.cfg"
    path.write_text(f"[train_param]\nlearning_rate=0.1\n[sparse_update]\n{update}\n")
    return path


def _settings(folder: Path, update: str) -> TrainSettings:
    return settings_of_sections(read_config(_config(folder, update)))


def _cores(model: Path, settings: TrainSettings, folder: Path, target: str = "cortex-m4") -> tuple[Core, ...]:
    return generate_training(TrainSource(model, settings), target_named(target), folder, measured=False)[0]


def _make(folder: Path, *goals: str) -> None:
    for program in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    done = subprocess.run(
        ["make", "-s", "-C", str(folder), *goals], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert (done.stdout + done.stderr).count("as recorded") == len(goals)


@pytest.mark.parametrize(
    "target", ["cortex-m4", *(pytest.param(target, marks=pytest.mark.slow) for target in ("cortex-m0+", "cortex-m55"))]
)
def test_a_board_trains_as_the_runtime_does(target: str, tmp_path: Path) -> None:
    lenet(tmp_path / "lenet.onnx", 2)
    arguments = [f"--target={target}", "--train", f"--sparseUpdate={_config(tmp_path)}", "--ramBudget=256K"]
    assert main([str(tmp_path / "lenet.onnx"), f"--output={tmp_path / 'project'}", *arguments]) == 0
    _make(tmp_path / "project", "test", "host-test")


@pytest.mark.slow
def test_a_board_trains_everything_where_nothing_is_chosen(tmp_path: Path) -> None:
    lenet(tmp_path / "lenet.onnx", 1)
    arguments = ["--target=cortex-m4", "--train", "--optimizer=Adam", "--learningRate=0.01"]
    assert main([str(tmp_path / "lenet.onnx"), f"--output={tmp_path / 'project'}", *arguments]) == 0
    _make(tmp_path / "project", "test")


def _mobile(path: Path) -> None:
    """A pointwise and a depthwise convolution with ReLU6, and a product whose weight is larger than all else."""
    chance = np.random.default_rng(2)
    nodes, constants = [], []

    def keep(name: str, *shape: int) -> str:
        constants.append(numpy_helper.from_array(chance.standard_normal(shape).astype(np.float32) / 4, name))
        return name

    def add(op: str, inputs: list[str], name: str, **attributes: object) -> str:
        nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def limited(x: str, name: str) -> str:
        constants.extend(numpy_helper.from_array(np.float32(limit), f"{name}_{limit}") for limit in (0, 6))
        return add("Clip", [x, f"{name}_0", f"{name}_6"], name)

    x = limited(add("Conv", ["x", keep("pw", 16, 3, 1, 1), keep("pb", 16)], "pointwise"), "limit1")
    x = add("Conv", [x, keep("dw", 16, 1, 3, 3), keep("db", 16)], "depthwise", group=16, pads=[1] * 4, strides=[2, 2])
    x = add("Flatten", [limited(x, "limit2")], "flat")
    x = add("Relu", [add("Gemm", [x, keep("w1", 96, 256), keep("b1", 96)], "wide", transB=1)], "relu")
    x = add("Gemm", [x, keep("w2", 10, 96), keep("b2", 10)], "last", transB=1)
    graph = helper.make_graph(
        nodes,
        "mobile",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("last", TensorProto.FLOAT, [1, 10])],
        constants,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


@pytest.mark.slow
def test_depthwise_channels_and_a_weight_that_is_not_joined(tmp_path: Path) -> None:
    _mobile(tmp_path / "mobile.onnx")
    update = "pointwise=bias\ndepthwise=weights:1/4\nwide=weights:1/8\nlast=weights,bias"
    cores = _cores(tmp_path / "mobile.onnx", _settings(tmp_path, update), tmp_path / "project")
    _make(tmp_path / "project", "test", "host-test")
    step = cores[1].program
    large = 96 * 256 * 4
    assert all(core.arena_size < large for core in cores)
    assert not [one for one in step.steps if one.operator == "Concat" and one.outputs[0].size >= large]
    # Bits in place of the results of ReLU6 and ReLU, and a depthwise gradient of four channels.
    assert {one.outputs[0].size for one in step.steps if one.operator == "GateMask"} == {16 * 64 // 8, 16 * 16 // 8, 12}
    (filters,) = (one for one in step.steps if one.operator == "Conv2DBackpropFilterFusion")
    assert filters.outputs[0].shape == (4, 3, 3, 1)


def test_a_backbone_on_integers(tmp_path: Path) -> None:
    (tmp_path / "keywords.tflite").write_bytes(keywords())
    names = [step.name for step in lower_ms(_converted(tmp_path), target_named("cortex-m4")).steps if step.macs]
    cores = _cores(tmp_path / "keywords.tflite", _settings(tmp_path, f"{names[-1]}=bias"), tmp_path / "project")
    _make(tmp_path / "project", "test", "host-test")
    kernels = [step.kernel for step in cores[1].program.steps]
    assert sum("int8" in kernel for kernel in kernels) >= len(names) - 1


def _converted(folder: Path) -> Path:
    return convert(Options(folder / "keywords.tflite", folder / "keywords.ms")).files[0]


def test_nothing_else_is_computed_or_kept(tmp_path: Path) -> None:
    lenet(tmp_path / "lenet.onnx", 1)
    few = _cores(tmp_path / "lenet.onnx", _settings(tmp_path, "dense2=bias"), tmp_path / "few")
    every = _cores(tmp_path / "lenet.onnx", TrainSettings(), tmp_path / "all")
    names = [step.name for step in few[1].program.steps if step.name.startswith("Gradients/")]
    assert len(names) == 2  # of the loss, and of the bias
    assert "src/kernels/training/conv2d_grad_micro.c" in every[0].files | every[1].files
    assert {Path(path).stem for path in few[0].files | few[1].files if "grad" in path} == {"bias_add_grad_vector"}
    assert few[1].arena_size < every[1].arena_size / 4


def test_budgets_of_a_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lenet(tmp_path / "lenet.onnx", 1)
    arguments = [str(tmp_path / "lenet.onnx"), "--target=cortex-m4", "--train", f"--sparseUpdate={_config(tmp_path)}"]
    out = f"--output={tmp_path / 'project'}"
    assert main([*arguments, out, "--ramBudget=2K"]) == 3
    said = capsys.readouterr().err
    assert "more than --ramBudget=2048" in said
    assert "parameters 2376 bytes, optimizer state" in said
    assert main([*arguments, out, "--flashBudget=4K"]) == 3
    assert "more than --flashBudget=4096" in capsys.readouterr().err
    assert not (tmp_path / "project").exists()


def test_a_configuration_without_updates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lenet(tmp_path / "lenet.onnx", 1)
    config = tmp_path / "train.cfg"
    config.write_text("[train_param]\nlearning_rate=0.1\n")
    out = f"--output={tmp_path / 'project'}"
    assert main([str(tmp_path / "lenet.onnx"), "--train", f"--sparseUpdate={config}", out]) == 2
    assert "the file has no [sparse_update]" in capsys.readouterr().err
    assert main([str(tmp_path / "lenet.onnx"), "--train", "--sparseUpdate=missing.cfg", out]) == 1
    assert "missing.cfg: the configuration cannot be read" in capsys.readouterr().err


# ---- the choice ----


def test_shares_that_are_the_same_channels_are_one_choice() -> None:
    found = update_candidates([TrainableLayer("a", True, True, 3), TrainableLayer("b", True, False, 0)])
    assert [one.text for one in found] == [
        "a: bias", "a: 1/4 of the weights", "a: 1/2 of the weights", "a: all weights", "b: all weights",
    ]  # fmt: skip


def test_the_search_adds_what_gives_most_for_its_bytes() -> None:
    last = UpdateCandidate("last")
    half, whole, bias = UpdateCandidate("a", Fraction(1, 2)), UpdateCandidate("a", Fraction(1)), UpdateCandidate("b")
    harmful = UpdateCandidate("c")
    contributions = {half: 3.0, whole: 4.0, bias: 1.0, harmful: -1.0}
    sizes = {last: 1000, half: 1000, whole: 2000, bias: 2000, harmful: 0}

    def price(chosen: object) -> int:
        shares = updates_of(chosen)  # type: ignore[arg-type]
        return sum(
            sizes[UpdateCandidate(name, update.share)] if update.share else sizes[UpdateCandidate(name)]
            for name, update in shares
        )

    assert search([last], contributions, price, 2500).chosen == [last, half]
    assert search([last], contributions, price, 3500).chosen == [last, whole]
    assert set(search([last], contributions, price, 9999).chosen) == {last, whole, bias}


@pytest.mark.parametrize("budget", [1, 10, 11, 635, 9999])
def test_layers_from_the_end_are_found_by_few_prices(budget: int) -> None:
    layers = [
        UpdateCandidate(f"layer{number}", share) for number in range(64) for share in (Fraction(0), Fraction(1, 2))
    ]
    contributions = {
        choice: float(number) for number, choice in enumerate([*layers, UpdateCandidate("other", Fraction(1))])
    }
    asked = []

    def price(chosen: Collection[UpdateCandidate]) -> int:
        asked.append(len(chosen))
        return 10 * len(chosen)

    found = last_layers([UpdateCandidate("last")], contributions, price, budget, Fraction(1, 2))
    fitting = max(0, min(budget // 10 - 1, len(layers)))  # beside the last layer
    assert found.chosen == [UpdateCandidate("last"), *layers[::-1][:fitting]]
    assert [one.contribution for one in found.added] == [contributions[one.choice] for one in found.added]
    assert all(one.bytes in (None, 10 * number) for number, one in enumerate(found.added, 2))
    assert len(asked) <= 8


def test_updates_of_choices() -> None:
    chosen = [
        UpdateCandidate("a", Fraction(1, 2)),
        UpdateCandidate("a"),
        UpdateCandidate("a", Fraction(1, 8)),
        UpdateCandidate("b"),
    ]
    assert updates_of(chosen) == (("a", LayerUpdate(Fraction(1, 2), bias=True)), ("b", LayerUpdate(bias=True)))


def _data(folder: Path) -> Path:
    images, labels = load_digits(return_X_y=True)
    path = folder / "digits.npz"
    np.savez(path, x=(images[:160].reshape(-1, 8, 8, 1) / 16).astype(np.float32), label=labels[:160].astype(np.int32))
    return path


def test_a_choice_within_a_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lenet(tmp_path / "lenet.onnx", 1)
    train = tmp_path / "train.cfg"
    train.write_text("[train_param]\nlearning_rate=0.1\n")
    output = tmp_path / "sparse.cfg"
    arguments = [str(tmp_path / "lenet.onnx"), f"--data={_data(tmp_path)}", f"--configFile={train}"]
    assert cli.main([*arguments, f"--output={output}", "--budget=5K", "--trialSteps=40"]) == 0
    assert "training everything" in capsys.readouterr().out
    sections = read_config(output)
    assert sections["train_param"] == {"learning_rate": "0.1", "batch_size": "1"}
    assert "dense2" in sections["sparse_update"]
    page = output.with_suffix(".html").read_text()
    assert "contributions by layer" in page
    assert "http" not in page.split("<footer")[0]
    project = [f"--sparseUpdate={output}", "--ramBudget=5K", f"--output={tmp_path / 'project'}"]
    assert main([str(tmp_path / "lenet.onnx"), "--target=cortex-m4", "--train", *project]) == 0


def test_what_makes_the_model_worse_is_not_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, samples = tmp_path / "sparse.cfg", np.load(DIGITS / "samples.npz")
    known = tmp_path / "known.npz"
    np.savez(known, image=1 - samples["image"], label=samples["label"])  # what the model was trained on
    arguments = [str(DIGITS / "digits.onnx"), f"--data={known}", f"--output={output}"]
    assert cli.main([*arguments, "--budget=16K", "--trialSteps=20"]) == 3
    said = capsys.readouterr().err
    assert (
        "training within the budget does not improve the model: accuracy on held-back samples is 100.0 % before training"
        in said
    )
    assert not output.exists()


def test_sets_are_compared_after_equally_many_steps() -> None:
    last, harmful, useful = UpdateCandidate("last"), UpdateCandidate("a"), UpdateCandidate("b")
    outcomes = {
        frozenset(): Outcome(0.5, 0.9, 0.6), frozenset({last}): Outcome(0.4, 0.95, 0.7),
        frozenset({last, harmful}): Outcome(0.1, 0.9, 0.9), frozenset({last, useful}): Outcome(0.3, 0.95, 0.8),
    }  # fmt: skip
    lengths = []

    class Told:
        def outcomes(self, chosen: Collection[UpdateCandidate], length: int) -> tuple[Outcome, Outcome]:
            lengths.append(length)
            return outcomes[frozenset()], outcomes[frozenset(chosen)]

        def of(self, chosen: Collection[UpdateCandidate]) -> TrainingBytes:
            return TrainingBytes(1, 100 * len(chosen))

    def best(*sets: UpdateCandidate) -> Candidate:
        ways = [UpdateSearchResult([last], [Added(choice, 1.0, None)]) for choice in sets]
        ways += [UpdateSearchResult([last])] * (1 + len(SHARES) - len(ways))
        found = _compared([last], ways, Told(), Told(), lambda text: None)  # type: ignore[arg-type]
        assert [one.text for one in found[:2]] == ["nothing", "last layer only"]
        return max(found, key=lambda one: one.outcome.rank)

    assert best(harmful).text == "last layer only"
    assert best(harmful, useful).text == "last layers, 1/8 of the weights"
    assert len(set(lengths)) == 1
    outcomes[frozenset({last})] = Outcome(0.6, 0.9, 0.5)
    assert best(harmful).outcome.probability == 0.9
    outcomes[frozenset({last, harmful})] = Outcome(float("nan"), 1.0, float("nan"))
    assert best(harmful).text == "nothing"


def test_a_page_of_contributions_below_zero() -> None:
    points = [Added(UpdateCandidate("a"), -0.25, 200), Added(UpdateCandidate("b"), -0.5, 300)]
    needed = TrainingBytes(10, 100)
    alone = Candidate("last layer only", Outcome(0.1, 1.0, 0.9), 100, UpdateSearchResult([]))
    path = _path(Result([], [], points, (), needed, needed, needed, 1000, [alone], alone, 1, 4, 1))
    heights = [y for _, y, _ in path.points]
    assert heights[0] < heights[1] < heights[2], "what falls goes down"
    assert [text for _, text in sorted(path.lines)] == ["0", "-0.375", "-0.750"]


def test_a_budget_below_the_smallest_choice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lenet(tmp_path / "lenet.onnx", 1)
    arguments = [str(tmp_path / "lenet.onnx"), f"--data={_data(tmp_path)}", f"--output={tmp_path / 'sparse.cfg'}"]
    assert cli.main([*arguments, "--budget=1K"]) == 3
    said = capsys.readouterr().err
    assert "--budget=1024 is too small: training dense2: " in said
    assert not (tmp_path / "sparse.cfg").exists()


def test_data_that_does_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lenet(tmp_path / "lenet.onnx", 1)
    output = f"--output={tmp_path / 'sparse.cfg'}"
    data = tmp_path / "data.npz"
    labels = np.zeros(100, np.int32)
    images = np.zeros((100, 8, 8, 1), np.float32)
    for arrays, message in (
        ({"label": labels}, "the data has no array 'x'"),
        ({"label": labels, "x": images[:, :4]}, "have the shape [4, 8, 1], not [8, 8, 1]"),
        ({"label": labels, "x": images[:9]}, "the same number of samples"),
        ({"label": labels[:3], "x": images[:3]}, "the data has 3 samples; batches of 1 need at least 4"),
    ):
        np.savez(data, **arrays)  # type: ignore[arg-type]
        assert cli.main([str(tmp_path / "lenet.onnx"), f"--data={data}", output, "--budget=64K"]) == 1
        assert message in capsys.readouterr().err
    data.write_bytes(b"no archive")
    assert cli.main([str(tmp_path / "lenet.onnx"), f"--data={data}", output, "--budget=64K"]) == 1
    assert "not a complete NumPy file" in capsys.readouterr().err
