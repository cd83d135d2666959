"""Generates a C project that trains a model."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import mslite
from mslite.codegen.core import Core
from mslite.codegen.emit import EmitOptions, emit_cores
from mslite.codegen.lowering.read_model import refuse_signature
from mslite.codegen.memory.budget import Budgets
from mslite.codegen.report import NotMeasured, ReportData, gather, measure, report_files
from mslite.codegen.targets import Target
from mslite.codegen.training.budget import check_training_budgets
from mslite.codegen.training.programs import make_programs, save_modules
from mslite.codegen.training.recorded import record
from mslite.codegen.training.write import Project, write_training_project
from mslite.converter.convert import convert
from mslite.converter.detect import detect
from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.module_io import load
from mslite.converter.mindir.serialization import MindirFormatError
from mslite.converter.options import FmkType, Options
from mslite.converter.training import (
    TrainingGraph,
    TrainSettings,
    is_training,
    training_graph,
    with_variables_for_constants,
)

Shape = tuple[int, ...]


@dataclass(frozen=True)
class TrainSource:
    """A model file, in any format that the converter reads, its training settings and conversion options."""

    model: Path
    settings: TrainSettings = field(default_factory=TrainSettings)
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    options: Options | None = None


def generate_training(
    source: TrainSource,
    target: Target,
    folder: Path,
    cases: int = 2,
    measured: bool = True,
    budgets: Budgets | None = None,
) -> tuple[tuple[Core, ...], ReportData]:
    """Generates a training project and writes it to `folder`. Nothing is written if the model fails.

    Raises ConversionError if the model cannot be trained (with all reasons), a budget is exceeded, or the folder cannot
    be written.
    """
    with tempfile.TemporaryDirectory(prefix="mslite-training-") as work:
        graph = _graph(source, Path(work))
        files = save_modules(graph, Path(work), target)
        programs = make_programs(graph, files, target, source.model.stem, str(source.model))
        origin = _origin(source.model)
        emit = EmitOptions(weights_in_file=False, origins=(origin, origin))
        cores = emit_cores([programs.inference, programs.training], emit)
        found = measure(cores, target) if measured else NotMeasured("measuring was turned off")
        figures = gather(folder.resolve().name, cores, target, found, state=len(programs.state))
        check_training_budgets(budgets or Budgets(), programs, figures, bool(source.settings.sparse))
        recorded = record(files[1], programs.training[0], graph.losses, cases)
        project = Project(folder.resolve().name, target, graph.losses, programs, tuple(cores), recorded, files[0])
        try:
            write_training_project(project, folder, report_files(figures, cores, [source.model]))
        except OSError as error:
            raise ConversionError(
                f"{folder}: the project cannot be written: {error.strerror or error}", code=ReturnCode.FILE_ERROR
            ) from None
    return tuple(cores), figures


def _graph(source: TrainSource, work: Path) -> TrainingGraph:
    module = read_module(source, work)
    name = str(source.model)
    if is_training(module):
        return with_variables_for_constants(module, name)
    return training_graph(module, source.settings, name)


def read_module(source: TrainSource, work: Path) -> Module:
    """Returns the model as a module; a model in another format than .ms is converted first.

    Raises ConversionError and UsageError."""
    options = source.options
    framework = (options.framework if options is not None else None) or detect(source.model)
    path = source.model
    if framework is FmkType.MSLITE:
        refuse_signature(path, options)
    else:
        path = work / "model.ms"
        wanted = options or Options(source.model, path)
        wanted = replace(wanted, model_file=source.model, output_file=path, input_shapes=dict(source.shapes))
        path = convert(wanted).files[0]
    try:
        module = load(path)
    except MindirFormatError as error:
        raise ConversionError(str(error), code=ReturnCode.GRAPH_FILE_ERROR) from None
    except OSError as error:
        raise ConversionError(f"{path}: {error.strerror or error}", code=ReturnCode.FILE_ERROR) from None
    if framework is FmkType.MSLITE:
        _set_shapes(module, source)
    return module


def _set_shapes(module: Module, source: TrainSource) -> None:
    """Sets the input shapes of a `.ms` file, which may have dynamic dimensions, to those of `source`."""
    names = {value.name: value for value in module.main.inputs}
    for name, shape in source.shapes.items():
        if name not in names:
            raise ConversionError(
                f"{source.model}: '{name}' is not an input of the model; its inputs are {', '.join(map(repr, names))}",
                code=ReturnCode.INPUT_PARAMETER_INVALID,
            )
        names[name].shape = shape


def _origin(model: Path) -> str:
    digest = hashlib.sha256(model.read_bytes()).hexdigest() if model.is_file() else "unknown"
    return f"Generated by mslite {mslite.__version__} from {model.name}, SHA-256 {digest}."
