"""Examines a model: converts it into a temporary folder and plans it for each target."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from mslite import _codegen, _native
from mslite._runtime import engines as engines_for
from mslite.check.batch import open_batches, with_batch_of_one
from mslite.check.custom_nodes import CPU, REMEDY_GENERATED, REMEDY_RUNTIME, custom_types, with_custom_kernels
from mslite.check.npu import NpuCheckResult, npu_check_result
from mslite.check.results import (
    BackendFacts,
    BackendNodeFacts,
    CheckResult,
    ModelPortFacts,
    NodeFacts,
    State,
    TargetFacts,
)
from mslite.codegen.lowering import LoweringError, lower_ms
from mslite.codegen.lowering.shapes import Input, fixed_shapes
from mslite.codegen.memory import plan_memory
from mslite.codegen.program import all_steps
from mslite.codegen.report.report_data import constants_of
from mslite.codegen.targets import TARGETS, Target
from mslite.context import Context as RunContext
from mslite.converter.compatibility import Version, VersionSupport
from mslite.converter.convert import convert
from mslite.converter.detect import detect
from mslite.converter.errors import Blocker, ConversionError
from mslite.converter.front_ends import parse_model, source_layout
from mslite.converter.mac_shares import mac_shares_of
from mslite.converter.memory_limit import memory_limited
from mslite.converter.mindir.graph import Module, Node, Value
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.mindir.stand_in import is_stand_in, shown_operator
from mslite.converter.options import Options, SaveType
from mslite.converter.passes.context import Context
from mslite.converter.passes.inference import infer_node
from mslite.converter.registry.plugins import plugins
from mslite.model import Model
from mslite.types import ModelType

Kernels = dict[str, dict[str, str]]
"""Target -> node -> its kernel, or the reason why it has no kernel."""


def check_model(options: Options) -> CheckResult:
    """Converts a model with `options` and returns what the report shows. The converted model is not kept.

    Raises:
        ConversionError: if the file cannot be read.
        UsageError: if the options are wrong, as for a conversion.
    """
    with plugins(options.plugins, options.config), memory_limited(options.memory_limit):
        return _check_model(options)


def _check_model(options: Options) -> CheckResult:
    framework = options.framework if options.framework is not None else detect(options.model_file)
    with tempfile.TemporaryDirectory(prefix="mslite-check-") as folder:
        own = dataclasses.replace(
            options,
            framework=framework,
            output_file=Path(folder) / "model",
            save_type=SaveType.MINDIR_LITE,
            npu=None,
            float32_scales=options.npu is not None,
        )
        problem, blockers = "", tuple[Blocker, ...]()
        npu = NpuCheckResult()
        targets: list[TargetFacts] = []
        engines: tuple[BackendFacts, ...] = ()
        kernels: Kernels = {}
        batches: tuple[str, ...] = ()
        try:
            report = convert(own)
        except ConversionError as error:
            if not error.blockers:
                raise
            problem, blockers = error.message, error.blockers
            module = error.module if error.module is not None else parse_model(own, framework)
        else:
            origins = _origins(parse_model(own, framework))
            module = load(own.output_path)
            for graph in module.graphs:
                for node in graph.nodes:
                    node.source = origins.get(node.name, "")
            targets = _targets(own.output_path, str(options.model_file), kernels, custom_types(module))
            if options.npu is not None:
                npu = npu_check_result(dataclasses.replace(own, npu=options.npu), _generated)
                targets += npu.targets
                kernels[options.npu.accelerator] = npu.kernels
            batches = open_batches(module)
            engines = _engines(with_batch_of_one(own.output_path, module), kernels)
            if report.verdict is not None:
                targets += _original(report.verdict, custom_types(module))
    layout = source_layout(framework) if module.layout is None else module.layout
    nodes = _nodes(module, Context(layout=layout if blockers else Format.NHWC), blockers, kernels)
    inputs, outputs = _ports(module)
    return CheckResult(
        str(options.model_file),
        framework.name,
        not blockers,
        problem,
        blockers,
        nodes,
        tuple(targets),
        inputs,
        outputs,
        engines,
        npu.placement,
        batches,
        npu.problem,
    )


def _origins(module: Module) -> dict[str, str]:
    """Returns node name -> source operator and node. A `.ms` file does not contain them."""
    return {node.name: node.source for graph in module.graphs for node in graph.nodes}


# ---- nodes ----


def _nodes(module: Module, context: Context, blockers: Sequence[Blocker], kernels: Kernels) -> tuple[NodeFacts, ...]:
    """Returns the nodes of all graphs, those of the main graph first."""
    _infer(module, context)
    by_name: dict[str, list[Blocker]] = {}
    for blocker in blockers:
        by_name.setdefault(blocker.node, []).append(blocker)
    homes = {id(node): graph.name for graph in module.graphs[1:] for node in graph.nodes}
    listed = [node for graph in module.graphs for node in graph.nodes]
    number = {id(node): index for index, node in enumerate(listed)}
    shares = mac_shares_of(module)
    facts = []
    for node in listed:
        own = tuple(by_name.get(node.name, ()))
        state = State.BLOCKED if own else State.UNKNOWN if is_stand_in(node) else State.FINE
        facts.append(
            NodeFacts(
                node.name,
                shown_operator(node),
                node.source,
                _producers(node, number),
                tuple(map(_shape, node.outputs)),
                shares[id(node)],
                state,
                own,
                homes.get(id(node), ""),
                tuple((target, found[node.name]) for target, found in kernels.items() if node.name in found),
            )
        )
    return tuple(facts)


def _infer(module: Module, context: Context) -> None:
    """Infers the missing shapes. Nodes that read the output of an unsupported node may stay without."""
    for graph in module.graphs:
        for node in graph.nodes:
            if any(value.shape is None for value in node.outputs):
                infer_node(node, context)


def _producers(node: Node, number: Mapping[int, int]) -> tuple[int, ...]:
    makers = [value.producer for value in node.inputs]
    return tuple(dict.fromkeys(number[id(one)] for one in makers if one is not None and id(one) in number))


def _ports(module: Module) -> tuple[tuple[ModelPortFacts, ...], tuple[ModelPortFacts, ...]]:
    """Returns the model's inputs and outputs. Their node indices are those of `_nodes`."""
    number = {id(node): index for index, node in enumerate(node for graph in module.graphs for node in graph.nodes)}
    place = {id(value): index for index, value in enumerate(module.main.inputs)}
    inputs = tuple(
        ModelPortFacts(
            value.name,
            _shape(value),
            tuple(dict.fromkeys(number[id(user)] for user in value.users if id(user) in number)),
        )
        for value in module.main.inputs
    )
    outputs = []
    for value in module.main.outputs if module.outputs is None else module.outputs:
        maker = None if value.producer is None else number.get(id(value.producer))
        makers = () if maker is None else (maker,)
        outputs.append(ModelPortFacts(value.name, _shape(value), makers, place.get(id(value))))
    return inputs, tuple(outputs)


