"""Pads the results of NonMaxSuppression to their largest size, so that all shapes are fixed (`--padToMaxOutputSize`).

Writes a copy of the model in which each NonMaxSuppression is a PaddedNonMaxSuppression. The planner lowers this copy,
and the runtime records the test cases with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mslite.codegen.lowering.errors import LoweringError
from mslite.codegen.lowering.padding_exclusion import exclude_padding
from mslite.codegen.lowering.padding_propagation import PaddingRows, follow_rows
from mslite.codegen.lowering.padding_rules import PaddingContents, Rows
from mslite.codegen.lowering.shapes import Input, fixed_shapes
from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Graph, Module, Node, Value
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.detection import NonMaxSuppression, PaddedNonMaxSuppression
from mslite.converter.mindir.serialization import MindirFormatError
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.text_shortening import shortened

FLAG = "--padToMaxOutputSize"
_LARGEST = (1 << 31) - 1
_LIMIT = 2
"""Index of the input max_output_boxes_per_class."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class PaddedModel:
    """A model with padded results of NonMaxSuppression."""

    path: Path
    note: str
    """Note for the user on padding rows in outputs; empty if there are none."""


def pad_non_max_suppressions(model: Path, folder: Path, shapes: Mapping[str, Shape], source: str) -> PaddedModel:
    """Writes the padded copy of a `.ms` file to `folder`. `shapes`: input shapes by name; `source`: the model's name in
    messages.

    Raises LoweringError, with all nodes whose largest number of boxes is unknown or whose results padding would change.
    """
    try:
        module = load(model)
    except MindirFormatError as error:
        raise LoweringError(str(error).replace(str(model), source), code=ReturnCode.GRAPH_FILE_ERROR) from None
    blockers = [blocker for graph in module.graphs for blocker in _replace_all(graph, graph is module.main)]
    _refuse(source, blockers)
    if not any(isinstance(node.op, PaddedNonMaxSuppression) for node in module.main.nodes):
        return PaddedModel(model, f"the model has no NonMaxSuppression, so {FLAG} has no effect")
    fixed = copy_module(module)  # dynamic dimensions stay dynamic in the file
    followed = _follow(fixed, shapes, source)
    outputs = [(value, followed.rows[value]) for value in fixed.outputs or fixed.main.outputs if value in followed.rows]
    added = [] if fixed.outputs else _untold(fixed.main, outputs)
    module.main.outputs += [module.main.nodes[place].output for place in added]
    exclude_padding(module.main, fixed.main, followed)
    note = _note(outputs, [fixed.main.nodes[place].output for place in added]) if outputs else ""
    return PaddedModel(save(module, folder / "padded.ms")[0], note)


def _untold(graph: Graph, outputs: Sequence[tuple[Value, Rows]]) -> list[int]:
    """Returns the indices of the NonMaxSuppression nodes whose padding cannot be recognized from the outputs of the
    model, because no output of the same length has -1 in its padding rows."""
    longest: dict[str, int] = {}
    told: dict[str, int] = {}
    for value, rows in outputs:
        size = (value.shape or ())[rows.axis]
        longest[rows.origin] = max(size, longest.get(rows.origin, 0))
        if rows.filling in (PaddingContents.INDEX, PaddingContents.PART):
            told[rows.origin] = max(size, told.get(rows.origin, 0))
    return [
        place
        for place, node in enumerate(graph.nodes)
        if isinstance(node.op, PaddedNonMaxSuppression) and longest.get(node.name, 0) > told.get(node.name, 0)
    ]


def _replace_all(graph: Graph, is_main: bool) -> list[Blocker]:
    blockers = []
    for place, node in enumerate(graph.nodes):
        if not isinstance(node.op, NonMaxSuppression):
            continue
        if not is_main:
            reason = "it is in a branch or loop"
            remedy = "Export the model without that branch or loop, or use the runtime for this model"
            blockers.append(Blocker(node.name, node.op.name, reason, remedy))
            continue
        limit = node.inputs[_LIMIT] if len(node.inputs) > _LIMIT else None
        if limit is not None and (limit.data is None or limit.data.size != 1):
            reason = f"max_output_boxes_per_class ('{shortened(limit.name)}') is computed at run time, so its maximum is unknown"
            blockers.append(Blocker(node.name, node.op.name, reason, "Export the model with a constant"))
            continue
        if sum(other.name == node.name for other in graph.nodes) > 1:
            node.name = graph.unique_name(f"{node.name or node.op.name}_{place}")  # nodes are identified by name
        graph.nodes[place] = _padded(node, 0 if limit is None else int(limit.array().item()))
    return blockers


def _padded(node: Node, limit: int) -> Node:
    assert isinstance(node.op, NonMaxSuppression)
    op = PaddedNonMaxSuppression(
        center_point_box=node.op.center_point_box, max_output_boxes=min(max(limit, 0), _LARGEST)
    )
    inputs = (*node.inputs[:_LIMIT], *node.inputs[_LIMIT + 1 :])
    node.set_inputs(())
    return Node(op, node.name, inputs, node.outputs, node.quant_type, node.source)


def _follow(module: Module, shapes: Mapping[str, Shape], source: str) -> PaddingRows:
    inputs = module.main.inputs
    wanted = fixed_shapes(
        source, [Input(value.name, tuple(max(size, -1) for size in value.shape or ())) for value in inputs], shapes
    )
    for value, shape in zip(inputs, wanted, strict=True):
        value.shape = shape
    try:
        infer_shapes(module, Context())
    except ConversionError as error:
        raise LoweringError(f"{source}: {error.message}", error.blockers, error.code) from None
    origins = [node for node in module.main.nodes if isinstance(node.op, PaddedNonMaxSuppression)]
    followed = follow_rows(module.main, origins)
    _refuse(source, followed.blockers)
    return followed


def _refuse(source: str, blockers: Sequence[Blocker]) -> None:
    if blockers:
        raise LoweringError(
            f"{source}: {len(blockers)} node(s) are unsupported in generated C with {FLAG}", tuple(blockers)
        )


def _note(outputs: Sequence[tuple[Value, Rows]], added: Sequence[Value]) -> str:
    held = []
    for filling in PaddingContents:
        names = _names([value for value, rows in outputs if rows.filling is filling])
        if names:
            held.append(f"{filling.value} in {names}")
    if added:
        held.append(f"-1 in {_names(added)}, which was added to the outputs")
    return f"the rows after the boxes found are padding, with {'; '.join(held)}"


def _names(values: Sequence[Value]) -> str:
    return ", ".join(f"'{shortened(value.name)}'" for value in values)
