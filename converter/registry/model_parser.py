"""Registers model parsers, which read whole files: of a new format, or in place of mslite's parser."""

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
from mslite.converter.registry.registrations import active, caller_file

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class ConverterParameters:
    """The files and options that a model parser gets."""

    fmk: str
    model_file: Path
    weight_file: Path | None = None
    input_shapes: Mapping[str, Shape] = field(default_factory=dict)
    """The shapes of --inputShape. The converter applies them, so that most parsers can ignore them."""
    attrs: Mapping[str, str] = field(default_factory=dict)
    """The section [converter_parameters] of the configuration file."""


ParseModel = Callable[[ConverterParameters], Module]


class ModelParser:
    """Base class of model parsers. A function can be registered instead."""

    def parse(self, parameters: ConverterParameters) -> Module:
        """Reads a model and returns the module, which `GraphBuilder` can build. Raises ValueError with the reason for
        an invalid file."""
        raise NotImplementedError


class ModelParserRegistry:
    """Registers `parser` for the models of a framework, or of a new format.

    --fmk selects the format by its name. Files with one of the `suffixes` (`.toy`) are detected without --fmk. Raises
    ValueError for an invalid name.
    """

    def __init__(self, fmk: FmkType | str, parser: ParseModel | ModelParser, suffixes: Sequence[str] = ()) -> None:
        name = fmk.name if isinstance(fmk, FmkType) else fmk
        if not _NAME.fullmatch(name):
            raise ValueError(f"'{name}' is not a valid name of a format: use letters, digits and _")
        call = parser.parse if isinstance(parser, ModelParser) else parser
        entry = ModelParserEntry(name, Entry(call, caller_file()), tuple(suffix.lower() for suffix in suffixes))
        active().model_parsers[name] = entry

    @staticmethod
    def get_model_parser(fmk: FmkType | str) -> ParseModel | None:
        entry = active().model_parsers.get(fmk.name if isinstance(fmk, FmkType) else fmk)
        return None if entry is None else entry.parser.call


_Parser = TypeVar("_Parser", bound=ParseModel)


def model_parser(fmk: FmkType | str, *suffixes: str) -> Callable[[_Parser], _Parser]:
    """Decorates a function that reads the models of a format; `suffixes` are those of its files."""

    def register(parser: _Parser) -> _Parser:
        ModelParserRegistry(fmk, parser, suffixes)
        return parser

    return register


# ---- for the converter ----


def parser_of_file(path: Path) -> ModelParserEntry | None:
    """Returns the registered parser of files with this suffix, or None."""
    entries = active().model_parsers.values()
    return next((entry for entry in entries if path.suffix and path.suffix.lower() in entry.suffixes), None)


def find_model_parser(framework: FmkType, format_name: str, path: Path) -> ModelParserEntry | None:
    """Returns the registered parser of a model, or None. Raises ConversionError for an unknown format name."""
    table = active().model_parsers
    if framework is not FmkType.THIRDPARTY:
        return table.get(framework.name)
    found = table.get(format_name or FmkType.THIRDPARTY.name) or (None if format_name else parser_of_file(path))
    if found is None:
        names = ", ".join(table) or "none"
        raise ConversionError(
            f"--fmk={format_name or framework.name} is unknown: no model parser of that name is registered "
            f"(registered: {names}). Add its plug-in to plugin_path of [registry], or correct --fmk",
            code=ReturnCode.NOT_SUPPORTED,
        )
    return found


def parse_registered(entry: ModelParserEntry, parameters: ConverterParameters) -> Module:
    """Returns the module that a registered parser makes of a model. Raises ConversionError, also if the parser raises
    an error."""
    path, origin = parameters.model_file, entry.parser.origin
    if not path.exists():
        raise ConversionError(f"{path}: the model file does not exist", code=ReturnCode.FILE_ERROR)
    try:
        module = entry.parser.call(parameters)
    except ConversionError:
        raise
    except ValueError as error:
        message = f"{path}: {error} (from the {entry.fmk} parser of {origin})"
        raise ConversionError(message, code=ReturnCode.GRAPH_FILE_ERROR) from None
    except OSError as error:
        message = f"{path}: {error.filename or 'a file'} cannot be read: {error.strerror or error}"
        raise ConversionError(message, code=ReturnCode.FILE_ERROR) from None
    except (Exception, SystemExit) as error:
        message = (
            f"{path}: the {entry.fmk} parser failed with {type(error).__name__}: {error} "
            f"({entry.parser.place(error)}). "
            "Correct the plug-in"
        )
        raise ConversionError(message) from None
    if not isinstance(module, Module):
        message = f"{path}: the {entry.fmk} parser of {origin} returned {type(module).__name__}, not a Module"
        raise ConversionError(f"{message}. Correct the plug-in")
    try:
        verify(module)
    except VerificationError as error:
        details = "\n".join(f"  {line}" for line in error.violations)
        message = f"{path}: the {entry.fmk} parser of {origin} returned an invalid graph. Correct the plug-in:"
        raise ConversionError(f"{message}\n{details}") from None
    return module
