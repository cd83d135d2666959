"""Models of one quantized operator, compared with LiteRT's reference kernels: equal on every instruction set here."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.parsers.tflite import parse
from mslite.converter.passes.context import Settings
from mslite.converter.passes.pipeline import run_pipeline
from tests.e2e.integers import ISAS, availability, run
from tests.parsers.tflite.tflite_build import Field, Graph, Operator, Tensor, build

Array = npt.NDArray[Any]
TYPES = ("int8", "uint8", "int16")
scales = st.floats(0.002, 0.3).map(lambda value: float(np.float32(value)))


def zero_points(dtype: str) -> st.SearchStrategy[int]:
    """Returns zero points as in quantized models: 0 for int16."""
    return st.just(0) if dtype == "int16" else st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def integers(seed: int, dtype: str, shape: Sequence[int]) -> Array:
    """Returns values over the full range of `dtype`, including both ends."""
    limits = np.iinfo(dtype)
    values = np.random.default_rng(seed).integers(limits.min, limits.max + 1, tuple(shape)).astype(dtype)
    flat = values.reshape(-1)
    flat[: min(2, flat.size)] = [limits.min, limits.max][: flat.size]
    return values


def model(
    operator: str, tensors: Sequence[Tensor], outputs: int = 1, options: tuple[str, dict[int, Field]] = ("NONE", {})
) -> bytes:
    """A model of one operator: the last `outputs` tensors are its outputs, tensors without data before them its inputs."""
    first = len(tensors) - outputs
    node = Operator(operator, list(range(first)), list(range(first, len(tensors))), options[1], options[0])
    entering = [index for index, tensor in enumerate(tensors[:first]) if tensor.data is None and not tensor.variable]
    return build(Graph(list(tensors), entering, node.outputs, [node]))


def reference(content: bytes, inputs: Sequence[Array], runs: int = 1, resolver: str = "BUILTIN_REF") -> list[Array]:
    """Returns the results of LiteRT's reference kernels (after `runs` runs, for models with state)."""
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    runner = interpreter.Interpreter(
        model_content=content, experimental_op_resolver_type=getattr(interpreter.OpResolverType, resolver)
    )
    runner.allocate_tensors()
    for detail, array in zip(runner.get_input_details(), inputs, strict=True):
        runner.set_tensor(detail["index"], array)
    for _ in range(runs):
        runner.invoke()
    return [runner.get_tensor(detail["index"]).copy() for detail in runner.get_output_details()]


def converted(content: bytes, folder: Path) -> Path:
    (folder / "m.tflite").write_bytes(content)
    module = parse(folder / "m.tflite")
    run_pipeline(module, Settings())
    module_io.save(module, folder / "m.ms")
    return folder / "m.ms"


def loaded(content: bytes, folder: Path) -> mslite.Model:
    """Builds the model for the best instruction set of this machine."""
    runner = mslite.Model()
    runner.build_from_file(str(converted(content, folder)), mslite.ModelType.MINDIR_LITE)
    return runner


def compare(content: bytes, inputs: Sequence[Array], wanted: Sequence[Array] | None = None) -> None:
    """Asserts that no node is computed in float32 and that all outputs equal the reference's (or `wanted`)."""
    expected = reference(content, inputs) if wanted is None else wanted
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = converted(content, folder)
        paths = [folder / f"input_{index}.npy" for index in range(len(inputs))]
        for path, array in zip(paths, inputs, strict=True):
            np.save(path, array)
        checked = 0
        for isa in ISAS:
            if isa.startswith("arm64") or availability(isa):
                continue
            result = run(file, paths, folder / isa, isa)
            fallbacks = [f"{step.operator} ({step.kernel})" for step in result.fallbacks]
            assert not fallbacks, f"computed in float32: {fallbacks}"
            for mine, want in zip(result.outputs, expected, strict=True):
                assert mine.dtype == want.dtype
                np.testing.assert_array_equal(mine, want, err_msg=isa)
            checked += 1
        if not checked:
            pytest.skip(availability("scalar"))
