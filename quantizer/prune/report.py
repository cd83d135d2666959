"""Writes the CSV file of `report` in [mslite_prune_param]: one line for each layer, and one for the model."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import IO

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.atomic import write_files_atomically
from mslite.quantizer.results import PruneReport

HEADER = (
    "name", "operator", "elements", "removed", "sparsity", "channels", "removed_channels", "bytes_before",
    "bytes_after", "macs_before", "macs_after", "cosine", "sqnr_db",
)  # fmt: skip


def save_prune_report(report: PruneReport, path: Path) -> None:
    """Writes the file. The accuracy in the line of a layer is that of the model if only this layer is pruned.

    Raises ConversionError if the file cannot be written.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for layer in (*report.layers, report.total):
        writer.writerow(
            (
                layer.name, layer.operator, layer.elements, layer.removed, f"{layer.sparsity:.4f}", layer.channels,
                layer.removed_channels, layer.bytes_before, layer.bytes_after, layer.macs_before, layer.macs_after,
                f"{layer.cosine:.6f}", f"{layer.sqnr:.2f}",
            )
        )  # fmt: skip
    data = text.getvalue().encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_files_atomically({path: lambda file: _put(file, data)})
    except OSError as error:
        raise ConversionError(
            f"{path}: the pruning report cannot be written: {error.strerror or error}",
            code=ReturnCode.FILE_ERROR,
        ) from None


def _put(file: IO[bytes], data: bytes) -> None:
    file.write(data)
