"""Converts model files of any format to `.ms` files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from mslite.converter.convert import convert
from mslite.converter.detect import detect
from mslite.converter.errors import UsageError
from mslite.converter.options import FmkType, Options

Shape = tuple[int, ...]


def refuse_signature(model: Path, options: Options | None) -> None:
    """Raises UsageError if a signature is selected for a `.ms` file."""
    if options is not None and options.signature:
        raise UsageError(
            f"INPUT ILLEGAL: signature: {model} is a .ms file, which has no signatures. Leave --signature out"
        )


@contextmanager
def as_ms(model: Path, shapes: Mapping[str, Shape], options: Options | None = None) -> Iterator[Path]:
    """Context that provides a model as a `.ms` file: the file itself, or a converted copy that is removed at the end.

    `options`: conversion options; the paths in them are ignored. Raises ConversionError and UsageError.
    """
    framework = options.framework if options is not None else None
    if (framework or detect(model)) is FmkType.MSLITE:
        refuse_signature(model, options)
        yield model
        return
    with tempfile.TemporaryDirectory(prefix="mslite-codegen-") as folder:
        wanted = options or Options(model, model)
        target = Path(folder) / "model.ms"
        result = convert(replace(wanted, model_file=model, output_file=target, input_shapes=dict(shapes)))
        yield result.files[0]
