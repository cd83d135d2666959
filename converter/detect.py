"""Detects the framework of a model file from its first bytes and its name."""

from __future__ import annotations

from pathlib import Path

from mslite.converter.errors import ConversionError, ReturnCode
from mslite.converter.front_ends import FRONT_ENDS
from mslite.converter.options import FmkType
from mslite.converter.registry.model_parser import parser_of_file

_SUFFIXES = {
    ".onnx": FmkType.ONNX,
    ".tflite": FmkType.TFLITE,
    ".prototxt": FmkType.CAFFE,
    ".mindir": FmkType.MINDIR,
    ".pt2": FmkType.PYTORCH,
    ".pt": FmkType.PYTORCH,
    ".pth": FmkType.PYTORCH,
    ".ms": FmkType.MSLITE,
    ".ckpt": FmkType.MINDIR,  # checkpoints: the front end reports how to export a model
    ".safetensors": FmkType.MINDIR,
}
_TENSORFLOW_SUFFIXES = (".h5", ".hdf5", ".keras")
_IDENTIFIERS = {b"MSL2": FmkType.MSLITE, b"MSL1": FmkType.MSLITE, b"TFL3": FmkType.TFLITE}


def detect(path: Path) -> FmkType:
    """Returns the framework of a model file. Raises ConversionError if it is unknown or the file cannot be read."""
    registered = parser_of_file(path)
    if registered is not None:
        return FmkType[registered.fmk] if registered.fmk in FmkType.__members__ else FmkType.THIRDPARTY
    if path.is_dir() or path.name == "saved_model.pb" or path.suffix.lower() in _TENSORFLOW_SUFFIXES:
        return FmkType.TF
    try:
        with path.open("rb") as file:
            head = file.read(32)
    except OSError as error:
        raise ConversionError(
            f"{path}: the model file cannot be read: {error.strerror or error}", code=ReturnCode.FILE_ERROR
        ) from None
    if head[4:8] in _IDENTIFIERS:
        return _IDENTIFIERS[head[4:8]]
    if path.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[path.suffix.lower()]
    if path.suffix.lower() == ".pb" and head[:1] in (
        b"\x0a",
        b"\x12",
        b"\x22",
    ):  # node, library, versions of a GraphDef
        return FmkType.TF
    if head[:1] == b"\x0a" and b"MindSpore" in head:  # ir_version and producer_name of a MINDIR ModelProto
        return FmkType.MINDIR
    if head[:1] == b"\x08" and b"\x12" in head:  # ir_version and producer_name of an ONNX ModelProto
        return FmkType.ONNX
    raise ConversionError(
        f"{path}: the format of the model cannot be detected from its contents or its name. Give the file its usual "
        "suffix, or "
        f"run converter_lite with --fmk={'|'.join(known.name for known in FRONT_ENDS)}",
        code=ReturnCode.INPUT_PARAMETER_INVALID,
    )


def other_format(path: Path, framework: FmkType, error: ConversionError) -> str:
    """Returns a hint if a file that the front end of `framework` cannot read looks like another format, else ""."""
    if error.code is not ReturnCode.GRAPH_FILE_ERROR or error.blockers:
        return ""
    try:
        found = detect(path)
    except ConversionError:
        return ""
    return (
        ""
        if found in (framework, FmkType.THIRDPARTY)
        else f". The file looks like {found.name}: use --fmk={found.name}"
    )
