"""Training of models. MindSpore Lite has no Python API for training; the names are those of its C++ API."""

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
"""The largest float32: the runtime stores these settings as float32."""


class MixPrecisionCfg(Settings):
    """Settings of mixed precision: loss scaling. Wrong types raise TypeError, wrong values ValueError."""

    _names = ("dynamic_loss_scale", "loss_scale", "num_of_not_nan_iter_th", "is_raw_mix_precision")

    def __init__(self) -> None:
        usual = _runtime.TrainCfg()
        self._dynamic_loss_scale: bool = usual.dynamic_loss_scale
        self._loss_scale: float = usual.loss_scale
        self._num_of_not_nan_iter_th: int = usual.num_of_not_nan_iter_th
        self._is_raw_mix_precision: bool = usual.is_raw_mix_precision

    @property
    def dynamic_loss_scale(self) -> bool:
        """Whether `loss_scale` is halved (to at least 1) after an overflow of float16 in a gradient, and doubled (to at most
        65536) after `num_of_not_nan_iter_th` steps without an overflow."""
        return self._dynamic_loss_scale

    @dynamic_loss_scale.setter
    def dynamic_loss_scale(self, dynamic: bool) -> None:
        self._dynamic_loss_scale = checked("dynamic_loss_scale", dynamic, bool)

    @property
    def loss_scale(self) -> float:
        """The factor of the loss in the backward pass; above 0. Gradients are divided by it afterwards."""
        return self._loss_scale

    @loss_scale.setter
    def loss_scale(self, scale: float) -> None:
        if isinstance(scale, int | float) and not 0 < scale <= _LARGEST:
            raise ValueError(f"loss_scale must be above 0, not {scale}")
        self._loss_scale = _number("loss_scale", scale)

    @property
    def num_of_not_nan_iter_th(self) -> int:
        """Number of consecutive steps without an overflow after which a dynamic loss scale is doubled."""
        return self._num_of_not_nan_iter_th

    @num_of_not_nan_iter_th.setter
    def num_of_not_nan_iter_th(self, steps: int) -> None:
        self._num_of_not_nan_iter_th = integer("num_of_not_nan_iter_th", steps, 1)

    @property
    def is_raw_mix_precision(self) -> bool:
        """Whether the data types of the model file are used, without additional float16 rounding or loss scaling. For files
        that MindSpore has written with mixed precision."""
        return self._is_raw_mix_precision

    @is_raw_mix_precision.setter
    def is_raw_mix_precision(self, raw: bool) -> None:
        self._is_raw_mix_precision = checked("is_raw_mix_precision", raw, bool)


class TrainCfg(Settings):
    """Settings of training. Wrong types raise TypeError, wrong values ValueError."""

    _names = ("optimization_level", "mix_precision_cfg", "loss_name", "accumulate_gradients", "keep_gradients")

    def __init__(self) -> None:
        self._optimization_level = OptimizationLevel.O0
        self._mix_precision_cfg = MixPrecisionCfg()
        self._loss_name = list(_runtime.TrainCfg().loss_name)
        self._accumulate_gradients = False
        self._keep_gradients = True

    @property
    def optimization_level(self) -> OptimizationLevel:
        """The precision of training. O0: float32. O2: float16, except batch normalization, losses and optimizers. O3:
        batch normalization is float16 too. AUTO: O2 if the context enables float16 and the processor supports it, else O0."""
        return self._optimization_level

    @optimization_level.setter
    def optimization_level(self, level: OptimizationLevel) -> None:
        self._optimization_level = checked("optimization_level", level, OptimizationLevel)

    @property
    def mix_precision_cfg(self) -> MixPrecisionCfg:
        """Settings of loss scaling, for levels other than O0."""
        return self._mix_precision_cfg

    @mix_precision_cfg.setter
    def mix_precision_cfg(self, config: MixPrecisionCfg) -> None:
        self._mix_precision_cfg = checked("mix_precision_cfg", config, MixPrecisionCfg)

    @property
    def loss_name(self) -> list[str]:
        """Parts of node names that identify losses. In training mode, the outputs of these nodes are the outputs of the
        model; in evaluation mode, their inputs are."""
        return list(self._loss_name)

    @loss_name.setter
    def loss_name(self, fragments: Sequence[str]) -> None:
        self._loss_name = strings("loss_name", fragments)

    @property
    def accumulate_gradients(self) -> bool:
        """Whether steps accumulate gradients without updating the weights. `apply_gradients` updates the weights."""
        return self._accumulate_gradients

    @accumulate_gradients.setter
    def accumulate_gradients(self, accumulate: bool) -> None:
        self._accumulate_gradients = checked("accumulate_gradients", accumulate, bool)

    @property
    def keep_gradients(self) -> bool:
        """Whether gradients are kept for `get_gradients`. If False, the memory of each gradient is reused after its weight
        has been updated; losses and weights are bit-identical. Accumulated gradients (virtual batches,
        `accumulate_gradients`) are always kept."""
        return self._keep_gradients

    @keep_gradients.setter
    def keep_gradients(self, keep: bool) -> None:
        self._keep_gradients = checked("keep_gradients", keep, bool)


