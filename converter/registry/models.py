"""Model parsers: whole files of a format, of a new one or instead of mslite's own reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.frameworks import FmkType
from mslite.converter.mindir.graph import Module, Shape
from mslite.converter.mindir.verifier import VerificationError, verify
from mslite.converter.registry.entries import Entry, ModelParserEntry
from mslite.converter.registry.tables import active, caller_file

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class ConverterParameters:
    """What a model parser is asked to read."""

    fmk: str
    model_file: Path
    weight_file: Path | None = None
    input_shapes: Mapping[str, Shape] = field(default_factory=dict)
    """What --inputShape says; the pipeline applies it, so that most parsers need not."""
    attrs: Mapping[str, str] = field(default_factory=dict)
    """The section [converter_parameters] of the configuration file."""


ParseModel = Callable[[ConverterParameters], Module]


class ModelParser:
    """Base of model parsers that are classes; a plain function does as well."""

    def parse(self, parameters: ConverterParameters) -> Module:
        """Reads a model; `GraphBuilder` helps to make the module. Raises ValueError, saying why, for a damaged file."""
        raise NotImplementedError


class ModelParserRegistry:
    """Lets `parser` read the models of a format: of a framework that mslite knows, or of a name of your own.

    The name is what --fmk takes. Files with one of the `suffixes` (`.toy`) are known without --fmk. Raises ValueError for an
    impossible name.
    """

    def __init__(self, fmk: FmkType | str, parser: ParseModel | ModelParser, suffixes: Sequence[str] = ()) -> None:
        name = fmk.name if isinstance(fmk, FmkType) else fmk
        if not _NAME.fullmatch(name):
            raise ValueError(f"'{name}' cannot be the name of a format: letters, digits and _ are possible")
        call = parser.parse if isinstance(parser, ModelParser) else parser
        entry = ModelParserEntry(name, Entry(call, caller_file()), tuple(suffix.lower() for suffix in suffixes))
        active().model_parsers[name] = entry

    @staticmethod
    def get_model_parser(fmk: FmkType | str) -> ParseModel | None:
        entry = active().model_parsers.get(fmk.name if isinstance(fmk, FmkType) else fmk)
        return None if entry is None else entry.parser.call


_Parser = TypeVar("_Parser", bound=ParseModel)


def model_parser(fmk: FmkType | str, *suffixes: str) -> Callable[[_Parser], _Parser]:
    """Decorates a function that reads models of a format, whose files have these suffixes."""

    def register(parser: _Parser) -> _Parser:
        ModelParserRegistry(fmk, parser, suffixes)
        return parser

    return register


# ---- for the converter ----


def parser_of_file(path: Path) -> ModelParserEntry | None:
    """The registered parser of files with this suffix."""
    entries = active().model_parsers.values()
    return next((entry for entry in entries if path.suffix and path.suffix.lower() in entry.suffixes), None)


def find_model_parser(framework: FmkType, format_name: str, path: Path) -> ModelParserEntry | None:
    """The registered parser of a model. Raises ConversionError for a name that none is registered for."""
    table = active().model_parsers
    if framework is not FmkType.THIRDPARTY:
        return table.get(framework.name)
    found = table.get(format_name or FmkType.THIRDPARTY.name) or (None if format_name else parser_of_file(path))
    if found is None:
        names = ", ".join(table) or "none"
        raise ConversionError(
            f"--fmk={format_name or framework.name} is not known: no model parser of that name is registered "
            f"(registered: {names}). Name the plug-in that has it in plugin_path of [registry], or correct --fmk",
            code=ReturnCode.NOT_SUPPORTED,
        )
    return found


def parse_registered(entry: ModelParserEntry, parameters: ConverterParameters) -> Module:
    """The module that a registered parser makes of a model. Raises ConversionError, also where the parser itself fails."""
    path, origin = parameters.model_file, entry.parser.origin
    if not path.exists():
        raise ConversionError(f"{path}: the model file cannot be read: there is none", code=ReturnCode.FILE_ERROR)
    try:
        module = entry.parser.call(parameters)
    except ConversionError:
        raise
    except ValueError as error:
        message = f"{path}: {error} (so says the {entry.fmk} parser of {origin})"
        raise ConversionError(message, code=ReturnCode.GRAPH_FILE_ERROR) from None
    except OSError as error:
        message = f"{path}: {error.filename or 'a file'} cannot be read: {error.strerror or error}"
        raise ConversionError(message, code=ReturnCode.FILE_ERROR) from None
    except (Exception, SystemExit) as error:
        message = (
            f"{path}: the {entry.fmk} parser fails with {type(error).__name__}: {error} ({entry.parser.place(error)}). "
            "Correct the plug-in"
        )
        raise ConversionError(message) from None
    if not isinstance(module, Module):
        message = f"{path}: the {entry.fmk} parser of {origin} returns {type(module).__name__}, not a Module"
        raise ConversionError(f"{message}. Correct the plug-in")
    try:
        verify(module)
    except VerificationError as error:
        details = "\n".join(f"  {line}" for line in error.violations)
        message = f"{path}: the {entry.fmk} parser of {origin} makes a graph that is not valid. Correct the plug-in:"
        raise ConversionError(f"{message}\n{details}") from None
    return module
