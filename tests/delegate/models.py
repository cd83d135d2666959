"""Models of single operators for the tests of backends."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import mslite
from mslite.converter.mindir.graph import Node, Value
from mslite.converter.mindir.module_io import load, save
from mslite.converter.mindir.ops.arithmetic import AddN
from mslite.converter.mindir.ops.enums import DataType
from mslite.converter.mindir.reference import CASES, REFERENCES, Array, Case
from tests.e2e.models import Entry, run_case
from tests.element_types.direct_files import Call, module_of
from tests.kernels.calls import expected, inputs_of

from .engines import Engine

_HOLDS = frozenset(np.dtype(name) for name in ("bool", "int8", "uint8", "int16", "int32", "int64", "float32"))


def only_trains(case: Case) -> bool:
    """Returns whether only the training library has a kernel; backends do not support these operators."""
    is_inference = case.op.name == "Dropout" and len(inputs_of(case)) == 1
    return ".ops.training" in type(case.op).__module__ and not is_inference


def calls() -> Iterator[Call]:
    """Returns every reference case of a MindSpore Lite operator, in the data types that backends may support."""
    for case in CASES:
        inputs, wanted = inputs_of(case), list(expected(case.name))
        if (
            not case.op.declaration.is_custom
            and len(case.constants) < len(inputs)
            and all(array.dtype in _HOLDS for array in (*inputs, *wanted))
        ):
            yield Call(case, inputs, wanted)


def write(call: Call, folder: Path) -> tuple[Path, list[Array]]:
    """Writes a model with one node. Returns the inputs."""
    module, inputs = module_of(call)
    path = folder / "model.ms"
    path.unlink(missing_ok=True)
    save(module, path)
    return path, inputs


HALF = np.finfo(np.float16)
MOSTLY = 0.95
"""Required share of equal integers with float16: the larger one of two nearly equal scores may change."""


def in_half(call: Call) -> Call:
    """Returns the call with operands rounded to float16, and the reference's results for them."""
    inputs = [rounded(array) for array in call.inputs]
    with np.errstate(all="ignore"):
        wanted = REFERENCES[call.name](call.case.op, inputs)
    return Call(call.case, inputs, [np.asarray(array) for array in wanted])


def rounded(array: Array) -> Array:
    """Rounds float values to float16; values out of range become the largest one."""
    if array.dtype != np.float32:
        return array
    finite = np.clip(array, HALF.min, HALF.max)
    return np.where(np.isfinite(array), finite, array).astype(np.float16).astype(np.float32)


def disturbed(array: Array, seed: int = 0) -> Array:
    """Adds the maximum noise of rounding to 11 bits, 2^-11 relative, to float values.

    Arrays with few values, which may be sizes, are not changed.
    """
    if array.dtype != np.float32 or array.size <= 16:
        return array
    return array * np.random.default_rng(seed).uniform(1 - 2**-11, 1 + 2**-11, array.shape).astype(np.float32)


def with_disturbed_weights(path: Path, seed: int) -> Path:
    """Writes the same model with other constants."""
    module = load(path)
    for graph in module.graphs:
        for value in graph.values():
            if value.data is not None:
                value.data = disturbed(value.data, seed)
    noisy = path.with_name(f"noisy{seed}_{path.name}")
    save(module, noisy)
    return noisy


def write_inside(call: Call, folder: Path) -> tuple[Path, list[Array]]:
    """Like `write`, with an identity node before and after each float tensor, so that the tensors are internal to the partition."""
    module, inputs = module_of(call)
    graph = module.main
    (node,) = graph.nodes
    before, behind = [], []
    for index, value in enumerate(graph.inputs):
        if value.dtype == DataType.FLOAT32:
            graph.inputs[index] = Value(f"{value.name}_given", value.dtype, value.shape)
            before.append(Node(AddN(), f"before_{value.name}", (graph.inputs[index],), (value,)))
    for index, value in enumerate(graph.outputs):
        if value.dtype == DataType.FLOAT32:
            graph.outputs[index] = Value(f"{value.name}_got", value.dtype, value.shape)
            behind.append(Node(AddN(), f"behind_{value.name}", (value,), (graph.outputs[index],)))
    graph.nodes[:] = [*before, node, *behind]
    path = folder / "model.ms"
    path.unlink(missing_ok=True)
    save(module, path)
    return path, inputs


