"""The `onnx.backend` interface: an ONNX model is converted to a `.ms` file, and the runtime runs that.

    from mslite import onnx_backend

    outputs = onnx_backend.run_model(onnx.load("net.onnx"), [image])

Needs the `onnx` package, as the converter does.
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
    """A converted model, loaded; it may be run any number of times, with other sizes where the model leaves them open."""

    def __init__(self, model: ModelProto, *, optimize: bool = True, threads: int = 0) -> None:
        """Converts and loads.

        Args:
            model: with all of its weights inside.
            optimize: False leaves out the fusions.
            threads: of the runtime; 0 lets it choose.

        Raises:
            mslite.converter.errors.ConversionError: with all unsupported nodes.
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
        """Runs once.

        Args:
            inputs: the arrays in the order of the model's inputs, or by their names.

        Returns:
            The outputs, in the model's order.

        Raises:
            ValueError: for a wrong number of inputs, or unknown names.
            RuntimeError: from the runtime, for types, shapes or values that the model does not take.
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
                raise ValueError(f"{len(listed)} inputs for a model that has {len(self.input_names)}")
            given = dict(zip(self.input_names, listed, strict=False))
        if missing := [name for name in self.input_names if name not in given]:
            raise ValueError(f"input '{missing[0]}' is missing; the model has {', '.join(self.input_names)}")
        if unknown := [name for name in given if name not in self.input_names]:
            raise ValueError(f"the model has no input '{unknown[0]}'; it has {', '.join(self.input_names)}")
        # ascontiguousarray makes a scalar a list of one.
        return {name: np.asarray(value, order="C") for name, value in given.items()}


class MsliteBackend(Backend):
    """What `onnx.backend` asks of a backend."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = _DEVICE, **_: Any) -> bool:
        """Whether the model can be converted."""
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
            raise ValueError(f"device '{device}' is unknown; there is {_DEVICE}")
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
        """Runs one node on arrays; `opset_version` among the options, else the newest that the onnx package knows."""
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
        """`CPU`, also with a number, as `CPU:0`."""
        return device.partition(":")[0] == _DEVICE


is_compatible = MsliteBackend.is_compatible
prepare = MsliteBackend.prepare
run_model = MsliteBackend.run_model
run_node = MsliteBackend.run_node
supports_device = MsliteBackend.supports_device
