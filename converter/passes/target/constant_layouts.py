"""Changes the layout of constants that a version would use as the layout of outputs."""

from __future__ import annotations

from mslite.converter.compatibility import Version
from mslite.converter.compatibility.assumed_layouts import output_has_layout_of_constant
from mslite.converter.mindir.graph import Module, constant
from mslite.converter.mindir.ops.enums import Format


def set_constant_layouts(module: Module, version: Version) -> None:
    """Gives these constants the layout NHWC, which all outputs have."""
    for graph in module.graphs:
        for node in graph.nodes:
            if not output_has_layout_of_constant(node, version):
                continue
            first, second, *others = node.inputs
            if second.data is not None and not second.quant and second.format is not Format.NHWC:
                stated = constant(f"{second.name}_nhwc", second.data, Format.NHWC)
                node.set_inputs([first, stated, *others])
