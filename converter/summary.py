"""Prints the progress of a conversion (a bar, on terminals only) and the summary after it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from mslite.converter.compatibility import Version, VersionSupport
from mslite.converter.convert import Report
from mslite.converter.errors import Blocker
from mslite.converter.ethosu import Placement
from mslite.converter.text_shortening import quoted, readable
from mslite.quantizer.precision.choices import Precision
from mslite.quantizer.progress import Progress as Samples
from mslite.quantizer.progress import silent
from mslite.quantizer.results import GOOD, OutputAccuracy, QuantizeReport


@contextmanager
def stages(total: int) -> Iterator[tuple[Callable[[str], None], Samples]]:
    """Yields two progress functions: the first is called with the name of each stage, the second with the progress of
    calibration or of a search. They draw bars on stderr if that is a terminal; `total` is the number of stages."""
    if not sys.stderr.isatty():
        yield lambda name: None, silent
        return
    columns = (TextColumn("{task.description:<18}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("parse", total=total)

        def advance(name: str) -> None:
            bar.update(task, description=name.replace("_", " "), advance=1)

        rows: dict[str, TaskID] = {}

        def sample(done: int, total: int | None, what: str = "calibration", /) -> None:
            if what not in rows:
                rows[what] = bar.add_task(what, total=total)
            bar.update(rows[what], completed=done, total=total)

        yield advance, sample


_REMEDIES = 3
_MAX_REASONS = 5
"""Reasons for nodes on the CPU that are listed."""
_MAX_INPUTS = 5
"""Inputs that are listed with their layouts."""
_NAME = 60
"""Characters of a node's name that are shown in a list."""


def _size(count: int) -> str:
    return f"{count / 1024:,.1f} KiB" if count < 10 << 20 else f"{count / (1 << 20):,.1f} MiB"


def print_quantization(report: QuantizeReport) -> None:
    """Prints how many operators compute with integers, and which layers stay in float."""
    quantized = [layer for layer in report.layers if layer.precision is not Precision.FLOAT]
    stored = [layer for layer in report.layers if layer.precision is Precision.FLOAT and layer.weight_scales]
    if report.samples:
        print(f"calibrated  on {report.samples} samples")
    if report.agreement is not None:
        for line in agreement_lines(report.agreement):
            print(readable(line))
    if quantized:
        print(f"integers    {len(quantized)} operators, {report.integer_share:.1%} of the multiply-accumulates")
    if stored:
        print(f"weights     {len(stored)} stored in fewer bits")
    left = [layer for layer in report.layers if layer.precision is Precision.FLOAT and layer.macs and quantized]
    if left:
        names = ", ".join(layer.name for layer in left[:5]) + (", ..." if len(left) > 5 else "")
        print(readable(f"in float    {len(left)} operators with multiply-accumulates: {names}"))


def agreement_lines(found: OutputAccuracy) -> list[str]:
    """Returns the accuracy of the quantized model on which samples; if it is low, also the worst layers and
    remedies."""
    samples = _counted(found.samples, "sample")
    where = (
        f"{samples} not used for calibration" if found.are_unseen else f"{samples} that were also used for calibration"
    )
    lines = [
        f"accuracy    cosine {found.cosine:.4f}, SQNR {found.sqnr:.1f} dB compared with the float model, on {where}"
    ]
    if found.is_good:
        return lines
    layers = ", ".join(f"{quoted(name, _NAME)} ({drop:.1f} dB)" for name, drop in found.worst)
    lines.append(f"warning     the cosine is below {GOOD:g}; most noise enters at {layers}")
    return [*lines, f"            try {'; '.join(found.remedies[:_REMEDIES])}"]


def version_support_lines(verdict: VersionSupport) -> list[str]:
    """Returns which versions of MindSpore Lite run the file, why the others do not, and mslite's Custom nodes."""
    runs = ", ".join(version.label for version in verdict.runs)
    lines = [f"runs in     mslite{', MindSpore Lite ' + runs if runs else ''}"]
    alike: dict[str, list[str]] = {}
    for version, blockers in verdict.refusals.items():
        alike.setdefault(_first_reason(version, blockers), []).append(version.label)
    lines += [f"not in      MindSpore Lite {', '.join(labels)}: {reason}" for reason, labels in alike.items()]
    if verdict.custom_nodes:
        named = ", ".join(f"{kind} '{name}'" for name, kind in verdict.custom_nodes)
        lines.append(f"custom      {_counted(len(verdict.custom_nodes), 'node')}: {named}")
    return lines