def _shape(value: Value) -> str:
    dims = "?" if value.shape is None else "x".join(str(size) if size >= 0 else "?" for size in value.shape)
    return f"{value.dtype.name.lower()}[{dims}]"


# ---- targets ----


def _targets(path: Path, source: str, kernels: Kernels, customs: Mapping[str, str]) -> list[TargetFacts]:
    facts = [with_custom_kernels(_runtime(path, source, kernels), customs, REMEDY_RUNTIME)]
    for target in TARGETS.values():
        facts.append(with_custom_kernels(_generated(path, source, target, kernels), customs, REMEDY_GENERATED))
    for found in kernels.values():
        found.update({name: f"your kernel for {kind}" for name, kind in customs.items()})
    return facts


def _original(verdict: VersionSupport, customs: Mapping[str, str]) -> list[TargetFacts]:
    """Returns, for each version of MindSpore Lite, whether its CPU runtime runs the file."""
    facts = []
    for version in Version:
        blockers = verdict.refusals.get(version, ())
        own = TargetFacts(version.title, f"the CPU runtime of {version.title}", not blockers, blockers=blockers)
        facts.append(with_custom_kernels(own, customs, REMEDY_RUNTIME))
    return facts


def _runtime(path: Path, source: str, kernels: Kernels) -> TargetFacts:
    isas = _native.isas()
    summary = f"the runtime on this processor ({', '.join(isas)})"
    model = _codegen.Model(str(path))
    inputs = [Input(tensor.name, tuple(tensor.dims)) for tensor in model.inputs]
    try:
        shapes = fixed_shapes(source, inputs, {})
    except LoweringError:
        return TargetFacts(CPU, summary, True, "kernels are chosen when dynamic dimensions are known (--inputShape)")
    try:
        plan = model.plan(isas, [list(shape) for shape in shapes])
    except _codegen.ModelError as error:
        return TargetFacts(CPU, summary, False, str(error).replace(str(path), source))
    blockers = tuple(
        Blocker(one.name, one.op, one.reason, "Use other data types or attributes for it")
        for one in plan.refusals
        if "known at run time only" not in one.reason and one.op != "Call"
    )
    # A model with shapes or branches that depend on values has no complete plan before it runs.
    is_open = len(blockers) < len(plan.refusals)
    kernels[CPU] = {step.name: step.kernel for step in plan.steps} | {one.node: one.reason for one in blockers}
    problem = "some kernels are chosen at run time, when shapes and branches are known" if is_open else ""
    ram = None if blockers else _working_memory(path, shapes)
    return TargetFacts(CPU, summary, not blockers, problem, blockers, ram, path.stat().st_size)


