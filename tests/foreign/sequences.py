"""Recurrent operators, computed with onnxruntime's operators; tensor lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS
from mslite.converter.mindir.ops.enums import DataType
from tests.kernels import random_sequences as recurrent
from tests.kernels.random_calls import Call, Draw, ints, normal, shapes

from .assembly import only
from .graph import Array, Graph, run
from .registry import compared


def _has_steps(call: Call) -> bool:
    """For an empty sequence onnxruntime returns zeros, and mslite the initial states."""
    lengths = [array for array in call.inputs if array.dtype == np.int32]
    return call.inputs[0].shape[0] > 0 and all(array.min() > 0 for array in lengths)


def _some_steps(name: str) -> st.SearchStrategy[Call]:
    return only(recurrent.recurrences(), name).filter(_has_steps)


@compared("LSTM", "GRU", strategy=_some_steps)
def recurrence(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    x, w, r, bias, *states = inputs
    attributes = {"hidden_size": r.shape[2], "direction": "bidirectional" if op.bidirectional else "forward"}
    outputs = 3 if op.name == "LSTM" else 2
    return run(op.name, x, w, r, bias, None, *states, outputs=outputs, **attributes)


@compared("LSTMSequence", "GRUSequence", "RNNSequence", strategy=_some_steps)
def sequence(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    x, w, r, *rest = inputs
    flags = (op.has_bias, op.has_sequence_lengths, op.has_initial_hidden)
    optional = [rest.pop(0) if flag else None for flag in flags]
    attributes: dict[str, Any] = {"hidden_size": r.shape[2], "direction": op.direction}
    if op.clip:
        attributes["clip"] = op.clip
    name = op.name.removesuffix("Sequence")
    return run(name, x, w, r, *optional, outputs=3 if name == "LSTM" else 2, **attributes)


# ---- tensor lists, stored as tensors with one more dimension ----


@st.composite
def lists(draw: Draw, name: str) -> Call:
    count, shape = draw(st.integers(1, 5)), draw(shapes(0, 3, 1, 4))
    elements, index = normal(draw, (count, *shape)), ints(draw(st.integers(0, count - 1)))[0].reshape(())
    flow = np.zeros((), np.float32)
    kind = {"element_dtype": int(DataType.FLOAT32)}
    if name == "TensorListReserve":
        return Call(OPERATORS[name](**kind), (ints(*shape), ints(count)), (0, 1))
    if name == "TensorArray":
        shape = (*shape, 2)
        return Call(
            OPERATORS[name](data_type=int(DataType.FLOAT32), element_shape=shape), (ints(count)[0].reshape(()),), (0,)
        )
    operands: dict[str, tuple[Array, ...]] = {
        "TensorListFromTensor": (elements, ints(*shape)),
        "TensorListStack": (elements, ints(*shape)),
        "TensorListGetItem": (elements, index),
        "TensorListSetItem": (elements, index, normal(draw, shape)),
        "TensorListResize": (elements, ints(draw(st.integers(0, 7)))[0].reshape(())),
        "TensorArrayRead": (elements, index, flow),
        "TensorArrayWrite": (elements, index, normal(draw, shape), flow),
    }
    known = (1,) if name == "TensorListResize" else ()
    return Call(OPERATORS[name](**({} if "Array" in name or "Resize" in name else kind)), operands[name], known)


@compared("TensorListReserve", "TensorArray", "TensorListFromTensor", "TensorListStack", strategy=lists)
def whole_list(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """Returns the concatenated elements of a sequence."""
    graph = Graph()
    if op.name in ("TensorListReserve", "TensorArray"):
        shape = inputs[0] if op.name == "TensorListReserve" else np.array(op.element_shape, np.int64)
        sizes = graph("Concat", inputs[-1].reshape(1).astype(np.int64), shape.astype(np.int64), axis=0)
        return graph.run(graph("ConstantOfShape", sizes))
    elements = graph("SplitToSequence", inputs[0], axis=0, keepdims=0)
    return graph.run(graph("ConcatFromSequence", elements, axis=0, new_axis=1))


@compared(
    "TensorListGetItem", "TensorListSetItem", "TensorListResize", "TensorArrayRead", "TensorArrayWrite", strategy=lists
)
def one_element(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    graph, (x, index, *rest) = Graph(), inputs
    if op.name == "TensorListResize":
        grown = graph("Pad", x, np.array([0] * (2 * x.ndim - x.ndim) + [7] + [0] * (x.ndim - 1)))
        return graph.run(graph("Slice", grown, np.array([0]), index.reshape(1).astype(np.int64)))
    elements = graph("SplitToSequence", x, axis=0, keepdims=0)
    if op.name.endswith(("GetItem", "Read")):
        return graph.run(graph("SequenceAt", elements, index))
    changed = graph("SequenceInsert", graph("SequenceErase", elements, index), rest[0], index)
    return graph.run(graph("ConcatFromSequence", changed, axis=0, new_axis=1))
