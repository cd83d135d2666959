"""Builds the standard nodes that replace a nonstandard node, in the model's operator set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import NodeProto, TensorProto, TypeProto, helper, numpy_helper

from mslite.converter.mindir.graph import Array
from mslite.converter.parsers.onnx.attributes import Attributes
from mslite.converter.parsers.onnx.tensors import TensorReader

_EXPORT_AGAIN = "The model breaks the definition of the operator; export it again"


class UnknownType(Exception):
    """Raised by an expansion for a type or rank that is not known (yet)."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Body(Attributes):
    """A node to be expanded: its known types, and the nodes created so far. Tensors are names."""

    def __init__(
        self,
        node: NodeProto,
        version: int,
        types: Mapping[str, TypeProto],
        constants: Mapping[str, TensorProto],
        taken: set[str],
    ) -> None:
        reader = TensorReader(None)
        super().__init__(node, reader)
        self.node = node
        self.version = version
        """The version of the standard operator set for the new nodes."""
        self.nodes: list[NodeProto] = []
        self._types = types
        self._constants = constants
        self._tensors = reader
        self._taken = taken
        self._label = node.name or next(filter(None, node.output), node.op_type)

    # ---- known types and contents ----

    def has_input(self, index: int) -> bool:
        return index < len(self.node.input) and self.node.input[index] != ""

    def input(self, index: int) -> str:
        """Returns the name of a required input."""
        if not self.has_input(index):
            raise self.block(f"input {index} is missing", _EXPORT_AGAIN)
        self._read_inputs.add(index)
        return str(self.node.input[index])

    def has_output(self, index: int) -> bool:
        return index < len(self.node.output) and self.node.output[index] != ""

    def element_type(self, *names: str) -> int:
        """Returns the common element type of these tensors (a TensorProto value), 0 if unknown."""
        for name in names:
            kind = self._types.get(name)
            if kind is not None and kind.tensor_type.elem_type:
                return int(kind.tensor_type.elem_type)
            if name in self._constants:
                return int(self._constants[name].data_type)
        return 0

    def dims(self, name: str) -> list[int | None] | None:
        """Returns the dimensions of a tensor, None for an unknown one; None if the rank is unknown."""
        if name in self._constants:
            return list(self._constants[name].dims)
        kind = self._types.get(name)
        if kind is None or not kind.tensor_type.HasField("shape"):
            return None
        return [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.tensor_type.shape.dim]

    def same_size(self, first: str, axis: int, second: str, other_axis: int) -> bool:
        """Returns whether two dimensions have the same symbol and are therefore equal."""
        symbols = []
        for name, index in ((first, axis), (second, other_axis)):
            kind = self._types.get(name)
            if kind is None or index >= len(kind.tensor_type.shape.dim):
                return False
            symbols.append(str(kind.tensor_type.shape.dim[index].dim_param))
        return symbols[0] != "" and symbols[0] == symbols[1]

    def rank(self, name: str) -> int:
        """Returns the rank. Raises UnknownType."""
        dims = self.dims(name)
        if dims is None:
            raise UnknownType(f"the rank of '{name}'")
        return len(dims)

    def contents(self, name: str) -> Array | None:
        """Returns the contents of a constant in the model file, or None."""
        tensor = self._constants.get(name)
        if tensor is None or tensor.data_location == TensorProto.EXTERNAL:
            return None
        return self._tensors.read(tensor)

    # ---- creating nodes ----

    def _name(self, wish: str) -> str:
        name, number = f"{self._label}/{wish}", 1
        while name in self._taken:
            name, number = f"{self._label}/{wish}_{number}", number + 1
        self._taken.add(name)
        return name

    def many(self, op_type: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        """Adds a node with `count` outputs and returns their names."""
        outputs = [self._name(op_type) for _ in range(count)]
        self.nodes.append(helper.make_node(op_type, list(inputs), outputs, name=outputs[0], **attributes))
        return outputs

    def op(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node with one output and returns its name."""
        return self.many(op_type, inputs, 1, **attributes)[0]

    def const(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> str:
        name = self._name("constant")
        tensor = numpy_helper.from_array(np.asarray(data, dtype), name)
        self.nodes.append(helper.make_node("Constant", [], [name], name=name, value=tensor))
        return name

    def ints(self, *values: int) -> str:
        """Adds an int64 vector."""
        return self.const(values, np.int64)

    def number(self, value: float, *like: str) -> str:
        """Adds a scalar with the common element type of the tensors `like`."""
        kind = self.element_type(*like)
        if kind == 0 and self.version >= 15:
            return self.op("CastLike", self.const(value, np.float32), like[0])
        return self.const(value, helper.tensor_dtype_to_np_dtype(kind) if kind else np.float32)

    def result(self, index: int, name: str) -> None:
        """Makes the tensor `name` output `index` of the expanded node, if this output is used."""
        if self.has_output(index):
            output = self.node.output[index]
            self.nodes.append(helper.make_node("Identity", [name], [output], name=self._name("result")))

    def standard(self, count: int | None = None, **attributes: Any) -> None:
        """Adds the standard operator of the same name with the same inputs and outputs, and these attributes."""
        self.ignore_inputs()  # the standard operator reads them
        outputs = list(self.node.output)[:count]
        node = helper.make_node(self.node.op_type, list(self.node.input), outputs, name=self._label)
        for key, value in attributes.items():
            if value is not None:
                node.attribute.append(helper.make_attribute(key, value))
        self.nodes.append(node)

    # ---- operators whose form depends on the operator set ----

    def reshape(self, x: str, *dims: int | str) -> str:
        """Reshapes x. Sizes are integers (0 keeps, -1 is inferred) or int64 vectors of one element."""
        if all(isinstance(dim, int) for dim in dims):
            return self.op("Reshape", x, self.const(dims, np.int64))
        parts = [self.ints(dim) if isinstance(dim, int) else dim for dim in dims]
        return self.op("Reshape", x, self.op("Concat", *parts, axis=0))

    def transpose(self, x: str, *perm: int) -> str:
        return self.op("Transpose", x, perm=perm)

    def unsqueeze(self, x: str, *axes: int) -> str:
        if self.version < 13:
            return self.op("Unsqueeze", x, axes=axes)
        return self.op("Unsqueeze", x, self.ints(*axes))

    def squeeze(self, x: str, *axes: int) -> str:
        if self.version < 13:
            return self.op("Squeeze", x, axes=axes)
        return self.op("Squeeze", x, self.ints(*axes))

    def mean(self, x: str, *axes: int) -> str:
        """Returns the mean over `axes`, with kept dimensions."""
        if self.version < 18:
            return self.op("ReduceMean", x, axes=axes, keepdims=1)
        return self.op("ReduceMean", x, self.ints(*axes), keepdims=1)

    def total(self, x: str, axis: int, keep: bool = True) -> str:
        if self.version < 13:
            return self.op("ReduceSum", x, axes=[axis], keepdims=int(keep))
        return self.op("ReduceSum", x, self.ints(axis), keepdims=int(keep))

    def slice(self, x: str, axis: int, begin: int | str, end: int | str) -> str:
        """Returns x[begin:end] along `axis`; bounds are integers or int64 vectors of one element."""
        if self.version < 10:
            if not isinstance(begin, int) or not isinstance(end, int):
                raise self.block("needs operator set 10 or newer", "Export the model for a newer operator set")
            return self.op("Slice", x, axes=[axis], starts=[begin], ends=[end])
        bounds = [self.ints(bound) if isinstance(bound, int) else bound for bound in (begin, end)]
        return self.op("Slice", x, *bounds, self.ints(axis))

    def split(self, x: str, axis: int, sizes: Sequence[int] | None, count: int) -> list[str]:
        """Splits into `count` parts of these sizes, or equal ones."""
        if sizes is None:
            attributes = {"num_outputs": count} if self.version >= 18 else {}
            return self.many("Split", [x], count, axis=axis, **attributes)
        if self.version < 13:
            return self.many("Split", [x], count, axis=axis, split=sizes)
        return self.many("Split", [x, self.ints(*sizes)], count, axis=axis)

    def size(self, x: str, axis: int) -> str:
        """Returns the size of dimension `axis` (0 or more) as an int64 vector of one element."""
        return self.op("Gather", self.op("Shape", x), self.ints(axis), axis=0)

    def clip(self, x: str, low: float, high: float) -> str:
        if self.version < 11:
            return self.op("Clip", x, min=low, max=high)
        return self.op("Clip", x, self.number(low, x), self.number(high, x))

    def cast(self, x: str, element_type: int) -> str:
        return self.op("Cast", x, to=element_type)

    def cast_like(self, x: str, *like: str) -> str:
        """Casts x to the element type of the tensors `like`."""
        kind = self.element_type(*like)
        if kind == 0 and self.version >= 15:
            return self.op("CastLike", x, like[0])
        return self.cast(x, kind or TensorProto.FLOAT)
