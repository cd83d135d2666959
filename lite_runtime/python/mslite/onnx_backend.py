"""The `onnx.backend` interface: converts an ONNX model to a `.ms` file and runs it.

    from mslite import onnx_backend

    outputs = onnx_backend.run_model(onnx.load("net.onnx"), [image])

It needs the packages of the converter, such as `onnx`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import ModelProto, NodeProto, helper
from onnx.backend.base import Backend, BackendRep

from mslite.context import Context
from mslite.converter.convert import convert
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.options import FmkType, Options
from mslite.model import Model
from mslite.types import ModelType

Array = npt.NDArray[Any]

_DEVICE = "CPU"


class MsliteRepresentation(BackendRep):
    """A converted and loaded model. It can run any number of times. Dynamic dimensions may have another size in each run."""

    def __init__(self, model: ModelProto, *, optimize: bool = True, threads: int = 0) -> None:
        """Converts and loads a model.

        Args:
            model: The model. Weights in external files are not supported.
            optimize: Whether the converter fuses nodes.
            threads: Number of threads; 0: the runtime chooses it.

        Raises:
            mslite.converter.errors.ConversionError: The model cannot be converted. The error lists all unsupported nodes.
        """
        constants = {tensor.name for tensor in model.graph.initializer}
        self.input_names = [value.name for value in model.graph.input if value.name not in constants]
        self.output_names = [value.name for value in model.graph.output]
        context = Context()
        context.cpu.thread_num = threads
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "model.onnx", Path(folder) / "model.ms"
            onnx.save(model, source)
            options = Options(source, target, FmkType.ONNX, input_format=Format.NCHW, fusion=optimize)
            convert(options)
            self._model = Model()
            self._model.build_from_file(str(target), ModelType.MINDIR_LITE, context)

    def run(self, inputs: Any, **_: Any) -> tuple[Array, ...]:
        """Runs the model once.

        Args:
            inputs: Arrays in the order of the model's inputs, or a mapping from names to arrays.

        Returns:
            The outputs in the order of the model.

        Raises:
            ValueError: Wrong number or unknown name of inputs.
            RuntimeError: The model does not support the types, shapes or values.
        """
        values = self._by_name(inputs)
        tensors = self._model.get_inputs()
        shapes = [list(values[tensor.name].shape) for tensor in tensors]
        if shapes != [list(tensor.shape) for tensor in tensors]:
            self._model.resize(tensors, shapes)
            tensors = self._model.get_inputs()
        for tensor in tensors:
            tensor.set_data_from_numpy(values[tensor.name])
        results = {tensor.name: tensor.get_data_to_numpy() for tensor in self._model.predict(tensors)}
        return tuple(results[name] for name in self.output_names)

    def _by_name(self, inputs: Any) -> dict[str, Array]:
        if isinstance(inputs, Mapping):
            given: Mapping[str, Any] = inputs
        else:
            listed = inputs if isinstance(inputs, list | tuple) else [inputs]
            if len(listed) > len(self.input_names):
                raise ValueError(f"the model has {len(self.input_names)} inputs, {len(listed)} were given")
            given = dict(zip(self.input_names, listed, strict=False))
        if missing := [name for name in self.input_names if name not in given]:
            raise ValueError(f"input '{missing[0]}' is missing; the model has {', '.join(self.input_names)}")
        if unknown := [name for name in given if name not in self.input_names]:
            raise ValueError(f"the model has no input '{unknown[0]}'; it has {', '.join(self.input_names)}")
        # Not ascontiguousarray, which would change the shape of a scalar to [1].
        return {name: np.asarray(value, order="C") for name, value in given.items()}


class MsliteBackend(Backend):
    """The backend of mslite for `onnx.backend`."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = _DEVICE, **_: Any) -> bool:
        """Returns True if the model can be converted."""
        from mslite.converter.errors import ConversionError

        try:
            cls.prepare(model, device)
        except ConversionError:
            return False
        return True

    @classmethod
    def prepare(cls, model: ModelProto, device: str = _DEVICE, **options: Any) -> MsliteRepresentation:
        """Converts and loads a model. `options` are those of `MsliteRepresentation`. Raises ConversionError, ValueError."""
        if not cls.supports_device(device):
            raise ValueError(f"device '{device}' is not supported; use {_DEVICE}")
        return MsliteRepresentation(model, **options)

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = _DEVICE, **options: Any) -> tuple[Array, ...]:
        """Converts a model and runs it once."""
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = _DEVICE,
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **options: Any,
    ) -> tuple[Array, ...]:
        """Runs one node. The option `opset_version` is by default the newest opset of the onnx package."""
        opset = int(options.pop("opset_version", onnx.defs.onnx_opset_version()))
        arrays = [np.asarray(value) for value in inputs]
        names = [name for name in node.input if name]
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in dict(zip(names, arrays, strict=True)).items()
        ]
        outputs = [name for name in node.output if name]
        graph = helper.make_graph([node], "node", infos, [onnx.ValueInfoProto(name=name) for name in outputs])
        domains = [helper.make_opsetid("", opset)]
        if node.domain:
            domains.append(helper.make_opsetid(node.domain, 1))
        model = helper.make_model(graph, opset_imports=domains)
        return cls.run_model(model, dict(zip(names, arrays, strict=True)), device, **options)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Returns True for `CPU`, also with an index, such as `CPU:0`."""
        return device.partition(":")[0] == _DEVICE


is_compatible = MsliteBackend.is_compatible
prepare = MsliteBackend.prepare
run_model = MsliteBackend.run_model
run_node = MsliteBackend.run_node
supports_device = MsliteBackend.supports_device
