"""Writes the files of `debug_info_save_path`: quantization parameters and errors of each layer, as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.atomic import write_files_atomically
from mslite.converter.mindir.graph import Module, Node, Value
from mslite.converter.mindir.ops.tables import QuantParam
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.report.debug_rounds import ROUND_HEADER, SUMMARY_HEADER, rounds
from mslite.quantizer.results import LayerRecord

_LAYERS = ("name", "operator", "precision", "macs", "scale", "zero_point", "weight_error", "bias_shift")
_PARAMETERS = (
    "NodeName", "NodeType", "TensorName", "ElementsNum", "Dims", "Scale", "ZeroPoint", "Bits", "CorrectionVar",
    "CorrectionMean",
)  # fmt: skip


def save_debug_info(
    folder: Path, original: Module, module: Module, layers: Sequence[LayerRecord], samples: Sequence[Sample]
) -> list[Path]:
    """Writes MindSpore Lite's `quant_param.csv`, `round_<n>.csv` and `output_summary.csv`, and mslite's `layers.csv`
    and `layers.json`, into `folder`. Each round runs both models on one of `samples`.

    Returns the files. Raises ConversionError if they cannot be written.
    """
    rows = [_layer(layer) for layer in layers]
    seen: set[int] = set()
    parameters: list[dict[str, object]] = []
    for graph in module.graphs:
        for node in graph.nodes:
            for value in (*node.inputs, *node.outputs):
                if value.quant and id(value) not in seen:
                    seen.add(id(value))
                    parameters += _parameters(node, value)
    files, summary = rounds(original, module, samples)
    texts = {
        folder / "layers.csv": _csv(_LAYERS, rows),
        folder / "layers.json": json.dumps(rows, indent=1) + "\n",
        folder / "quant_param.csv": _csv(_PARAMETERS, parameters),
        folder / "output_summary.csv": _csv(SUMMARY_HEADER, summary),
    }
    for number, found in enumerate(files):
        texts[folder / f"round_{number}.csv"] = _csv(ROUND_HEADER, found)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_files_atomically({path: _writer(text) for path, text in texts.items()})
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


def _parameters(node: Node, value: Value) -> list[dict[str, object]]:
    dims = " ".join(str(size) if size >= 0 else "-1" for size in value.shape or ())
    count = math.prod(size for size in value.shape or ()) if value.is_static else -1
    return [
        {
            "NodeName": node.name,
            "NodeType": node.op.name,
            "TensorName": value.name,
            "ElementsNum": count,
            "Dims": dims,
            "Scale": record.scale,
            "ZeroPoint": record.zeroPoint,
            "Bits": record.numBits,
            "CorrectionVar": record.varCorr,
            "CorrectionMean": record.meanCorr,
        }
        for record in value.quant
    ]
