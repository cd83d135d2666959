"""Computes `round_<n>.csv` and `output_summary.csv` of `debug_info_save_path`: for each tensor of the float and of the
quantized model, the distribution of its values and the cosine similarity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from mslite.converter.mindir.graph import Array, Module, Value, numpy_type
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.quantized import SHIFTS, dequantized_array, is_quantized
from mslite.quantizer.calibration.runner import Runner
from mslite.quantizer.calibration.samples import Sample
from mslite.quantizer.precision.schemes import Scheme, stored

ROUND_HEADER = (
    "NodeName", "NodeType", "TensorName", "InOutFlag", "DataTypeFlag", "TensorTypeFlag", "Min", "Q1", "Median", "Q3",
    "MAX", "Mean", "Var", "Sparsity", "Clip", "CosineSimilarity",
)  # fmt: skip
SUMMARY_HEADER = ("Round", "TensorName", "CosineSimilarity")
MAX_ROUNDS = 8

Row = dict[str, object]


def cosine(a: Array, b: Array) -> float:
    """Returns the cosine similarity of two tensors; 1 if both are zero, 0 if one is."""
    x, y = a.astype(np.float64).reshape(-1), b.astype(np.float64).reshape(-1)
    norms = float(np.linalg.norm(x)) * float(np.linalg.norm(y))
    return float(x @ y) / norms if norms else float(not x.any() and not y.any())


class Comparison:
    """Runs both models and compares tensors with equal names."""

    def __init__(self, original: Module, changed: Module) -> None:
        theirs = {value.name: value for graph in changed.graphs[:1] for value in graph.values()}
        self._pairs: dict[str, tuple[Value, Value]] = {}
        for node in original.main.nodes:
            for value in node.outputs:
                other = theirs.get(value.name)
                if value.dtype is DataType.FLOAT32 and other is not None and other.producer is not None:
                    self._pairs[value.name] = (value, other)
        self._float = Runner(original, [mine for mine, _ in self._pairs.values()])
        self._changed = Runner(changed, [other for _, other in self._pairs.values()])
        self._inputs = changed.main.inputs
        self._outputs = {value.name for value in original.main.outputs}

    def round(self, sample: Sample) -> Iterator[tuple[list[Row], Row | None]]:
        """Yields, for each tensor, its rows in `round_<n>.csv`, and for model outputs the row in
        `output_summary.csv`."""
        given = [_given(value, array) for value, array in zip(self._inputs, sample, strict=True)]
        for (value, real), (other, found) in zip(self._float.run(sample), self._changed.run(given), strict=True):
            if not real.size:
                continue
            got, clipped = _real(other, found)
            alike = cosine(real, got)
            rows = [_row(value, real, "Origin", 0.0, alike), _row(value, got, "Dequant", clipped, alike)]
            summary: Row = {"TensorName": value.name, "CosineSimilarity": alike}
            yield rows, summary if value.name in self._outputs else None


def _given(value: Value, array: Array) -> Array:
    """Quantizes a float sample if the input is quantized."""
    if not is_quantized(value):
        return array
    bits = numpy_type(value.dtype).itemsize * 8
    return stored(array, value.quant, 0, Scheme(bits, unsigned=value.dtype in SHIFTS))


def _real(value: Value, data: Array) -> tuple[Array, float]:
    """Dequantizes a tensor. Also returns the share of elements at the limits of their type."""
    if not is_quantized(value):
        return data, 0.0
    limits = np.iinfo(data.dtype.char)
    return dequantized_array(data, value.quant, 0), float(np.mean((data == limits.min) | (data == limits.max)))


def _row(value: Value, data: Array, kind: str, clipped: float, alike: float) -> Row:
    numbers: npt.NDArray[np.float64] = data.astype(np.float64).reshape(-1)
    quartiles = np.quantile(numbers, (0.0, 0.25, 0.5, 0.75, 1.0))
    node = value.producer
    measured = (*quartiles.tolist(), float(numbers.mean()), float(numbers.var()), float(np.mean(numbers == 0)))
    texts = (
        node.name if node is not None else "",
        node.op.name if node is not None else "",
        value.name,
        "Output",
        kind,
        "Activation",
    )
    return dict(zip(ROUND_HEADER, (*texts, *measured, clipped, alike), strict=True))


def rounds(original: Module, changed: Module, samples: Sequence[Sample]) -> tuple[list[list[Row]], list[Row]]:
    """Returns the rows of each `round_<n>.csv` and those of `output_summary.csv`, for at most MAX_ROUNDS samples."""
    comparison = Comparison(original, changed)
    files: list[list[Row]] = []
    summary: list[Row] = []
    for number, sample in enumerate(samples[:MAX_ROUNDS]):
        rows: list[Row] = []
        for found, output in comparison.round(sample):
            rows += found
            if output is not None:
                summary.append({"Round": number, **output})
        files.append(rows)
    return files, summary
