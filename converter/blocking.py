"""What a failed conversion says: all unsupported nodes, not those of the first stage alone, and its share of the work."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from mslite.converter.errors import Blocker, ConversionError, ReturnCode
from mslite.converter.mindir.graph import Module
from mslite.converter.parsers.stand_in import in_the_way
from mslite.converter.passes.context import Context, Settings
from mslite.converter.passes.inference import infer_shapes
from mslite.converter.passes.input_sizes import freeze_inputs
from mslite.converter.shares import shares_by_name


def complete(error: ConversionError, file: Path, module: Module | None, settings: Settings) -> ConversionError:
    """The same error, with the nodes that later stages would name, and every blocking node's share of the work.

    `module` is what the passes made of the model so far; None when it is the front end that failed: its module, with
    stand-ins, gets its shapes here. An error that concerns no nodes, or has no module, stays as it is.
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
        message = in_the_way(str(file), len(blockers))
    elif str(file) not in message:
        message = f"{file}: {message}"
    result = ConversionError(message, blockers, error.code, seen)
    result.shares = shares_by_name(seen, (blocker.node for blocker in blockers))
    return result


def _of_shapes(module: Module, settings: Settings, named: Container[str]) -> tuple[Blocker, ...]:
    """Nodes that the front end understood, and whose shapes contradict each other. Fills the shapes of all others."""
    context = Context(settings, settings.source_layout)
    try:
        freeze_inputs(module, context)
        infer_shapes(module, context)
    except ConversionError as error:
        return tuple(blocker for blocker in error.blockers if blocker.node not in named)
    return ()
