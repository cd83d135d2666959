"""Call: a layer as its converter sees it, with parameters, bottom blobs, weights, and emission of nodes."""

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

BROKEN = "The network is not valid in Caffe; correct the prototxt"
MAX_DIMENSION = 2**31 - 1


@dataclass(frozen=True)
class Mask:
    """The mask of a max pooling: positions of the maxima."""

    source: Shape
    """Shape of the pooled blob."""
    window: tuple[int, int]


@dataclass(frozen=True)
class Blob:
    """A value with its shape in Caffe (batch-independent networks can also run with other batches)."""

    value: Value
    shape: Shape
    mask: Mask | None = None
    """Set if the blob is the mask of a MAX pooling: `value` is 1 at the maxima, else 0, and covers complete windows."""

    @property
    def rank(self) -> int:
        return len(self.shape)


class Call:
    """A layer of the network. Converters read it through these methods and return its top blobs."""

    def __init__(self, scope: Scope, layer: SourceLayer, name: str, bottoms: Sequence[Blob]) -> None:
        self.scope = scope
        self.layer = layer
        self.name = name
        self.bottoms = bottoms
        self._origin = Origin(name, layer.type)

    def block(self, reason: str, remedy: str = BROKEN, attribute: str = "") -> Blocked:
        """Returns the exception for an unsupported layer: `raise call.block(...)`."""
        return Blocked(reason, remedy, attribute)

    def blocker(self, blocked: Blocked) -> Blocker:
        return Blocker(self.name, self.layer.type, blocked.reason, blocked.remedy, blocked.attribute)

    # ---- parameters ----

    def parameter(self, name: str) -> Message:
        """Returns the message `<name>_param`, with defaults for missing fields."""
        return self.layer.parameter(name)

    @staticmethod
    def choice(parameter: Message, field: str) -> str:
        """Returns the identifier of an enum field."""
        return identifier(parameter, field)

    def bottom(self, index: int = 0) -> Blob:
        """Returns a required bottom blob. Raises Blocked."""
        if index >= len(self.bottoms):
            raise self.block(f"it has {len(self.bottoms)} bottom blobs; at least {index + 1} are needed")
        return self.bottoms[index]

    @property
    def top_count(self) -> int:
        return len(self.layer.tops)

    def axis(self, axis: int, rank: int, attribute: str = "axis") -> int:
        """Returns `axis` counted from the first dimension. Raises Blocked if it is out of range."""
        if not -rank <= axis < rank:
            raise self.block(f"{axis} is out of range for {rank} dimensions", attribute=attribute)
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
        """Returns weight blob `index` as float32 in this shape. Raises Blocked. In old files, shapes have leading
        ones."""
        what = f"weight blob {index}"
        if index >= self.weight_count:
            remedy = "Use the caffemodel that belongs to this prototxt, with the same layer names"
            raise self.block(f"{what} is not in {self.scope.weights.file}", remedy)
        try:
            data = self.scope.weights.blob(self.layer.name, index)
        except ValueError as error:
            raise self.block(f"{what} is damaged: {error}", "Download the caffemodel again") from None
        stated, wanted = list(data.shape), list(shape)
        if data.size != prod(wanted) or (len(stated) != 4 and _significant(stated) != _significant(wanted)):
            shown = "x".join(map(str, stated)), "x".join(map(str, wanted))
            raise self.block(
                f"{what} has the shape {shown[0]} instead of {shown[1]}",
                "Use the caffemodel that belongs to this prototxt",
            )
        return data.reshape(wanted)

    # ---- emission of nodes ----

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> Value:
        """Returns a constant; equal small constants of a graph share one value."""
        return self.scope.constant(np.ascontiguousarray(data, dtype).reshape(np.shape(data)), self.name)

    def ints(self, data: npt.ArrayLike) -> Value:
        """Returns an int32 constant: axes, shapes, permutations."""
        return self.const(data, np.int32)

    def emit(self, op: Operator, *inputs: Value) -> Value:
        """Adds a node with one output."""
        return self.scope.emit(op, inputs, 1, self._origin)[0]

    def emit_many(self, op: Operator, inputs: Sequence[Value], outputs: int) -> tuple[Value, ...]:
        """Adds a node with several outputs."""
        return self.scope.emit(op, inputs, outputs, self._origin)

    def reshape(self, value: Value, old: Sequence[int], new: Sequence[int]) -> Value:
        """Reshapes `value` from `old` to `new`; unchanged leading dimensions and the last one are taken from the input,
        so that other sizes are possible."""
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
    """Returns the shape without leading ones."""
    dims = list(shape)
    while dims and dims[0] == 1:
        del dims[0]
    return dims
