"""Constants of a graph: dequantized, converted or permuted copies, with their quantization parameters."""

from __future__ import annotations

from mslite.converter.mindir.flatbuffer import FlatBufferError
from mslite.converter.mindir.graph import Graph, Value
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import dequantized_array
from mslite.converter.parsers.scope import GraphScope

from .session import Session


class Constants(GraphScope):
    """A graph with the constants that were derived from its constants."""

    def __init__(self, session: Session, graph: Graph) -> None:
        super().__init__(graph, session.nodes, session.values, graph.name, Format.NHWC)
        self.session = session
        self._axes: dict[int, int] = {}
        self._stored_forms: dict[int, Value] = {}

    def share_constants(self, other: Constants) -> None:
        """Shares derived constants with `other`: the nodes of both go to one graph."""
        self._derived, self._axes, self._pool = other._derived, other._axes, other._pool
        self._stored_forms = other._stored_forms

    def check_axis(self, value: Value, axis: int) -> None:
        """Stores the quantized dimension of a constant with several scales. Raises FlatBufferError if it does not
        match."""
        shape = value.shape or ()
        axis = 0 if len(shape) == 1 else axis  # some converters store the weights' dimension for biases
        if not 0 <= axis < len(shape) or shape[axis] != len(value.quant):
            raise FlatBufferError(f"tensor '{value.name}' has {len(value.quant)} scales for the shape {shape}")
        self._axes[id(value)] = axis

    def axis_of(self, value: Value) -> int | None:
        """Returns the quantized dimension of a constant; None if it has at most one scale."""
        return self._axes.get(id(value))

    def decoded(self, value: Value) -> Value:
        """Returns a quantized or float16 constant as float32; other values unchanged."""
        if value.data is None or value.dtype is DataType.FLOAT32:
            return value
        if value.dtype is DataType.FLOAT16:
            return self.converted(value, DataType.FLOAT32)
        if not value.quant:
            return value
        result = self.derived(value, "float32", dequantized_array(value.data, value.quant, self.axis_of(value) or 0))
        self._stored_forms[id(result)] = value
        return result

    def with_quant_params(self, value: Value, records: tuple[QuantParam, ...]) -> Value:
        """Returns a constant with the same stored integers and other quantization parameters."""
        result = self.derived(value, f"with_quant_params {records}", value.array())
        result.quant = records
        return result

    def quantized_form(self, value: Value) -> Value:
        """Returns the quantized constant that `value` was dequantized from; else `value`."""
        return self._stored_forms.get(id(value), value)

    def permuted(self, value: Value, perm: tuple[int, ...]) -> Value:
        """Returns a constant with permuted dimensions and the same quantization parameters."""
        result = self.derived(value, "permuted", value.array().transpose(perm))
        result.quant = value.quant
        if len(value.quant) > 1:
            self.check_axis(result, perm.index(self._axes[id(value)]))
        return result
