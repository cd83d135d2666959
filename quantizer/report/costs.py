"""Measures the cost of each layer in each precision: bytes of its constants, and its time.

Times are measured on this machine with one thread. Two models are built for each layer, with one and with `_COPIES`
copies of it; the time is the difference divided by the number of further copies. Casts between precisions are not
included. A dynamic batch is taken as 1, as in `benchmark`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mslite.context import Context
from mslite.converter.errors import ConversionError
from mslite.converter.mindir.graph import Array, Graph, Module, Node, Value, numpy_type
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import save
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.quantized import is_quantized
from mslite.converter.passes.context import Context as InferenceContext
from mslite.converter.passes.inference import infer_shapes
from mslite.model import Model
from mslite.quantizer.calibration.statistics import Calibration
from mslite.quantizer.precision.choices import Choices, Precision, all_at
from mslite.quantizer.rewrite.graph import quantize_graph
from mslite.quantizer.settings import QuantizerSettings
from mslite.types import ModelType

_COPIES = 9
_SECONDS, _RUNS = 0.02, 30
"""Limits of timing a model: seconds, and number of runs."""


@dataclass(frozen=True)
class Cost:
    """The cost of a layer in one precision. `milliseconds` is None if the layer cannot run alone."""

    constant_bytes: int
    milliseconds: float | None


Costs = Mapping[str, Mapping[Precision, Cost]]
"""Node name -> precision -> cost."""


def layer_costs(module: Module, calibration: Calibration, choices: Choices, settings: QuantizerSettings) -> Costs:
    """Returns the costs of every node in float and, if `choices` quantizes it, in int8 and int16. The batch is 1."""
    module = with_batch_one(module)
    found: dict[str, dict[Precision, Cost]] = {}
    for precision in Precision:
        if precision is Precision.FLOAT:
            rewritten = module
        else:
            rewritten = copy_module(module)
            quantize_graph(rewritten, calibration, all_at(rewritten, choices, precision), settings)
        for node in rewritten.main.nodes:
            if precision is Precision.FLOAT or node.name in choices:
                cost = Cost(constant_bytes(node), _milliseconds(node))
                found.setdefault(node.name, {})[precision] = cost
    return found


def open_batch(module: Module) -> list[str]:
    """Returns the names of the inputs with a dynamic batch."""
    return [value.name for value in module.main.inputs if value.shape and value.shape[0] < 0]


def with_batch_one(module: Module) -> Module:
    """Returns a copy of the module with a batch of 1 if its batch is dynamic, else `module`."""
    if not open_batch(module):
        return module
    copy = copy_module(module)
    for value in copy.main.inputs:
        if value.shape and value.shape[0] < 0:
            value.shape = (1, *value.shape[1:])
    try:
        infer_shapes(copy, InferenceContext(layout=Format.NHWC))
    except ConversionError:  # the model does not support a batch of 1
        return module
    return copy


def constant_bytes(node: Node) -> int:
    """Returns the bytes of the constants that a node reads."""
    return sum(value.data.nbytes for value in node.inputs if value.data is not None)


def _milliseconds(node: Node) -> float | None:
    """Returns the time of one run of a node; None if a shape is unknown, an input is neither float nor quantized, or
    the node does not run alone."""
    entering = list({id(value): value for value in node.inputs if not value.is_constant}.values())
    for value in (*entering, *node.outputs):
        if not value.is_static or (value.dtype is not DataType.FLOAT32 and not is_quantized(value)):
            return None
    if not entering:
        return None
    random = np.random.default_rng(1)
    inputs = [_contents(value, random) for value in entering]
    try:
        once, often = (_shortest(_repeated(node, entering, count), inputs) for count in (1, _COPIES))
    except (RuntimeError, ValueError):
        return None
    return max(0.0, (often - once) / (_COPIES - 1))


def _repeated(node: Node, entering: list[Value], count: int) -> Model:
    """Builds a model with `count` copies of a node. Raises RuntimeError."""
    nodes = []
    for copy in range(count):
        outputs = tuple(
            Value(f"{value.name}_{copy}", value.dtype, value.shape, format=value.format, quant=value.quant)
            for value in node.outputs
        )
        nodes.append(Node(node.op, f"layer_{copy}", node.inputs, outputs, node.quant_type))
    graph = Graph("layer", entering, list(nodes[-1].outputs), nodes)
    context = Context()
    context.cpu.thread_num = 1
    model = Model()
    with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
        path = Path(folder) / "layer.ms"
        save(Module([graph]), path)
        model.build_from_file(str(path), ModelType.MINDIR_LITE, context)
    for copied in nodes:
        copied.set_inputs(())
    return model


def _shortest(model: Model, inputs: list[Array]) -> float:
    """Returns the shortest time of several runs in milliseconds. Raises RuntimeError."""
    model.predict(inputs)
    shortest, begin = float("inf"), time.perf_counter()
    for _ in range(_RUNS):
        start = time.perf_counter()
        model.predict(inputs)
        now = time.perf_counter()
        shortest = min(shortest, now - start)
        if now - begin > _SECONDS:
            break
    return 1000 * shortest


def _contents(value: Value, random: np.random.Generator) -> Array:
    dtype, shape = numpy_type(value.dtype), value.shape or ()
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype.char)
    return random.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def total(costs: Costs, choices: Choices) -> Cost:
    """Returns the cost of the whole model with `choices`: bytes, and the sum of the known times, or None without
    any."""
    chosen = [
        by_precision.get(choices.get(name, Precision.FLOAT), by_precision[Precision.FLOAT])
        for name, by_precision in costs.items()
    ]
    times = [cost.milliseconds for cost in chosen if cost.milliseconds is not None]
    return Cost(sum(cost.constant_bytes for cost in chosen), sum(times) if times else None)


def untimed(costs: Costs) -> list[str]:
    """Returns the names of the nodes without a time."""
    return [name for name, found in costs.items() if found[Precision.FLOAT].milliseconds is None]
