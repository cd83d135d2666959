"""From a `.ms` file, planned by the runtime's own planner for the target's kernels, to a `Program`.

The planner is the runtime's, so that the program computes what the runtime computes: constants are decoded and folded, nodes on
stored integers that have no integer kernel become float32 between casts, and each node gets the best kernel among those of the
target's instruction sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import mslite
from mslite import _codegen, _native
from mslite.codegen.ethosu import NPU_KERNEL
from mslite.codegen.lowering.build import program_of
from mslite.codegen.lowering.errors import LoweringError
from mslite.codegen.lowering.read import as_ms
from mslite.codegen.lowering.shapes import Input, fixed_shapes
from mslite.codegen.program import Program, all_steps
from mslite.codegen.targets import TARGETS, Target
from mslite.converter.detect import detect
from mslite.converter.errors import Blocker, ReturnCode
from mslite.converter.options import FmkType, Options

Shape = tuple[int, ...]
_IMAGE_RANK = 4
"""Of the inputs whose sizes the converter brings into another order."""


def lower(
    model: Path,
    target: Target,
    shapes: Mapping[str, Shape] | None = None,
    name: str | None = None,
    options: Options | None = None,
) -> Program:
    """The program of a model file of any format; `shapes` of inputs by name, `options` of the conversion.

    Raises:
        ConversionError: for a file that cannot be converted; LoweringError, with all nodes, for one that cannot be a program.
    """
    with as_ms(model, shapes or {}, options) as path:
        # A conversion has taken the shapes already; it may have renamed nothing, but it may have changed the layout.
        return lower_ms(path, target, (shapes or {}) if path == model else {}, name or model.stem, str(model))


def lower_ms(
    path: Path, target: Target, shapes: Mapping[str, Shape] | None = None, name: str | None = None, source: str = ""
) -> Program:
    """The program of a `.ms` file. Raises LoweringError."""
    source = source or str(path)
    _check_target(source, target)
    try:
        model = _codegen.Model(str(path))
        inputs = [Input(tensor.name, tuple(tensor.dims)) for tensor in model.inputs]
        fixed = fixed_shapes(source, inputs, shapes or {}, lambda: _channels_first(path, source))
        plan = model.plan(list(target.isas), [list(shape) for shape in fixed])
    except _codegen.ModelError as error:
        raise LoweringError(str(error).replace(str(path), source), code=ReturnCode.GRAPH_FILE_ERROR) from None
    if plan.refusals:
        raise LoweringError(
            f"{source}: {len(plan.refusals)} node(s) cannot become C for {target.name}", _blockers(plan.refusals)
        )
    program = program_of(plan, name or path.stem, target.name)
    _check_npu(source, program, target)
    program.assumed = tuple(
        one.name for one in inputs if one.shape and one.shape[0] < 0 and one.name not in (shapes or {})
    )
    return program


def _check_npu(source: str, program: Program, target: Target) -> None:
    """Raises LoweringError for calls of a driver that microcontrollers have."""
    steps = [] if target.is_micro else [step for step in all_steps(program) if step.kernel == NPU_KERNEL]
    if steps:
        reason = f"the Ethos-U driver is called on microcontrollers, and {target.name} is none"
        remedy = "Use --target=cortex-m55 or another Cortex-M"
        blockers = tuple(Blocker(step.name, "Custom ethos-u", reason, remedy) for step in steps)
        raise LoweringError(f"{source}: {len(steps)} node(s) cannot become C for {target.name}", blockers)


def _channels_first(path: Path, source: str) -> frozenset[str]:
    """The inputs whose channels a conversion from `source` to the file at `path` has put last."""
    if source == str(path) or detect(Path(source)) not in (FmkType.ONNX, FmkType.CAFFE):
        return frozenset()
    model = mslite.Model()
    model.build_from_file(str(path), mslite.ModelType.MINDIR_LITE, mslite.Context())
    return frozenset(
        tensor.name
        for tensor in model.get_inputs()
        if tensor.format == mslite.Format.NHWC and len(tensor.shape) == _IMAGE_RANK
    )


def _check_target(source: str, target: Target) -> None:
    """Kernels are prepared on this machine: those of x86 on x86 only."""
    known = {isa for _, _, isa, _ in (*_native.kernels(), *_codegen.kernels())}
    missing = [isa for isa in target.isas if isa not in known]
    if missing:
        others = [name for name, one in TARGETS.items() if one.family == target.family and known.issuperset(one.isas)]
        raise LoweringError(
            f"{source}: mslite as built for this machine cannot prepare kernels for {', '.join(missing)}, which "
            f"--target={target.name} needs; generate on an x86-64 machine{', or for ' * bool(others)}{', '.join(others)}"
        )


_OF_OPERATORS = {
    "NonMaxSuppression": (
        "In generated C all shapes are fixed: --padToMaxOutputSize of mslite-codegen gives it the most rows that it can "
        "have, or use the runtime for this model"
    ),
}
"""Of those with a result whose size depends on data, but has a bound."""
_REMEDIES = (
    (
        "changes from round to round",
        "In generated C all shapes are fixed: export the loop unrolled (in Keras, LSTM(unroll=True)), give it a constant "
        "number of rounds, or let it write into a tensor of full size",
    ),
    (
        "different shapes",
        "In generated C all shapes are fixed: pad the smaller result, or use the runtime for this model",
    ),
    ("calls itself and comes back", "Write the recursion as a loop, or use the runtime for this model"),
    ("known at run time only", "In generated C all shapes are fixed; use the runtime for this model"),
    ("leaves the shape of its output", "Fix the sizes that the model leaves open when it is converted: --inputShape"),
    ("no shape rule", "Write the operator in standard ones, or use another one"),
    ("but kernels support at most", "Join or split them in groups"),
    ("no kernel computes on these quantized", "Quantize the operator in another way, or keep it in float32"),
)


def _blockers(refusals: Sequence[_codegen.Refusal]) -> tuple[Blocker, ...]:
    def remedy(one: _codegen.Refusal) -> str:
        if "known at run time only" in one.reason and one.op in _OF_OPERATORS:
            return _OF_OPERATORS[one.op]
        return next((text for part, text in _REMEDIES if part in one.reason), "Use other types or attributes for it")

    return tuple(Blocker(one.name, one.op, one.reason, remedy(one)) for one in refusals)