def is_close(got: Array, wanted: Array, tolerance: float) -> bool:
    """Asserts equal data types, shapes and integers, and float values within a tolerance relative to the largest."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(got, wanted))
    mine, reference = got.astype(np.float64), wanted.astype(np.float64)
    finite: npt.NDArray[np.float64] = np.abs(reference[np.isfinite(reference)])
    largest = float(finite.max()) if finite.size else 0.0
    return bool(np.allclose(mine, reference, rtol=tolerance, atol=tolerance * largest, equal_nan=True))


SEEDS = range(3)
ROUNDING = 71.0
"""SQNR of `disturbed` in dB: uniform noise of 2^-11 relative has the power 2^-22 / 3."""
MORE_ROUNDINGS = 10.0
"""Additional noise in dB if outputs of all nodes are rounded too, compared with rounding only inputs and weights."""


def half_problem(
    got: Sequence[Array], wanted: Sequence[Array], noisy: Sequence[Sequence[Array]], *, is_ranked: bool = False
) -> tuple[float, str]:
    """Returns the SQNR of a model's outputs in float16, and the problem if it is too low.

    The noise gain of a network is measured with float32 runs on the CPU with `disturbed` weights and inputs (`noisy`, several runs, because
    noise may cancel out). `is_ranked`: the outputs are sorted by scores, so only values in all runs are compared.
    """
    if is_ranked:
        got, wanted, *noisy = _without_order([got, wanted, *noisy])
    ratio = sqnr(got, wanted)
    least = min([ROUNDING, *(sqnr(each, wanted) for each in noisy)]) - MORE_ROUNDINGS
    return ratio, "" if ratio >= least else f"SQNR of {ratio:.1f} dB, where {least:.1f} dB is the least"


def _without_order(runs: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Returns the values that all runs have in their outputs, largest first."""
    counts = [min(array.shape[0] for array in output) for output in zip(*runs, strict=True)]
    return [[np.sort(array, axis=0)[::-1][:count] for array, count in zip(run, counts, strict=True)] for run in runs]


def sqnr(got: Sequence[Array], wanted: Sequence[Array]) -> float:
    """Returns the lowest SQNR of the outputs in dB. Integers, which are choices, are correct if nearly all are equal."""
    ratios = []
    for mine, right in zip(got, wanted, strict=True):
        if right.dtype.kind != "f":
            ratios.append(np.inf if right.size == 0 or np.mean(mine == right) >= MOSTLY else -np.inf)
            continue
        reference = right.astype(np.float64)
        noise = float(np.square(mine.astype(np.float64) - reference).sum())
        signal = float(np.square(reference).sum())
        ratios.append(
            np.inf if noise == 0 else 10 * np.log10(signal / noise) if np.isfinite(noise) and signal else -np.inf
        )
    return float(min(ratios))


RANKED = frozenset({"torch_detection/yolo_head_nms_op13"})
"""Models of the open set that rank their results: float16 may change the order of nearly equal scores."""


def half_cases(entry: Entry, path: Path, on_engine: mslite.Model) -> list[tuple[float, str]]:
    """The same for each case of a model of the open model set."""
    on_cpu = built_on_cpu(path)
    noisy = [built_on_cpu(with_disturbed_weights(path, seed)) for seed in SEEDS]
    return [
        half_problem(
            run_case(entry, on_engine, case),
            run_case(entry, on_cpu, case),
            [
                run_case(entry, model, case, lambda array, seed=seed: disturbed(array, seed))
                for seed, model in zip(SEEDS, noisy, strict=True)
            ],
            is_ranked=entry.path in RANKED,
        )
        for case in entry.cases
    ]


def built_on_cpu(path: Path) -> mslite.Model:
    model = mslite.Model()
    model.build_from_file(path, mslite.ModelType.MINDIR_LITE)
    return model


def missing(engine: Engine) -> str:
    """Returns why nothing runs on the backend on this machine; "" if it works."""
    call = next(call for call in calls() if call.name == "Abs" and call.wanted[0].dtype == np.float32)
    with tempfile.TemporaryDirectory() as folder, engine.chosen(MSLITE_DELEGATE_COSTS="off"):
        path, _ = write(call, Path(folder))
        try:
            placements = engine.built(path).placements()
        except RuntimeError as error:
            return f"{engine.name} is not there: {error}"
    return "" if all(map(engine.has, placements)) else f"{engine.name} does not even run Abs: {placements[0].reason}"
