"""Models that learn. Beyond MindSpore Lite's Python API: the names are those of its C++ API."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from mslite import _runtime
from mslite.meta import meta_of
from mslite.predictor import Path, Predictor
from mslite.settings import Settings, checked, integer, strings
from mslite.tensor import Input, Tensor, native_input, tensor_of
from mslite.types import OptimizationLevel, QuantizationType

_LARGEST = 3.4028234663852886e38
"""Of float32, in which the runtime has these numbers."""


class MixPrecisionCfg(Settings):
    """How gradients are kept within float16. Wrong types raise TypeError, wrong values ValueError."""

    _names = ("dynamic_loss_scale", "loss_scale", "num_of_not_nan_iter_th", "is_raw_mix_precision")

    def __init__(self) -> None:
        usual = _runtime.TrainCfg()
        self._dynamic_loss_scale: bool = usual.dynamic_loss_scale
        self._loss_scale: float = usual.loss_scale
        self._num_of_not_nan_iter_th: int = usual.num_of_not_nan_iter_th
        self._is_raw_mix_precision: bool = usual.is_raw_mix_precision

    @property
    def dynamic_loss_scale(self) -> bool:
        """Halves `loss_scale` (to 1 at the least) where a gradient is beyond float16, and doubles it (to 65536 at most)
        after `num_of_not_nan_iter_th` steps without one."""
        return self._dynamic_loss_scale

    @dynamic_loss_scale.setter
    def dynamic_loss_scale(self, dynamic: bool) -> None:
        self._dynamic_loss_scale = checked("dynamic_loss_scale", dynamic, bool)

    @property
    def loss_scale(self) -> float:
        """What the loss is multiplied by for the backward pass; above 0. Gradients are divided by it again."""
        return self._loss_scale

    @loss_scale.setter
    def loss_scale(self, scale: float) -> None:
        if isinstance(scale, int | float) and not 0 < scale <= _LARGEST:
            raise ValueError(f"loss_scale must be a number above 0, not {scale}")
        self._loss_scale = _number("loss_scale", scale)

    @property
    def num_of_not_nan_iter_th(self) -> int:
        """Steps in a row without a gradient beyond float16, after which a dynamic scale is doubled."""
        return self._num_of_not_nan_iter_th

    @num_of_not_nan_iter_th.setter
    def num_of_not_nan_iter_th(self, steps: int) -> None:
        self._num_of_not_nan_iter_th = integer("num_of_not_nan_iter_th", steps, 1)

    @property
    def is_raw_mix_precision(self) -> bool:
        """The file itself says what is float16, as MindSpore writes it: nothing is rounded or scaled besides."""
        return self._is_raw_mix_precision

    @is_raw_mix_precision.setter
    def is_raw_mix_precision(self, raw: bool) -> None:
        self._is_raw_mix_precision = checked("is_raw_mix_precision", raw, bool)


class TrainCfg(Settings):
    """How a model is trained. Wrong types raise TypeError, wrong values ValueError."""

    _names = ("optimization_level", "mix_precision_cfg", "loss_name", "accumulate_gradients", "keep_gradients")

    def __init__(self) -> None:
        self._optimization_level = OptimizationLevel.O0
        self._mix_precision_cfg = MixPrecisionCfg()
        self._loss_name = list(_runtime.TrainCfg().loss_name)
        self._accumulate_gradients = False
        self._keep_gradients = True

    @property
    def optimization_level(self) -> OptimizationLevel:
        """O0: all in float32. O2: float16 but for batch normalization, losses and optimizers; O3: batch normalization, too.
        AUTO: as O2 where the context asks for float16 and the processor computes in it."""
        return self._optimization_level

    @optimization_level.setter
    def optimization_level(self, level: OptimizationLevel) -> None:
        self._optimization_level = checked("optimization_level", level, OptimizationLevel)

    @property
    def mix_precision_cfg(self) -> MixPrecisionCfg:
        """How gradients are kept within float16, at other levels than O0."""
        return self._mix_precision_cfg

    @mix_precision_cfg.setter
    def mix_precision_cfg(self, config: MixPrecisionCfg) -> None:
        self._mix_precision_cfg = checked("mix_precision_cfg", config, MixPrecisionCfg)

    @property
    def loss_name(self) -> list[str]:
        """A node whose name contains one of these is a loss: training gives its outputs, evaluation what it is computed
        of."""
        return list(self._loss_name)

    @loss_name.setter
    def loss_name(self, fragments: Sequence[str]) -> None:
        self._loss_name = strings("loss_name", fragments)

    @property
    def accumulate_gradients(self) -> bool:
        """Steps add to the gradients and leave the weights; `apply_gradients` updates them."""
        return self._accumulate_gradients

    @accumulate_gradients.setter
    def accumulate_gradients(self, accumulate: bool) -> None:
        self._accumulate_gradients = checked("accumulate_gradients", accumulate, bool)

    @property
    def keep_gradients(self) -> bool:
        """Whether `get_gradients` has gradients after a plain step. False: each gives up its memory when its weight has been
        updated. Losses and weights are the same bits; virtual batches and `accumulate_gradients` keep what they add."""
        return self._keep_gradients

    @keep_gradients.setter
    def keep_gradients(self, keep: bool) -> None:
        self._keep_gradients = checked("keep_gradients", keep, bool)


def native_train_cfg(config: TrainCfg) -> _runtime.TrainCfg:
    """The settings as the native module takes them. Raises TypeError for anything else."""
    checked("train_cfg", config, TrainCfg)
    native = _runtime.TrainCfg()
    native.optimization_level = config.optimization_level.value
    native.loss_name = config.loss_name
    native.accumulate_gradients = config.accumulate_gradients
    native.keep_gradients = config.keep_gradients
    mixed = config.mix_precision_cfg
    native.dynamic_loss_scale = mixed.dynamic_loss_scale
    native.loss_scale = mixed.loss_scale
    native.num_of_not_nan_iter_th = mixed.num_of_not_nan_iter_th
    native.is_raw_mix_precision = mixed.is_raw_mix_precision
    return native


class Trainable(Predictor):
    """What models can that were built with a TrainCfg. They evaluate until `set_train_mode(True)`.

    Every method raises RuntimeError for a model that was not built for training, and TypeError or ValueError for wrong
    arguments."""

    def __init__(self) -> None:
        super().__init__()
        self._trains = False

    def set_train_mode(self, train: bool) -> None:
        """Chooses what a run is: a step of training, or an evaluation with the weights as they are now."""
        checked("train", train, bool)

        def choose(model: _runtime.Model) -> None:
            model.set_train_mode(train)
            self._describe(model)

        self._workers.run(choose)

    def get_train_mode(self) -> bool:
        """Whether a run is a step of training; not of a model that was not built for training."""
        return self._workers.run(lambda model: model.train_mode())

    def run_step(self, inputs: Sequence[Input]) -> list[Tensor]:
        """One step: forward, backward, and the update of the weights. Returns the losses.

        Raises as `predict`, and RuntimeError while the model evaluates."""
        self._check_trains()
        if not self.get_train_mode():
            raise RuntimeError("the model evaluates; set_train_mode(True) comes before run_step")
        return self.predict(inputs)

    def get_gradients(self) -> list[Tensor]:
        """Copies of the gradients of the last step, or of their sums where steps add them; one for each weight, in the
        order of `get_trainable_params`. Empty before the first of such steps, and for models that were made with
        `--trainMemory` unless steps add them."""
        return self._copies(lambda model: model.gradients())

    def apply_gradients(self, gradients: Sequence[Tensor]) -> None:
        """Updates the weights by these gradients, found by their names, all of them. Sums of gradients begin again."""
        native = _native("gradients", gradients)
        self._workers.run(lambda model: model.apply_gradients(native))

    def get_trainable_params(self) -> list[Tensor]:
        """Copies of the weights that the optimizers update, in the order of the optimizers."""
        return self._copies(lambda model: model.trainable_params())

    def get_feature_maps(self) -> list[Tensor]:
        """Copies of the variables that evaluation reads, as they are now."""
        return self._copies(lambda model: model.feature_maps())

    def update_feature_maps(self, weights: Sequence[Tensor]) -> None:
        """Gives weights other contents, found by their names; of the same type and size, or all stay as they were."""
        native = _native("weights", weights)
        self._workers.run(lambda model: model.update_feature_maps(native))

    def get_optimizer_params(self) -> list[Tensor]:
        """Copies of the numbers of the optimizers: learning rates, momentum and the like."""
        return self._copies(lambda model: model.optimizer_params())

    def set_optimizer_params(self, params: Sequence[Tensor]) -> None:
        """Gives numbers of the optimizers other values, found by their names."""
        native = _native("params", params)
        self._workers.run(lambda model: model.set_optimizer_params(native))

    def get_learning_rate(self) -> float:
        """The learning rate of the first optimizer; 0 where the graph computes it."""
        self._check_trains()
        return self._workers.run(lambda model: model.learning_rate())

    def set_learning_rate(self, learning_rate: float) -> None:
        """Gives all optimizers this learning rate."""
        rate = _number("learning_rate", learning_rate)
        self._workers.run(lambda model: model.set_learning_rate(rate))

    def setup_virtual_batch(
        self, virtual_batch_multiplier: int, learning_rate: float = -1.0, momentum: float = -1.0
    ) -> None:
        """Makes one update out of so many steps, by the sum of their gradients. 1 or less: an update in each step again,
        with the learning rate of before.

        `momentum` is that of batch normalization: how much of a step's statistics the running ones take. Negative numbers
        stand for the present ones divided by the multiplier."""
        multiplier = integer("virtual_batch_multiplier", virtual_batch_multiplier, least=-(2**31))
        rate, inertia = _number("learning_rate", learning_rate), _number("momentum", momentum)

        def setup(model: _runtime.Model) -> None:
            model.setup_virtual_batch(multiplier, rate, inertia)
            self._describe(model)

        self._workers.run(setup)

    def export_model(
        self,
        model_file: Path,
        quantization_type: QuantizationType = QuantizationType.NO_QUANT,
        export_inference_only: bool = True,
        output_tensor_name: Sequence[str] = (),
    ) -> None:
        """Writes the model as it is now to a `.ms` file (the suffix is added where it is missing): what evaluation
        computes, or, with `export_inference_only=False`, the whole training graph, which goes on where this one is.

        `output_tensor_name` are the outputs of the first kind; none: all. The file is there whole or as it was before.

        Raises RuntimeError for a file that cannot be written, and for names that the graph does not have."""
        path = _written(model_file)
        quantization = checked("quantization_type", quantization_type, QuantizationType).value
        checked("export_inference_only", export_inference_only, bool)
        outputs = strings("output_tensor_name", output_tensor_name)
        self._workers.run(lambda model: model.export_model(path, quantization, export_inference_only, outputs))

    def export_weights_collaborate_with_micro(
        self,
        weight_file: Path,
        is_inference: bool = True,
        enable_fp16: bool = False,
        changeable_weights_name: Sequence[str] = (),
    ) -> None:
        """Writes the weights as inference reads them now, as net<i>.bin of C that `mslite-codegen` has made with
        `keep_original_weight` of the inference model that `export_model` writes. `enable_fp16` writes float16, half of the
        bytes; `changeable_weights_name` must be what the C was made with.

        Raises RuntimeError for `is_inference=False`, for names of no float32 weights, for weights beyond float16, and for a
        file that cannot be written."""
        path = _written(weight_file)
        checked("is_inference", is_inference, bool)
        checked("enable_fp16", enable_fp16, bool)
        names = strings("changeable_weights_name", changeable_weights_name)
        self._workers.run(lambda model: model.export_micro_weights(path, is_inference, enable_fp16, names))

    def export_adapter(self, adapter_file: Path) -> None:
        """Writes what low-rank adapters (`lora_rank` of `converter_lite --trainModel`) have learned, and nothing of their base, to
        a `.ms` file for `load_adapter`; the path as in `export_model`.

        Raises RuntimeError for a model without adapters, and for a file that cannot be written."""
        path = _written(adapter_file)
        self._workers.run(lambda model: model.export_adapter(path))

    def _check_trains(self) -> None:
        if not self._path:
            raise RuntimeError("the model is not built")
        if not self._trains:
            raise RuntimeError("the model is built for inference; give build_from_file a train_cfg")

    def _copies(self, ask: Callable[[_runtime.Model], list[Any]]) -> list[Tensor]:
        self._check_trains()
        return [tensor_of(meta_of(meta), array) for meta, array in self._workers.run(ask)]


def _written(file: Path) -> str:
    """The path of a file to write. Raises TypeError for what is no path, ValueError for a name that no file can have."""
    path = os.fsdecode(file)
    if "\0" in path:
        raise ValueError("the name of a file cannot hold a null character")
    return path


def _number(name: str, value: Any) -> float:
    """The value as a float. Raises TypeError when it is not a number, ValueError when float32 has none for it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be float, not {type(value).__name__}")
    if not abs(value) <= _LARGEST:
        raise ValueError(f"{name} must be finite in float32, not {str(value)[:40]}")
    return float(value)


def _native(name: str, tensors: Sequence[Tensor]) -> list[Any]:
    """Named tensors as the native module takes them. Raises TypeError for anything else."""
    if not isinstance(tensors, list | tuple) or not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise TypeError(f"{name} must be a list of Tensor")
    return [native_input(tensor) for tensor in tensors]


__all__ = ["MixPrecisionCfg", "TrainCfg", "Trainable"]
