"""Runs a converted module node by node with the scalar kernels, and a source model with LiteRT."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.enums import DataType, Format, QuantType
from mslite.converter.mindir.quantized import channel_axis, dequantized_array
from mslite.converter.mindir.verifier import verify
from mslite.converter.passes.context import Settings
from mslite.converter.passes.native_rules import NativeRuleError, NativeTensorFacts, evaluate
from mslite.converter.passes.pipeline import run_pipeline

Array = npt.NDArray[np.generic]


def lowered(module: Module) -> Module:
    """Returns the module after all passes."""
    run_pipeline(module, Settings(source_layout=Format.NHWC))
    verify(module)
    return module


def run_module(module: Module, inputs: Sequence[Array]) -> list[Array]:
    """Returns the outputs of the main graph (without control flow). Raises NativeRuleError for a missing kernel."""
    values = {id(value): array for value, array in zip(module.main.inputs, inputs, strict=True)}
    for node in module.main.nodes:
        if node.op.name in ("ReadVariable", "AssignVariable"):  # as the runtime does in the first run
            (value,) = node.inputs
            values[id(node.output)] = value.data if value.data is not None else values[id(value)]
            continue
        facts = []
        for index, value in enumerate(node.inputs):
            array = value.data if value.data is not None else values[id(value)]
            facts.append(
                NativeTensorFacts(value.dtype, tuple(array.shape), None, np.ascontiguousarray(array), value.quant)
            )
            if node.quant_type is QuantType.QUANT_WEIGHT and value.data is not None and value.quant:
                decoded = dequantized_array(array, value.quant, channel_axis(node.op, index, node.inputs))
                facts[-1] = NativeTensorFacts(DataType.FLOAT32, tuple(array.shape), None, decoded)
        try:
            outputs = evaluate(node.op, facts, len(node.outputs))
        except NativeRuleError as error:
            raise NativeRuleError(f"{node.op.name}: {error}", error.missing) from None
        for value, output in zip(node.outputs, outputs, strict=True):
            values[id(value)] = output
    return [value.data if value.data is not None else values[id(value)] for value in module.main.outputs]


def run_source(model: bytes, inputs: Sequence[Array], reference: bool = False) -> list[Array]:
    """Returns the outputs of LiteRT, optionally of its reference kernels."""
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    kinds = interpreter.OpResolverType
    kind = kinds.BUILTIN_REF if reference else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    runner = interpreter.Interpreter(model_content=model, experimental_op_resolver_type=kind)
    runner.allocate_tensors()
    for detail, array in zip(runner.get_input_details(), inputs, strict=True):
        runner.set_tensor(detail["index"], array)
    runner.invoke()
    return [runner.get_tensor(detail["index"]) for detail in runner.get_output_details()]
