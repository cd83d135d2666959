"""Layouts of constants that a version takes for those of results."""

from __future__ import annotations

from mslite.converter.compatibility import Version
from mslite.converter.compatibility.formats import takes_layout_of_constant
from mslite.converter.mindir.graph import Module, constant
from mslite.converter.mindir.ops.enums import Format


def state_layouts(module: Module, version: Version) -> None:
    """Gives constants the layout that all results have."""
    for graph in module.graphs:
        for node in graph.nodes:
            if not takes_layout_of_constant(node, version):
                continue
            first, second, *others = node.inputs
            if second.data is not None and not second.quant and second.format is not Format.NHWC:
                stated = constant(f"{second.name}_nhwc", second.data, Format.NHWC)
                node.set_inputs([first, stated, *others])
