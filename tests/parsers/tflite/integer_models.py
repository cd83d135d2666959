"""Random quantized operators: many of one kind in a model, compared bit for bit with LiteRT's reference kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_build import Graph, Operator, Tensor, build
from tflite_run import Array, lowered

import mslite
from mslite.converter.ethosu.partitions import find_partitions
from mslite.converter.mindir import module_io
from mslite.converter.parsers.tflite import parse
from mslite.converter.tflite_writer import refusal
from tests.converter.tflite_writer.compare import assert_written_alike

Options = tuple[str, dict[int, Any]]


@dataclass
class Operand:
    """An array with its quantization parameters; the zero point has the array's data type. Scale 0: not quantized."""

    data: Array
    scale: float = 0.0
    zero: int = 0
    constant: bool = False

    def tensor(self, name: str) -> Tensor:
        contents = self.data if self.constant else None
        quant = (self.scale, self.zero) if self.scale else None
        return Tensor(name, self.data.shape, self.data.dtype.name, contents, quant)


@dataclass
class Case:
    """A node. The data of `output` are not used."""

    operator: str
    inputs: Sequence[Operand]
    output: Operand
    options: Options = ("NONE", {})


@dataclass
class Chance:
    """Random draws for a case, from a seed."""

    seed: int
    generator: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.generator = np.random.default_rng(self.seed)

    def integers(self, dtype: str, *shape: int) -> Array:
        limits = np.iinfo(dtype)
        return self.generator.integers(limits.min, limits.max + 1, shape).astype(dtype)

    def zero(self, dtype: str) -> int:
        """Returns a zero point, 0 for 16 bits."""
        limits = np.iinfo(dtype)
        return 0 if dtype == "int16" else int(self.generator.integers(limits.min, limits.max + 1))

    def between(self, low: float, high: float) -> float:
        """Returns a float32 value with a uniformly distributed logarithm."""
        return float(np.float32(np.exp(self.generator.uniform(np.log(low), np.log(high)))))

    def size(self, most: int = 6) -> int:
        return int(self.generator.integers(1, most))

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Returns two shapes that broadcast, and the resulting shape."""
        full = [self.size() for _ in range(self.size(5))]
        if self.generator.random() < 0.3:
            full[-1] *= 17
        a, b = ([size if self.generator.random() < 0.75 else 1 for size in full] for _ in range(2))
        if self.generator.random() < 0.3:
            b = b[int(self.generator.integers(0, len(b))) :]
        return tuple(a), tuple(b), tuple(np.broadcast_shapes(tuple(a), tuple(b)))


def _model(cases: Sequence[Case]) -> tuple[bytes, list[Array]]:
    """Returns a model with all cases, and its inputs."""
    tensors: list[Tensor] = []
    entering: list[int] = []
    leaving: list[int] = []
    operators: list[Operator] = []
    arrays: list[Array] = []
    for number, case in enumerate(cases):
        first = len(tensors)
        for index, operand in enumerate(case.inputs):
            if not operand.constant:
                entering.append(len(tensors))
                arrays.append(operand.data)
            tensors.append(operand.tensor(f"case{number}_in{index}"))
        leaving.append(len(tensors))
        reads = list(range(first, len(tensors)))
        operators.append(Operator(case.operator, reads, [len(tensors)], case.options[1], case.options[0]))
        tensors.append(case.output.tensor(f"case{number}_out"))
    return build(Graph(tensors, entering, leaving, operators)), arrays


def reference(content: bytes, inputs: Sequence[Array], resolver: str) -> list[Array]:
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    chosen = getattr(interpreter.OpResolverType, resolver)
    runner = interpreter.Interpreter(model_content=content, experimental_op_resolver_type=chosen)
    runner.allocate_tensors()
    for detail, array in zip(runner.get_input_details(), inputs, strict=True):
        runner.set_tensor(detail["index"], array)
    runner.invoke()
    return [runner.get_tensor(detail["index"]) for detail in runner.get_output_details()]


def converted_results(content: bytes, inputs: Sequence[Array], folder: Path) -> list[Array]:
    (folder / "m.tflite").write_bytes(content)
    module_io.save(lowered(parse(folder / "m.tflite")), folder / "m.ms")
    runner = mslite.Model()
    runner.build_from_file(str(folder / "m.ms"), mslite.ModelType.MINDIR_LITE)
    tensors = runner.get_inputs()
    for tensor, array in zip(tensors, inputs, strict=True):
        tensor.set_data_from_numpy(np.asarray(array, order="C"))
    return [np.asarray(tensor.get_data_to_numpy()) for tensor in runner.predict(tensors)]


def assert_same_bits(cases: Sequence[Case], folder: Path, resolver: str = "BUILTIN_REF") -> None:
    """Asserts that every case gives the results of LiteRT's kernels, through parser, passes, file and runtime.

    For 8-bit types, the converted model is also written as TensorFlow Lite and compared.
    """
    content, inputs = _model(cases)
    expected = reference(content, inputs, resolver)
    for case, ours, theirs in zip(cases, converted_results(content, inputs, folder), expected, strict=True):
        records = [(operand.data.dtype.name, operand.scale, operand.zero) for operand in (*case.inputs, case.output)]
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs, f"{case.operator} {records}")
    for part in find_partitions(module_io.load(folder / "m.ms").main, lambda node: not refusal(node)):
        assert_written_alike(part, resolver=resolver)
