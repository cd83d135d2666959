"""Plug-ins: Python files that `plugin_path` of [registry] names, run before a conversion."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.registry.entries import place_of
from mslite.converter.registry.tables import active, scope

MAX_PLUGINS = 10
_LIBRARIES = (".so", ".dll", ".dylib")
_numbers = itertools.count()


def plugin_files(text: str, folder: Path | None = None) -> tuple[Path, ...]:
    """The files that `plugin_path` names: as they stand, or beside the configuration file.

    Raises UsageError for too many, ConversionError for C++ plug-ins and for what is not there.
    """
    names = [name for name in text.split(";") if name]
    if len(names) > MAX_PLUGINS:
        raise UsageError(f"INPUT ILLEGAL: plugin_path names {len(names)} plug-ins; at most {MAX_PLUGINS} are possible")
    return tuple(_file(name, folder) for name in names)


def _file(name: str, folder: Path | None) -> Path:
    where = f"plugin_path of [registry]: {name}"
    if name.endswith(_LIBRARIES):
        raise ConversionError(
            f"{where}: this is a C++ plug-in, which this converter cannot load: it is written in Python. Write its parsers "
            "and passes with mslite.converter.registry (docs/extending.md); kernels in C++ are for the runtime",
            code=ReturnCode.NOT_SUPPORTED,
        )
    for path in (Path(name), *([folder / name] if folder is not None else [])):
        if path.is_file():
            return path
    beside = f", and not beside the configuration file in {folder}" if folder is not None else ""
    raise ConversionError(f"{where}: there is no such file{beside}. Correct the path", code=ReturnCode.FILE_ERROR)


@contextmanager
def plugins(files: Sequence[Path], config: Mapping[str, Mapping[str, str]] | None = None) -> Iterator[None]:
    """Lets what these plug-ins register hold for a while, and nothing of it afterwards.

    Raises ConversionError for a plug-in that cannot be run.
    """
    own = active()
    if not files or own.plugins == tuple(files):
        yield
        return
    tables = own.copy()
    tables.plugins, tables.config = tuple(files), dict(config or {})
    with scope(tables):
        for file in files:
            _run(file)
        yield


def _run(file: Path) -> None:
    """Runs a plug-in; modules beside it can be imported."""
    folder = str(file.resolve().parent)
    module = ModuleType(f"mslite_plugin_{next(_numbers)}_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    sys.path.insert(0, folder)
    try:
        exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)
    except SyntaxError as error:
        raise _bad(file, f"line {error.lineno}: {error.msg}") from None
    except ConversionError:
        raise
    except (Exception, SystemExit) as error:
        place = place_of(error, str(file)).removeprefix(str(file)).removeprefix(", ")
        raise _bad(file, f"{place + ': ' if place else ''}{type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(folder)
        del sys.modules[module.__name__]


def _bad(file: Path, reason: str) -> ConversionError:
    return ConversionError(f"{file}: this plug-in cannot be run: {reason}. Correct it, or take it out of plugin_path")


class ConverterContext:
    """What plug-ins may ask of the conversion that runs."""

    @staticmethod
    def get_config_info(section: str) -> dict[str, str]:
        """The keys of a section of the configuration file, which may be a section of the plug-in's own."""
        return dict(active().config.get(section, {}))
