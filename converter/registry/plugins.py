"""Loads plug-ins: the Python files of `plugin_path` in [registry], which run before a conversion."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.registry.entries import place_of
from mslite.converter.registry.registrations import active, scope

MAX_PLUGINS = 10
_LIBRARIES = (".so", ".dll", ".dylib")
_numbers = itertools.count()


def plugin_files(text: str, folder: Path | None = None) -> tuple[Path, ...]:
    """Returns the files of `plugin_path`, relative to the working directory or to the folder of the configuration file.

    Raises UsageError for too many files, ConversionError for C++ plug-ins and missing files.
    """
    names = [name for name in text.split(";") if name]
    if len(names) > MAX_PLUGINS:
        raise UsageError(f"INPUT ILLEGAL: plugin_path names {len(names)} plug-ins; at most {MAX_PLUGINS} are allowed")
    return tuple(_file(name, folder) for name in names)


def _file(name: str, folder: Path | None) -> Path:
    where = f"plugin_path of [registry]: {name}"
    if name.endswith(_LIBRARIES):
        raise ConversionError(
            f"{where}: C++ plug-ins are not supported by this converter, which is written in Python. Write parsers "
            "and passes with mslite.converter.registry (docs/extending.md); C++ kernels are loaded by the runtime",
            code=ReturnCode.NOT_SUPPORTED,
        )
    for path in (Path(name), *([folder / name] if folder is not None else [])):
        if path.is_file():
            return path
    beside = f", also not in the folder of the configuration file, {folder}" if folder is not None else ""
    raise ConversionError(f"{where}: the file does not exist{beside}. Correct the path", code=ReturnCode.FILE_ERROR)


@contextmanager
def plugins(files: Sequence[Path], config: Mapping[str, Mapping[str, str]] | None = None) -> Iterator[None]:
    """A context in which the registrations of these plug-ins are valid.

    Raises ConversionError for a plug-in that fails.
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
    """Runs a plug-in; it can import modules of its folder."""
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
    return ConversionError(f"{file}: the plug-in failed: {reason}. Correct it, or remove it from plugin_path")


class ConverterContext:
    """Gives plug-ins access to the running conversion."""

    @staticmethod
    def get_config_info(section: str) -> dict[str, str]:
        """Returns the keys of a section of the configuration file; plug-ins may define their own sections."""
        return dict(active().config.get(section, {}))
