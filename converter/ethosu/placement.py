"""Replaces the subgraphs of a module that the NPU supports by Custom nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.execution_order import execution_order
from mslite.converter.mindir.graph import Graph, Module, Node, Value, constant
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.quantization import QuantDTypeCast
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.converter.mindir.quantized import SHIFTS, is_quantized, same_quant_params
from mslite.converter.tflite_writer import File, refusal, write_tflite

from .node import NpuCall, custom_of
from .partitions import Part, find_partitions
from .report import PartitionFacts, Placement
from .settings import NpuSettings
from .vela import Compiled, UnsupportedOperations, compile_file, vela_version

_NO_INTEGERS = "it is not int8"
_ALONE = "it only moves or requantizes elements, and no adjacent node runs on the NPU"
_NOT_SAID = "vela leaves a part of its subgraph to the CPU without a reason"


def compile_for_npu(module: Module, settings: NpuSettings) -> Placement:
    """Compiles the subgraphs that the NPU supports and replaces them in the module, which must have had `round_scales`.
    Raises ConversionError, also if no node can run on the NPU."""
    version = vela_version(settings)
    facts: list[PartitionFacts] = []
    left: list[tuple[str, str, str]] = []
    for graph in module.graphs:
        why = {node: refusal(node) if _concerns_integers(node) else _NO_INTEGERS for node in graph.nodes}
        compiled = _compile_all(graph, why, settings)
        facts += [_place(graph, part, file, result, settings, version) for part, file, result in compiled]
        graph.nodes = execution_order(graph.nodes)
        left += [(node.name, node.op.name, why[node] or _ALONE) for node in graph.nodes if node in why]
    if not facts:
        raise ConversionError(
            f"no node can run on {settings.accelerator}: {_summary(left)}. It supports int8 and uint8 .tflite models, and "
            "float models with quant_type=FULL_QUANT in --configFile",
            code=ReturnCode.NOT_SUPPORTED,
        )
    return Placement(
        settings.accelerator, settings.system_config, settings.memory_mode, version, tuple(facts), tuple(left)
    )


def round_scales(module: Module) -> None:
    """Rounds all scales to float32, as in TensorFlow Lite: mslite's quantizer has float64 scales, and the CPU and the
    NPU must compute with the same scales."""
    for graph in module.graphs:
        for value in graph.values():
            value.quant = tuple(replace(record, scale=float(np.float32(record.scale))) for record in value.quant)


def _summary(left: list[tuple[str, str, str]]) -> str:
    """Returns the most frequent reason, with its first node and the number of nodes."""
    reasons = [why for _, _, why in left]
    if not reasons:
        return "the model has no nodes"
    common = max(dict.fromkeys(reasons), key=reasons.count)
    count = reasons.count(common)
    node = next(f"{operator} '{name}'" for name, operator, why in left if why == common)
    return f"{node}{f' and {count - 1} more' if count > 1 else ''}: {common}"


def _concerns_integers(node: Node) -> bool:
    return any(is_quantized(value) and not value.is_constant for value in (*node.inputs, *node.outputs))


def _compile_all(graph: Graph, why: dict[Node, str], settings: NpuSettings) -> list[tuple[Part, File, Compiled]]:
    """Compiles the partitions. Nodes that vela does not support are removed, their reasons are stored in `why`, and the
    rest is partitioned again."""
    done: dict[tuple[int, ...], tuple[Part, File, Compiled]] = {}
    while True:
        parts = find_partitions(graph, lambda node: not why[node])
        refused = False
        found = []
        for part in parts:
            key = tuple(map(id, part.nodes))
            if key not in done:
                file = write_tflite(part.nodes, part.inputs, part.outputs)
                result = compile_file(file.data, settings)
                if isinstance(result, UnsupportedOperations) or not _has_places(file, result):
                    _note(
                        part,
                        file,
                        result if isinstance(result, UnsupportedOperations) else UnsupportedOperations({}),
                        why,
                    )
                    refused = True
                    continue
                done[key] = (part, file, result)
            found.append(done[key])
        if not refused:
            return found


def _has_places(file: File, compiled: Compiled) -> bool:
    """Returns whether all inputs and outputs have an offset in the scratch buffer: vela may remove unused ones."""
    return all(compiled.places.get(name, -1) >= 0 for name in (*file.inputs, *file.outputs))


def _note(part: Part, file: File, refusals: UnsupportedOperations, why: dict[Node, str]) -> None:
    """Stores the reasons of unsupported nodes in `why`; without any, a general reason for all nodes of the
    partition."""
    named = {file.names[name]: reason for name, reason in refusals.reasons.items() if name in file.names}
    why |= named or dict.fromkeys(part.nodes, _NOT_SAID)


def _place(
    graph: Graph, part: Part, file: File, compiled: Compiled, settings: NpuSettings, version: str
) -> PartitionFacts:
    name = graph.unique_name(f"{settings.accelerator}/part")
    for node in part.nodes:
        node.set_inputs(())
    inside = {id(node) for node in part.nodes}
    graph.nodes = [node for node in graph.nodes if id(node) not in inside]
    places = tuple(compiled.places[one] for one in (*file.inputs, *file.outputs))
    call = NpuCall(
        settings.accelerator,
        f"{version} {settings.system_config} {settings.memory_mode}",
        compiled.scratch,
        compiled.fast_scratch,
        places,
        compiled.cycles,
        compiled.macs,
        compiled.sram,
    )
    operands = [  # MindSpore Lite uses the layout of the first operand for the others
        constant(graph.unique_name(f"{name}/{what}"), np.frombuffer(data, np.uint8), Format.NHWC)
        for what, data in (("commands", compiled.commands), ("constants", compiled.constants))
    ]
    inputs = [_as_stored(graph, value) for value in part.inputs]
    results = [_result(graph, value) for value in part.outputs]
    graph.nodes.append(Node(custom_of(call), name, (*operands, *inputs), tuple(results)))
    return PartitionFacts(
        name,
        tuple(node.name for node in part.nodes),
        compiled.cycles,
        compiled.macs,
        compiled.sram,
        len(compiled.constants),
        len(compiled.commands),
        compiled.frequency,
    )


# ---- tensors that are uint8 in the source are uint8 on the NPU ----


def _unsigned(value: Value) -> tuple[QuantParam, ...] | None:
    """Returns the quantization parameters of the uint8 source of an int8 value; None for other values."""
    if value.dtype is not DataType.INT8 or DataType(value.quant[0].dstDtype) is not DataType.UINT8:
        return None
    shift = SHIFTS[DataType.UINT8]
    return tuple(replace(record, zeroPoint=record.zeroPoint + shift) for record in value.quant)


def _as_stored(graph: Graph, value: Value) -> Value:
    """Returns the NPU's input for a value: for an int8 value with a uint8 source, the operand of the cast, or a new
    cast."""
    records = _unsigned(value)
    if records is None:
        return value
    before = value.producer
    source = before.inputs[0] if before is not None and before.op.name == "QuantDTypeCast" else None
    if (
        before is not None
        and source is not None
        and source.dtype is DataType.UINT8
        and same_quant_params(source.quant, records)
    ):
        _drop_unused(graph, before)
        return source
    made = Value(graph.unique_name(f"{value.name}/unsigned"), DataType.UINT8, value.shape, None, value.format, records)
    op = QuantDTypeCast(src_t=int(DataType.INT8), dst_t=int(DataType.UINT8))
    graph.nodes.append(Node(op, graph.unique_name(f"{made.name}/cast"), (value,), (made,)))
    return made


def _drop_unused(graph: Graph, node: Node) -> None:
    """Removes a node without readers; the inputs of the partition's nodes are already cleared."""
    if not any(value.users or value in graph.outputs for value in node.outputs):
        graph.remove(node)


def _result(graph: Graph, value: Value) -> Value:
    """Returns the NPU's output for a value: for an int8 value with a uint8 source, the uint8 result of a cast, if there
    is one, or a new value."""
    records = _unsigned(value)
    if records is None:
        return value
    cast = next((user for user in value.users if _undoes(user, records)), None)
    if cast is not None:
        made = cast.output
        made.producer = None
        cast.set_inputs(())
        graph.nodes.remove(cast)
    else:
        name = graph.unique_name(f"{value.name}/unsigned")
        made = Value(name, DataType.UINT8, value.shape, None, value.format, records)
    if value.users or any(value is output for output in graph.outputs):
        op = QuantDTypeCast(src_t=int(DataType.UINT8), dst_t=int(DataType.INT8))
        graph.nodes.append(Node(op, graph.unique_name(f"{value.name}/cast"), (made,), (value,)))
    return made


def _undoes(node: Node, records: Sequence[QuantParam]) -> bool:
    if node.op.name != "QuantDTypeCast":
        return False
    return node.output.dtype is DataType.UINT8 and same_quant_params(node.output.quant, records)
