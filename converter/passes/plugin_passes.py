"""Runs and checks the passes of plug-ins, and completes their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.execution_order import CycleError, execution_order
from mslite.converter.mindir.graph import Graph, Module, Value
from mslite.converter.mindir.text import to_text
from mslite.converter.mindir.verifier import VerificationError, verify
from mslite.converter.passes.cleanup import remove_dead_code, remove_identities
from mslite.converter.passes.context import Context
from mslite.converter.passes.folding import fold_constants
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.layout import unify_layout
from mslite.converter.passes.naming import make_names_unique
from mslite.converter.registry.entries import Entry, PassPosition
from mslite.converter.registry.passes import BUILT_IN
from mslite.converter.registry.registrations import active

Pass = Callable[[Module, Context], None]


def _dump(module: Module, context: Context) -> None:
    print(to_text(module))


_OWN: dict[str, Pass] = {
    "ConstFoldPass": fold_constants,
    "DecreaseTransposeAlgo": remove_identities,
    "DumpGraph": _dump,
    "ToNHWCFormat": unify_layout,
}
assert set(_OWN) == set(BUILT_IN)


def verify_plugin_module(module: Module, file: str) -> None:
    """Checks a module that was parsed with node parsers of plug-ins. Raises ConversionError."""
    parsers = {entry.origin: None for entry in active().node_parsers.values()}
    if not parsers:
        return
    make_names_unique(module)
    try:
        verify(module)
    except VerificationError as error:
        raise _invalid(
            f"{file}: with the node parsers of {', '.join(parsers)}, the graph is", error.violations
        ) from None


def _invalid(where: str, violations: Sequence[str]) -> ConversionError:
    return ConversionError("\n".join([f"{where} not valid. Correct the plug-in:", *(f"  {one}" for one in violations)]))


def run_registered(position: PassPosition) -> Pass:
    """Returns a pass that runs the scheduled passes of a position."""

    def run(module: Module, context: Context) -> None:
        for name in active().schedules.get(position, ()):
            if name not in context.settings.disabled_fusions:
                _run(name, position, module, context)

    return run


def _run(name: str, position: PassPosition, module: Module, context: Context) -> None:
    own = _OWN.get(name)
    entry = active().passes.get(name)
    before = [list(graph.outputs) for graph in module.graphs]
    names = [[value.name for value in outputs] for outputs in before]
    if own is not None:
        own(module, context)
    elif entry is not None:
        _call(name, entry, module)
    else:
        known = ", ".join([*active().passes, *_OWN])
        hint = "; kernels compute in NHWC only" if name == "ToNCHWFormat" else ""
        raise ConversionError(
            f"the pass '{name}', which is scheduled at {position.name}, is not registered{hint}. Registered: {known}",
            code=ReturnCode.NOT_SUPPORTED,
        )
    remove_dead_code(module, context)
    for graph, values, wanted in zip(module.graphs, before, names, strict=False):
        _keep_names(graph, values, wanted)
    make_names_unique(module)
    _infer(name, module, context)
    context.applied[name] = context.applied.get(name, 0) + 1


def _keep_names(graph: Graph, before: Sequence[Value], names: Sequence[str]) -> None:
    """Gives an output that a pass replaced the name of the old output, because programs use output names."""
    if len(graph.outputs) != len(before):
        return
    taken = {id(value) for value in (*graph.inputs, *before)}
    for value, old, name in zip(graph.outputs, before, names, strict=True):
        if value is not old and id(value) not in taken and value.producer is not None:
            value.name, old.name = name, value.name
            taken.add(id(value))


def _call(name: str, entry: Entry, module: Module) -> None:
    """Runs a plug-in's pass. Raises ConversionError if it fails or makes the graph invalid."""
    try:
        entry.call(module)
    except ConversionError:
        raise
    except (Exception, SystemExit) as error:
        reason = f"the pass '{name}' failed with {type(error).__name__}: {error} ({entry.place(error)})"
        raise ConversionError(f"{reason}. Correct the plug-in") from None
    where = f"after the pass '{name}' of {entry.origin}, the graph is"
    try:
        for graph in module.graphs:
            graph.nodes = execution_order(graph.nodes)
        verify(module)
    except VerificationError as error:
        raise _invalid(where, error.violations) from None
    except (AttributeError, CycleError, TypeError) as error:  # a list contains an object that is not a node or value
        raise _invalid(where, [str(error)]) from None


def _infer(name: str, module: Module, context: Context) -> None:
    try:
        infer_shapes(module, context)
    except ConversionError as error:
        message = f"after the pass '{name}', shapes cannot be inferred:"
        raise ConversionError(message, error.blockers, error.code) from None
