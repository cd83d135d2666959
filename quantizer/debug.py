"""The files of `debug_info_save_path`: what became of each layer, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.atomic import write_together
from mslite.converter.mindir.graph import Module, Value
from mslite.converter.mindir.ops.tables import QuantParam

if TYPE_CHECKING:
    from mslite.quantizer.report import LayerRecord

_LAYERS = ("name", "operator", "precision", "macs", "scale", "zero_point", "weight_error", "bias_shift")
_PARAMETERS = ("tensor", "kind", "shape", "type", "bits", "channel", "scale", "zero_point")


def save_debug_info(folder: Path, module: Module, layers: Sequence[LayerRecord]) -> list[Path]:
    """Writes `layers.csv`, `layers.json` and `quant_param.csv` into `folder`, made when missing.

    Returns the files. Raises ConversionError when they cannot be written."""
    rows = [_layer(layer) for layer in layers]
    values = [value for graph in module.graphs for value in graph.values() if value.quant]
    texts = {
        folder / "layers.csv": _csv(_LAYERS, rows),
        folder / "layers.json": json.dumps(rows, indent=1) + "\n",
        folder / "quant_param.csv": _csv(_PARAMETERS, [row for value in values for row in _parameters(value)]),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_together({path: _writer(text) for path, text in texts.items()})
    except OSError as error:
        raise ConversionError(
            f"debug_info_save_path: '{folder}' cannot be written: {error.strerror}", code=ReturnCode.FILE_ERROR
        ) from None
    return list(texts)


def _writer(text: str) -> Callable[[IO[bytes]], None]:
    def write(file: IO[bytes]) -> None:
        file.write(text.encode())

    return write


def _csv(header: Sequence[str], rows: Sequence[dict[str, object]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _layer(layer: LayerRecord) -> dict[str, object]:
    record = layer.output or QuantParam(scale=float("nan"))
    has = layer.output is not None
    return {
        "name": layer.name,
        "operator": layer.operator,
        "precision": layer.precision.name,
        "macs": layer.macs,
        "scale": record.scale if has else None,
        "zero_point": record.zeroPoint if has else None,
        "weight_error": layer.weight_error,
        "bias_shift": layer.bias_shift,
    }


def _parameters(value: Value) -> list[dict[str, object]]:
    shape = "x".join(str(size) if size >= 0 else "?" for size in value.shape or ())
    kind = "constant" if value.is_constant else "activation"
    return [
        {
            "tensor": value.name,
            "kind": kind,
            "shape": shape,
            "type": value.dtype.name,
            "bits": record.numBits,
            "channel": channel if len(value.quant) > 1 else None,
            "scale": np.float64(record.scale).item(),
            "zero_point": record.zeroPoint,
        }
        for channel, record in enumerate(value.quant)
    ]
