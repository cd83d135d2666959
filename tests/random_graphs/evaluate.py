"""Runs one node at a time in onnxruntime, to compute the generator's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import GraphProto, NodeProto, TensorProto, helper

from .values import EXACT, NOISY, OTHER, OTHER_NOISY, RELATIVE_NOISE, WORLDS, Array, Value

LARGEST = {"float32": 1e4, "float64": 1e4, "float16": 500.0}
"""Maximum magnitudes, above which a graph would soon overflow."""
MAX_INTEGER = {"int64": 2**45}
"""Maximum magnitude of integers, a million in other types, above which they would soon overflow."""
MAX_ELEMENTS = 20_000
WORST_CONDITION = 1e-2
"""Maximum ratio of drift to magnitude, above which a comparison is meaningless."""
SCALE_NOISE = 2.0**-14
"""Required precision of the scales of quantized operators: a result near zero point 255 must differ in float32."""
VANISHING_DRIFTS = 4.0
"""Values with a magnitude below this multiple of their drift may be zero."""

_EXACT = (
    "Abs And ArgMax ArgMin Ceil Compress Concat Constant ConstantOfShape DepthToSpace Dropout Equal Expand EyeLike Flatten"
    " Floor Gather GatherElements GatherND GlobalMaxPool Greater GreaterOrEqual Hardmax Identity IsInf IsNaN Less LessOrEqual"
    " Max MaxPool Min Neg NonZero Not OneHot Or Pad ReduceMax ReduceMin Relu Reshape ReverseSequence Round Scatter"
    " ScatterElements ScatterND Shape Sign Size Slice SpaceToDepth Split Squeeze Tile TopK Transpose Trilu Unique Unsqueeze"
    " Where Xor Clip MaxUnpool TensorScatter"
)
EXACT_OPERATORS = frozenset(_EXACT.split())
"""Operators that only select or move elements, with the same bits in every implementation: nothing is disturbed."""


FIRST_ONLY = frozenset({"Resize", "Range", "Upsample", "OneHot"})
"""Operators with inputs that are parameters."""


_TOGETHER = frozenset({"BlackmanWindow", "DFT", "HammingWindow", "HannWindow", "STFT"})
"""Operators with results that are rounded relative to the largest one: a canceled sum is not exactly zero."""


_AS_ONE = frozenset({"Celu", "Elu", "GRU", "LSTM", "RNN", "Selu", "Sigmoid"})
"""Operators that onnxruntime computes as sums with 1, with the rounding of 1: its logistic function has an error of 1e-7
far from zero, its tanh in recurrent layers and its expm1 of 5e-8 near zero.
"""


_AS_OPERAND = frozenset({"BiasGelu", "FastGelu", "Gelu", "QuickGelu", "Swish"})
"""Operators that multiply their input by such a function."""


_VANISHING = {
    NOISY[0]: (EXACT, NOISY[1], -1.0),
    NOISY[1]: (EXACT, NOISY[0], 0.0),
    OTHER_NOISY[0]: (OTHER, OTHER_NOISY[1], -1.0),
    OTHER_NOISY[1]: (OTHER, OTHER_NOISY[0], 0.0),
}
"""For each disturbed world: the two worlds that measure the drift, and the value in drifts that replaces smaller values."""


_ORDERING = frozenset({"ArgMax", "ArgMin", "Hardmax", "MaxPool", "TopK", "Unique"})
"""Operators that sort values: the order must not depend on the drift."""


class Rejected(Exception):
    """A node is not added to the graph; the text is the reason."""


def quiet_session(model: bytes) -> onnxruntime.InferenceSession:
    """onnxruntime without graph optimization, on one thread."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])


@lru_cache(maxsize=2000)
def _session(
    nodes: tuple[bytes, ...], results: tuple[str, ...], operands: tuple[tuple[str, str], ...], opset: int
) -> onnxruntime.InferenceSession:
    protos = [NodeProto.FromString(node) for node in nodes]
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None)
        for name, dtype in operands
    ]
    graph = helper.make_graph(protos, "nodes", inputs, [onnx.ValueInfoProto(name=name) for name in results])
    model = helper.make_model(graph, opset_imports=imports(protos, opset), ir_version=10)
    return quiet_session(model.SerializeToString())


def imports(nodes: Sequence[NodeProto], opset: int) -> list[onnx.OperatorSetIdProto]:
    """The opsets of the nodes."""
    domains = {domain for node in nodes for domain in domains_of(node)} - {""}
    return [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in sorted(domains))]


