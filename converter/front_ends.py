"""The front ends: one function per framework that parses a model file to a module. Each is imported when it is used."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode, UsageError
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.enums import Format
from mslite.converter.options import FmkType, Options
from mslite.converter.registry.entries import ModelParserEntry
from mslite.converter.registry.model_parser import ConverterParameters, find_model_parser, parse_registered
from mslite.converter.unexpected_errors import unexpected_errors_to_file_error


def _onnx(options: Options) -> Module:
    from mslite.converter.parsers.onnx import parse
    from mslite.converter.passes.incremental_inference import IncrementalInference

    inference = IncrementalInference(Format.NCHW)
    return parse(options.model_file, options.input_shapes, inference, options.training is not None)


def _tflite(options: Options) -> Module:
    from mslite.converter.parsers.tflite import parse

    return parse(options.model_file, options.signature)


def _tf(options: Options) -> Module:
    from mslite.converter.parsers.tf import parse
    from mslite.converter.passes.incremental_inference import IncrementalInference

    return parse(options.model_file, IncrementalInference(), options.input_shapes, options.signature)


def _mindir(options: Options) -> Module:
    from mslite.converter.parsers.mindir import parse

    return parse(options.model_file, options.encryption.source_opener, options.training is not None)


def with_training_of_file(options: Options, framework: FmkType) -> Options:
    """Returns the options with the loss and the optimizer of a MINDIR file that contains them. Raises
    ConversionError."""
    if options.training is None or framework is not FmkType.MINDIR:
        return options
    from mslite.converter.parsers.mindir import training_settings

    found = training_settings(options.model_file, options.training, options.encryption.source_opener)
    return replace(options, training=found)


def _pytorch(options: Options) -> Module:
    from mslite.converter.parsers.onnx import parse
    from mslite.converter.parsers.pytorch import export_onnx, with_variables
    from mslite.converter.passes.incremental_inference import IncrementalInference

    path = options.model_file
    with tempfile.TemporaryDirectory(prefix="mslite-") as folder:
        file = export_onnx(path, Path(folder), simplified=options.training is None)
        try:
            inference = IncrementalInference(Format.NCHW)
            module = parse(file, options.input_shapes, inference, options.training is not None)
        except ConversionError as error:
            raise ConversionError(
                error.message.replace(str(file), f"{path} (exported to ONNX)"), error.blockers, error.code, error.module
            ) from None
        with_variables(module, Path(folder))
    module.framework = FmkType.PYTORCH
    return module


def _caffe(options: Options) -> Module:
    from mslite.converter.parsers.caffe import parse
    from mslite.converter.passes.incremental_inference import IncrementalInference

    if options.weight_file is None:
        raise UsageError("INPUT MISSING: weightFile (the caffemodel) is needed with fmk=CAFFE")
    return parse(options.model_file, options.weight_file, options.input_shapes, IncrementalInference(Format.NCHW))


def _mslite(options: Options) -> Module:
    from mslite.converter.mindir.module_io import load
    from mslite.converter.mindir.serialization import MindirFormatError
    from mslite.converter.mindir.verifier import VerificationError, verify

    path = options.model_file
    try:
        module = load(path, options.encryption.source_opener)
        verify(module)  # passes do not check the graph again
        return module
    except MindirFormatError as error:
        raise ConversionError(str(error), code=ReturnCode.GRAPH_FILE_ERROR) from None
    except VerificationError as error:
        raise ConversionError(f"{path}: {error}", code=ReturnCode.GRAPH_FILE_ERROR) from None
    except OSError as error:
        raise ConversionError(f"{path}: {error.strerror or error}", code=ReturnCode.FILE_ERROR) from None


FRONT_ENDS: dict[FmkType, Callable[[Options], Module]] = {
    FmkType.ONNX: _onnx,
    FmkType.TFLITE: _tflite,
    FmkType.TF: _tf,
    FmkType.CAFFE: _caffe,
    FmkType.MINDIR: _mindir,
    FmkType.PYTORCH: _pytorch,
    FmkType.MSLITE: _mslite,
}
"""The supported frameworks, in the order of messages."""


def _registered(entry: ModelParserEntry, options: Options) -> Module:
    """Returns the module that the parser of a plug-in makes of the file."""
    parameters = ConverterParameters(
        entry.fmk,
        options.model_file,
        options.weight_file,
        options.input_shapes,
        dict(options.config.get("converter_parameters", {})),
    )
    return parse_registered(entry, parameters)


_MAY_HAVE_SIGNATURES = (FmkType.TFLITE, FmkType.TF)

_MAY_BE_ENCRYPTED = (FmkType.MINDIR, FmkType.MSLITE)

FIXED_SIZES = frozenset({FmkType.ONNX, FmkType.PYTORCH, FmkType.TF})
"""Frameworks in which a fixed input dimension cannot be changed. The others resize inputs if they can."""

NCHW_SOURCES = frozenset({FmkType.ONNX, FmkType.CAFFE, FmkType.MINDIR, FmkType.PYTORCH})
"""Frameworks with images in NCHW; the others use NHWC."""


def parse_model(options: Options, framework: FmkType) -> Module:
    """Parses `options.model_file` with the front end of the framework and returns the module.

    Raises ConversionError, and UsageError for options that the framework does not support.
    """
    registered = find_model_parser(framework, options.format_name, options.model_file)
    if options.signature and (registered is not None or framework not in _MAY_HAVE_SIGNATURES):
        names = " and ".join(known.name for known in _MAY_HAVE_SIGNATURES)
        kind = "a model that a plug-in reads" if registered is not None else f"a model of fmk={framework.name}"
        raise UsageError(f"INPUT ILLEGAL: signature is for {names} models; this is {kind}. Leave --signature out")
    if registered is not None:
        return _registered(registered, options)
    if framework not in FRONT_ENDS:
        names = ", ".join(known.name for known in FRONT_ENDS)
        raise ConversionError(
            f"--fmk={framework.name} is not supported yet; this version converts {names} models",
            code=ReturnCode.NOT_SUPPORTED,
        )
    if options.weight_file is not None and framework is not FmkType.CAFFE:
        raise UsageError(f"INPUT ILLEGAL: weightFile is allowed only with fmk=CAFFE; this is a {framework.name} model")
    if options.encryption.decrypt_key is not None and framework not in _MAY_BE_ENCRYPTED:
        names = " and ".join(known.name for known in _MAY_BE_ENCRYPTED)
        raise UsageError(f"INPUT ILLEGAL: decryptKey is for {names} models; this is a {framework.name} model")
    with unexpected_errors_to_file_error(str(options.model_file)):
        return FRONT_ENDS[framework](options)


def source_layout(framework: FmkType) -> Format:
    """Returns the layout of images in models of this framework."""
    return Format.NCHW if framework in NCHW_SOURCES else Format.NHWC
