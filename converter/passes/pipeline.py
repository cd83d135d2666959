"""The one ordered list of passes, with the reason for each position."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mslite.converter.contradictions import contradictions_in_step
from mslite.converter.mindir.graph import SYMBOL_LIMIT, Graph, Module, is_symbol
from mslite.converter.mindir.verifier import verify
from mslite.converter.passes.branches import inline_branches
from mslite.converter.passes.cleanup import merge_common, remove_dead_code, remove_identities
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.element_type_casts import cast_unsupported_types
from mslite.converter.passes.element_types import narrow_all_int64, set_boundary_types, store_float16, widen_float16
from mslite.converter.passes.folding import fold_constants
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.input_sizes import freeze_inputs, mark_input_sizes, state_sizes
from mslite.converter.passes.layout import unify_layout
from mslite.converter.passes.misread_mark import mark_misread
from mslite.converter.passes.naming import make_names_unique
from mslite.converter.passes.narrowing import narrow_proven_int64
from mslite.converter.passes.old_forms import upgrade_old_forms
from mslite.converter.passes.positive_scales import make_scales_positive
from mslite.converter.passes.quantized_nodes import form_quantized_nodes
from mslite.converter.passes.registered import run_registered
from mslite.converter.passes.rule import Rule, apply_rules
from mslite.converter.passes.rules import (
    CHANNELS_FIRST,
    EPILOGUES,
    FOLDS,
    FUSED_AT_LOAD,
    MOVES,
    SPELLINGS,
    STORED,
)
from mslite.converter.passes.stored_norms import store_norms
from mslite.converter.passes.target.lower import check_target, lower
from mslite.converter.registry.entries import PassPosition
from mslite.converter.registry.passes import BUILT_IN
from mslite.converter.registry.tables import active

Pass = Callable[[Module, Context], None]


@dataclass(frozen=True)
class Step:
    """One pass, and why it stands where it does."""

    name: str
    run: Pass
    reason: str
    optional: bool = False
    """A group of fusions: left out by --optimize=none."""


def fuse(rules: Sequence[Rule]) -> Pass:
    """A pass that applies a group of rules."""
    return lambda module, context: apply_rules(rules, module, context)


_IN_SOURCE_LAYOUT: tuple[Step, ...] = (
    Step("old_forms", upgrade_old_forms, "nothing below knows what files of mslite said before"),
    Step("positive_scales", make_scales_positive, "whatever reads records below takes scales for positive"),
    Step("freeze_inputs", freeze_inputs, "shapes given by the user come before anything is inferred from them"),
    Step("dead_code", remove_dead_code, "what is not used must not stop the conversion"),
    Step("int64_as_int32", narrow_all_int64, "before inference, so that all types follow from it"),
    Step("infer_shapes", infer_shapes, "everything below asks for ranks and types"),
    Step("float16_graphs", widen_float16, "kernels compute in float32; the types of the outputs are known now"),
    Step("plugins_begin", run_registered(PassPosition.BEGIN), "types are known, and nothing is rewritten yet"),
    Step("fold_constants", fold_constants, "shape arithmetic becomes the constants that patterns look for"),
    Step("branches", inline_branches, "conditions on shapes are constants now; layouts should see one graph"),
    Step("proven_int64", narrow_proven_int64, "constants are folded; the casts it makes superfluous go next"),
    Step("identities", remove_identities, "no-ops would hide patterns"),
    Step("common", merge_common, "exporters repeat shape and scale computations; patterns see one of each"),
)

_CHANNELS_LAST: tuple[Step, ...] = (
    Step(
        "channels_first",
        fuse(CHANNELS_FIRST),
        "the layout pass would turn their reshapes into transposes",
        optional=True,
    ),
    Step("layout", unify_layout, "after everything that knows the source's layout, before everything that needs NHWC"),
    Step("layout_shapes", infer_shapes, "checks the rewritten graph and gives shapes to what the layout pass added"),
    Step("layout_folding", fold_constants, "transposed constants and size operands of the rewritten nodes"),
    Step("layout_identities", remove_identities, "the source's transposes that the layout absorbed"),
    Step(
        "spellings", fuse(SPELLINGS), "layouts are settled, so a pattern has one form for all frameworks", optional=True
    ),
    Step(
        "moves",
        fuse(MOVES),
        "before weights are folded: reordering a weight changes which axis is its output",
        optional=True,
    ),
    Step("folds", fuse(FOLDS), "weights take up scales and biases before activations close them", optional=True),
    Step(
        "epilogues",
        fuse(EPILOGUES),
        "last of the fusions: nothing goes into an operator after its activation",
        optional=True,
    ),
    Step("fused_shapes", infer_shapes, "types and shapes of what the rules made, and a check of their work"),
    Step("fused_folding", fold_constants, "constants that the rules brought together"),
    Step("fused_identities", remove_identities, "transposes and reshapes that canceled out"),
    Step(
        "quantized_nodes",
        form_quantized_nodes,
        "after the fusions, which look for float values: a node on integers takes in nothing more",
    ),
    Step("stored", fuse(STORED), "nodes on integers are all there now", optional=True),
    Step("final_common", merge_common, "equal nodes that the rewriting created"),
    Step(
        "element_type_casts",
        cast_unsupported_types,
        "which kernel takes a node is settled; no rule may take these casts for the model's",
    ),
)

_TARGET: tuple[Step, ...] = (
    Step(
        "stored_norms", store_norms, "nothing looks for normalizations any more, whose Transposes would prevent fusions"
    ),
    Step("misread_mark", mark_misread, "the nodes on integers are final"),
    Step("target_version", lower, "on the finished graph, of which it takes apart only what the version refuses"),
)

_PLUGINS_END = Step(
    "plugins_end", run_registered(PassPosition.END), "on the graph as it would be without them; boundary types follow"
)

_FINISH: tuple[Step, ...] = (
    Step(
        "boundary_types", set_boundary_types, "casts at the boundary are wanted, no rule may take them for an accident"
    ),
    Step("final_shapes", infer_shapes, "the file holds the final shapes"),
    Step("input_sizes", mark_input_sizes, "the final shapes, in which a size that may change is still a symbol"),
    Step("stated_sizes", state_sizes, "no pass makes constants of sizes any more"),
    Step("float16", store_float16, "shapes and rules see float32 weights"),
    Step("target_check", check_target, "last: what is judged is what is written"),
)

PIPELINE: tuple[Step, ...] = (*_IN_SOURCE_LAYOUT, *_CHANNELS_LAST, _PLUGINS_END, *_TARGET, *_FINISH)


def steps_to_run(settings: Settings, before_finish: Sequence[Step] = ()) -> list[Step]:
    """What `run_pipeline` runs, in order."""
    layout_steps = () if settings.keep_layout else _CHANNELS_LAST
    steps = (*_IN_SOURCE_LAYOUT, *layout_steps, _PLUGINS_END, *before_finish, *_TARGET, *_FINISH)
    return [step for step in steps if settings.fusion or not step.optional]


def run_pipeline(
    module: Module,
    settings: Settings,
    progress: Callable[[str], None] = lambda name: None,
    before_finish: Sequence[Step] = (),
) -> Context:
    """Runs all passes on `module`; without those that make the graph NHWC, or need it so, where the result keeps the
    source's layout. `progress` hears each step's name before it runs. `before_finish`: steps on the fused graph, before
    the boundary gets its types (quantization).

    Raises ConversionError with all blocking nodes.
    """
    context = Context(settings, settings.source_layout)
    sizes = [size for graph in module.graphs for value in graph.values() for size in value.shape or ()]
    context.next_symbol = min([SYMBOL_LIMIT, *(size - 1 for size in sizes if is_symbol(size))])
    context.source_bytes = sum(
        value.data.nbytes for graph in module.graphs for value in graph.values() if value.data is not None
    )
    _note_unknown_fusions(context)
    check = os.environ.get("MSLITE_VERIFY") == "1"
    checked = False  # before inference, values may have no type yet
    for step in steps_to_run(settings, before_finish):
        progress(step.name)
        last = _last_graph(module)
        with contradictions_in_step(step.name):
            step.run(module, context)
        if module.outputs is not None and last in module.graphs and last is not None:
            module.outputs = list(last.outputs)
        make_names_unique(module)
        checked |= step.run is infer_shapes
        if check and checked:
            verify(module, step.name)
    return context


def _note_unknown_fusions(context: Context) -> None:
    """Says which names of fusion_blacklists nothing has, so that a slip of the pen is seen."""
    groups = (CHANNELS_FIRST, SPELLINGS, MOVES, FOLDS, EPILOGUES, STORED)
    known = {rule.name for group in groups for rule in group}.union(FUSED_AT_LOAD, active().passes, BUILT_IN)
    for name in sorted(context.settings.disabled_fusions - known):
        context.note(f"fusion_blacklists names '{name}', which is no fusion of mslite's: it has no effect")


def _last_graph(module: Module) -> Graph | None:
    """The graph whose outputs are the model's, where that is not the main graph (control flow)."""
    if module.outputs is None:
        return None
    return next((graph for graph in module.graphs if graph.outputs == module.outputs), None)
