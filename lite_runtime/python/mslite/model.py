"""Models that run."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

import numpy as np

from mslite import _runtime
from mslite.context import Context, native_settings
from mslite.tensor import Array, Tensor, TensorMeta, meta_of, native_input, tensor_of
from mslite.types import ModelType, data_type_of

Path = str | os.PathLike[str]
Config = dict[str, dict[str, str]]


def _file(model_path: Path) -> str:
    path = os.fspath(model_path)
    if not isinstance(path, str):
        raise TypeError(f"model_path must be a str, not {type(path).__name__}")
    if not os.path.isfile(path):
        raise RuntimeError(f"model file '{path}' does not exist")
    return path


def _predict(
    model: _runtime.Model | _runtime.ModelParallelRunner,
    metas: Sequence[TensorMeta],
    inputs: Sequence[Tensor | Array],
    outputs: Sequence[Tensor] | None,
) -> list[Tensor]:
    if len(inputs) != len(metas):
        raise ValueError(f"the model has {len(metas)} inputs, {len(inputs)} were given")
    native = []
    for meta, given in zip(metas, inputs, strict=True):
        tensor = given
        if isinstance(given, np.ndarray):
            if data_type_of(given) != meta.dtype:
                raise TypeError(f"input '{meta.name}' holds {meta.dtype.name}, the array {given.dtype}")
            tensor = Tensor(given)
        if not isinstance(tensor, Tensor):
            raise TypeError(f"input '{meta.name}' must be a Tensor or a NumPy array, not {type(given).__name__}")
        native.append(native_input(tensor, meta.name))
    targets = None if outputs is None else [native_input(output) for output in outputs]
    return [tensor_of(meta, array) for meta, array in model.predict(native, targets)]


class Model:
    """A `.ms` file built for the CPU. Calls on one model take turns."""

    def __init__(self) -> None:
        self._model = _runtime.Model()
        self._path = ""
        self._turn = threading.Lock()

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
    ) -> None:
        """Loads and plans the model; the file is mapped into memory and must not change while the model lives.

        Raises TypeError and ValueError for wrong arguments, RuntimeError for a model that cannot be built, with every
        node that is not supported."""
        if not isinstance(model_type, ModelType):
            raise TypeError(f"model_type must be a ModelType, not {type(model_type).__name__}")
        if dec_key is not None:
            raise ValueError("dec_key: encrypted models are not supported")
        self._model.build(_file(model_path), model_type.value, native_settings(context), config_path, config_dict or {})
        self._path = os.fspath(model_path)

    def get_inputs(self) -> list[Tensor]:
        """Tensors for the inputs, without contents: fill them and hand them to `predict`."""
        return [Tensor(meta_of(meta)) for meta in self._model.inputs()]

    def get_outputs(self) -> tuple[TensorMeta, ...]:
        """What is known of the outputs before a run."""
        return tuple(meta_of(meta) for meta in self._model.outputs())

    def predict(self, inputs: Sequence[Tensor | Array], outputs: Sequence[Tensor] | None = None) -> list[Tensor]:
        """Runs the model and returns its outputs, which are the caller's to keep.

        `inputs` are in the order of `get_inputs`. The contents of `outputs`, where given, are written in place. The
        GIL is released. Raises TypeError, ValueError, or RuntimeError with the runtime's reason."""
        metas = [meta_of(meta) for meta in self._model.inputs()]
        with self._turn:  # outputs of unknown size are the model's own memory until they are copied
            return _predict(self._model, metas, inputs, outputs)

    def resize(self, inputs: Sequence[Tensor], dims: Sequence[Sequence[int]]) -> None:
        """Plans for new input shapes; `inputs` are those of `get_inputs` and get the new shapes too.

        Raises ValueError for wrong counts, RuntimeError when the model cannot take the shapes (the old ones stay)."""
        count = len(self._model.inputs())
        if len(inputs) != count or len(dims) != count:
            raise ValueError(f"the model has {count} inputs; {len(inputs)} tensors and {len(dims)} shapes were given")
        self._model.resize([[int(size) for size in shape] for shape in dims])
        for tensor, shape in zip(inputs, dims, strict=True):
            tensor.shape = list(shape)

    def update_weights(self, weights: Sequence[Sequence[Tensor]]) -> None:
        """Not supported: raises RuntimeError."""
        raise RuntimeError("update_weights is not supported: weights are packed when the model is built")

    def get_model_info(self, key: str) -> str:
        """A fact that is stored with the model; empty when there is none of that name."""
        return self._model.info(key)

    def __repr__(self) -> str:
        return f"Model({self._path!r})"


class ModelParallelRunner:
    """Runs many requests at once over one set of packed weights."""

    def __init__(self) -> None:
        self._runner = _runtime.ModelParallelRunner()
        self._path = ""

    def build_from_file(self, model_path: Path, context: Context | None = None) -> None:
        """Loads the model for `context.parallel.workers_num` requests at a time. Raises as Model.build_from_file."""
        parallel = (context or Context()).parallel
        self._runner.build(
            _file(model_path),
            native_settings(context),
            parallel.workers_num,
            parallel.config_path,
            parallel.config_info,
        )
        self._path = os.fspath(model_path)

    def get_inputs(self) -> list[Tensor]:
        """Tensors for the inputs, without contents."""
        return [Tensor(meta_of(meta)) for meta in self._runner.inputs()]

    def get_outputs(self) -> tuple[TensorMeta, ...]:
        """What is known of the outputs before a run."""
        return tuple(meta_of(meta) for meta in self._runner.outputs())

    def predict(self, inputs: Sequence[Tensor | Array], outputs: Sequence[Tensor] | None = None) -> list[Tensor]:
        """As Model.predict; may be called from many threads."""
        metas = [meta_of(meta) for meta in self._runner.inputs()]
        return _predict(self._runner, metas, inputs, outputs)

    def __repr__(self) -> str:
        return f"ModelParallelRunner({self._path!r})"


__all__ = ["Model", "ModelParallelRunner"]
