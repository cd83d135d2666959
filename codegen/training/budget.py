"""Checks the budgets of RAM and flash of a training project."""

from __future__ import annotations

from mslite.codegen.emit.names import short
from mslite.codegen.memory.budget import Budgets
from mslite.codegen.memory.usage import arena_usage
from mslite.codegen.report import ReportData
from mslite.codegen.training.programs import Programs
from mslite.converter.errors import ConversionError


def check_training_budgets(budgets: Budgets, programs: Programs, figures: ReportData, is_sparse: bool) -> None:
    """Raises ConversionError if a budget is exceeded. The message shows what needs the memory, and remedies."""
    lines = []
    if budgets.ram is not None and figures.ram > budgets.ram:
        inference, step = (plan for _, plan in (programs.inference, programs.training))
        parameters = sum(one.size for one in programs.variables if one.is_parameter)
        peak = arena_usage(programs.training[0], step).peak_layer
        lines = [
            f"RAM: {figures.ram} bytes are needed, {figures.ram - budgets.ram} more than --ramBudget={budgets.ram}",
            f"  parameters {parameters} bytes, optimizer state {len(programs.state) - parameters}, the rest of a training step "
            f"{figures.ram - len(programs.state)}; the peak is at {short(peak, 'step')}",
            f"  inference with these parameters: {inference.size} bytes",
            "  to reduce it: --batchSize=1, SGD (which has no state), or fewer trained layers and channels (--sparseUpdate)"
            if not is_sparse
            else "  to reduce it: --batchSize=1, SGD (which has no state), or fewer layers and channels in [sparse_update]",
            f"  mslite-sparse MODEL --budget={budgets.ram} selects layers and channels that fit",
        ]
    flash = figures.weights + (figures.code or 0)
    if budgets.flash is not None and flash > budgets.flash:
        told = (
            f"{figures.weights} of constants, {figures.code} of code"
            if figures.code
            else "constants; code comes on top"
        )
        over = flash - budgets.flash
        lines.append(f"flash: {flash} bytes are needed ({told}), {over} more than --flashBudget={budgets.flash}")
    if lines:
        raise ConversionError("\n".join(["training does not fit", *(f"  {line}" for line in lines)]))
