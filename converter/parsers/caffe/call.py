"""One layer as its converter sees it: parameters, bottom blobs with their shapes, weights, and emitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from mslite.converter.errors import Blocker
from mslite.converter.mindir.graph import Shape, Value
from mslite.converter.mindir.ops import Operator
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.ops.rearrange import Reshape
from mslite.converter.mindir.ops.unary import Cast
from mslite.converter.parsers.naming import Blocked
from mslite.converter.parsers.protobuf import Message, identifier
from mslite.converter.parsers.scope import Origin

from .prototxt import SourceLayer
from .scope import Scope
from .weights import Floats

BROKEN = "Caffe would refuse this network too; correct the prototxt"
MAX_DIMENSION = 2**31 - 1


@dataclass(frozen=True)
class Mask:
    """Where the maxima of a pooling come from."""

    source: Shape
    """of the blob that was pooled"""
    window: tuple[int, int]


@dataclass(frozen=True)
class Blob:
    """A value with the shape that Caffe gives it (for batch-independent networks other batches are possible too)."""

    value: Value
    shape: Shape
    mask: Mask | None = None
    """The blob is the mask of a MAX pooling: `value` has ones at the maxima, over whole windows."""

    @property
    def rank(self) -> int:
        return len(self.shape)


class Call:
    """A layer of the network. Converters read it through these methods and return the blobs of its tops."""

    def __init__(self, scope: Scope, layer: SourceLayer, name: str, bottoms: Sequence[Blob]) -> None:
        self.scope = scope
        self.layer = layer
        self.name = name
        self.bottoms = bottoms
        self._origin = Origin(name, layer.type)

    def block(self, reason: str, remedy: str = BROKEN, attribute: str = "") -> Blocked:
        """What a converter raises: `raise call.block(...)`."""
        return Blocked(reason, remedy, attribute)

    def blocker(self, blocked: Blocked) -> Blocker:
        return Blocker(self.name, self.layer.type, blocked.reason, blocked.remedy, blocked.attribute)

    # ---- parameters ----

    def parameter(self, name: str) -> Message:
        """The message `<name>_param`, with defaults for what the layer does not say."""
        return self.layer.parameter(name)

    @staticmethod
    def choice(parameter: Message, field: str) -> str:
        """The identifier of an enum field."""
        return identifier(parameter, field)

    def bottom(self, index: int = 0) -> Blob:
        """A bottom blob that must be there."""
        if index >= len(self.bottoms):
            raise self.block(f"it has {len(self.bottoms)} bottom blobs; at least {index + 1} are needed")
        return self.bottoms[index]

    @property
    def top_count(self) -> int:
        return len(self.layer.tops)

    def axis(self, axis: int, rank: int, attribute: str = "axis") -> int:
        """`axis` counted from the front."""
        if not -rank <= axis < rank:
            raise self.block(f"{axis} is outside of {rank} dimensions", attribute=attribute)
        return axis + rank if axis < 0 else axis

    def require_rank(self, blob: Blob, *ranks: int) -> None:
        if blob.rank not in ranks:
            allowed = " or ".join(str(rank) for rank in ranks)
            raise self.block(f"the bottom blob has {blob.rank} dimensions; {allowed} are supported", "Reshape the data")

    # ---- weights ----

    @property
    def weight_count(self) -> int:
        return self.scope.weights.count(self.layer.name)

    def weight(self, index: int, shape: Sequence[int]) -> Floats:
        """Blob `index` of the layer as float32 in this shape. Old files state it with leading ones."""
        what = f"weight blob {index}"
        if index >= self.weight_count:
            remedy = "Give the caffemodel that belongs to this prototxt, with the same layer names"
            raise self.block(f"{what} is not in {self.scope.weights.file}", remedy)
        try:
            data = self.scope.weights.blob(self.layer.name, index)
        except ValueError as error:
            raise self.block(f"{what} is damaged: {error}", "Get the caffemodel again") from None
        stated, wanted = list(data.shape), list(shape)
        if data.size != prod(wanted) or (len(stated) != 4 and _significant(stated) != _significant(wanted)):
            shown = "x".join(map(str, stated)), "x".join(map(str, wanted))
            raise self.block(
                f"{what} has the shape {shown[0]} instead of {shown[1]}",
                "Give the caffemodel that belongs to this prototxt",
            )
        return data.reshape(wanted)

    # ---- emitting ----

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> Value:
        """A constant; equal small constants of a graph are one value."""
        return self.scope.constant(np.ascontiguousarray(data, dtype).reshape(np.shape(data)), self.name)

    def ints(self, data: npt.ArrayLike) -> Value:
        """An int32 constant: axes, shapes, permutations."""
        return self.const(data, np.int32)

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node with one output."""
        return self.scope.emit(op, inputs, 1, self._origin)[0]

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        """Adds a node with several outputs."""
        return self.scope.emit(op, inputs, outputs, self._origin)

    def reshape(self, value: Value, old: Sequence[int], new: Sequence[int]) -> Value:
        """`value` of shape `old` as `new`; leading dimensions that stay, and the last one, follow the input's sizes."""
        if tuple(old) == tuple(new):
            return value
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        target = [0] * same + list(new[same:])
        if same < len(new):
            target[-1] = -1
        return self.emit(Reshape(), value, self.ints(target))

    def cast(self, value: Value, dtype: DataType) -> Value:
        return self.emit(Cast(), value, self.ints(int(dtype)))


def _significant(shape: Sequence[int]) -> list[int]:
    """The shape without leading ones."""
    dims = list(shape)
    while dims and dims[0] == 1:
        del dims[0]
    return dims