def placement_lines(found: Placement) -> list[str]:
    """Returns what runs on the NPU, vela's estimates, and why the other nodes run on the CPU."""
    nodes = found.nodes + len(found.left)
    how = f"{found.accelerator} (vela {found.version}, {found.system_config}, {found.memory_mode})"
    lines = [
        f"npu         {how}: {found.nodes} of {_counted(nodes, 'node')} in {_counted(len(found.parts), 'subgraph')}"
    ]
    frequency = found.parts[0].frequency
    time = f"{found.cycles:,} cycles, {1000 * found.cycles / frequency:.3g} ms at {frequency / 1e6:.0f} MHz"
    constants, commands = (sum(getattr(part, name) for part in found.parts) for name in ("constants", "commands"))
    sizes = f"SRAM {_size(found.sram)}, constants {_size(constants)}, commands {_size(commands)}"
    lines.append(f"estimated   {time}; {sizes}")
    alike: dict[str, list[str]] = {}
    for name, operator, why in found.left:
        alike.setdefault(why, []).append(f"{operator} {quoted(name, _NAME)}")
    for why, named in list(alike.items())[:_MAX_REASONS]:
        more = f" and {len(named) - 1} more" if len(named) > 1 else ""
        lines.append(f"on the CPU  {named[0]}{more}: {why}")
    if len(alike) > _MAX_REASONS:
        lines.append(f"            {_counted(len(alike) - _MAX_REASONS, 'more reason')} (--check lists them)")
    return lines


def _first_reason(version: Version, blockers: Sequence[Blocker]) -> str:
    """Returns the first reason, and the number of further ones."""
    first, others = blockers[0], len(blockers) - 1
    more = f"; and {_counted(others, 'more reason')} (--check lists them)" if others else ""
    name = quoted(first.node, _NAME)
    return f"it {first.reason.removeprefix(version.title + ' ')}: {first.operator} {name}{more}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def print_summary(report: Report) -> None:
    """Prints operators and file size before and after, fusions, remaining Transpose nodes, and memory."""
    before, after = report.operators_before.total(), report.operators_after.total()
    print(f"source      {report.framework.name}, {before} operators, {_size(report.source_bytes)}")
    names = ", ".join(str(path) for path in report.files)
    print(f"result      {names}: {after} operators, {_size(report.result_bytes)}")
    for name, shape, layout in report.images[:_MAX_INPUTS]:
        print(readable(f"input       {quoted(name, _NAME)}: {list(shape)}, {layout.name}"))
    if len(report.images) > _MAX_INPUTS:
        print(f"            {_counted(len(report.images) - _MAX_INPUTS, 'more input')} of 4 dimensions")
    if report.applied:
        print("fused       " + ", ".join(f"{name} {count}x" for name, count in sorted(report.applied.items())))
    where = ", ".join(report.transposes[:5]) + (", ..." if len(report.transposes) > 5 else "")
    print(readable(f"transposes  {len(report.transposes)}" + (f": {where}" if where else "")))
    if report.peak_bytes is not None:
        print(f"activations {_size(report.peak_bytes)} at peak")
    if report.bound is not None:
        shapes = "; ".join(f"{name}:{list(shape)}" for name, shape in report.bound.shapes.items())
        peak = report.bound.peak_bytes
        amount = "unknown: shapes depend on the data" if peak is None else f"{_size(peak)} at peak"
        print(readable(f"at most     {amount}, with {shapes}"))
    if report.placement is not None:
        for line in placement_lines(report.placement):
            print(readable(line))
    if report.verdict is not None:
        for line in version_support_lines(report.verdict):
            print(readable(line))
    if report.quantization is not None and report.quantization.layers:
        print_quantization(report.quantization)
    for note in report.notes:
        print(f"note        {readable(note)}")
