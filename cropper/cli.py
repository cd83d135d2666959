"""`mslite-crop`: builds a runtime that has only what given models need."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mslite.converter.argument_parser import CommandParser, one_of
from mslite.converter.errors import ExitStatus
from mslite.converter.program_exit import handle_output_errors, reason_of
from mslite.cropper.archive import CropError
from mslite.cropper.build import build_archive
from mslite.cropper.crop import (
    ENGINES,
    INSTRUCTION_SETS,
    OPTIONAL_FEATURES,
    Library,
    backends_to_keep,
    crop,
    features_to_keep,
    instruction_sets,
    kernels_to_keep,
)
from mslite.cropper.link import SONAME, Linked, Linker
from mslite.cropper.model_needs import model_needs
from mslite.cropper.need import Need
from mslite.cropper.objects import check_packages
from mslite.cropper.size_groups import GROUPS

_NAME = "libmindspore-lite"
_EXAMPLES = """\
examples:
  mslite-crop --models=a.ms,b.ms --archive=/opt/mslite/lib/libmindspore-lite.a --output=cropped
  mslite-crop --models=a.ms --source=mslite --toolchain=mslite/.ci/aarch64.cmake --output=cropped
  mslite-crop --models=a.ms --source=mslite --preset=android-arm64-v8a --output=cropped
  mslite-crop --models=a.ms --archive=libmindspore-lite.a --output=cropped --api=c --instructionSets=neon

cropped/libmindspore-lite.so replaces the complete library for programs in C, C++ and Java.
Link cropped/libmindspore-lite.a into programs with -Wl,--gc-sections.
Other models fail to load with a message that names the missing operator. See docs/cropping.md.
"""


def _parser() -> CommandParser:
    parser = CommandParser(
        "mslite-crop",
        "Reduces the runtime to the operators, data types and instruction sets that given models need.",
        _EXAMPLES,
    )
    needed = parser.add_argument_group("input (--archive or --source is required)")
    needed.add_argument(
        "--models", metavar="a.ms,b.ms", required=True, help="models that the runtime has to run, with any shapes"
    )
    origin = needed.add_mutually_exclusive_group(required=True)
    origin.add_argument("--archive", metavar="FILE.a", type=Path, help="complete libmindspore-lite.a for any processor")
    origin.add_argument("--source", metavar="FOLDER", type=Path, help="checkout of mslite to compile for size")
    built = parser.add_argument_group("with --source")
    built.add_argument("--toolchain", metavar="FILE", type=Path, help="CMake toolchain file of a cross compiler")
    built.add_argument("--preset", metavar="NAME", help="preset of the checkout's CMakePresets.json")
    built.add_argument("--build", metavar="FOLDER", type=Path, help="build folder (OUTPUT/build)")
    kept = parser.add_argument_group("what to keep")
    kept.add_argument(
        "--instructionSets", metavar="A,B,...", default="",
        help=f"instruction sets: {', '.join(INSTRUCTION_SETS)} (arm64: neon,neon_dot,neon_i8mm; "
        "x86: scalar,avx2,avx512,vnni; others: scalar)",
    )  # fmt: skip
    kept.add_argument(
        "--engines", metavar="A,B,...", default="",
        help=f"backends: {', '.join(ENGINES)} (none). --source builds these; with --archive, naming one keeps all of "
        "the archive",
    )  # fmt: skip
    kept.add_argument(
        "--keep", metavar="A,B,...", default="",
        help=f"features that programs use and models do not show: {', '.join(OPTIONAL_FEATURES)} (none)",
    )  # fmt: skip
    output = parser.add_argument_group("output")
    output.add_argument("--output", metavar="FOLDER", type=Path, required=True, help="folder for both libraries")
    output.add_argument(
        "--api",
        metavar="all|c",
        type=one_of("all", "c"),
        default="all",
        help="c: the .so supports only the C API (all)",
    )
    output.add_argument(
        "--compiler", metavar="PROGRAM",
        help="C++ compiler that links the .so (Debian's compiler for the archive's processor)",
    )  # fmt: skip
    output.add_argument(
        "--soname", metavar="NAME", default=SONAME,
        help=f"soname of the .so; for Android use libmindspore-lite.so ({SONAME})",
    )  # fmt: skip
    output.add_argument("--staticStdlib", action="store_true", help="link the C++ standard library into the .so")
    parser.add_own()
    return parser


@handle_output_errors("mslite-crop")
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program; returns its exit status."""
    try:
        given = _parser().parse_args(arguments)
    except SystemExit as stop:  # argparse has printed the reason
        return ExitStatus.OK if not stop.code else ExitStatus.WRONG_USAGE
    if given.source is None and (given.toolchain or given.preset or given.build):
        print("mslite-crop: --toolchain, --preset and --build need --source", file=sys.stderr)
        return ExitStatus.WRONG_USAGE
    try:
        check_packages()
        _crop(given)
    except CropError as error:
        print(f"mslite-crop: {error}", file=sys.stderr)
        return ExitStatus.BAD_INPUT
    except OSError as error:
        print(f"mslite-crop: {reason_of(error)}", file=sys.stderr)
        return ExitStatus.BAD_INPUT
    return ExitStatus.OK


