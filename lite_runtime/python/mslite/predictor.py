"""Predictor: the base class of models and runners, with synchronous and asynchronous inference."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mslite import _runtime
from mslite.meta import Meta, TensorMeta, meta_of, text_of
from mslite.settings import integer, pluralized
from mslite.tensor import Array, Input, Tensor, contiguous, native_input, tensor_of
from mslite.types import DataType, cast_to, data_type_of
from mslite.workers import Workers, ask

Path = str | os.PathLike[str]
_Native = list[tuple[Meta, Array]]


def model_file(model_path: Path) -> str:
    """Returns the path as a str. Raises TypeError if it is not a path, RuntimeError if the file does not exist."""
    path = os.fspath(model_path) if isinstance(model_path, os.PathLike) else model_path
    if not isinstance(path, str):
        raise TypeError(f"model_path must be a str, not {type(path).__name__}")
    if not os.path.isfile(path):
        raise RuntimeError(f"model file '{path}' does not exist")
    return path


class Predictor:
    """Runs requests on native models in the order of their arrival."""

    _what = "model"

    def __init__(self) -> None:
        self._workers = Workers([])
        self._path = ""
        self._inputs: list[TensorMeta] = []
        self._outputs: list[TensorMeta] = []

    def _check_built(self) -> None:
        """Raises RuntimeError if no model is built."""
        if not self._path:
            raise RuntimeError(f"the {self._what} is not built; call build_from_file first")

    def _describe(self, model: _runtime.Model) -> None:
        """Stores the names, types and shapes of the model's tensors. No other thread may use the model."""
        self._inputs = [meta_of(meta) for meta in model.inputs()]
        self._outputs = [meta_of(meta) for meta in model.outputs()]

    def get_inputs(self) -> list[Tensor]:
        """Returns tensors without data for the inputs, which are filled and passed to `predict`.

        Raises RuntimeError if the model is not built."""
        self._check_built()
        return [Tensor(meta) for meta in self._inputs]

    def get_outputs(self) -> tuple[TensorMeta, ...]:
        """Returns names, types and shapes of the outputs: those of the last run, or the planned ones before the first run.

        Raises RuntimeError if the model is not built."""
        self._check_built()
        return tuple(TensorMeta(meta.name, meta.dtype, meta.shape, meta.format) for meta in self._outputs)

    def predict(self, inputs: Sequence[Input], outputs: Sequence[Tensor | Array] | None = None) -> list[Tensor]:
        """Runs the model and returns its outputs. Later runs do not change them.

        `inputs` are in the order of `get_inputs`: tensors, NumPy arrays, or objects with `__dlpack__`. C-contiguous memory is
        read without a copy. `outputs` is optional: tensors or arrays with the types and shapes of the results, to whose
        memory the results are written. The GIL is released. Calls from several threads run in the order of their arrival.

        Raises TypeError and ValueError for wrong arguments, RuntimeError if the run fails."""
        return self._workers.run(self._work(inputs, outputs))

    async def predict_async(
        self, inputs: Sequence[Input], outputs: Sequence[Tensor | Array] | None = None
    ) -> list[Tensor]:
        """The same as `predict`, without blocking the event loop. The memory of `inputs` must not change until it returns.

        Requests, including those of `predict`, run in the order of their start. Canceling the task removes a waiting request
        from the queue, or ends a running one between two operators. After CancelledError, the memory of `inputs` and
        `outputs` is not used any more.

        Raises the errors of `predict`, and asyncio.QueueFull if `max_waiting` requests are waiting."""
        return await ask(self._workers, self._work(inputs, outputs))

    def cancel(self) -> bool:
        """Cancels the running requests, from any thread: their calls raise RuntimeError before the next operator.

        Returns False if no request is running. Waiting requests are not canceled."""
        return self._workers.cancel()

    @property
    def max_waiting(self) -> int:
        """Number of requests that may wait before `predict_async` raises asyncio.QueueFull. The default is 1000."""
        return self._workers.max_waiting

    @max_waiting.setter
    def max_waiting(self, number: int) -> None:
        self._workers.max_waiting = integer("max_waiting", number)

    def _work(
        self, inputs: Sequence[Input], outputs: Sequence[Tensor | Array] | None
    ) -> Callable[[_runtime.Model], list[Tensor]]:
        """Checks the arguments and returns the function that runs the model."""
        self._check_built()
        native = _native_inputs(self._inputs, inputs)
        targets = None if outputs is None else _native_outputs(self._outputs, outputs)
        if targets is not None:
            _check_overlaps(native, targets)

        def work(model: _runtime.Model) -> list[Tensor]:
            results = [(meta_of(meta), array) for meta, array in model.predict(native, targets)]
            self._outputs = [meta for meta, _ in results]
            return [tensor_of(meta, array) for meta, array in results]

        return work

    def __repr__(self) -> str:
        name = type(self).__name__
        if not self._path:
            return f"{name}()"
        parts = [
            f"{kind}=[{', '.join(f'({text_of(meta)})' for meta in metas)}]"
            for kind, metas in (("inputs", self._inputs), ("outputs", self._outputs))
        ]
        return f"{name}({self._path!r}, {', '.join(parts)})"


