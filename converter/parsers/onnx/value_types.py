"""The known types and shapes of a graph's values, from the values themselves, type inference and converters."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import GraphProto

from mslite.converter.mindir.graph import Value, numpy_type
from mslite.converter.mindir.ops.enums import DataType

from .downstream_types import DownstreamTypes
from .graph_inputs import PartialShape, known_type
from .session import Session
from .types import infer_types


class ValueTypes:
    """The types of one graph's values, and of the names in the source graph."""

    def __init__(self, session: Session, proto: GraphProto) -> None:
        self._session = session
        self._model = session.model
        self._proto = proto
        self._known: dict[int, tuple[DataType, PartialShape]] = {}
        self._downstream_types: DownstreamTypes | None = None

    # ---- values ----

    def type_of(self, value: Value) -> DataType:
        """Returns the element type, UNKNOWN if it is not known."""
        if value.dtype is not DataType.UNKNOWN:
            return value.dtype
        return self._known.get(id(value), (DataType.UNKNOWN, None))[0]

    def shape_of(self, value: Value) -> PartialShape:
        """Returns the dimensions, None for an unknown one; None if the rank is unknown."""
        if value.shape is not None:
            return tuple(dim if dim >= 0 else None for dim in value.shape)
        return self._known.get(id(value), (DataType.UNKNOWN, None))[1]

    def note(self, value: Value, dtype: DataType, shape: PartialShape) -> None:
        """Stores the known type and shape of an emitted value."""
        self._known[id(value)] = (dtype, shape)

    def adopt(self, name: str, value: Value) -> None:
        """Stores the inferred type of `name` for its value, unless `note` was called for the value before."""
        if name in self._model.types and id(value) not in self._known:
            self._known[id(value)] = known_type(self._model.types[name])

    # ---- names ----

    def known_type(self, name: str) -> tuple[DataType, PartialShape]:
        """Returns the inferred type and shape of a name."""
        kind = self._model.types.get(name)
        if self._session.has_told and (kind is None or not kind.tensor_type.HasField("shape")):
            self._session.has_told = False
            self._model.types.update(infer_types(self._model.skeleton))
            kind = self._model.types.get(name)
        return (DataType.UNKNOWN, None) if kind is None else known_type(kind)

    def known_shape(self, name: str) -> tuple[int, ...] | None:
        """Returns the inferred shape of a name if all dimensions are known."""
        shape = self.known_type(name)[1]
        if shape is None or any(dim is None for dim in shape):
            return None
        return tuple(dim for dim in shape if dim is not None)

    def tell(self, names: Sequence[str], values: Sequence[Value]) -> None:
        """Continues type inference downstream of outputs with types unknown to ONNX, such as those of plug-ins."""
        told = []
        for name, value in zip(names, values, strict=False):
            dtype, shape = self.type_of(value), self.shape_of(value)
            if not name or dtype is DataType.UNKNOWN or shape is None or not self._tells_more(name, shape):
                continue
            kind = onnx.helper.np_dtype_to_tensor_dtype(numpy_type(dtype))
            info = (
                next((one for one in self._proto.value_info if one.name == name), None) or self._proto.value_info.add()
            )
            info.CopyFrom(onnx.helper.make_tensor_value_info(name, kind, list(shape)))
            self._model.types[name] = info.type
            told.append(name)
        if told:
            self._downstream_types = self._downstream_types or DownstreamTypes(self._model.skeleton, self._proto)
            self._model.types.update(self._downstream_types.infer(told, self._model.types))
            self._session.has_told = True

    def _tells_more(self, name: str, shape: tuple[int | None, ...]) -> bool:
        """Returns whether `shape` has a rank or dimension that type inference did not find."""
        kind = self._model.types.get(name)
        known = None if kind is None else known_type(kind)[1]
        return known is None or any(
            size is not None and other is None for size, other in zip(shape, known, strict=False)
        )
