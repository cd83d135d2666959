"""Every name that MindSpore Lite's Python interface has for the CPU, with its parameters, defaults and numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mslite
from tests.api.models import WEIGHT, X, built, dense_file, wanted

CALLS = {
    "Context": "",
    "Model": "",
    "Model.build_from_file": "model_path, model_type, context=None, config_path='', config_dict=None, dec_key=None, "
    "dec_mode='AES-GCM', dec_num_parallel=0",
    "Model.get_inputs": "",
    "Model.get_outputs": "",
    "Model.predict": "inputs, outputs=None",
    "Model.resize": "inputs, dims",
    "Model.update_weights": "weights",
    "Model.get_model_info": "key",
    "ModelParallelRunner": "",
    "ModelParallelRunner.build_from_file": "model_path, context=None",
    "ModelParallelRunner.get_inputs": "",
    "ModelParallelRunner.get_outputs": "",
    "ModelParallelRunner.predict": "inputs, outputs=None",
    "ModelGroup": "flags=<ModelGroupFlag.SHARE_WORKSPACE: 2>",
    "ModelGroup.add_model": "models",
    "ModelGroup.cal_max_size_of_workspace": "model_type, context",
    "Tensor": "tensor=None, shape=None, dtype=None, device=None",
    "Tensor.get_data_to_numpy": "",
    "Tensor.set_data_from_numpy": "numpy_obj",
    "TensorMeta": "",
    "Converter": "",
    "Converter.convert": "fmk_type, model_file, output_file, weight_file='', config_file=''",
    "Converter.get_config_info": "",
    "Converter.set_config_info": "section='', config_info=None",
    "LiteInfer": "model_or_net, *net_inputs, context=None, model_group_id=None, config=None",
    "LiteInfer.get_inputs": "",
    "LiteInfer.predict": "inputs",
    "LiteInfer.resize": "inputs, dims",
}
"""What is called, and with which parameters. Ours may have more behind them, which have defaults."""

READ_WRITE: dict[str, dict[str, Any]] = {
    "Context": {"target": ["cpu"], "group_info_file": ""},
    "Context.cpu": {
        "precision_mode": "enforce_fp32",
        "thread_num": 0,
        "inter_op_parallel_num": 0,
        "thread_affinity_mode": 0,
        "thread_affinity_core_list": [],
    },
    "Context.gpu": {"precision_mode": "enforce_fp32", "device_id": 0},
    "Context.ascend": {"precision_mode": "enforce_fp16", "device_id": 0, "rank_id": 0, "provider": ""},
    "Context.parallel": {"workers_num": 0, "config_info": {}, "config_path": "", "device_ids": []},
    "Tensor": {"name": "", "dtype": mslite.DataType.FLOAT32, "shape": [], "format": mslite.Format.DEFAULT},
    "Converter": {
        "decrypt_mode": "AES-GCM",
        "infer": False,
        "input_data_type": mslite.DataType.FLOAT32,
        "input_format": mslite.Format.NHWC,
        "input_shape": {},
        "optimize": "general",
        "output_data_type": mslite.DataType.FLOAT32,
        "weight_fp16": False,
        "device_id": 0,
        "rank_id": 0,
    },
}
"""Attributes with their defaults, which can be set to what they are."""

READ_ONLY = {
    "Context.gpu": {"rank_id": 0, "group_size": 1},
    "Tensor": {"element_num": 1, "data_size": 4, "device": "cpu"},
    "TensorMeta": {"element_num": 1, "data_size": 0},
}
OTHERS = {
    "TensorMeta": ("name", "dtype", "shape", "format"),
    "Converter": ("device", "save_type", "enable_encryption"),
}
WRITE_ONLY = {"Converter": ("decrypt_key", "encrypt_key")}

NUMBERS = {
    "ModelType": "MINDIR 0, MINDIR_LITE 4",
    "ModelGroupFlag": "SHARE_WEIGHT 1, SHARE_WORKSPACE 2, SHARE_WEIGHT_WORKSPACE 3",
    "FmkType": "TF 0, CAFFE 1, ONNX 2, MINDIR 3, TFLITE 4, PYTORCH 5",
    "DataType": "UNKNOWN 0, BOOL 30, INT8 32, INT16 33, INT32 34, INT64 35, UINT8 37, UINT16 38, UINT32 39, UINT64 40, "
    "FLOAT16 42, FLOAT32 43, FLOAT64 44, INVALID 2147483647",
    "Format": "DEFAULT -1, NCHW 0, NHWC 1, NHWC4 2, HWKC 3, HWCK 4, KCHW 5, CKHW 6, KHWC 7, CHWK 8, HW 9, HW4 10, NC 11, "
    "NC4 12, NC4HW4 13, NCDHW 15, NWC 16, NCW 17, NDHWC 18, NC8HW8 19",
}


def found(path: str) -> Any:
    """What a path of names from the package leads to."""
    value: Any = mslite
    for name in path.split("."):
        value = getattr(value, name)
    return value


def instance(path: str) -> Any:
    """As `found`, from a new object of the first class."""
    first, *rest = path.split(".")
    value = getattr(mslite, first)()
    for name in rest:
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("path", CALLS)
def test_calls(path: str) -> None:
    parameters = [
        parameter for parameter in inspect.signature(found(path)).parameters.values() if parameter.name != "self"
    ]
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    wanted = [text for text in CALLS[path].split(", ") if text]
    assert [str(parameter) for parameter in plain[: len(wanted)]] == wanted
    assert all(parameter.default is not inspect.Parameter.empty for parameter in plain[len(wanted) :])


@pytest.mark.parametrize("path", READ_WRITE)
def test_attributes_with_their_defaults(path: str) -> None:
    for name, default in READ_WRITE[path].items():
        thing = instance(path)
        assert getattr(thing, name) == default, name
        setattr(thing, name, default)
        assert getattr(thing, name) == default, name


@pytest.mark.parametrize("path", READ_ONLY)
def test_attributes_that_are_only_read(path: str) -> None:
    for name, value in READ_ONLY[path].items():
        thing = instance(path)
        assert getattr(thing, name) == value, name
        with pytest.raises(AttributeError):
            setattr(thing, name, value)


def test_other_attributes() -> None:
    for path, names in OTHERS.items():
        for name in names:
            assert hasattr(instance(path), name), f"{path}.{name}"
    for path, names in WRITE_ONLY.items():
        for name in names:
            setattr(instance(path), name, "0123456789abcdef")
            with pytest.raises(TypeError, match=f"{name} is write-only"):
                getattr(instance(path), name)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str) -> None:
    enumeration: type[Enum] = getattr(mslite, name)
    for key, number in (entry.split() for entry in NUMBERS[name].split(", ")):
        assert enumeration[key].value == int(number), key


def test_every_class_is_exported_and_in_the_alias() -> None:
    names = {path.split(".")[0] for path in (*CALLS, *READ_WRITE, *NUMBERS)}
    assert names <= set(mslite.__all__)
    assert mslite.__version__


def _predictor(path: Path) -> mslite.Model:
    return built(dense_file(path))


def _shape(model: mslite.Model) -> list[int]:
    """Of its output."""
    return list(model.predict([X])[0].shape)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda context: setattr(context, "target", "cpu"), TypeError),
        (lambda context: setattr(context, "target", [1]), TypeError),
        (lambda context: setattr(context, "target", ["tpu"]), ValueError),
        (lambda context: setattr(context, "group_info_file", 1), TypeError),
        (lambda context: setattr(context.gpu, "device_id", -1), ValueError),
        (lambda context: setattr(context.gpu, "device_id", "0"), TypeError),
        (lambda context: setattr(context.ascend, "precision_mode", "fp16"), ValueError),
        (lambda context: setattr(context.ascend, "provider", 1), TypeError),
        (lambda context: setattr(context.ascend, "rank_id", -1), ValueError),
        (lambda context: setattr(context.parallel, "workers_num", -1), ValueError),
        (lambda context: setattr(context.parallel, "workers_num", True), TypeError),
        (lambda context: setattr(context.parallel, "config_info", {"a": 1}), TypeError),
        (lambda context: setattr(context.parallel, "config_info", {"a": {"b": 1}}), TypeError),
        (lambda context: setattr(context.parallel, "config_info", {1: {}}), TypeError),
        (lambda context: setattr(context.parallel, "config_path", 1), TypeError),
        (lambda context: setattr(context.parallel, "config_path", "/is/not/there"), ValueError),
        (lambda context: setattr(context.parallel, "device_ids", 0), TypeError),
        (lambda context: setattr(context.parallel, "device_ids", [-1]), ValueError),
        (lambda context: setattr(context.run_limits, "steps", -1), ValueError),
        (lambda context: setattr(context.run_limits, "bytes", 2**63), ValueError),
        (lambda context: setattr(context.cpu, "thread_num", 2**31), ValueError),
        (lambda context: setattr(context.gpu, "device_id", 2**40), ValueError),
        (lambda context: setattr(context.run_limits, "milliseconds", 0.5), TypeError),
        (lambda context: setattr(context.run_limits, "bytes", "1M"), TypeError),
    ],
)
def test_settings_refuse(call: Callable[[mslite.Context], None], error: type[Exception]) -> None:
    context = mslite.Context()
    with pytest.raises(error):
        call(context)
    assert repr(context) == "Context()"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda context: setattr(context.cpu, "num_threads", 7), "CPU has no setting 'num_threads'; did you mean 'thread_num'?"),
        (lambda context: setattr(context, "thread_num", 7), "Context has no setting 'thread_num'; did you mean 'cpu.thread_num'?"),
        (lambda context: setattr(context, "Target", ["gpu"]), "did you mean 'target'?"),
        (lambda context: setattr(context.parallel, "worker_num", 2), "did you mean 'workers_num'?"),
        (lambda context: setattr(context.run_limits, "quux", 2), "it has steps, milliseconds, bytes"),
        (lambda context: setattr(mslite.Converter(), "input_shapes", {}), "Converter has no setting 'input_shapes'; did you mean 'input_shape'"),
        (lambda context: setattr(mslite.Tensor(), "data", X), "'Tensor' object has no attribute 'data'"),
        (lambda context: setattr(mslite.TrainCfg(), "loss", []), "TrainCfg has no setting 'loss'; did you mean 'loss_name'?"),
    ],
)  # fmt: skip
def test_settings_refuse_other_names(call: Callable[[mslite.Context], None], message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        call(mslite.Context())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.get_inputs(),
        lambda model: model.get_outputs(),
        lambda model: model.predict([X]),
        lambda model: model.placements(),
        lambda model: model.workspace_bytes(),
        lambda model: model.resize([], []),
    ],
)
def test_a_model_without_a_file(call: Callable[[mslite.Model], object]) -> None:
    with pytest.raises(RuntimeError, match=r"^the model is not built; call build_from_file first$"):
        call(mslite.Model())


def test_settings_within_settings_are_not_replaced() -> None:
    context = mslite.Context()
    with pytest.raises(TypeError, match="cpu must be CPU, not int"):
        context.cpu = 4  # type: ignore[assignment]
    context.cpu = mslite.Context().cpu


def test_names_of_the_package_are_its_own() -> None:
    assert not {"TYPE_CHECKING", "annotations"} & set(dir(mslite))
    assert {*mslite.__all__} <= set(dir(mslite))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: mslite.Tensor(1), TypeError),
        (lambda: mslite.Tensor(shape=[1.5]), TypeError),
        (lambda: mslite.Tensor(shape=[-2]), ValueError),
        (lambda: mslite.Tensor(dtype=43), TypeError),
        (lambda: mslite.Tensor(device="ascend:0"), ValueError),
        (lambda: mslite.Tensor(X, shape=[6]), TypeError),
        (lambda: mslite.Tensor(X, dtype=mslite.DataType.INT8), TypeError),
        (lambda: setattr(mslite.Tensor(), "name", 1), TypeError),
        (lambda: setattr(mslite.Tensor(), "dtype", 43), TypeError),
        (lambda: setattr(mslite.Tensor(), "shape", 3), TypeError),
        (lambda: setattr(mslite.Tensor(), "format", "NHWC"), TypeError),
        (lambda: mslite.Tensor().set_data_from_numpy([1.0]), TypeError),
        (lambda: mslite.ModelGroup(1), TypeError),
        (lambda: mslite.ModelGroup().add_model("model.ms"), TypeError),
        (lambda: mslite.ModelGroup().add_model(["model.ms", mslite.Model()]), TypeError),
        (lambda: mslite.ModelGroup().add_model(["is_not_there.ms"]), RuntimeError),
        (lambda: mslite.ModelGroup().cal_max_size_of_workspace(4, mslite.Context()), TypeError),
        (lambda: mslite.ModelGroup().cal_max_size_of_workspace(mslite.ModelType.MINDIR, None), TypeError),
        (
            lambda: mslite.ModelGroup().cal_max_size_of_workspace(mslite.ModelType.MINDIR, mslite.Context()),
            RuntimeError,
        ),
        (lambda: mslite.ModelParallelRunner().predict([]), RuntimeError),
        (lambda: mslite.Model().predict([]), RuntimeError),
        (lambda: mslite.LiteInfer(object()), ImportError),
        (lambda: mslite.LiteInfer(object(), config=1), TypeError),
        (lambda: mslite.LiteInfer(object(), model_group_id="1"), TypeError),
    ],
)
def test_objects_refuse(call: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(
    ("call", "error", "reason"),
    [
        (lambda model, path: model.build_from_file(1, mslite.ModelType.MINDIR), TypeError, "path"),
        (lambda model, path: model.build_from_file(path, mslite.ModelType.MINDIR, 1), TypeError, "context"),
        (lambda model, path: model.build_from_file(path, mslite.ModelType.MINDIR, None, 1), TypeError, "config_path"),
        (
            lambda model, path: model.build_from_file(path, mslite.ModelType.MINDIR, None, "", 1),
            TypeError,
            "config_dict",
        ),
        (
            lambda model, path: model.build_from_file(path, mslite.ModelType.MINDIR, None, "", {"a": {"b": 1}}),
            TypeError,
            "config_dict",
        ),
        (
            lambda model, path: mslite.Model().build_from_file(path, mslite.ModelType.MINDIR, None, "none.cfg"),
            RuntimeError,
            "none.cfg",
        ),
        (lambda model, path: model.predict(X), TypeError, "inputs must be a list"),
        (lambda model, path: model.predict([X], X), TypeError, "outputs must be a list"),
        (lambda model, path: model.predict([X], []), ValueError, "1 output, 0 were given"),
        (lambda model, path: model.predict([X], ["y"]), TypeError, "output 'y'"),
        (
            lambda model, path: model.predict([X], [np.zeros(_shape(model), np.int32)]),
            TypeError,
            "output 'y' has type FLOAT32, not INT32",
        ),
        (
            lambda model, path: model.predict([X], [mslite.Tensor(None, _shape(model), mslite.DataType.FLOAT16)]),
            TypeError,
            "output 'y' has type FLOAT32, not FLOAT16",
        ),
        (
            lambda model, path: model.predict([X], [np.zeros(_shape(model)[::-1], np.float32)]),
            RuntimeError,
            r"output 'y' has the shape \[\d, \d\], the given tensor",
        ),
        (lambda model, path: model.resize(1, [[2, 3]]), TypeError, "inputs must be a list"),
        (lambda model, path: model.resize(model.get_inputs(), 1), TypeError, "dims must be a list"),
        (lambda model, path: model.resize(model.get_inputs(), [1]), TypeError, "a list of int"),
        (lambda model, path: model.resize(model.get_inputs(), [[2.0, 3]]), TypeError, "a list of int"),
        (lambda model, path: model.resize(["x"], [[2, 3]]), TypeError, "list of Tensor"),
        (lambda model, path: model.update_weights([[]]), ValueError, "no tensor"),
        (lambda model, path: model.update_weights([X]), TypeError, "list of lists"),
        (lambda model, path: model.get_model_info(1), TypeError, "key"),
        (lambda model, path: setattr(model, "max_waiting", -1), ValueError, "max_waiting"),
    ],
)
def test_models_refuse(
    call: Callable[[mslite.Model, str], object], error: type[Exception], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.ms"
    model = _predictor(path)
    with pytest.raises(error, match=reason):
        call(model, str(path))
    assert np.array_equal(model.predict([X])[0].get_data_to_numpy(), model.predict([X])[0].get_data_to_numpy())


def test_model_groups(tmp_path: Path) -> None:
    first, second = dense_file(tmp_path / "first.ms"), dense_file(tmp_path / "second.ms")
    group = mslite.ModelGroup()
    group.add_model([str(first), str(second)])
    assert isinstance(group.cal_max_size_of_workspace(mslite.ModelType.MINDIR_LITE, mslite.Context()), int)
    models = (mslite.Model(), mslite.Model())
    sharing = mslite.ModelGroup(mslite.ModelGroupFlag.SHARE_WEIGHT)
    sharing.add_model(models)
    for model in models:
        model.build_from_file(str(first), mslite.ModelType.MINDIR_LITE)
    results = [model.predict([X])[0].get_data_to_numpy() for model in models]
    assert np.array_equal(*results)


def test_they_tell_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "model.ms"
    model = _predictor(path)
    assert repr(mslite.Model()) == "Model()"
    assert repr(model) == (
        f"Model({str(path)!r}, inputs=[(name='x', shape=[-1, 3], dtype=FLOAT32)], "
        "outputs=[(name='y', shape=[-1, 4], dtype=FLOAT32)])"
    )
    assert repr(model.get_inputs()[0]) == "Tensor(name='x', shape=[-1, 3], dtype=FLOAT32, no data)"
    assert repr(mslite.Tensor(X)) == "Tensor(name='', shape=[2, 3], dtype=FLOAT32)"
    assert repr(model.get_outputs()[0]) == "TensorMeta(name='y', shape=[-1, 4], dtype=FLOAT32)"
    context = mslite.Context()
    context.cpu.thread_num = 2
    context.run_limits.milliseconds = 50
    assert repr(context) == "Context(cpu.thread_num=2, run_limits.milliseconds=50)"
    assert repr(context.cpu) == "CPU(thread_num=2)"
    converter = mslite.Converter()
    converter.encrypt_key = "0123456789abcdef"
    converter.weight_fp16 = True
    assert repr(converter) == "Converter(weight_fp16=True)"
    assert repr(mslite.ModelGroup()) == "ModelGroup(SHARE_WORKSPACE, [])"


def test_new_weights_are_planned_again(tmp_path: Path) -> None:
    model = built(dense_file(tmp_path / "dense.ms"))
    other = built(tmp_path / "dense.ms")
    weight = mslite.Tensor(WEIGHT * 2)
    weight.name = "weight"
    kept = model.predict([X])[0]
    model.update_weights([[weight]])
    assert np.allclose(model.predict([X])[0].get_data_to_numpy(), 2 * wanted(X))
    assert np.allclose(kept.get_data_to_numpy(), wanted(X))
    assert np.allclose(other.predict([X])[0].get_data_to_numpy(), wanted(X)), "models of one file share no new weights"
    wrong = mslite.Tensor(WEIGHT[:2].copy())
    for name, reason in (("weight", "bytes"), ("bias", "not a constant of the model; it has 'weight'")):
        wrong.name = name
        with pytest.raises(RuntimeError, match=reason):
            model.update_weights([[wrong]])
    assert np.allclose(model.predict([X])[0].get_data_to_numpy(), 2 * wanted(X))
