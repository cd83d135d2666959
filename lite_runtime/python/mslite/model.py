"""Model: loads and runs a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mslite import _runtime
from mslite.context import Context, native_settings
from mslite.predictor import Path, model_file
from mslite.settings import checked, pluralized, sections
from mslite.tensor import Tensor, native_input, sizes_of
from mslite.training import Trainable, TrainCfg, native_train_cfg
from mslite.types import ModelType
from mslite.workers import Workers

Config = dict[str, dict[str, str]]


def checked_key(name: str, key: bytes | None) -> bytes:
    """Returns the key, or b"" for None. Raises TypeError or ValueError if it is not an AES key."""
    if key is None:
        return b""
    if not isinstance(key, bytes):
        raise TypeError(f"{name} must be bytes, not {type(key).__name__}")
    if len(key) not in (16, 24, 32):
        raise ValueError(f"{name} must have 16, 24 or 32 bytes, not {len(key)}")
    return key


class Placement(NamedTuple):
    """The backend that runs a node of the file."""

    node: str
    op: str
    engine: str
    """The backend: "CPU", or the backend with its device, as in "OpenCL (...)"."""
    part: int
    """Index of the partition on the backend that the node belongs to; -1 for the CPU."""
    reason: str
    """Why no backend runs the node; "" if one does."""
    flops: int
    """Floating-point operations of one run; a multiply-add counts as two. 0 if shapes are unknown."""


class Model(Trainable):
    """A model that is built from a `.ms` file for the devices of a context. Calls on one model run one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._model = _runtime.Model()
        self._workers = Workers([self._model])

    def build_from_file(
        self,
        model_path: Path,
        model_type: ModelType,
        context: Context | None = None,
        config_path: str = "",
        config_dict: Config | None = None,
        dec_key: bytes | None = None,
        dec_mode: str = "AES-GCM",
        dec_num_parallel: int = 0,
        train_cfg: TrainCfg | None = None,
    ) -> None:
        """Loads and plans the model. The file is mapped into memory and must not change while the model exists.

        `dec_key` is the key of an encrypted file, 16, 24 or 32 bytes; `dec_mode` is "AES-GCM". `dec_num_parallel` has no
        effect. With a `train_cfg` (mslite extension), the model is built for training and starts in evaluation mode; see
        `set_train_mode`.

        Raises TypeError and ValueError for wrong arguments, RuntimeError for a model that cannot be built. The error lists
        all unsupported nodes."""
        if not isinstance(model_type, ModelType):
            raise TypeError(
                f"model_type must be a ModelType such as mslite.ModelType.MINDIR_LITE, not {type(model_type).__name__}"
            )
        checked("config_path", config_path, str)
        config = sections("config_dict", config_dict or {})
        key = checked_key("dec_key", dec_key)
        checked("dec_mode", dec_mode, str)
        path, settings = model_file(model_path), native_settings(context)
        training = None if train_cfg is None else native_train_cfg(train_cfg)

        def build(model: _runtime.Model) -> None:
            if training is None:
                model.build(path, model_type.value, settings, config_path, config, key, dec_mode)
            else:
                model.build_for_training(path, model_type.value, settings, training, config_path, config, key, dec_mode)
            self._describe(model)

        self._workers.run(build)
        self._path, self._trains = path, training is not None

    def build_transfer_learning(
        self,
        backbone: Path,
        head: Path,
        model_type: ModelType,
        context: Context | None = None,
        train_cfg: TrainCfg | None = None,
    ) -> None:
        """Builds a model for training from a backbone and a head.

        The backbone is a model for inference, which may be quantized; its weights are frozen. The head is a training model.
        Each output of the backbone is connected to the first input of the head with the same type and shape (NCHW or NHWC).
        The inputs of the model are those of the backbone, followed by the unconnected inputs of the head. mslite extension.

        Raises TypeError for wrong arguments, RuntimeError for models that cannot be built or connected."""
        if not isinstance(model_type, ModelType):
            raise TypeError(
                f"model_type must be a ModelType such as mslite.ModelType.MINDIR_LITE, not {type(model_type).__name__}"
            )
        paths, settings = (model_file(backbone), model_file(head)), native_settings(context)
        training = native_train_cfg(TrainCfg() if train_cfg is None else train_cfg)

        def build(model: _runtime.Model) -> None:
            model.build_transfer_learning(*paths, model_type.value, settings, training)
            self._describe(model)

        self._workers.run(build)
        self._path, self._trains = paths[1], True

    def resize(self, inputs: Sequence[Tensor], dims: Sequence[Sequence[int]]) -> None:
        """Plans the model for new input shapes. `inputs` are all or some tensors of `get_inputs`, which are matched by name.
        Their shapes are set; data of another shape is dropped. Outputs of earlier runs do not change.

        Raises TypeError and ValueError for wrong arguments, RuntimeError if the model does not support the shapes or was
        converted for other sizes. On failure, the model and `inputs` keep the old shapes."""
        self._check_built()
        for name, value in (("inputs", inputs), ("dims", dims)):
            if not isinstance(value, list | tuple):
                raise TypeError(f"{name} must be a list, not {type(value).__name__}")
        if not inputs or len(inputs) != len(dims) or len(inputs) > len(self._inputs):
            raise ValueError(
                f"the model has {pluralized(len(self._inputs), 'input')}; {pluralized(len(inputs), 'tensor')} and "
                f"{pluralized(len(dims), 'shape')} were given"
            )
        shapes = [sizes_of("a shape of dims", shape) for shape in dims]
        places = [self._place(tensor, position, len(inputs)) for position, tensor in enumerate(inputs)]
        if len(set(places)) != len(places):
            raise ValueError("the list contains an input twice")

        def resized(model: _runtime.Model) -> None:
            model.resize(places, shapes)
            self._describe(model)

        self._workers.run(resized)
        for tensor, shape in zip(inputs, shapes, strict=True):
            tensor.shape = shape

    def _place(self, tensor: Tensor, position: int, count: int) -> int:
        """Returns the index of the input that a tensor is for: by its name, or by its position if all inputs are given."""
        if not isinstance(tensor, Tensor):
            raise TypeError(f"inputs must be a list of Tensor, not of {type(tensor).__name__}")
        names = [meta.name for meta in self._inputs]
        if names.count(tensor.name) == 1:
            return names.index(tensor.name)
        if count != len(names):
            raise ValueError(f"the model has no input '{tensor.name}'")
        return position

    def update_weights(self, weights: Sequence[Sequence[Tensor]]) -> None:
        """Replaces the values of constants with others of the same type and size. The model is planned again, which takes as
        long as a build.

        `weights` are lists of named tensors; the grouping into lists has no effect. Names are those of the `.ms` file, which
        `mslite-show` prints; the converter may have folded weights of the source model into others. Variables are set to
        their initial values.

        Raises TypeError and ValueError for wrong arguments, RuntimeError for an unknown name, or another type or size. On
        failure, the old weights stay."""
        if not isinstance(weights, list | tuple) or not all(isinstance(part, list | tuple) for part in weights):
            raise TypeError("weights must be a list of lists of tensors")
        tensors = [tensor for part in weights for tensor in part]
        if not all(isinstance(tensor, Tensor) for tensor in tensors):
            raise TypeError("weights must be lists of mslite.Tensor")
        if not tensors:
            raise ValueError("weights contains no tensor")
        native = [native_input(tensor) for tensor in tensors]

        def update(model: _runtime.Model) -> None:
            model.update_weights(native)

        self._workers.run(update)

    def load_adapter(self, adapter_path: Path) -> None:
        """Loads a low-rank adapter (LoRA) that `export_adapter` has written. It replaces the previous adapter.

        The first adapter for a set of weights and ranks plans the model again, which takes as long as a build; later ones are
        copied. Models of one file share its weights also with different adapters. The adapter file must not change while it
        is loaded. mslite extension.

        Raises RuntimeError for a file that is not an adapter of this model; the previous adapter stays."""
        path = model_file(adapter_path)
        self._workers.run(lambda model: model.load_adapter(path))

    def unload_adapter(self) -> None:
        """Removes the adapter: the model computes the same results as before the first adapter. mslite extension."""
        self._workers.run(lambda model: model.unload_adapter())

    def get_model_info(self, key: str) -> str:
        """Returns information about the model. It always returns "": `.ms` files contain none."""
        return self._model.info(checked("key", key, str))

    def workspace_bytes(self) -> int:
        """Returns the size of the arena for the current shapes: bytes of activations and scratch buffers. mslite extension.

        Raises RuntimeError if the model is not built."""
        self._check_built()
        return self._workers.run(lambda model: model.workspace_bytes())

    def placements(self) -> list[Placement]:
        """Returns the backend of each node in the order of the main graph, and the reason if the CPU runs it: the node is
        unsupported, or the GPU is missing. Empty if the context has no GPU. mslite extension.

        Raises RuntimeError if the model is not built."""
        self._check_built()
        return self._workers.run(lambda model: [Placement(*placed) for placed in model.placements()])


__all__ = ["Model", "Placement"]