def _crop(given: argparse.Namespace) -> None:
    models = [Path(name) for name in given.models.split(",") if name]
    if not models:
        raise CropError("--models: no file is given")
    engines = backends_to_keep([name for name in given.engines.lower().split(",") if name])
    on_demand = features_to_keep([name for name in given.keep.lower().split(",") if name])
    needs = model_needs(models)
    archive: Path = given.archive
    if archive is None:
        folder = given.build or given.output / "build"
        archive = build_archive(given.source, folder.resolve(), given.toolchain, given.preset, engines)
    whole = Library.read(archive.read_bytes(), str(archive))
    isas = instruction_sets(whole.machine, [name for name in given.instructionSets.lower().split(",") if name])
    purpose = ", ".join(model.name for model in models)
    cropped = crop(whole, needs, purpose, isas, bool(engines), on_demand=on_demand)
    _print_needs(needs.operators, whole, isas)
    linker = Linker.of(whole, archive, given.compiler)
    written = [(f"{_NAME}.a", cropped.write())]
    if linker is not None:
        c_only = given.api == "c"
        shared = crop(whole, needs, purpose, isas, bool(engines), c_only, on_demand=on_demand)
        before, after = ({kind: linker.link(library, static_libstdcxx=kind, c_only=c_only and library is shared, name=given.soname)
                          for kind in (False, True)} for library in (whole, shared))  # fmt: skip
        _print_sizes(before, after)
        written.append((f"{_NAME}.so", after[given.staticStdlib].contents))
    given.output.mkdir(parents=True, exist_ok=True)
    for name, contents in written:
        write_file(given.output / name, contents)
        print(f"written: {given.output / name} ({len(contents):,} bytes)")
    if linker is None:
        print(
            "note: the .so is not written, because no compiler for the archive's processor is installed "
            "(--compiler=...)"
        )


def write_file(file: Path, contents: bytes) -> None:
    """Writes the file atomically."""
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(contents)
        unfinished.chmod(0o755 if file.suffix == ".so" else 0o644)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _print_needs(needs: Mapping[int, Need], whole: Library, isas: frozenset[str]) -> None:
    print(f"operators  {', '.join(need.name for need in needs.values())}")
    print(f"ISAs       {', '.join(sorted(isas))}")
    print(f"kernels    {len(kernels_to_keep(whole, needs, isas))} of {len(whole.kernels())}")


def _print_sizes(before: Mapping[bool, Linked], after: Mapping[bool, Linked]) -> None:
    """Prints the sizes of the stripped shared libraries before and after, by group."""
    print(f"{'bytes':<28}{'before':>12}{'after':>12}")
    for group in GROUPS:
        print(f"{group:<28}{before[False].groups[group]:>12,}{after[False].groups[group]:>12,}")
    print(f"{'stripped .so':<28}{before[False].size:>12,}{after[False].size:>12,}")
    print(f"{'with -static-libstdc++':<28}{before[True].size:>12,}{after[True].size:>12,}")


if __name__ == "__main__":
    sys.exit(main())
