"""`cropper`: crops mslite's static library, with the flags of MindSpore Lite's tool."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mslite.converter.argument_parser import CommandParser
from mslite.converter.errors import ExitStatus, ReturnCode
from mslite.converter.program_exit import handle_output_errors, reason_of
from mslite.cropper.archive import CropError
from mslite.cropper.cli import write_file
from mslite.cropper.crop import Library, crop, instruction_sets
from mslite.cropper.model_needs import model_needs
from mslite.cropper.objects import check_packages

_EXAMPLES = """\
examples:
  cropper --packageFile=libmindspore-lite.a --configFile=mslite/cropper_mapping_cpu.cfg --modelFile=a.ms,b.ms --outputFile=small.a
  cropper --packageFile=libmindspore-lite.a --configFile=mslite/cropper_mapping_cpu.cfg --modelFolderPath=models

mslite-crop has more options, also builds the shared library, and prints sizes.
"""


class _Refused(Exception):
    """The command failed: return code and reason."""

    def __init__(self, code: ReturnCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def _parser() -> CommandParser:
    parser = CommandParser("cropper", "Reduces libmindspore-lite.a to the operators of given models.", _EXAMPLES)
    given = parser.add_argument_group("input (--modelFile or --modelFolderPath is required)")
    given.add_argument("--packageFile", metavar="FILE.a", type=Path, help=".a to crop, for any processor (required)")
    given.add_argument(
        "--configFile", metavar="FILE", type=Path,
        help="mapping file of the package (required). It must exist, but is not read: "
        "if its name contains 'gpu', the GPU backend is kept",
    )  # fmt: skip
    given.add_argument("--modelFile", metavar="a.ms,b.ms", help="models that the library has to run")
    given.add_argument(
        "--modelFolderPath", metavar="FOLDER", type=Path, help="folder; all .ms files in it and its subfolders"
    )
    output = parser.add_argument_group("output")
    output.add_argument("--outputFile", metavar="FILE.a", type=Path, help=".a to write (packageFile)")
    parser.add_own()
    return parser


@handle_output_errors("cropper")
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program; returns its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    if not words:
        parser.print_help()
        return ExitStatus.OK
    try:
        given = parser.parse_args(words)
    except SystemExit as stop:  # argparse has printed the reason
        return ExitStatus.OK if not stop.code else ExitStatus.WRONG_USAGE
    try:
        check_packages()
        output = _crop(given)
    except _Refused as error:
        return _failed(error.code, str(error))
    except CropError as error:
        return _failed(ReturnCode.FILE_ERROR, str(error))
    except OSError as error:
        return _failed(ReturnCode.FILE_ERROR, reason_of(error))
    print(f"Save package file{output} success.\nCROPPER RESULT SUCCESS:0")
    return ExitStatus.OK


def _crop(given: argparse.Namespace) -> Path:
    models = _models(given)
    for flag in ("packageFile", "configFile"):
        if getattr(given, flag) is None:
            raise _Refused(ReturnCode.INPUT_PARAMETER_INVALID, f"INPUT MISSING: --{flag} is necessary")
        if not getattr(given, flag).is_file():
            raise _Refused(ReturnCode.FILE_ERROR, f"--{flag}={getattr(given, flag)}: the file does not exist")
    output: Path = given.outputFile or given.packageFile
    if output.suffix != ".a" or not output.parent.is_dir():
        raise _Refused(
            ReturnCode.INPUT_PARAMETER_INVALID, f"--outputFile={output}: must end in .a and be in an existing folder"
        )
    library = Library.read(given.packageFile.read_bytes(), str(given.packageFile))
    isas = instruction_sets(library.machine, [])
    purpose = ", ".join(model.name for model in models)
    # The package has the mapping files cropper_mapping_cpu.cfg and, for programs that use the GPU,
    # cropper_mapping_gpu.cfg.
    with_engines = "gpu" in given.configFile.stem.lower()
    write_file(output, crop(library, model_needs(models), purpose, isas, with_engines).write())
    return output


def _models(given: argparse.Namespace) -> list[Path]:
    if given.modelFile and given.modelFolderPath:
        raise _Refused(
            ReturnCode.INPUT_PARAMETER_INVALID, "INPUT ILLEGAL: give --modelFile or --modelFolderPath, not both"
        )
    if not given.modelFile and not given.modelFolderPath:
        raise _Refused(
            ReturnCode.INPUT_PARAMETER_INVALID, "INPUT MISSING: --modelFile or --modelFolderPath is necessary"
        )
    if given.modelFile:
        models = [Path(name) for name in given.modelFile.split(",") if name]
    else:
        models = sorted(given.modelFolderPath.rglob("*.ms"))
    odd = [str(model) for model in models if model.suffix != ".ms"]
    if odd or not models:
        reason = f"not .ms files: {', '.join(odd)}" if odd else "no .ms file was found"
        raise _Refused(ReturnCode.INPUT_PARAMETER_INVALID, f"--modelFile, --modelFolderPath: {reason}")
    return models


def _failed(code: ReturnCode, reason: str) -> int:
    print(f"{reason}\nCROPPER RESULT FAILED:{code.value} {code.name}", file=sys.stderr)
    return ExitStatus.BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
