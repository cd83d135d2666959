"""Subgraphs, tensor lists and order."""

from __future__ import annotations

from ._declare import Ints, Operator, boolean, integer, integers, long, operator


@operator(108, inputs="arguments*", outputs="closure")
class PartialFusion(Operator):
    """Binds arguments to a subgraph."""

    sub_graph_index: int = long(0)
    """index into MetaGraph.subGraph"""


@operator(154, inputs="condition true_branch false_branch", outputs="closure", tensorflow="Switch")
class Switch(Operator):
    """Picks a closure by a boolean."""


@operator(94, inputs="index branches*", outputs="closure", since_1_3=False)
class SwitchLayer(Operator):
    """Picks a closure by an index."""


@operator(190, inputs="closure", outputs="results*")
class Call(Operator):
    """Runs a closure."""

    is_tail_call: bool = boolean(0, True)


@operator(44, inputs="x order")
class Depend(Operator):
    """Passes x on after `order` is done."""


@operator(13, inputs="condition data*", tensorflow="Assert")
class Assert(Operator):
    """Fails unless the condition holds."""

    summarize: int = long(0)


@operator(197, inputs="size", outputs="handle")
class TensorArray(Operator):
    """A list of tensors."""

    dynamic_size: bool = boolean(0)
    identical_element_shapes: bool = boolean(1)
    element_shape: Ints = integers(2)
    data_type: int = integer(3)


@operator(198, inputs="handle index flow", outputs="value")
class TensorArrayRead(Operator):
    """Reads an element of a TensorArray."""


@operator(199, inputs="handle index value flow", outputs="flow")
class TensorArrayWrite(Operator):
    """Writes an element of a TensorArray."""


@operator(155, inputs="tensor element_shape", outputs="list", tensorflow="TensorListFromTensor")
class TensorListFromTensor(Operator):
    """Cuts a tensor into a list."""

    element_dtype: int = long(0)
    """TypeId number"""
    shape_type: int = long(1)


@operator(156, inputs="list index [element_shape]", outputs="value", tensorflow="TensorListGetItem")
class TensorListGetItem(Operator):
    """Reads an element of a list."""

    element_dtype: int = long(0)


@operator(157, inputs="element_shape count", outputs="list", tensorflow="TensorListReserve")
class TensorListReserve(Operator):
    """An empty list."""

    element_dtype: int = long(0)
    """TypeId number"""
    shape_type: int = long(1)


@operator(158, inputs="list index value", outputs="list", tensorflow="TensorListSetItem")
class TensorListSetItem(Operator):
    """Writes an element of a list."""

    element_dtype: int = long(0)


@operator(159, inputs="list element_shape", outputs="tensor", tensorflow="TensorListStack")
class TensorListStack(Operator):
    """Joins a list into a tensor."""

    num_elements: int = long(0)
    element_dtype: int = long(1)


@operator(1900, inputs="list size", outputs="list", custom_type="mslite.TensorListResize")
class TensorListResize(Operator):
    """The first `size` elements of a list; new elements are zeros."""
