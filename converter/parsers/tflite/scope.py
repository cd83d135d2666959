"""Values of a source graph that is being imported, by tensor index."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Array, Graph, Value, numpy_type
from mslite.converter.mindir.graph import constant as make_constant
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.positive_scales import has_negative, with_positive_scales
from mslite.converter.mindir.quantized import NARROW, is_quantized
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.scope import Origin

from .constants import Constants
from .graph_variables import GraphVariables
from .model import SourceGraph, SourceTensor
from .quantization_parameters import channel_scale_axis, invalid_scale, quant_params, scaled, stored
from .session import Session


class Scope(Constants):
    """Names, values and constants of one source graph; its nodes are added to `graph`, number `index` of the module."""

    def __init__(self, session: Session, number: int, graph: Graph, index: int, outer: Scope | None) -> None:
        super().__init__(session, graph)
        self.number = number
        self.outer = outer
        self.source: SourceGraph = session.model.graphs[number]
        self.index = index
        """Index of the graph in the module."""
        self.variables = GraphVariables()
        self.returned_handles: dict[int, Value] = {}
        """Index of an output of the source graph -> the handle of a variable that it returns."""
        self._values: dict[int, Value] = {}
        self._tensors: dict[int, SourceTensor] = {}
        self._produced = {index for node in self.source.operators for index in node.outputs}
        # Inputs and outputs are first, so that they keep their names.
        order = dict.fromkeys([*self.source.inputs, *self.source.outputs, *range(len(self.source.tensors))])
        self._names = {index: session.values.unique(self.source.tensors[index].name) for index in order}

    def callers(self) -> list[int]:
        """Returns the numbers of this source graph and of its callers."""
        return [self.number, *(self.outer.callers() if self.outer is not None else ())]

    def bind(self, index: int, value: Value) -> None:
        """Binds a source tensor to its value. Raises FlatBufferError if it has one."""
        if index in self._values:
            raise FlatBufferError(f"two nodes produce the tensor '{self.source.tensors[index].name}'")
        self._values[index] = value
        self._tensors.setdefault(id(value), self.source.tensors[index])

    def lookup(self, index: int) -> Value:
        """Returns the value of a tensor: a result of an earlier node, an input or a constant. Raises
        FlatBufferError."""
        if index not in self._values:
            self.bind(index, self._stored(self.source.tensors[index], index))
        return self._values[index]

    def _stored(self, tensor: SourceTensor, index: int) -> Value:
        if index in self._produced:
            raise FlatBufferError(f"{self._reader(index)} reads the tensor '{tensor.name}' before it is produced")
        self.check_type(tensor)
        name = self._names[index]
        if tensor.dtype is DataType.STRING:
            return Value(name, tensor.dtype, tensor.shape, raw=tensor.data if tensor.data is not None else b"")
        array = tensor.array()
        if array is None and (tensor.is_variable or 0 in tensor.shape):
            array = np.broadcast_to(np.zeros((), numpy_type(tensor.dtype)), tensor.shape)
        if array is None:
            raise FlatBufferError(f"{self._reader(index)} reads the tensor '{tensor.name}', which no node produces")
        if tensor.blocks is not None:
            scales = self._block_numbers(tensor.blocks.scales, tensor.name, "scales")
            has_points = tensor.blocks.points > 0
            points = self._block_numbers(tensor.blocks.points, tensor.name, "zero points") if has_points else None
            array = tensor.blocks.decoded(array, scales, points, tensor.name)
        elif tensor.is_decoded:
            array = scaled(tensor, array)
        value = make_constant(name, stored(tensor, array), format_of(tensor))
        value.quant = quant_params(tensor)
        if has_negative(value.quant) and tensor.quantization is not None:
            made = with_positive_scales(value.array(), value.quant, tensor.quantization.axis)
            value.data, value.quant = made or (value.data, value.quant)
        if len(value.quant) > 1 and tensor.quantization is not None:
            self.check_axis(value, tensor.quantization.axis)
        return value

    def _block_numbers(self, index: int, name: str, what: str) -> Array:
        """Returns the contents of a tensor with scales or zero points of the constant `name`. Raises
        FlatBufferError."""
        tensors = self.source.tensors
        array = tensors[index].array() if 0 <= index < len(tensors) and tensors[index].blocks is None else None
        if array is None or array.dtype.kind not in "fiu":
            raise FlatBufferError(f"tensor '{name}' has {what} in tensor {index}, which is not a numeric constant")
        return array

    def _reader(self, index: int) -> str:
        """Returns the node that reads a tensor, for a message."""
        found = next((place for place, node in enumerate(self.source.operators) if index in node.inputs), None)
        return "an output" if found is None else f"{self.source.operators[found].name} (operator {found})"

    def tensor_of(self, value: Value) -> SourceTensor | None:
        """Returns the source tensor of a value, or None."""
        return self._tensors.get(id(value))

    def real(self, value: Value, origin: Origin) -> Value:
        """Returns a quantized value as float32; other values unchanged."""
        if value.data is not None:
            return self.decoded(value) if value.quant else value
        if not is_quantized(value):
            return value
        key = (value, "real")
        if key not in self._derived:
            tensor = self.tensor_of(value)
            axis = channel_scale_axis(tensor) if tensor is not None and len(value.quant) > 1 else 0
            self._derived[key] = self.recast(value, DataType.FLOAT32, (), axis, origin)
        return self._derived[key]

    def recast(
        self,
        value: Value,
        dtype: DataType,
        records: tuple[QuantParam, ...],
        axis: int = 0,
        origin: Origin | None = None,
    ) -> Value:
        """Returns a value cast between float and quantized types, or requantized. Per-channel parameters are for
        dimension `axis`."""
        _check_records(value.name, value.dtype, value.quant)
        _check_records(value.name, dtype, records)
        cast = QuantDTypeCast(src_t=int(value.dtype), dst_t=int(dtype), axis=axis)
        (result,) = self.emit(cast, (value,), 1, origin)
        result.dtype, result.quant = dtype, records
        return result

    def check_type(self, tensor: SourceTensor) -> None:
        """Raises Blocked for an unsupported data type or an invalid scale."""
        if tensor.dtype is DataType.UNKNOWN:
            computed = "computed " if tensor.element.decode is not None and tensor.data is None else ""
            reason = f"{computed}tensors of type {tensor.type_name} are unsupported"
            raise Blocked(reason, "Export the model with another data type")
        scale = invalid_scale(tensor)
        if scale is not None:
            raise Blocked(f"tensor '{tensor.name}' has the scale {scale}", "Quantize it with positive, finite scales")


def _check_records(name: str, dtype: DataType, records: tuple[QuantParam, ...]) -> None:
    """Raises Blocked for quantization parameters of `name`, or of values derived from it, that no kernel supports."""
    limits = np.iinfo(numpy_type(dtype).name) if dtype in NARROW else None
    for record in records:
        if not record.scale > 0:
            raise Blocked(
                f"the tensor '{name}' or a value derived from it has a scale that is not positive",
                "Quantize the model again",
            )
        if limits is not None and not limits.min <= record.zeroPoint <= limits.max:
            reason = (
                f"the tensor '{name}' or a value derived from it has a zero point outside the range of its data type"
            )
            raise Blocked(reason, "Quantize the model again")


def format_of(tensor: SourceTensor) -> Format:
    """Returns the layout of a tensor: NHWC for rank 4, else the default."""
    return Format.NHWC if len(tensor.shape) == 4 else Format.NCHW
