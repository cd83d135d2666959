"""Models that run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mslite import _runtime
from mslite.context import Context, native_settings
from mslite.predictor import Path, model_file
from mslite.settings import checked, counted, sections
from mslite.tensor import Tensor, native_input, sizes_of
from mslite.training import Trainable, TrainCfg, native_train_cfg
from mslite.types import ModelType
from mslite.workers import Workers

Config = dict[str, dict[str, str]]


def checked_key(name: str, key: bytes | None) -> bytes:
    """The key, empty where there is none. Raises TypeError and ValueError for what is no key of AES."""
    if key is None:
        return b""
    if not isinstance(key, bytes):
        raise TypeError(f"{name} must be bytes, not {type(key).__name__}")
    if len(key) not in (16, 24, 32):
        raise ValueError(f"{name} must have 16, 24 or 32 bytes, not {len(key)}")
    return key


class Placement(NamedTuple):
    """Where a node of the file runs."""

    node: str
    op: str
    engine: str
    """"CPU", or the engine and its device: "OpenCL (...)"."""
    part: int
    """Which of the engine's parts the node belongs to; -1: of none."""
    reason: str
    """Why no engine runs it; "" where one does."""
    flops: int
    """Floating-point operations of one run; a multiply-add counts as two. 0 where shapes are open."""


class Model(Trainable):
    """A `.ms` file built for the devices of a context. Calls on one model take turns."""

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
        """Loads and plans the model; the file is mapped into memory and must not change while the model lives.

        `dec_key`, 16, 24 or 32 bytes, is the key of an encrypted file; `dec_mode` is "AES-GCM". Blocks are decrypted one
        after the other, whatever `dec_num_parallel` says. With a `train_cfg` (beyond MindSpore Lite) the file is a training
        model: it evaluates until `set_train_mode(True)`.

        Raises TypeError and ValueError for wrong arguments, RuntimeError for a model that cannot be built, with every
        node that is not supported."""
        if not isinstance(model_type, ModelType):
            raise TypeError(
                f"model_type must be a ModelType, as mslite.ModelType.MINDIR_LITE, not {type(model_type).__name__}"
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
        """Builds a training model, `head`, behind a model for inference that does not learn and may be quantized.

        Each output of the backbone becomes the first input of the head that has its type and shape (its channels may be in
        the other place); inputs are those of the backbone, then what is left of the head's. All else is as in a build with
        a `train_cfg`. Beyond MindSpore Lite's Python API.

        Raises TypeError for wrong arguments, RuntimeError for models that cannot be built, or do not go together."""
        if not isinstance(model_type, ModelType):
            raise TypeError(
                f"model_type must be a ModelType, as mslite.ModelType.MINDIR_LITE, not {type(model_type).__name__}"
            )
        paths, settings = (model_file(backbone), model_file(head)), native_settings(context)
        training = native_train_cfg(TrainCfg() if train_cfg is None else train_cfg)

        def build(model: _runtime.Model) -> None:
            model.build_transfer_learning(*paths, model_type.value, settings, training)
            self._describe(model)

        self._workers.run(build)
        self._path, self._trains = paths[1], True

    def resize(self, inputs: Sequence[Tensor], dims: Sequence[Sequence[int]]) -> None:
        """Plans for new input shapes. `inputs` are tensors of `get_inputs`, all or some, found by their names; they get
        the new shapes, and lose contents of another shape. Outputs of earlier runs stay as they are.

        Raises TypeError and ValueError for wrong arguments, RuntimeError when the model cannot take the shapes, or was
        converted for other sizes: then it and `inputs` have the old ones."""
        self._check_built()
        for name, value in (("inputs", inputs), ("dims", dims)):
            if not isinstance(value, list | tuple):
                raise TypeError(f"{name} must be a list, not {type(value).__name__}")
        if not inputs or len(inputs) != len(dims) or len(inputs) > len(self._inputs):
            raise ValueError(
                f"the model has {counted(len(self._inputs), 'input')}; {counted(len(inputs), 'tensor')} and "
                f"{counted(len(dims), 'shape')} were given"
            )
        shapes = [sizes_of("a shape of dims", shape) for shape in dims]
        places = [self._place(tensor, position, len(inputs)) for position, tensor in enumerate(inputs)]
        if len(set(places)) != len(places):
            raise ValueError("an input stands twice in the list")

        def resized(model: _runtime.Model) -> None:
            model.resize(places, shapes)
            self._describe(model)

        self._workers.run(resized)
        for tensor, shape in zip(inputs, shapes, strict=True):
            tensor.shape = shape

    def _place(self, tensor: Tensor, position: int, count: int) -> int:
        """Which input a tensor is: by its name, or by its position in a list of all of them."""
        if not isinstance(tensor, Tensor):
            raise TypeError(f"inputs must be a list of Tensor, not of {type(tensor).__name__}")
        names = [meta.name for meta in self._inputs]
        if names.count(tensor.name) == 1:
            return names.index(tensor.name)
        if count != len(names):
            raise ValueError(f"the model has no input '{tensor.name}'")
        return position

    def update_weights(self, weights: Sequence[Sequence[Tensor]]) -> None:
        """Gives constants of the file other contents of the same type and size, and plans again: as long as a build.

        `weights` are lists of named tensors; here they count together. Names are those of the `.ms` file (`mslite-show`);
        the converter folds some of the source's weights into others. Variables get their first values again.

        Raises TypeError and ValueError for wrong arguments, RuntimeError for a name that is no constant's, or another type
        or size: then the old weights stay."""
        if not isinstance(weights, list | tuple) or not all(isinstance(part, list | tuple) for part in weights):
            raise TypeError("weights must be a list of lists of tensors")
        tensors = [tensor for part in weights for tensor in part]
        if not all(isinstance(tensor, Tensor) for tensor in tensors):
            raise TypeError("weights must be lists of mslite.Tensor")
        if not tensors:
            raise ValueError("weights holds no tensor")
        native = [native_input(tensor) for tensor in tensors]

        def update(model: _runtime.Model) -> None:
            model.update_weights(native)

        self._workers.run(update)

    def load_adapter(self, adapter_path: Path) -> None:
        """Lets products of the model add what a low-rank adapter (`export_adapter`) has learned, in place of the adapter before.

        The first one plans again, as long as a build; the next ones of its weights and ranks are copied into their places. Models
        of one file with such adapters share the file's weights. The adapter's file must not change while it is loaded. Beyond
        MindSpore Lite.

        Raises RuntimeError for a file that is no adapter of this model; the adapter before stays then."""
        path = model_file(adapter_path)
        self._workers.run(lambda model: model.load_adapter(path))

    def unload_adapter(self) -> None:
        """Lets the model compute what it did without an adapter. Beyond MindSpore Lite."""
        self._workers.run(lambda model: model.unload_adapter())

    def get_model_info(self, key: str) -> str:
        """A fact that is stored with the model; empty when there is none of that name."""
        return self._model.info(checked("key", key, str))

    def workspace_bytes(self) -> int:
        """Bytes of activations, and of what operators need besides, for the present shapes. Beyond MindSpore Lite.

        Raises RuntimeError while the model is not built."""
        self._check_built()
        return self._workers.run(lambda model: model.workspace_bytes())

    def placements(self) -> list[Placement]:
        """Which engine runs which node, in the order of the main graph, and why the CPU runs one: also where the GPU that the
        context asks for is missing. Empty where no GPU was asked. Beyond MindSpore Lite.

        Raises RuntimeError while the model is not built."""
        self._check_built()
        return self._workers.run(lambda model: [Placement(*placed) for placed in model.placements()])


__all__ = ["Model", "Placement"]