def domains_of(node: NodeProto) -> set[str]:
    """Returns the domains of a node and of its bodies."""
    return {node.domain, *(inner.domain for graph in _bodies([node]) for inner in graph.node)}


def evaluate(
    nodes: Sequence[NodeProto], results: Sequence[str], operands: list[Value], opset: int, noise: int
) -> list[tuple[Array, ...]]:
    """Returns the results of nodes in every world.

    Args:
        nodes: one, or several with intermediate values that are not tensors; in order.
        results: the names of the wanted values.
        operands: every value that the nodes or their bodies read, once each.
        opset: of the standard's operators.
        noise: seed of the disturbances.

    Returns:
        For each wanted name its values in each world.

    Raises:
        Rejected: onnxruntime rejects the nodes, or the results are not suitable for a comparison.
    """
    rng = np.random.default_rng(noise)
    exact = all(node.op_type in EXACT_OPERATORS for node in nodes)
    kind = nodes[0].op_type
    coarse = _rounds_to_half(nodes, operands)
    held: list[list[Array]] = []
    try:
        texts = tuple(node.SerializeToString() for node in nodes)
        session = _session(texts, tuple(results), tuple((v.name, v.dtype) for v in operands), opset)
        for world in range(WORLDS):
            disturbed = not exact and world in (*NOISY, *OTHER_NOISY)
            feed = {v.name: _held(v, world) for v in operands}
            if kind == "QuantizeLinear" and _is_at_half(feed[nodes[0].input[0]], feed[nodes[0].input[1]]):
                raise Rejected("a number is halfway between two integers")
            if disturbed:
                rough = nodes[0].input[:1] if kind in FIRST_ONLY else feed
                feed |= {name: _disturb(feed[name], rng, coarse=coarse) for name in rough}
            got = [np.asarray(array) for array in session.run(None, feed)]
            held.append(
                [_disturb(array, rng, _rounded_as(nodes, feed, array), coarse) if disturbed else array for array in got]
            )
            if kind.startswith("QLinear") and world in (EXACT, OTHER):
                _check_scales(kind, session, feed, got)
            if kind in _ORDERING and world in (EXACT, OTHER):
                _check_order(kind, session, operands, world, got)
    except Rejected:
        raise
    except Exception as error:  # its exception classes have no common public base
        raise Rejected(f"onnxruntime: {kind}: {error}") from None
    values = [tuple(column) for column in zip(*held, strict=True)]
    for worlds in values:
        _check(kind, worlds)
    return values


def _held(value: Value, world: int) -> Array:
    """Returns the values. In disturbed worlds, values smaller than their drift become zero or change sign.

    NonZero or Sqrt then show that they depend on such values.
    """
    array = value.worlds[world]
    if array.dtype.kind != "f" or world not in _VANISHING:
        return array
    exact, noisy, beyond = _VANISHING[world]
    first = value.worlds[exact]
    drift = np.abs(value.worlds[noisy] - first)
    small = (drift > 0) & (np.abs(first) <= VANISHING_DRIFTS * drift)
    return np.asarray(np.where(small, beyond * np.copysign(drift, first), array), array.dtype)


def _is_at_half(x: Array, scale: Array) -> bool:
    """Returns whether the last bits of a value determine if it is rounded up or down."""
    if scale.size != 1:
        return False
    steps = x.astype(np.float64) / float(scale.reshape(-1)[0])
    noise = RELATIVE_NOISE[str(x.dtype)] if x.dtype.kind == "f" else 0.0
    return bool(np.any(np.abs(steps - np.floor(steps) - 0.5) <= noise * np.maximum(np.abs(steps), 1.0)))


def _check_scales(
    kind: str, session: onnxruntime.InferenceSession, feed: dict[str, Array], results: list[Array]
) -> None:
    """Raises Rejected if a quantized result changes with a slightly different scale."""
    for name, scale in feed.items():
        if scale.dtype.kind != "f" or scale.size != 1:
            continue
        for sign in (-1, 1):
            other = np.asarray(scale * (1 + sign * SCALE_NOISE), scale.dtype)
            for one, two in zip(session.run(None, feed | {name: other}), results, strict=True):
                if one.dtype.kind != "f" and not np.array_equal(one, two):
                    raise Rejected(f"{kind}: a number is halfway between two integers")


