"""The NPU in the report: converts the model for it, and plans generated C that calls it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from mslite.check.results import TargetFacts
from mslite.codegen.targets import TARGETS, Target
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError
from mslite.converter.ethosu import Placement
from mslite.converter.options import Options

_BESIDE = ("cortex-m55", "cortex-m85")
"""Processors that are combined with an Ethos-U NPU."""

Generated = Callable[[Path, str, Target, dict[str, dict[str, str]]], TargetFacts]


@dataclass(frozen=True)
class NpuCheckResult:
    """Results for the NPU of `--target`; empty without one."""

    placement: Placement | None = None
    problem: str = ""
    targets: tuple[TargetFacts, ...] = ()
    kernels: dict[str, str] = field(default_factory=dict)
    """Node -> its subgraph on the NPU, or the reason why it is not on the NPU."""


def npu_check_result(options: Options, generated: Generated) -> NpuCheckResult:
    """Converts the model for `options.npu` and plans generated C with `generated`.

    The conversion without the NPU must have succeeded before.
    """
    assert options.npu is not None
    own = dataclasses.replace(options, output_file=options.output_file.with_name("npu"), compare=False)
    try:
        report = convert(own)
    except ConversionError as error:
        return NpuCheckResult(problem=error.message)
    placement = report.placement
    assert placement is not None
    targets = []
    for name in _BESIDE:
        facts = generated(report.files[0], str(options.model_file), TARGETS[name], {})
        summary = f"{facts.summary}, and the driver of the NPU"
        targets.append(dataclasses.replace(facts, name=f"{name} + {placement.accelerator}", summary=summary))
    kernels = {node: f"on the NPU, in {part.name}" for part in placement.parts for node in part.nodes}
    kernels |= {node: f"not on the NPU: {why}" for node, _, why in placement.left}
    return NpuCheckResult(placement, "", tuple(targets), kernels)
