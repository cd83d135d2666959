"""Each rule about the file catches a file that breaks it, and the whole files of `files.py` break none."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from mslite.converter.mindir.flatbuffer import Source
from mslite.converter.mindir.ms_writer import ms_bytes
from mslite.converter.mindir.ops.control_flow import Call, PartialFusion, Switch
from mslite.converter.mindir.ops.enums import DataType, Format
from mslite.converter.mindir.ops.tables import CNode, MetaGraph, QuantParam, SubGraph, Tensor
from mslite.converter.mindir.ops.unary import Abs, LogicalNot

from .file_rules import FILE_RULES
from .files import fed, int8, labels, model, record, stored, zeros

SUM = model("AddFusion", fed(2), zeros(2))


def node(meta: MetaGraph, **changes: Any) -> MetaGraph:
    return dataclasses.replace(meta, nodes=[dataclasses.replace((meta.nodes or [])[0], **changes)])


def graph(meta: MetaGraph, **changes: Any) -> MetaGraph:
    return dataclasses.replace(meta, subGraph=[dataclasses.replace((meta.subGraph or [])[0], **changes)])


def tensor(meta: MetaGraph, index: int, **changes: Any) -> MetaGraph:
    tensors = list(meta.allTensors or ())
    tensors[index] = dataclasses.replace(tensors[index], **changes)
    return dataclasses.replace(meta, allTensors=tensors)


def chain(*orders: int) -> MetaGraph:
    """x -> Abs -> Abs, the nodes in this order."""
    tensors = [dataclasses.replace(fed(2), name=f"t{n}") for n in range(3)]
    nodes = [CNode(name=f"n{n}", primitive=Abs(), inputIndex=(n,), outputIndex=(n + 1,)) for n in range(2)]
    main = SubGraph(name="g", inputIndices=(0,), outputIndices=(2,), nodeIndices=orders, tensorIndices=(0, 1, 2))
    return MetaGraph(version="1.3", inputIndex=(0,), outputIndex=(2,), nodes=nodes, allTensors=tensors, subGraph=[main])


def branches(
    condition: int = 1, placeholder: int = DataType.FLOAT32, bound: int = 1, behind: bool = False
) -> MetaGraph:
    """Switch(not flag, |x|, |x|): the subgraphs of its branches take x."""
    kinds = {2: placeholder, 3: placeholder, 4: placeholder, 0: DataType.BOOL, 1: DataType.BOOL}
    tensors = [
        Tensor(name=f"t{n}", nodeType=2, dataType=kinds.get(n, DataType.FLOAT32), dims=(1,), format=Format.NHWC)
        for n in range(12)
    ]
    bind = (11,) * bound
    nodes = [
        CNode(name="not", primitive=LogicalNot(), inputIndex=(0,), outputIndex=(1,)),
        CNode(name="yes", primitive=PartialFusion(sub_graph_index=1), inputIndex=bind, outputIndex=(2,)),
        CNode(name="no", primitive=PartialFusion(sub_graph_index=2), inputIndex=(11,), outputIndex=(3,)),
        CNode(name="switch", primitive=Switch(), inputIndex=(condition, 2, 3), outputIndex=(4,)),
        CNode(name="call", primitive=Call(), inputIndex=(4,), outputIndex=(5,)),
        CNode(name="then", primitive=Abs(), inputIndex=(6,), outputIndex=(7,)),
        CNode(name="else", primitive=Abs(), inputIndex=(8,), outputIndex=(9,)),
        CNode(name="after", primitive=Abs(), inputIndex=(5,), outputIndex=(10,)),
    ]
    last = (10,) if behind else (5,)
    main = (0, 1, 2, 3, 4, 7) if behind else (0, 1, 2, 3, 4)
    subs = [
        SubGraph(
            name="main", inputIndices=(0, 11), outputIndices=last, nodeIndices=main, tensorIndices=(0, 1, 2, 3, 4)
        ),
        SubGraph(name="then", inputIndices=(6,), outputIndices=(7,), nodeIndices=(5,), tensorIndices=(6, 7)),
        SubGraph(name="else", inputIndices=(8,), outputIndices=(9,), nodeIndices=(6,), tensorIndices=(8, 9)),
    ]
    return MetaGraph(
        version="1.3", inputIndex=(0, 11), outputIndex=last, nodes=nodes, allTensors=tensors, subGraph=subs
    )


def shared_constant() -> MetaGraph:
    """A weight that a product packs and a sum reads."""
    meta = model("MatMulFusion", fed(2, 2), zeros(2, 2))
    tensors = [*(meta.allTensors or ()), dataclasses.replace(fed(2, 2), name="sum")]
    more = CNode(
        name="sum", primitive=SUM.nodes[0].primitive if SUM.nodes else None, inputIndex=(2, 1), outputIndex=(3,)
    )
    return graph(dataclasses.replace(meta, allTensors=tensors, nodes=[*(meta.nodes or ()), more]), nodeIndices=(0, 1))


WEIGHT = stored([[[[1]]], [[[2]]], [[[3]]]], "int8", quantParams=[record(), record()])
CONV: dict[str, Any] = {"kernel_size": (1, 1), "stride": (1, 1), "dilation": (1, 1), "pad_list": (0, 0, 0, 0)}

BROKEN: dict[str, MetaGraph] = {
    "sub_graph_fields": graph(SUM, tensorIndices=None),
    "indices_in_range": node(SUM, inputIndex=(0, 9)),
    "graph_has_ends": graph(SUM, outputIndices=()),
    "ends_are_used": dataclasses.replace(SUM, outputIndex=(0,)),
    "nodes_have_outputs": node(SUM, outputIndex=()),
    "order_of_nodes": chain(1, 0),
    "graph_inputs_are_nhwc": tensor(SUM, 0, format=Format.NCHW),
    "graph_inputs_have_no_data": tensor(SUM, 0, data=b"12345678"),
    "graph_outputs_have_no_data": dataclasses.replace(SUM, outputIndex=(1, 2)),
    "graph_outputs_are_made": graph(
        dataclasses.replace(SUM, allTensors=[*(SUM.allTensors or ()), fed(1)]), outputIndices=(2, 3)
    ),
    "ends_belong_to_graphs": dataclasses.replace(SUM, outputIndex=(2, 1)),
    "one_output_is_the_only_one": graph(SUM, outputIndices=(2, 2)),
    "fed_types_are_numbers": tensor(SUM, 0, dataType=DataType.TENSOR_LIST),
    "outputs_of_a_node_differ": node(SUM, outputIndex=(2, 2)),
    "partial_is_of_another_graph": model("PartialFusion", fed(1)),
    "lists_stay_among_list_nodes": tensor(SUM, 2, dataType=DataType.TENSOR_LIST),
    "branches_are_bound": model("Switch", fed(1, dtype=DataType.BOOL), fed(1), fed(1)),
    "graph_outputs_are_no_inputs": dataclasses.replace(SUM, outputIndex=(0,)),
    "output_names_differ": model("TopKFusion", fed(3), outputs=(fed(), fed())),
    "types_are_known": tensor(SUM, 2, dataType=0),
    "closures_have_types": branches(placeholder=0),
    "constants_hold_their_elements": tensor(SUM, 1, data=b"1234"),
    "activations_have_no_data": tensor(SUM, 2, data=b"12345678"),
    "packed_constants_are_not_shared": shared_constant(),
    "records_are_valid": model("Abs", fed(2, dtype=DataType.INT8, quantParams=[record(inited=False)])),
    "records_fit_weights": model("Conv2DFusion", int8(1, 2, 2, 1), WEIGHT, **CONV),
    "partial_fills_its_graph": branches(bound=2),
    "calls_take_closures": model("Call", fed(1)),
    "calls_come_last": branches(behind=True),
    "conditions_are_computed": branches(condition=0),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_rule_about_the_file_catches_its_violation(rule: str) -> None:
    meta = BROKEN[rule]
    if rule == "output_names_differ":
        meta = tensor(tensor(meta, 1, name="y"), 2, name="y")
    assert rule in labels(meta)


def test_every_rule_has_an_example() -> None:
    assert set(BROKEN) | {"scales_are_stored"} == set(FILE_RULES)


@pytest.mark.parametrize("meta", [SUM, chain(0, 1), branches()], ids=["sum", "chain", "branches"])
def test_whole_files_break_no_rule(meta: MetaGraph) -> None:
    assert labels(meta, file=ms_bytes(meta)) == []


def test_a_scale_that_is_not_stored_is_seen_in_the_bytes() -> None:
    meta = model(
        "Abs", fed(2, dtype=DataType.INT8, quantParams=[QuantParam(scale=1.0, inited=True)]), outputs=(int8(2),)
    )
    assert "scales_are_stored" not in labels(meta, file=ms_bytes(meta))
    without = _without_scales(ms_bytes(meta))
    assert "scales_are_stored" in labels(meta, file=without)


def _without_scales(file: bytes) -> bytes:
    """The file as an older writer would make it: the entry of `scale` in the records' tables is empty."""
    changed = bytearray(file)
    for each in Source(file).root().tables(7) or ():
        for table in each.tables(7) or ():
            start = table.at - int.from_bytes(file[table.at : table.at + 4], "little", signed=True)
            changed[start + 4 : start + 6] = b"\0\0"
    return bytes(changed)