def _check_order(
    kind: str, session: onnxruntime.InferenceSession, operands: Sequence[Value], world: int, results: list[Array]
) -> None:
    """Raises Rejected if indices change for values that differ by a multiple of their drift."""
    feed = {value.name: value.worlds[world] for value in operands}
    ramps = {value.name: _ramp(value, world) for value in operands if value.array.dtype.kind == "f"}
    if not any(np.any(ramp) for ramp in ramps.values()):
        return
    for sign in (-1, 1):
        moved = {name: np.asarray(feed[name] + sign * ramp, feed[name].dtype) for name, ramp in ramps.items()}
        for one, two in zip(session.run(None, feed | moved), results, strict=True):
            if (kind == "Hardmax" or one.dtype.kind != "f") and not np.array_equal(one, two):
                raise Rejected(f"{kind}: the order depends on the last bit")


def _ramp(value: Value, world: int) -> Array:
    """Returns multiples of the largest drift, starting with zero for the first element."""
    exact = value.worlds[world]
    noisy = NOISY if world == EXACT else OTHER_NOISY
    drift = max(float(np.max(np.abs(value.worlds[other] - exact), initial=0.0)) for other in noisy)
    return drift * np.arange(exact.size, dtype=np.float64).reshape(exact.shape)


def _rounded_as(nodes: Sequence[NodeProto], feed: Mapping[str, Array], result: Array) -> float:
    """Returns the magnitude to which the rounding of smaller values of a result is relative."""
    operators = {node.op_type for node in nodes}
    if result.dtype.kind == "f" and result.size:
        if operators & _TOGETHER:
            return float(np.max(np.abs(result)))
        if operators & _AS_OPERAND:
            return max(float(np.max(np.abs(array), initial=0.0)) for array in feed.values())
    return 1.0 if operators & _AS_ONE else 0.0


def _rounds_to_half(nodes: Sequence[NodeProto], operands: Sequence[Value]) -> bool:
    """Returns whether bodies round to float16, which the converter may omit."""
    inner = [node for graph in _bodies(nodes) for node in graph.node]
    casts = any(one.name == "to" and one.i == TensorProto.FLOAT16 for node in inner for one in node.attribute)
    return bool(inner) and (casts or any(value.dtype == "float16" for value in operands))


def _bodies(nodes: Iterable[NodeProto]) -> list[GraphProto]:
    """Yields the graphs in nodes, recursively."""
    held = [one.g for node in nodes for one in node.attribute if one.type == onnx.AttributeProto.GRAPH]
    return held + [graph for outer in held for graph in _bodies(outer.node)]


def _disturb(array: Array, rng: np.random.Generator, least: float = 0.0, coarse: bool = False) -> Array:
    """Adds noise to values, at least that of `least`; or that of float16."""
    if array.dtype.kind != "f" or array.size == 0:
        return array
    kind = np.dtype("float16") if coarse else array.dtype
    noise = RELATIVE_NOISE[kind.name] * rng.uniform(-1, 1, array.shape)
    least = max(least, float(np.finfo(kind).smallest_normal))  # below, float16 has few bits
    return np.asarray(array + noise * np.maximum(np.abs(array), least), array.dtype)


def _check(operator: str, worlds: tuple[Array, ...]) -> None:
    """Raises Rejected for values that are too large, NaN, or depend on the last bit of others."""
    for exact, noisy in ((EXACT, NOISY), (OTHER, OTHER_NOISY)):
        first = worlds[exact]
        if first.size > MAX_ELEMENTS:
            raise Rejected(f"{operator}: {first.size} elements")
        if any(worlds[world].shape != first.shape for world in noisy):
            raise Rejected(f"{operator}: the shape depends on the last bit")
        most = MAX_INTEGER.get(str(first.dtype), 1_000_000)
        if first.dtype.kind in "iu" and first.size and int(np.max(np.abs(first.astype(np.float64)))) > most:
            raise Rejected(f"{operator}: large integers")
        if first.dtype.kind != "f":
            if any(not np.array_equal(worlds[world], first) for world in noisy):
                raise Rejected(f"{operator}: depends on the last bit")
            continue
        if first.size == 0:
            continue
        largest = float(np.max(np.abs(first)))
        if not largest <= LARGEST[str(first.dtype)]:
            raise Rejected(f"{operator}: magnitude {largest}")
        for world in noisy:
            apart = np.max(np.abs(worlds[world].astype(np.float64) - first))
            if not apart <= WORST_CONDITION * largest:
                raise Rejected(f"{operator}: badly conditioned")


def operand_names(node: NodeProto) -> set[str]:
    """Returns the names that a node reads, including those of outer graphs that its bodies read."""
    names = {name for name in node.input if name}
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            names |= _free_names(attribute.g)
    return names


def _free_names(graph: Any) -> set[str]:
    inner = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    free: set[str] = set()
    for node in graph.node:
        free |= operand_names(node) - inner
        inner |= set(node.output)
    return free | {value.name for value in graph.output} - inner
