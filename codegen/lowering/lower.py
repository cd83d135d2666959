"""Lowers a `.ms` file to a `Program`, with the runtime's planner and the target's kernels.

The program computes the same as the runtime because the planner is the same: it decodes and folds constants, computes
quantized nodes without an integer kernel in float32 between casts, and selects the best kernel among the target's
instruction sets for each node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import mslite
from mslite import _codegen, _native
from mslite.codegen.ethosu import NPU_KERNEL
from mslite.codegen.lowering.build import program_of
from mslite.codegen.lowering.errors import LoweringError
from mslite.codegen.lowering.read_model import as_ms
from mslite.codegen.lowering.shapes import Input, fixed_shapes
from mslite.codegen.program import Program, all_steps
from mslite.codegen.targets import TARGETS, Target
from mslite.converter.detect import detect
from mslite.converter.errors import Blocker, ReturnCode
from mslite.converter.options import FmkType, Options

Shape = tuple[int, ...]
_IMAGE_RANK = 4
"""Rank of inputs whose layout the converter changes."""


def lower(
    model: Path,
    target: Target,
    shapes: Mapping[str, Shape] | None = None,
    name: str | None = None,
    options: Options | None = None,
) -> Program:
    """Returns the program of a model file of any format. `shapes`: input shapes by name; `options`: conversion options.

    Raises:
        ConversionError: if the file cannot be converted.
        LoweringError: with all unsupported nodes.
    """
    with as_ms(model, shapes or {}, options) as path:
        # If the model was converted, the shapes are in the .ms file already, possibly in another layout.
        return lower_ms(path, target, (shapes or {}) if path == model else {}, name or model.stem, str(model))


def lower_ms(
    path: Path, target: Target, shapes: Mapping[str, Shape] | None = None, name: str | None = None, source: str = ""
) -> Program:
    """Returns the program of a `.ms` file. `source`: the model's name in messages. Raises LoweringError."""
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
            f"{source}: {len(plan.refusals)} node(s) are unsupported in generated C for {target.name}",
            _blockers(plan.refusals),
        )
    program = program_of(plan, name or path.stem, target.name)
    _check_npu(source, program, target)
    program.assumed = tuple(
        one.name for one in inputs if one.shape and one.shape[0] < 0 and one.name not in (shapes or {})
    )
    return program


def _check_npu(source: str, program: Program, target: Target) -> None:
    """Raises LoweringError for NPU steps if the target is not a microcontroller."""
    steps = [] if target.is_micro else [step for step in all_steps(program) if step.kernel == NPU_KERNEL]
    if steps:
        reason = f"the Ethos-U driver needs a microcontroller, and {target.name} is not one"
        remedy = "Use --target=cortex-m55 or another Cortex-M"
        blockers = tuple(Blocker(step.name, "Custom ethos-u", reason, remedy) for step in steps)
        raise LoweringError(
            f"{source}: {len(steps)} node(s) are unsupported in generated C for {target.name}", blockers
        )


def _channels_first(path: Path, source: str) -> frozenset[str]:
    """Returns the inputs whose layout was changed to channels last in the conversion from `source` to the file
    `path`."""
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
    """Raises LoweringError if mslite on this machine cannot prepare the target's kernels (x86 kernels need an x86
    machine)."""
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
        "In generated C all shapes are fixed: --padToMaxOutputSize of mslite-codegen pads the result to its largest size; or "
        "use the runtime for this model"
    ),
}
"""Remedies for operators whose output shape depends on data, but has an upper bound."""
_REMEDIES = (
    (
        "changes between iterations",
        "In generated C all shapes are fixed: export the loop unrolled (in Keras, LSTM(unroll=True)), give it a constant "
        "number of iterations, or let it write to a tensor of full size",
    ),
    (
        "different shapes",
        "In generated C all shapes are fixed: pad the smaller result, or use the runtime for this model",
    ),
    ("is recursive", "Write the recursion as a loop, or use the runtime for this model"),
    ("known at run time only", "In generated C all shapes are fixed; use the runtime for this model"),
    ("leaves the shape of its output", "Fix the dynamic dimensions at conversion, with --inputShape"),
    ("no shape rule", "Replace the operator by standard ones"),
    ("but kernels support at most", "Join or split them in groups"),
    ("no kernel computes on these quantized", "Quantize the operator differently, or keep it in float32"),
)


def _blockers(refusals: Sequence[_codegen.UnsupportedNode]) -> tuple[Blocker, ...]:
    def remedy(one: _codegen.UnsupportedNode) -> str:
        if "known at run time only" in one.reason and one.op in _OF_OPERATORS:
            return _OF_OPERATORS[one.op]
        return next((text for part, text in _REMEDIES if part in one.reason), "Use other data types or attributes")

    return tuple(Blocker(one.name, one.op, one.reason, remedy(one)) for one in refusals)
