"""Decomposes grouped transposed convolutions into one convolution per group."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from mslite.converter.compatibility.versions import Version
from mslite.converter.errors import Blocked
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.ops.assembly import Concat, Split
from mslite.converter.mindir.ops.convolution import Conv2dTransposeFusion
from mslite.converter.passes.target.decompositions.float_arithmetic import REMEDY, require_float
from mslite.converter.passes.target.writer import Writer, decomposes

_MAX_GROUPS = 64


@decomposes("Conv2dTransposeFusion")
def transposed_groups(node: Node, writer: Writer, version: Version) -> Sequence[Value] | None:
    """Computes each group separately and concatenates the results."""
    op, (x, weight, *bias) = node.op, node.inputs
    assert isinstance(op, Conv2dTransposeFusion)
    if op.group <= 1:
        return None
    require_float(x)
    operands = (weight, *bias)
    if op.group > _MAX_GROUPS or any(value.data is None or value.quant for value in operands):
        raise Blocked(f"there is no decomposition for {op.group} groups", REMEDY)
    weights = np.split(weight.array(), op.group, axis=0)
    biases = [np.split(value.array().reshape(-1), op.group) for value in bias]
    one = dataclasses.replace(op, group=1, in_channel=int(weights[0].shape[0]), out_channel=int(weights[0].shape[3]))
    parts = writer.many(Split(output_num=op.group, axis=3), [x], op.group)
    results = []
    for index, part in enumerate(parts):
        constants = [writer.const(pieces[index], name=f"group{index}") for pieces in (weights, *biases)]
        results.append(writer.emit(one, part, *constants))
    return [writer.emit(Concat(axis=3), *results)]