def _working_memory(path: Path, shapes: Sequence[tuple[int, ...]]) -> int | None:
    """Returns the bytes that the runtime allocates to run the model.

    Returns None if the model cannot be built here, for example because a custom kernel is missing.
    """
    model, context = Model(), RunContext()
    context.cpu.thread_num = 1  # so that the result does not depend on the number of cores
    try:
        model.build_from_file(path, ModelType.MINDIR_LITE, context)
        model.resize(model.get_inputs(), shapes)
    except (RuntimeError, ValueError):
        return None
    return model.workspace_bytes()


def _engines(path: Path, kernels: Kernels) -> tuple[BackendFacts, ...]:
    """Returns the nodes that each backend of this library would run, even if this machine lacks its device."""
    found = []
    for name, missing, nodes in engines_for(path):
        placed = tuple(BackendNodeFacts(node, op, part, reason, flops) for node, op, _, part, reason, flops in nodes)
        found.append(BackendFacts(name, missing, placed))
        kind = name.split(" (")[0]
        kernels[kind] = {
            one.node: one.reason.removeprefix(f"{kind}: ") if one.part < 0 else f"part {one.part}" for one in placed
        }
    return tuple(found)


def _generated(path: Path, source: str, target: Target, kernels: Kernels) -> TargetFacts:
    summary = f"generated C: {target.summary}"
    try:
        program = lower_ms(path, target, name="model", source=source)
    except LoweringError as error:
        kernels[target.name] = {one.node: one.reason for one in error.blockers}
        problem = "" if error.blockers else error.message
        return TargetFacts(target.name, summary, False, problem, error.blockers)
    kernels[target.name] = {step.name: step.kernel for step in all_steps(program)}
    plan = plan_memory(program)
    constants = {(name, size) for step in all_steps(program) for name, size, _ in constants_of(step)}
    return TargetFacts(target.name, summary, True, ram=plan.size, flash=sum(size for _, size in constants))
