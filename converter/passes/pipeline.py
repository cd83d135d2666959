"""The ordered list of passes, with the reason for each position."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, is_symbol
from mslite.converter.mindir.verifier import verify
from mslite.converter.passes.branch_inlining import inline_branches
from mslite.converter.passes.cleanup import merge_common, remove_dead_code, remove_identities
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.element_type_casts import cast_unsupported_types
from mslite.converter.passes.element_types import narrow_all_int64, set_boundary_types, store_float16, widen_float16
from mslite.converter.passes.folding import fold_constants
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.input_sizes import freeze_inputs, mark_fixed_dimensions, set_declared_sizes
from mslite.converter.passes.int64_narrowing import narrow_int64_by_ranges
from mslite.converter.passes.layout import unify_layout
from mslite.converter.passes.legacy_operators import replace_legacy_operators
from mslite.converter.passes.load_guard import add_load_guards
from mslite.converter.passes.naming import make_names_unique
from mslite.converter.passes.norm_layouts import adapt_norm_layouts
from mslite.converter.passes.plugin_passes import run_registered
from mslite.converter.passes.positive_scales import make_scales_positive
from mslite.converter.passes.quantized_nodes import fuse_qdq_nodes
from mslite.converter.passes.rule import Rule, apply_rules
from mslite.converter.passes.rules import (
    ACTIVATION_FUSIONS,
    CHANNELS_FIRST,
    FOLDS,
    LEGACY_FUSION_NAMES,
    PATTERN_FUSIONS,
    STORED,
    TRANSPOSE_RULES,
)
from mslite.converter.passes.target.lower import check_target, lower
from mslite.converter.registry.entries import PassPosition
from mslite.converter.registry.passes import BUILT_IN
from mslite.converter.registry.registrations import active
from mslite.converter.unexpected_errors import unexpected_errors_in_step

Pass = Callable[[Module, Context], None]


@dataclass(frozen=True)
class Step:
    """A pass, with the reason for its position."""

    name: str
    run: Pass
    reason: str
    optional: bool = False
    """Whether the pass is a group of fusions, which --optimize=none leaves out."""


def fuse(rules: Sequence[Rule]) -> Pass:
    """Returns a pass that applies a group of rules."""
    return lambda module, context: apply_rules(rules, module, context)


_IN_SOURCE_LAYOUT: tuple[Step, ...] = (
    Step("old_forms", replace_legacy_operators, "later passes do not support operators of earlier versions"),
    Step("positive_scales", make_scales_positive, "later passes assume positive scales"),
    Step("freeze_inputs", freeze_inputs, "inference uses the shapes of the user"),
    Step("dead_code", remove_dead_code, "unused nodes must not fail the conversion"),
    Step("int64_as_int32", narrow_all_int64, "before inference, which derives the other types"),
    Step("infer_shapes", infer_shapes, "all later passes need ranks and types"),
    Step("float16_graphs", widen_float16, "kernels compute in float32; the types of the outputs are now known"),
    Step("plugins_begin", run_registered(PassPosition.BEGIN), "types are known, and no rule has run yet"),
    Step("fold_constants", fold_constants, "shape computations become the constants that patterns match"),
    Step("branches", inline_branches, "conditions on shapes are now constant; the layout pass should see one graph"),
    Step(
        "proven_int64", narrow_int64_by_ranges, "constants are folded; the next pass removes casts that became no-ops"
    ),
    Step("identities", remove_identities, "no-ops would prevent matches of patterns"),
    Step("common", merge_common, "exporters duplicate shape and scale computations"),
)

_CHANNELS_LAST: tuple[Step, ...] = (
    Step(
        "channels_first",
        fuse(CHANNELS_FIRST),
        "the layout pass would convert their reshapes to transposes",
        optional=True,
    ),
    Step("layout", unify_layout, "after all passes in the source's layout, before all passes that need NHWC"),
    Step("layout_shapes", infer_shapes, "checks the rewritten graph and infers the shapes of new nodes"),
    Step("layout_folding", fold_constants, "folds transposed constants and shape inputs"),
    Step("layout_identities", remove_identities, "removes transposes of the source that became no-ops"),
    Step(
        "spellings",
        fuse(PATTERN_FUSIONS),
        "the layout is final, so a pattern has one form for all frameworks",
        optional=True,
    ),
    Step(
        "moves",
        fuse(TRANSPOSE_RULES),
        "before weights are folded: reordering a weight changes its output axis",
        optional=True,
    ),
    Step("folds", fuse(FOLDS), "scales and biases are folded into weights before activations are fused", optional=True),
    Step(
        "epilogues",
        fuse(ACTIVATION_FUSIONS),
        "last of the fusions: nothing can be fused after an activation",
        optional=True,
    ),
    Step("fused_shapes", infer_shapes, "infers types and shapes of new nodes, and checks the rules"),
    Step("fused_folding", fold_constants, "folds constants that the rules combined"),
    Step("fused_identities", remove_identities, "removes transposes and reshapes that cancel out"),
    Step(
        "quantized_nodes",
        fuse_qdq_nodes,
        "after the fusions, which match float nodes: nothing is fused into a quantized node",
    ),
    Step("stored", fuse(STORED), "all quantized nodes exist now", optional=True),
    Step("final_common", merge_common, "merges equal nodes that the rules created"),
    Step(
        "element_type_casts",
        cast_unsupported_types,
        "the kernel of each node is final; rules must not match the added casts",
    ),
)

_TARGET: tuple[Step, ...] = (
    Step("stored_norms", adapt_norm_layouts, "after all fusions, which the added Transposes would prevent"),
    Step("misread_mark", add_load_guards, "the quantized nodes are final"),
    Step("target_version", lower, "lowers only what the version does not run, in the finished graph"),
)

_PLUGINS_END = Step(
    "plugins_end", run_registered(PassPosition.END), "on the finished graph; types of inputs and outputs follow"
)

_FINISH: tuple[Step, ...] = (
    Step("boundary_types", set_boundary_types, "casts at inputs and outputs are wanted; rules must not remove them"),
    Step("final_shapes", infer_shapes, "the file contains the final shapes"),
    Step("input_sizes", mark_fixed_dimensions, "dynamic dimensions are still symbols in the final shapes"),
    Step("declared_sizes", set_declared_sizes, "no later pass folds shapes"),
    Step("float16", store_float16, "inference and rules need float32 weights"),
    Step("target_check", check_target, "last: checks the graph that is written"),
)

PIPELINE: tuple[Step, ...] = (*_IN_SOURCE_LAYOUT, *_CHANNELS_LAST, _PLUGINS_END, *_TARGET, *_FINISH)


def steps_to_run(settings: Settings, before_finish: Sequence[Step] = ()) -> list[Step]:
    """Returns the steps of `run_pipeline`, in order."""
    layout_steps = () if settings.keep_layout else _CHANNELS_LAST
    steps = (*_IN_SOURCE_LAYOUT, *layout_steps, _PLUGINS_END, *before_finish, *_TARGET, *_FINISH)
    return [step for step in steps if settings.fusion or not step.optional]


def run_pipeline(
    module: Module,
    settings: Settings,
    progress: Callable[[str], None] = lambda name: None,
    before_finish: Sequence[Step] = (),
) -> Context:
    """Runs all passes on `module`. If the result keeps the source's layout, passes that need NHWC do not run.

    `progress` is called with the name of each step before it runs. `before_finish`: steps on the fused graph, before
    inputs and outputs get their types (quantization, training).

    Raises ConversionError with all unsupported nodes.
    """
    context = Context(settings, settings.source_layout)
    sizes = [size for graph in module.graphs for value in graph.values() for size in value.shape or ()]
    context.next_symbol = min([SYMBOL_LIMIT, *(size - 1 for size in sizes if is_symbol(size))])
    context.source_bytes = sum(
        value.data.nbytes for graph in module.graphs for value in graph.values() if value.data is not None
    )
    _note_unknown_fusions(context)
    check = os.environ.get("MSLITE_VERIFY") == "1"
    checked = False  # before inference, values may not have a type
    for step in steps_to_run(settings, before_finish):
        progress(step.name)
        last = _last_graph(module)
        with unexpected_errors_in_step(step.name):
            step.run(module, context)
        if module.outputs is not None and last in module.graphs and last is not None:
            module.outputs = list(last.outputs)
        make_names_unique(module)
        checked |= step.run is infer_shapes
        if check and checked:
            verify(module, step.name)
    return context


def _note_unknown_fusions(context: Context) -> None:
    """Adds a note for each unknown name in fusion_blacklists."""
    groups = (CHANNELS_FIRST, PATTERN_FUSIONS, TRANSPOSE_RULES, FOLDS, ACTIVATION_FUSIONS, STORED)
    known = {rule.name for group in groups for rule in group}.union(LEGACY_FUSION_NAMES, active().passes, BUILT_IN)
    for name in sorted(context.settings.disabled_fusions - known):
        context.note(f"fusion_blacklists: '{name}' is not a fusion of mslite and has no effect")


def _last_graph(module: Module) -> Graph | None:
    """Returns the graph with the outputs of the model if that is not the main graph (control flow), else None."""
    if module.outputs is None:
        return None
    return next((graph for graph in module.graphs if graph.outputs == module.outputs), None)
