"""Completes the error of a failed conversion: adds unsupported nodes that later stages find, and each node's share of
the work."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mac_shares import mac_shares_by_name
from mslite.converter.mindir.graph import Module
from mslite.converter.parsers.placeholder import unsupported_headline
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.input_sizes import freeze_inputs


def complete(error: ConversionError, file: Path, module: Module | None, settings: Settings) -> ConversionError:
    """Returns the error with the unsupported nodes that later stages find, and each unsupported node's share of the
    work.

    `module` is the module in the state that the passes left it in. It is None if the front end failed: shapes are then
    inferred here for its module, with stand-ins for unsupported nodes. An error without nodes or module is returned as
    it is.
    """
    seen = error.module if module is None else module
    if not error.blockers or seen is None:
        if error.code is ReturnCode.NOT_SUPPORTED and not error.message.startswith(str(file)):
            return ConversionError(f"{file}: {error.message}", error.blockers, error.code, error.module)
        return error
    blockers, message = error.blockers, error.message
    if module is None:
        blockers += _of_shapes(seen, settings, {blocker.node for blocker in error.blockers})
    if len(blockers) > len(error.blockers):
        message = unsupported_headline(str(file), len(blockers))
    elif str(file) not in message:
        message = f"{file}: {message}"
    result = ConversionError(message, blockers, error.code, seen)
    result.shares = mac_shares_by_name(seen, (blocker.node for blocker in blockers))
    return result


def _of_shapes(module: Module, settings: Settings, named: Container[str]) -> tuple[Blocker, ...]:
    """Infers the shapes of a parsed module; returns the nodes whose shapes contradict each other."""
    context = Context(settings, settings.source_layout)
    try:
        freeze_inputs(module, context)
        infer_shapes(module, context)
    except ConversionError as error:
        return tuple(blocker for blocker in error.blockers if blocker.node not in named)
    return ()