def _native_inputs(metas: Sequence[TensorMeta], inputs: Sequence[Input]) -> _Native:
    given_inputs = _listed("inputs", inputs, len(metas))
    native = []
    for meta, given in zip(metas, given_inputs, strict=True):
        if isinstance(given, Tensor):
            native.append(native_input(given, meta.name))
            continue
        array = given
        if not isinstance(given, np.ndarray) and hasattr(given, "__dlpack__"):
            array = np.from_dlpack(given)
        if not isinstance(array, np.ndarray):
            raise TypeError(
                f"input '{meta.name}' must be a Tensor or a NumPy array, not {type(given).__name__}"
                + ("; convert it with np.array" if isinstance(given, list | tuple | int | float) else "")
            )
        if data_type_of(array) != meta.dtype:
            raise TypeError(
                f"input '{meta.name}' has type {meta.dtype.name}, the array has {array.dtype}{cast_to(meta.dtype)}"
            )
        array = contiguous(array)
        native.append(((meta.name, meta.dtype.value, array.shape, meta.format.value), array))
    return native


def _native_outputs(metas: Sequence[TensorMeta], outputs: Sequence[Tensor | Array]) -> _Native:
    native = []
    for meta, given in zip(metas, _listed("outputs", outputs, len(metas)), strict=True):
        if not isinstance(given, Tensor | np.ndarray):
            raise TypeError(f"output '{meta.name}' must be a Tensor or a NumPy array, not {type(given).__name__}")
        try:
            tensor = given if isinstance(given, Tensor) else Tensor.from_numpy(given)
        except ValueError as error:
            raise ValueError(f"output '{meta.name}': {error}") from None
        if meta.dtype != DataType.UNKNOWN and tensor.dtype != meta.dtype:
            raise TypeError(f"output '{meta.name}' has type {meta.dtype.name}, not {tensor.dtype.name}")
        described, array = native_input(tensor, meta.name)
        if not array.flags.writeable:
            raise ValueError(f"output '{meta.name}': the memory is read-only")
        native.append((described, array))
    return native


def _listed(name: str, tensors: Sequence[Any], count: int) -> list[Any]:
    if not isinstance(tensors, list | tuple):
        hint = f"; use [{name.removesuffix('s')}]" if isinstance(tensors, Tensor | np.ndarray) and count == 1 else ""
        raise TypeError(f"{name} must be a list of Tensor, not {type(tensors).__name__}{hint}")
    if len(tensors) != count:
        given = f"{len(tensors)} {'was' if len(tensors) == 1 else 'were'} given"
        raise ValueError(f"the model has {pluralized(count, name.removesuffix('s'))}, {given}")
    return list(tensors)


def _check_overlaps(inputs: _Native, outputs: _Native) -> None:
    for index, (meta, array) in enumerate(outputs):
        for other, taken in [*inputs, *outputs[:index]]:
            if np.may_share_memory(array, taken):
                raise ValueError(f"output '{meta[0]}' shares memory with '{other[0]}'")