def native_train_cfg(config: TrainCfg) -> _runtime.TrainCfg:
    """Converts a TrainCfg to the type of the native module. Raises TypeError for other types."""
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
    """The methods of models that are built with a TrainCfg. Such a model starts in evaluation mode; see `set_train_mode`.

    All methods raise RuntimeError if the model is not built for training, and TypeError or ValueError for wrong
    arguments."""

    def __init__(self) -> None:
        super().__init__()
        self._trains = False

    def set_train_mode(self, train: bool) -> None:
        """Switches between training mode, in which a run is a training step, and evaluation mode, in which a run is an
        inference with the current weights."""
        checked("train", train, bool)

        def choose(model: _runtime.Model) -> None:
            model.set_train_mode(train)
            self._describe(model)

        self._workers.run(choose)

    def get_train_mode(self) -> bool:
        """Returns True in training mode. False if the model is built for inference."""
        return self._workers.run(lambda model: model.train_mode())

    def run_step(self, inputs: Sequence[Input]) -> list[Tensor]:
        """Runs one training step: forward pass, backward pass and update of the weights. Returns the losses.

        Raises the errors of `predict`, and RuntimeError in evaluation mode."""
        self._check_trains()
        if not self.get_train_mode():
            raise RuntimeError("the model is in evaluation mode; call set_train_mode(True) before run_step")
        return self.predict(inputs)

    def get_gradients(self) -> list[Tensor]:
        """Returns copies of the gradients of the last step, or of their accumulated sums: one for each weight, in the order
        of `get_trainable_params`. Empty before the first step, and for models that were converted with `--trainMemory`
        unless gradients are accumulated."""
        return self._copies(lambda model: model.gradients())

    def apply_gradients(self, gradients: Sequence[Tensor]) -> None:
        """Updates the weights with the given gradients. There must be one for each weight; they are matched by name.
        Accumulated gradients are reset."""
        native = _native("gradients", gradients)
        self._workers.run(lambda model: model.apply_gradients(native))

    def get_trainable_params(self) -> list[Tensor]:
        """Returns copies of the trainable parameters, in the order of the optimizers."""
        return self._copies(lambda model: model.trainable_params())

    def get_feature_maps(self) -> list[Tensor]:
        """Returns copies of the current weights that are used in evaluation mode."""
        return self._copies(lambda model: model.feature_maps())

    def update_feature_maps(self, weights: Sequence[Tensor]) -> None:
        """Replaces the values of weights, which are matched by name. Types and sizes must be equal. On failure, no weight
        changes."""
        native = _native("weights", weights)
        self._workers.run(lambda model: model.update_feature_maps(native))

    def get_optimizer_params(self) -> list[Tensor]:
        """Returns copies of the hyperparameters of the optimizers: learning rate, momentum and others."""
        return self._copies(lambda model: model.optimizer_params())

    def set_optimizer_params(self, params: Sequence[Tensor]) -> None:
        """Sets hyperparameters of the optimizers, which are matched by name."""
        native = _native("params", params)
        self._workers.run(lambda model: model.set_optimizer_params(native))

    def get_learning_rate(self) -> float:
        """Returns the learning rate of the first optimizer; 0 if the graph computes it."""
        self._check_trains()
        return self._workers.run(lambda model: model.learning_rate())

    def set_learning_rate(self, learning_rate: float) -> None:
        """Sets the learning rate of all optimizers."""
        rate = _number("learning_rate", learning_rate)
        self._workers.run(lambda model: model.set_learning_rate(rate))

    def setup_virtual_batch(
        self, virtual_batch_multiplier: int, learning_rate: float = -1.0, momentum: float = -1.0
    ) -> None:
        """Accumulates gradients: the weights are updated once in `virtual_batch_multiplier` steps, with the sum of the
        gradients. A value of 1 or less turns this off and restores the previous learning rate.

        `momentum` is that of batch normalization: the weight of a step in the running statistics. If `learning_rate` or
        `momentum` is negative, the current value divided by the multiplier is used."""
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
        """Writes the model with its current weights to a `.ms` file. The suffix is added if it is missing.

        The file has the inference graph with the outputs `output_tensor_name` (if empty, all outputs). With
        `export_inference_only=False`, it has the training graph and the optimizer state, and training can continue. The
        file is replaced atomically.

        Raises RuntimeError for a file that cannot be written, and for unknown names."""
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
        """Writes the current inference weights as a weight file net<i>.bin of generated C. `mslite-codegen` must have
        generated the C with `keep_original_weight` from the inference model that `export_model` writes. `enable_fp16` stores
        weights as float16. `changeable_weights_name` must be the same as for `mslite-codegen`.

        Raises RuntimeError for `is_inference=False`, for names that are not those of float32 weights, for weights outside the
        range of float16, and for a file that cannot be written."""
        path = _written(weight_file)
        checked("is_inference", is_inference, bool)
        checked("enable_fp16", enable_fp16, bool)
        names = strings("changeable_weights_name", changeable_weights_name)
        self._workers.run(lambda model: model.export_micro_weights(path, is_inference, enable_fp16, names))

    def export_adapter(self, adapter_file: Path) -> None:
        """Writes the trained low-rank adapters (`lora_rank` of `converter_lite --trainModel`), without the other weights, to a
        `.ms` file for `load_adapter`. The suffix is added if it is missing.

        Raises RuntimeError for a model without adapters, and for a file that cannot be written."""
        path = _written(adapter_file)
        self._workers.run(lambda model: model.export_adapter(path))

    def _check_trains(self) -> None:
        if not self._path:
            raise RuntimeError("the model is not built")
        if not self._trains:
            raise RuntimeError("the model is built for inference; pass a train_cfg to build_from_file")

    def _copies(self, ask: Callable[[_runtime.Model], list[Any]]) -> list[Tensor]:
        self._check_trains()
        return [tensor_of(meta_of(meta), array) for meta, array in self._workers.run(ask)]


def _written(file: Path) -> str:
    """Returns the path of a file to write. Raises TypeError if it is not a path, ValueError for an invalid name."""
    path = os.fsdecode(file)
    if "\0" in path:
        raise ValueError("the file name contains a null character")
    return path


def _number(name: str, value: Any) -> float:
    """Returns the value as a float. Raises TypeError if it is not a number, ValueError if it is outside float32."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be float, not {type(value).__name__}")
    if not abs(value) <= _LARGEST:
        raise ValueError(f"{name} must be finite in float32, not {str(value)[:40]}")
    return float(value)


def _native(name: str, tensors: Sequence[Tensor]) -> list[Any]:
    """Converts tensors to the form of the native module. Raises TypeError for other types."""
    if not isinstance(tensors, list | tuple) or not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise TypeError(f"{name} must be a list of Tensor")
    return [native_input(tensor) for tensor in tensors]


__all__ = ["MixPrecisionCfg", "TrainCfg", "Trainable"]
